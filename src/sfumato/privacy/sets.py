"""Sets of values: how sure a reader may become that a person has *one of* several sensitive values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import exact
from sfumato.privacy.growth import allowed

MOST_SETS = 1000
"""All rules together make at most so many sets."""

_KINDS = ("values", "map", "near", "column")
_KEYS = (*_KINDS, "bound", "theta", "offset", "odds")
_LONGEST = 200
_EXAMPLE = '{ values = ["HIV", "Hepatitis B"], bound = "0.05" }'


@dataclass(frozen=True)
class About:
    """What a table knows of its sensitive values: the bins of its one column, ascending, and each column's part of a value.

    Where a person may have several values, or none, counts do not add up to people: then it also knows how many `people` there
    are, and how many have one of some values, those of somebody with two of them `once`. With `every` values that nobody has
    are listed too: they are others' of the same table.
    """

    bins: tuple[str, ...] = ()
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    people: int | None = None
    once: Callable[[Sequence[str]], int] | None = None
    every: bool = False


NOTHING = About()


@dataclass(frozen=True)
class SetRule:
    """Bounds for one set of `values`, for every category of a `map` (value, category), for every bin with `near` neighbours, or
    for every value of one `column` where several form one attribute.

    A set's bound is `bound`, or what theta, offset and odds allow the share of people with a value of it, as for a value. A set
    of its own may name only values that somebody has; a map may name others too, but must have a category for every value that
    somebody has. With near = 1 a bin of numbers is bounded together with the one below and the one above.
    """

    name: str
    values: tuple[str, ...] = ()
    map: tuple[tuple[str, str], ...] = ()
    near: int = 0
    column: str = ""
    bound: Fraction | None = None
    theta: Fraction = Fraction(0)
    offset: Fraction = Fraction(0)
    odds: Fraction | None = None

    def sets(self, present: Sequence[str], about: About = NOTHING) -> dict[str, tuple[str, ...]]:
        """Return the sets by name, each with those of its values that are present."""
        known = set(present)
        if self.near:
            return self._around(known, about.bins)
        if self.values:
            for value in self.values:
                if value not in known:
                    raise PolicyError(
                        f"[requirement.sets] {self.name}: the table has no sensitive value {value!r}",
                        hint=did_you_mean(value, present),
                    )
            return {self.name: tuple(value for value in present if value in set(self.values))}
        category = self._parts(about.parts) if self.column else dict(self.map)
        lost = [value for value in present if value not in category]
        if lost:
            raise PolicyError(
                f"[requirement.sets] {self.name}: the map has no category for {lost[0]!r}"
                + (f" and {len(lost) - 1} other values" if len(lost) > 1 else ""),
                hint="every value of the table needs a category; a category of its own leaves a value to its own bound",
            )
        return {
            f"{self.name}: {part}": tuple(value for value in present if category[value] == part)
            for part in sorted({category[value] for value in present})
        }

    def _around(self, known: set[str], bins: Sequence[str]) -> dict[str, tuple[str, ...]]:
        if not bins:
            raise PolicyError(
                f"[requirement.sets] {self.name}: near is for bins of one sensitive column of numbers, and there are none",
                hint="under [bins] say which numbers count as one value",
            )
        return {
            f"{self.name}: around {bin_}": tuple(
                value for value in bins[max(place - self.near, 0) : place + self.near + 1] if value in known
            )
            for place, bin_ in enumerate(bins)
            if bin_ in known
        }

    def _parts(self, parts: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
        if self.column not in parts:
            raise PolicyError(
                f"[requirement.sets] {self.name}: {self.column!r} is not one of several sensitive columns",
                hint=did_you_mean(self.column, parts) if parts else "a single sensitive column has the bounds of its values",
            )
        return parts[self.column]

    def limit(self, share: Fraction) -> Fraction:
        """Return the bound of a set that this share of people belongs to."""
        return allowed(share, self.theta, self.offset, self.odds) if self.bound is None else self.bound

    def nearest(self, shares: Sequence[Fraction], round_up: Any) -> dict[str, Fraction]:
        """Return what would be feasible for sets of these shares."""
        if self.bound is not None:
            return {"bound": round_up(max(shares))}
        return {"offset": round_up(max(self.offset, *(share - self.theta * share for share in shares)))}

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a policy writes it, numbers as text."""
        kind: dict[str, Any] = {"near": self.near} if self.near else {"map": dict(self.map)}
        kind = {"values": list(self.values)} if self.values else {"column": self.column} if self.column else kind
        if self.bound is not None:
            return kind | {"bound": str(self.bound)}
        odds = {} if self.odds is None else {"odds": str(self.odds)}
        return kind | {"theta": str(self.theta), "offset": str(self.offset)} | odds


