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
        if model == "presence-association":
            return _given_presence(requirement["beta"], shares, values)
        _require_ranges(requirement)
        if model == "l-diversity":
            return dict.fromkeys(values, 1 / _within(requirement["l"], Fraction(1), None))
        if model == "f-privacy" and _number(requirement["theta"]) == 0:
            return {value: _linear(requirement, value, Fraction(0)) for value in values}
        if shares is None:
            return None
        rules = {"f-privacy": _linear, "beta-likeness": _likeness, "rho-privacy": _rho}
        rule = rules[str(model)]
        return {value: rule(requirement, value, shares.get(value, Fraction(0))) for value in values}
    except (AttributeError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None


def presence_bound(requirement: Mapping[str, Any]) -> Fraction | None:
    """Return alpha, the bound on the belief that a person is in the table; None where the requirement has none."""
    if requirement.get("model") != "presence-association":
        return None
    try:
        alpha = _number(requirement["alpha"])
    except (KeyError, ValueError, ZeroDivisionError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None
    if not 0 < alpha <= 1:
        raise FormatError("manifest.json: alpha should be above 0 and at most 1")
    return alpha


def _given_presence(beta: Any, shares: Mapping[str, Fraction] | None, values: list[str]) -> dict[str, Fraction] | None:
    """Return the bounds on values for somebody who is in the table: one number for all, or those of a model."""
    if not isinstance(beta, Mapping):
        return dict.fromkeys(values, _share(beta))
    if beta["model"] == "presence-association":
        raise ValueError("a bound on presence inside another")
    return bounds_of(beta, shares, values)


def _number(text: Any) -> Fraction:
    """Return a whole number or a ratio as manifests write them; nothing longer than any requirement needs."""
    if isinstance(text, bool) or not _PLAIN.fullmatch(str(text)):
        raise ValueError("not a number as manifests write them")
    return Fraction(str(text))


def _within(text: Any, least: Fraction, most: Fraction | None) -> Fraction:
    """Return a number that lies between these two; anything else could be no parameter of a requirement."""
    number = _number(text)
    if number < least or (most is not None and number > most):
        raise ValueError("a number out of its range")
    return number


def _share(text: Any) -> Fraction:
    """Return a number above 0 and at most 1."""
    number = _within(text, Fraction(0), Fraction(1))
    if not number:
        raise ValueError("a number out of its range")
    return number


def _require_ranges(requirement: Mapping[str, Any]) -> None:
    """Raise `ValueError` unless the parameters of F'-privacy or (ρ1, ρ2)-privacy are such as can be asked for."""
    if requirement.get("model") == "f-privacy":
        _within(requirement["offset"], Fraction(0), Fraction(1))
        for bound in requirement["bounds"].values():
            _share(bound)
    if requirement.get("model") == "rho-privacy" and not 0 < _number(requirement["rho1"]) < _share(requirement["rho2"]) < 1:
        raise ValueError("rho1 and rho2 out of their ranges")


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
