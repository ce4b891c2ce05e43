"""The auditor's own reading of a requirement: bounds from the published parameters, written apart from the publisher's code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from sfumato.errors import FormatError

GRID = 10**12


def bounds_of(
    requirement: Mapping[str, Any], shares: Mapping[str, Fraction] | None, values: list[str]
) -> dict[str, Fraction] | None:
    """Return the bound of each value, or None if it depends on the table's shares and these are not known."""
    model = requirement.get("model")
    try:
        if model == "l-diversity":
            return dict.fromkeys(values, Fraction(1, int(requirement["l"])))
        if model == "f-privacy" and Fraction(requirement["theta"]) == 0:
            return {value: _linear(requirement, value, Fraction(0)) for value in values}
        if shares is None:
            return None
        rules = {"f-privacy": _linear, "beta-likeness": _likeness, "rho-privacy": _rho}
        rule = rules[str(model)]
        return {value: rule(requirement, value, shares.get(value, Fraction(0))) for value in values}
    except (KeyError, ValueError, TypeError, ZeroDivisionError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None


def _linear(requirement: Mapping[str, Any], value: str, share: Fraction) -> Fraction:
    own = requirement["bounds"]
    if value in own:
        return Fraction(own[value])
    linear = Fraction(requirement["theta"]) * share + Fraction(requirement["offset"])
    return linear if linear < 1 else Fraction(1)


def _likeness(requirement: Mapping[str, Any], value: str, share: Fraction) -> Fraction:
    gain = Fraction(requirement["beta"])
    bound = (gain + 1) * share
    if requirement["enhanced"] and gain > 0 and share > 0:
        with localcontext() as context:
            context.prec = 80
            logarithm = (Decimal(share.denominator) / Decimal(share.numerator)).ln()
        if Fraction(logarithm) < gain:
            low = Fraction(logarithm) - Fraction(1, 10**60)
            bound = max(share, Fraction(math.floor((1 + low) * share * GRID), GRID))
    return min(bound, Fraction(1))


def _rho(requirement: Mapping[str, Any], value: str, share: Fraction) -> Fraction:
    return Fraction(requirement["rho2"]) if share <= Fraction(requirement["rho1"]) else Fraction(1)