def set_rules(where: str, given: Any) -> tuple[SetRule, ...]:
    """Take name = rule pairs, in the order of their names."""
    if given is None:
        return ()
    if isinstance(given, tuple) and all(isinstance(rule, SetRule) for rule in given):
        return given
    if not isinstance(given, Mapping):
        raise PolicyError(f"{where}: expected name = rule pairs, got {given!r}", hint=f"infectious = {_EXAMPLE}")
    rules = tuple(_rule(f"[requirement.sets] {name}", str(name), given[name]) for name in sorted(given, key=str))
    if sum(len({category for _, category in rule.map}) or 1 for rule in rules) > MOST_SETS:
        raise PolicyError(f"{where}: more than {MOST_SETS} sets", hint="bound fewer, larger categories")
    return rules


def _rule(where: str, name: str, spec: Any) -> SetRule:
    if not name or len(name) > _LONGEST or not name.isprintable():
        raise PolicyError(f"{where}: the name of a set has 1 to {_LONGEST} printable characters", hint=f"infectious = {_EXAMPLE}")
    if not isinstance(spec, Mapping):
        raise PolicyError(f"{where}: expected values and a bound, got {spec!r}", hint=_EXAMPLE)
    for key in spec:
        if key not in _KEYS:
            raise PolicyError(f"{where}: unknown key {key!r}", hint=did_you_mean(str(key), _KEYS))
    if sum(key in spec for key in _KINDS) != 1:
        raise PolicyError(f"{where}: give values, or a map of values to categories, near or column, one of them", hint=_EXAMPLE)
    rule = _numbers(where, spec)
    if "near" in spec:
        near = spec["near"]
        if isinstance(near, bool) or not isinstance(near, int) or not 1 <= near <= MOST_SETS:
            raise PolicyError(f"{where}: near is a number of neighbours from 1 on, got {near!r}", hint="near = 1")
        return SetRule(name, near=near, **rule)
    if "column" in spec:
        if not isinstance(spec["column"], str) or not spec["column"]:
            raise PolicyError(f"{where}: column is the name of a sensitive column, got {spec['column']!r}", hint=_EXAMPLE)
        return SetRule(name, column=spec["column"], **rule)
    if "values" in spec:
        values = spec["values"]
        if not isinstance(values, (list, tuple)) or not values or not all(isinstance(value, str) and value for value in values):
            raise PolicyError(f"{where}: values are a list of texts, got {values!r}", hint=_EXAMPLE)
        if len(set(values)) < len(values):
            raise PolicyError(f"{where}: a value is named twice", hint="name each once")
        return SetRule(name, values=tuple(values), **rule)
    pairs = spec["map"]
    if (
        not isinstance(pairs, Mapping)
        or not pairs
        or not all(isinstance(text, str) and text and len(text) <= _LONGEST for pair in pairs.items() for text in pair)
    ):
        raise PolicyError(
            f"{where}: a map is value = category pairs of texts", hint='{ HIV = "infectious", flu = "respiratory" }'
        )
    return SetRule(name, map=tuple(sorted(pairs.items())), **rule)


def _numbers(where: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bound, or theta, offset and odds, exactly."""
    if ("bound" in spec) == ("theta" in spec or "offset" in spec) or ("bound" in spec and "odds" in spec):
        raise PolicyError(f"{where}: give a bound, or theta and offset, one of the two", hint=_EXAMPLE)
    if "bound" in spec:
        bound = exact(spec["bound"], f"{where} bound")
        if not 0 < bound < 1:
            raise PolicyError(
                f"{where}: the bound of a set must lie above 0 and below 1, got {bound}",
                hint="leave out a set that needs no bound",
            )
        return {"bound": bound}
    theta, offset = (exact(spec.get(key, 0), f"{where} {key}") for key in ("theta", "offset"))
    if theta < 0 or not 0 <= offset <= 1 or theta + offset == 0:
        raise PolicyError(
            f"{where}: theta is a number from 0 on and offset one from 0 to 1, not both 0", hint='theta = 4, offset = "0.02"'
        )
    odds = exact(spec["odds"], f"{where} odds") if spec.get("odds") is not None else None
    if odds is not None and odds < 1:
        raise PolicyError(f"{where}: odds is a number from 1 on, got {odds}", hint='theta = 8, offset = "0.02", odds = 8')
    return {"theta": theta, "offset": offset, "odds": odds}
