"""The auditor's own reading of a requirement: bounds from the published parameters, written apart from the publisher's code."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from sfumato.errors import FormatError

GRID = 10**12
_PLAIN = re.compile(r"\d{1,400}(/\d{1,400})?")


def bounds_of(
    requirement: Mapping[str, Any], shares: Mapping[str, Fraction] | None, values: list[str]
) -> dict[str, Fraction] | None:
    """Return the bound of each value, or None if it depends on the table's shares and these are not known."""
    model = requirement.get("model")
    try:
        if model == "l-diversity":
            return dict.fromkeys(values, 1 / _number(requirement["l"]))
        if model == "f-privacy" and _number(requirement["theta"]) == 0:
            return {value: _linear(requirement, value, Fraction(0)) for value in values}
        if shares is None:
            return None
        rules = {"f-privacy": _linear, "beta-likeness": _likeness, "rho-privacy": _rho}
        rule = rules[str(model)]
        return {value: rule(requirement, value, shares.get(value, Fraction(0))) for value in values}
    except (KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None


def _number(text: Any) -> Fraction:
    """Return a whole number or a ratio as manifests write them; nothing longer than any requirement needs."""
    if isinstance(text, bool) or not _PLAIN.fullmatch(str(text)):
        raise ValueError("not a number as manifests write them")
    return Fraction(str(text))


def _linear(requirement: Mapping[str, Any], value: str, share: Fraction) -> Fraction:
    own = requirement["bounds"]
    if value in own:
        return _number(own[value])
    linear = _number(requirement["theta"]) * share + _number(requirement["offset"])
    return linear if linear < 1 else Fraction(1)


def _likeness(requirement: Mapping[str, Any], value: str, share: Fraction) -> Fraction:
    gain = _number(requirement["beta"])
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
    return _number(requirement["rho2"]) if share <= _number(requirement["rho1"]) else Fraction(1)
