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

ValueCounts = Mapping[str, int | Fraction]
"""How often each value occurs: numbers of people, or declared shares."""


class Several(dict[str, Any]):
    """How many people have each value where they may have several, or none: then it takes also how many people there are.

    `sets` says how many have one of each set: who has two of its values is counted once.
    """

    def __init__(self, counts: Mapping[str, Any], people: int, sets: Mapping[str, int]) -> None:
        super().__init__(counts)
        self.people, self.sets = people, sets


BoundReader = Callable[[Mapping[str, Any], ValueCounts], Mapping[str, Fraction]]


class UnknownModel(FormatError):  # noqa: N818  (named as the others are)
    """A requirement whose model has no reading here: its claims can be neither confirmed nor refuted."""


def bounds_of(requirement: Mapping[str, Any], counts: ValueCounts | None, values: list[str]) -> dict[str, Fraction] | None:
    """Return the bound of each value, or None if it depends on how often values occur and that is not known."""
    try:
        reading = _reading(requirement)
        if isinstance(counts, Several) and requirement["model"] not in READINGS:
            raise UnknownModel(
                f"the auditor's reading of the model {requirement['model']!r} is for one value a person, so that no claim "
                "can be judged"
            )
        if counts is None and _depends_on_counts(requirement):
            if requirement["model"] in READINGS:
                reading(requirement, {})  # whoever reads on may rely on its numbers
            return None
        bounds = reading(requirement, _every(counts or {}, values))
        exact = {value: bounds[value] for value in values}
        if not all(isinstance(bound, Fraction) and 0 <= bound <= 1 for bound in exact.values()):
            raise ValueError("not the bounds of sensitive values")
        return exact
    except (AttributeError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None


SetBounds = dict[str, tuple[tuple[str, ...], Fraction]]
Parts = Mapping[str, Mapping[str, str]]


def sets_of(
    requirement: Mapping[str, Any],
    counts: ValueCounts | None,
    values: list[str],
    bins: tuple[str, ...] = (),
    parts: Parts | None = None,
) -> SetBounds | None:
    """Return the values and the bound of each set of values that the requirement bounds; None where counts are not known."""
    rules = requirement.get("sets")
    if rules is None:
        return {}
    if counts is None:
        return None
    try:
        shares = _shares(_every(counts, values))
        bounds: SetBounds = {}
        for name in sorted(rules):
            for label, members in _members(name, rules[name], values, bins, parts or {}).items():
                share = sum((shares[value] for value in members), Fraction(0))
                share = Fraction(counts.sets[label], counts.people) if isinstance(counts, Several) else share
                bounds[label] = members, _set_bound(rules[name], share)
        return bounds
    except (AttributeError, KeyError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise FormatError("manifest.json: the sets of the requirement cannot be read") from None


def _every(counts: ValueCounts, values: list[str]) -> ValueCounts:
    """Return the counts of all values, 0 where none is given."""
    full: Any = dict.fromkeys(values, 0) | dict(counts)
    return Several(full, counts.people, counts.sets) if isinstance(counts, Several) else full


def members_of(requirement: Mapping[str, Any], values: list[str], bins: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """Return the values of each set that the requirement bounds."""
    rules = requirement.get("sets", {})
    try:
        each = (_members(name, rules[name], values, bins, {}) for name in sorted(rules))
        return {label: members for sets in each for label, members in sets.items()}
    except (AttributeError, KeyError, ValueError, TypeError):
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
        far = {bin_: [other for k, other in enumerate(bins) if abs(k - place) <= rule["near"]] for place, bin_ in enumerate(bins)}
        return {
            f"{name}: around {bin_}": tuple(other for other in far[bin_] if other in values) for bin_ in bins if bin_ in values
        }
    category = parts[rule["column"]] if "column" in rule else rule["map"]
    return {
        f"{name}: {part}": tuple(value for value in values if category[value] == part)
        for part in sorted({category[value] for value in values})
    }


def _set_bound(rule: Mapping[str, Any], share: Fraction) -> Fraction:
    if "bound" in rule:
        return _share(rule["bound"])
    return _line(rule)(share)


def _line(rule: Mapping[str, Any]) -> Callable[[Fraction], Fraction]:
    """Return the bound of each share: theta times it and the offset, cut where its odds grow too much, but never below 1/2."""
    theta, offset, odds = _number(rule["theta"]), _number(rule["offset"]), _number(rule.get("odds", "1"))
    if offset > 1 or odds < 1:
        raise ValueError("a number out of its range")

    def bound(share: Fraction) -> Fraction:
        most = Fraction(1)
        if "odds" in rule:
            # a belief b has odds b : 1 − b; those of the share, times `odds`, are odds·share : 1 − share
            for_it, against_it = odds * share, 1 - share
            most = max(Fraction(1, 2), for_it / (for_it + against_it))
        return min(theta * share + offset, most)

    return bound


def _reading(requirement: Mapping[str, Any]) -> BoundReader:
    """Return how this audit reads the model: its own way, or the one that an installed package brings."""
    model = requirement["model"]
    if model in READINGS:
        return READINGS[model]
    for point in entry_points(group=GROUP, name=str(model)):
        reader: BoundReader = point.load()
        return reader
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
    if model == "f-privacy":
        cut = "odds" in requirement and _number(requirement["offset"]) > Fraction(1, 2)
        return cut or _number(requirement["theta"]) != 0
    return bool(model != "l-diversity")


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


def _shares(counts: ValueCounts) -> dict[str, Fraction]:
    people = counts.people if isinstance(counts, Several) else sum(counts.values())
    return {value: Fraction(count) / people if people else Fraction(0) for value, count in counts.items()}


def _diverse(requirement: Mapping[str, Any], counts: ValueCounts) -> dict[str, Fraction]:
    return dict.fromkeys(counts, _share(1 / _number(requirement["l"])))


def _linear(requirement: Mapping[str, Any], counts: ValueCounts) -> dict[str, Fraction]:
    line = _line(requirement)
    single = {value: _share(bound) for value, bound in requirement["bounds"].items()}
    return {value: single.get(value) or line(share) for value, share in _shares(counts).items()}


def _likeness(requirement: Mapping[str, Any], counts: ValueCounts) -> dict[str, Fraction]:
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


def _rho(requirement: Mapping[str, Any], counts: ValueCounts) -> dict[str, Fraction]:
    low, high = _number(requirement["rho1"]), _share(requirement["rho2"])
    if not 0 < low < high < 1:
        raise ValueError("rho1 and rho2 out of their ranges")
    return {value: high if share <= low else Fraction(1) for value, share in _shares(counts).items()}


def _odds(requirement: Mapping[str, Any], counts: ValueCounts) -> dict[str, Fraction]:
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


def _given_presence(requirement: Mapping[str, Any], counts: ValueCounts) -> Mapping[str, Fraction]:
    """Return the bounds on values for somebody who is in the table: one number for all, or those of a model."""
    beta = requirement["beta"]
    if not isinstance(beta, Mapping):
        return dict.fromkeys(counts, _share(beta))
    if beta["model"] == "presence-association":
        raise ValueError("a bound on presence inside another")
    return _reading(beta)(beta, counts)


READINGS: dict[str, BoundReader] = {
    "l-diversity": _diverse,
    "f-privacy": _linear,
    "beta-likeness": _likeness,
    "rho-privacy": _rho,
    "presence-association": _given_presence,
    "differential": _odds,
}
"""How this audit reads the models that it knows itself."""
