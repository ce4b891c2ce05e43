"""The auditor's own reading of a requirement: bounds from the published parameters, written apart from the publisher's code.

Another package that brings a privacy model brings its reading too, as an entry point of the group `sfumato.auditor_models`: a
function of the requirement's parameters and of how often each value occurs, which returns the exact bound of each value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib.metadata import entry_points
from typing import Any

from sfumato.errors import FormatError

GRID = 10**12
GROUP = "sfumato.auditor_models"
_PLAIN = re.compile(r"\d{1,400}(/\d{1,400})?")

Counts = Mapping[str, int | Fraction]
"""How often each value occurs: numbers of people, or declared shares."""

Reading = Callable[[Mapping[str, Any], Counts], Mapping[str, Fraction]]


class UnknownModel(FormatError):  # noqa: N818  (named as the others are)
    """A requirement whose model has no reading here: its claims can be neither confirmed nor refuted."""


def bounds_of(requirement: Mapping[str, Any], counts: Counts | None, values: list[str]) -> dict[str, Fraction] | None:
    """Return the bound of each value, or None if it depends on how often values occur and that is not known."""
    try:
        reading = _reading(requirement)
        if counts is None and _depends_on_counts(requirement):
            return None
        bounds = reading(requirement, dict.fromkeys(values, 0) | dict(counts or {}))
        exact = {value: bounds[value] for value in values}
        if not all(isinstance(bound, Fraction) and 0 <= bound <= 1 for bound in exact.values()):
            raise ValueError("not the bounds of sensitive values")
        return exact
    except (AttributeError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None


Sets = dict[str, tuple[tuple[str, ...], Fraction]]
Parts = Mapping[str, Mapping[str, str]]


def sets_of(
    requirement: Mapping[str, Any],
    counts: Counts | None,
    values: list[str],
    bins: tuple[str, ...] = (),
    parts: Parts | None = None,
) -> Sets | None:
    """Return the values and the bound of each set of values that the requirement bounds; None where counts are not known."""
    rules = requirement.get("sets")
    if rules is None:
        return {}
    if counts is None:
        return None
    try:
        shares = _shares(dict.fromkeys(values, 0) | dict(counts))
        found: Sets = {}
        for name in sorted(rules):
            for label, members in _members(name, rules[name], values, bins, parts or {}).items():
                found[label] = members, _set_bound(rules[name], sum((shares[value] for value in members), Fraction(0)))
        return found
    except (AttributeError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise FormatError("manifest.json: the sets of the requirement are not those of a requirement") from None


def _members(
    name: str, rule: Mapping[str, Any], values: list[str], bins: tuple[str, ...], parts: Parts
) -> dict[str, tuple[str, ...]]:
    """Return the sets of one rule: the one that it lists, or one for each category of its map or part of its column."""
    if "values" in rule:
        if not set(values).issuperset(rule["values"]):
            raise ValueError("a set of values that the release does not have")
        return {name: tuple(rule["values"])}
    if "near" in rule:
        if not bins:
            raise ValueError("near, and no bins")
        far = {one: [other for k, other in enumerate(bins) if abs(k - place) <= rule["near"]] for place, one in enumerate(bins)}
        return {f"{name}: around {one}": tuple(other for other in far[one] if other in values) for one in bins if one in values}
    category = parts[rule["column"]] if "column" in rule else rule["map"]
    return {
        f"{name}: {one}": tuple(value for value in values if category[value] == one)
        for one in sorted({category[value] for value in values})
    }


def _set_bound(rule: Mapping[str, Any], share: Fraction) -> Fraction:
    if "bound" in rule:
        return _share(rule["bound"])
    theta, offset = _number(rule["theta"]), _number(rule["offset"])
    if offset > 1:
        raise ValueError("a number out of its range")
    return min(theta * share + offset, Fraction(1))


def _reading(requirement: Mapping[str, Any]) -> Reading:
    """Return how this audit reads the model: its own way, or the one that an installed package brings."""
    model = requirement["model"]
    if model in READINGS:
        return READINGS[model]
    for point in entry_points(group=GROUP, name=str(model)):
        found: Reading = point.load()
        return found
    package = requirement.get("package")
    where = f"the manifest names the package {package!r}" if package else "the manifest names no package that has it"
    raise UnknownModel(
        f"the auditor's reading of the requirement's model {model!r} is not installed ({where}), so that no claim can be judged"
    )


def _depends_on_counts(requirement: Mapping[str, Any]) -> bool:
    model = requirement["model"]
    if model == "presence-association":
        inside = requirement["beta"]
        return isinstance(inside, Mapping) and _depends_on_counts(inside)
    return model != "l-diversity" and not (model == "f-privacy" and _number(requirement["theta"]) == 0)


def presence_bound(requirement: Mapping[str, Any]) -> Fraction | None:
    """Return alpha, the bound on the belief that a person is in the table; None where the requirement has none."""
    if requirement.get("model") != "presence-association":
        return None
    try:
        return _share(requirement["alpha"])
    except (KeyError, ValueError, ZeroDivisionError):
        raise FormatError("manifest.json: alpha of the requirement should be above 0 and at most 1") from None


def _number(text: Any) -> Fraction:
    """Return a whole number or a ratio as manifests write them; nothing longer than any requirement needs."""
    if isinstance(text, bool) or not _PLAIN.fullmatch(str(text)):
        raise ValueError("not a number as manifests write them")
    return Fraction(str(text))


def _share(text: Any) -> Fraction:
    """Return a number above 0 and at most 1; anything else could be no bound."""
    number = _number(text)
    if not 0 < number <= 1:
        raise ValueError("a number out of its range")
    return number


def _shares(counts: Counts) -> dict[str, Fraction]:
    people = sum(counts.values())
    return {value: Fraction(count) / people if people else Fraction(0) for value, count in counts.items()}


def _diverse(requirement: Mapping[str, Any], counts: Counts) -> dict[str, Fraction]:
    return dict.fromkeys(counts, _share(1 / _number(requirement["l"])))


def _linear(requirement: Mapping[str, Any], counts: Counts) -> dict[str, Fraction]:
    theta, offset, own = _number(requirement["theta"]), _number(requirement["offset"]), requirement["bounds"]
    if offset > 1:
        raise ValueError("a number out of its range")
    single = {value: _share(bound) for value, bound in own.items()}
    return {value: single.get(value, min(theta * share + offset, Fraction(1))) for value, share in _shares(counts).items()}


def _likeness(requirement: Mapping[str, Any], counts: Counts) -> dict[str, Fraction]:
    gain, enhanced = _number(requirement["beta"]), requirement["enhanced"]
    return {value: _alike(gain, share, enhanced=enhanced) for value, share in _shares(counts).items()}


def _alike(gain: Fraction, share: Fraction, *, enhanced: bool) -> Fraction:
    bound = (gain + 1) * share
    if enhanced and gain > 0 and share > 0:
        with localcontext() as context:
            context.prec = 80
            logarithm = (Decimal(share.denominator) / Decimal(share.numerator)).ln()
        if Fraction(logarithm) < gain:
            low = Fraction(logarithm) - Fraction(1, 10**60)
            bound = max(share, Fraction(math.floor((1 + low) * share * GRID), GRID))
    return min(bound, Fraction(1))


def _rho(requirement: Mapping[str, Any], counts: Counts) -> dict[str, Fraction]:
    low, high = _number(requirement["rho1"]), _share(requirement["rho2"])
    if not 0 < low < high < 1:
        raise ValueError("rho1 and rho2 out of their ranges")
    return {value: high if share <= low else Fraction(1) for value, share in _shares(counts).items()}


def _odds(requirement: Mapping[str, Any], counts: Counts) -> dict[str, Fraction]:
    times = odds_of(requirement)
    return {value: times * share / (1 - share + times * share) for value, share in _shares(counts).items()}


def odds_of(requirement: Mapping[str, Any]) -> Fraction:
    """Return how many times odds may grow: as stated, or the largest multiple of 10⁻¹² below e^ε."""
    epsilon, odds = requirement["epsilon"], requirement["odds"]
    if (epsilon is None) == (odds is None):
        raise ValueError("one of epsilon and odds")
    times = _number(odds) if epsilon is None else _exponential(_number(epsilon))
    if times <= 1:
        raise ValueError("a number out of its range")
    return times


def _exponential(number: Fraction) -> Fraction:
    """Return e^number rounded down to a multiple of 10⁻¹²: its series in whole numbers, from below and from above."""
    if not 0 < number <= 20:
        raise ValueError("a number out of its range")
    scale = 10**40
    while True:
        low = high = below = above = scale
        for k in range(1, 400):
            below = below * number.numerator // (number.denominator * k)
            above = -(-above * number.numerator // (number.denominator * k))
            low, high = low + below, high + above
        high += 2 * above  # from here on each term is less than half of the one before
        if low * GRID // scale == high * GRID // scale:
            return Fraction(low * GRID // scale, GRID)
        scale *= scale


def _given_presence(requirement: Mapping[str, Any], counts: Counts) -> Mapping[str, Fraction]:
    """Return the bounds on values for somebody who is in the table: one number for all, or those of a model."""
    beta = requirement["beta"]
    if not isinstance(beta, Mapping):
        return dict.fromkeys(counts, _share(beta))
    if beta["model"] == "presence-association":
        raise ValueError("a bound on presence inside another")
    return _reading(beta)(beta, counts)


READINGS: dict[str, Reading] = {
    "l-diversity": _diverse,
    "f-privacy": _linear,
    "beta-likeness": _likeness,
    "rho-privacy": _rho,
    "presence-association": _given_presence,
    "differential": _odds,
}
"""How this audit reads the models that it knows itself."""
