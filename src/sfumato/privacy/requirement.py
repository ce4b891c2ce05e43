"""What a privacy requirement is: a rule that turns counts into one exact bound per sensitive value, and per set of values."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self, get_args

from sfumato.errors import Infeasible, PolicyError
from sfumato.exact import decimal_text, percent
from sfumato.parameters import Json, Takes, check_parameters, choice, parameter, plain, require_known, require_short
from sfumato.plugins import package_of
from sfumato.privacy.bounds import Bounds, SetBound
from sfumato.privacy.sets import NOTHING, About, SetRule, set_rules

Against = Literal["reader", "engineer", "insider"]


def _column_rules(where: str, given: Any) -> tuple[tuple[str, Requirement], ...]:
    """Take column = requirement pairs, in the order of their names."""
    if given is None:
        return ()
    pairs = given.items() if isinstance(given, Mapping) else given
    if not isinstance(pairs, (tuple, list)) and not isinstance(given, Mapping):
        raise PolicyError(f"{where}: expected column = requirement pairs, got {given!r}", hint='{"income": LDiversity(3)}')
    rules = sorted((str(name), own) for name, own in pairs)
    for name, own in rules:
        if not isinstance(own, Requirement):
            raise PolicyError(
                f"{where}: {name!r} has a {type(own).__name__}", hint="expected a requirement, such as LDiversity(3)"
            )
    return tuple(rules)


_NAMED_SETS: Json = {"type": "object", "additionalProperties": {"$ref": "#/definitions/SetRuleEntry"}, "minProperties": 1}
_NAMED_COLUMNS: Json = {"type": "object", "additionalProperties": {"$ref": "#/definitions/ColumnRequirement"}, "minProperties": 1}
"""What a policy may write; its schema defines SetRule and ColumnRequirement."""


@dataclass(frozen=True, kw_only=True)
class Requirement(ABC):
    """How sure may a reader become of each sensitive value, and which readers are meant (`against`)."""

    against: Against = parameter("engineer", choice(*get_args(Against)))
    sets: tuple[SetRule, ...] = parameter((), Takes(set_rules, _NAMED_SETS))
    """Bounds on the belief that a person has *one of* several values; given as name = { values = […], bound = … }."""
    columns: tuple[tuple[str, Requirement], ...] = parameter((), Takes(_column_rules, _NAMED_COLUMNS))
    """Requirements of single columns, where each of several is protected by itself; given as column = requirement."""

    model: ClassVar[str]
    bounds_odds: ClassVar[bool] = False
    """Whether the model bounds how much any odds grow, whatever anybody believed before; then shares are only examples."""

    def __new__(cls, *values: Any, **parameters: Any) -> Self:
        """Return an empty requirement, after refusing parameters that nothing should be done with."""
        require_known(cls, parameters)
        require_short(cls.__name__, {"…": list(values), **parameters})
        return super().__new__(cls)

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.columns:
            object.__setattr__(self, "columns", tuple((name, self._column_rule(name, own)) for name, own in self.columns))

    def _column_rule(self, name: str, own: Requirement) -> Requirement:
        """Return the requirement of a column, against whom this one is; one that is against somebody else is an error."""
        where = f"[requirement.columns] {name}"
        if own.columns or own.presence is not None:
            raise PolicyError(
                f"{where}: the requirement of a single column has no columns of its own and no alpha",
                hint="name a model with its numbers",
            )
        if own.bounds_odds != self.bounds_odds:
            raise PolicyError(f"{where}: either all columns have the model 'differential', or none", hint="use one kind of model")
        if own.against not in ("engineer", self.against):
            raise PolicyError(
                f"{where}: it is against {own.against!r}, the whole requirement against {self.against!r}",
                hint="give against once, for all columns",
            )
        return own._changed(against=self.against)

    def _changed(self, **given: Any) -> Self:
        """Return the same requirement with some fields changed, which are taken as they are."""
        made = copy(self)
        for name, value in given.items():
            object.__setattr__(made, name, value)
        return made

    def of(self, column: str) -> Requirement:
        """Return what is required of one of several columns, each protected by itself: its own, or what holds for all others."""
        return dict(self.columns).get(column) or self._changed(columns=())

    def _set(self, **given: Any) -> None:
        """Keep the parameters as given to a constructor that takes more kinds of numbers than are kept, and check them."""
        for name, value in given.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    @property
    def presence(self) -> Fraction | None:
        """How sure a stranger may become that a person is in the table; None for a model that does not speak of it."""
        return None

    @abstractmethod
    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the bound of every value, given the share of every value."""

    @abstractmethod
    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return parameters of this model, close to the present ones, that are feasible for these shares."""

    def bounds(self, counts: Mapping[str, int], about: About = NOTHING) -> Bounds:
        """Return the exact bounds for a table with these counts, or raise `Infeasible`.

        A value that more people have than its bound allows cannot be protected by any grouping: in some group its share is at
        least its share in the table. `about` is what else the table knows of its values.
        """
        present = {value: int(count) for value, count in counts.items() if count or about.every}
        total = sum(present.values()) if about.people is None else about.people
        if not present:
            raise PolicyError("there are no people to protect: every count is zero")
        shares = {value: Fraction(count, total) for value, count in present.items()}
        limits = self.limits(shares)
        sets = self.set_bounds(shares, about)
        if about.once is not None:
            names = list(present)
            sets = tuple(replace(rule, count=about.once([names[place] for place in rule.places])) for rule in sets)
        bounds = Bounds.of(tuple(present), tuple(present.values()), tuple(limits[value] for value in present), sets, about.people)
        have = dict(zip(bounds.labels, bounds.shares, strict=True))
        broken = {event: limit for event, limit in zip(bounds.labels, bounds.limits, strict=True) if limit < have[event]}
        if broken:
            raise self._infeasible(broken, have, shares, about)
        return bounds

    def set_bounds(self, shares: Mapping[str, Fraction], about: About = NOTHING) -> tuple[SetBound, ...]:
        """Return the bounds of all sets, given the share of every value; `places` are those of the values in `shares`."""
        place = {value: k for k, value in enumerate(shares)}
        limits = tuple(
            SetBound(name, tuple(place[value] for value in values), rule.limit(_share(values, shares, about)))
            for rule in self.sets
            for name, values in rule.sets(tuple(shares), about).items()
        )
        labels = [limit.label for limit in limits]
        if len({*labels, *shares}) < len(labels) + len(shares):
            raise PolicyError("[requirement.sets]: two sets, or a set and a value, have the same name", hint="rename a set")
        return limits

    def _nearest_sets(self, shares: Mapping[str, Fraction], about: About) -> dict[str, object]:
        """Return bounds of sets that no share exceeds, for those rules that have lower ones."""
        nearest = {}
        for rule in self.sets:
            have = [_share(values, shares, about) for values in rule.sets(tuple(shares), about).values()]
            if any(rule.limit(share) < share for share in have):
                nearest[rule.name] = rule.nearest(have, round_up)
        return {"sets": nearest} if nearest else {}

    def _infeasible(
        self, broken: Mapping[str, Fraction], shares: Mapping[str, Fraction], values: Mapping[str, Fraction], about: About
    ) -> Infeasible:
        worst = sorted(broken, key=lambda value: (broken[value] - shares[value], value))
        listed = "; ".join(
            f"{value}: {percent(shares[value])} of people have it, the bound is {percent(broken[value])}" for value in worst[:5]
        )
        more = f" (and {len(worst) - 5} more)" if len(worst) > 5 else ""
        nearest = {**(self.nearest(values) if any(one in values for one in broken) else {}), **self._nearest_sets(values, about)}
        return Infeasible(
            f"{self.model}: a bound below a value's own share cannot be kept, because everybody knows the share. {listed}{more}",
            hint=feasible(nearest),
            values=worst,
            has={value: shares[value] for value in worst},
            needs={value: shares[value] for value in worst},
            nearest=nearest,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the model and its parameters as plain JSON values, every number exact ("1/50")."""
        package = package_of(type(self))
        parameters = {name: value for name, value in plain(self).items() if name not in ("sets", "columns")}
        sets = {"sets": {rule.name: rule.to_dict() for rule in self.sets}} if self.sets else {}
        columns = {"columns": {name: own.to_dict() for name, own in self.columns}} if self.columns else {}
        return {"model": self.model, **({} if package is None else {"package": package}), **parameters, **sets, **columns}


def _share(values: tuple[str, ...], shares: Mapping[str, Fraction], about: About) -> Fraction:
    """Return the share of people who have one of these values, each person once."""
    if about.once is not None and about.people is not None:
        return Fraction(about.once(values), about.people)
    return sum((shares[value] for value in values), Fraction(0))


def feasible(nearest: Mapping[str, Any], column: str | None = None) -> str:
    """Return the advice to take these parameters, as a policy has them: bounds and sets in sections, `column` in its own."""
    where = "requirement" if column is None else f"requirement.columns.{_key(column)}"
    rest = {name: value for name, value in nearest.items() if name not in ("bounds", "sets")}
    sections = {"" if column is None else f"[{where}] ": rest, f"[{where}.bounds] ": nearest.get("bounds", {})}
    sections |= {f"[{where}.sets.{_key(name)}] ": rule for name, rule in nearest.get("sets", {}).items()}
    return "feasible would be " + "; ".join(section + _pairs(own) for section, own in sections.items() if own)


def _pairs(named: Mapping[str, object]) -> str:
    return ", ".join(f"{_key(name)} = {_show(value)}" for name, value in named.items())


def _show(value: object) -> str:
    """Return a parameter as it can be typed in a policy file."""
    if isinstance(value, Mapping):
        return "{ " + _pairs(value) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f'"{decimal_text(value)}"' if isinstance(value, Fraction) else str(value)


def _key(name: str) -> str:
    """Return a key as TOML writes it: bare where it can be, else quoted."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def round_up(number: Fraction, digits: int = 4) -> Fraction:
    """Return the smallest decimal with this many digits that is not below `number`: advice that can be typed."""
    scale = 10**digits
    return Fraction(-(-number.numerator * scale // number.denominator), scale)
