"""Whether bounds leave groups room to differ from the whole table: by counts alone, before anything is cut.

What decides is by how much the *odds* of a value in a group may exceed those in the table, g = b(1 − f) / (f(1 − b)) for a share
f and a bound b. On real tables groups with g below 2 told next to nothing, with 3 to 4 a quarter to a third of the error of
independence was left, and more than 8 gained nothing. A soft cut moreover has to afford a refusal, which needs a box of at least
κ·b/(b − f) people (`affordable_from`): bounds close to shares leave only large boxes that may be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.errors import Infeasible, PolicyError
from sfumato.exact import decimal_text, percent
from sfumato.explanation.room import variant
from sfumato.groups.soft import LEAST_CHANCE, SoftTests, affordable_from, soft_rule
from sfumato.methods.base import table_bounds
from sfumato.privacy import BetaLikeness, Bounds, FPrivacy, LDiversity, Requirement, RhoPrivacy
from sfumato.privacy.requirement import round_up
from sfumato.table import Table

ENOUGH = 3
"""By how much the odds of every value should be free to grow: below, groups differ little from the whole table there."""

FEW = 10
"""With fewer boxes a release tells hardly more than shares, and its answers have no intervals."""

_NAMED = 3
"""How many columns are described one by one."""


@dataclass(frozen=True)
class TightestValue:
    """The value, or set of values, of a column that leaves groups the least room.

    `odds` is by how much its odds may grow; `smallest` is how many people a box must have to be tested, where cuts are soft.
    """

    column: str
    event: str
    share: Fraction
    bound: Fraction
    odds: Fraction
    smallest: int | None
    needed: Fraction | None
    """The least bound, as it can be typed, that would leave room; None where no bound below 1 does."""

    def __str__(self) -> str:
        text = f"{self.column}: '{self.event}' has {percent(self.share)} of people and a bound of {percent(self.bound)}"
        if self.odds < ENOUGH:
            return f"{text}, so that its odds may grow {float(self.odds):.2g}-fold"
        return f"{text}, which allows no test in boxes of fewer than {self.smallest:,} people"


def growth(share: Fraction, bound: Fraction) -> Fraction:
    """Return g: by how much the odds of a value with this share grow when belief in it reaches its bound, below 1.

    >>> growth(Fraction(1, 4), Fraction(1, 2))
    Fraction(3, 1)
    """
    return bound * (1 - share) / (share * (1 - bound))


def too_tight(bounds: Bounds, columns: Sequence[str], rule: SoftTests | None) -> tuple[TightestValue, ...]:
    """Return for every sensitive column whose bounds leave little room the event that leaves least, the worst column first."""
    parts = bounds.each
    names = columns if len(parts) > 1 else [" and ".join(columns)]
    tightest = [tight for name, part in zip(names, parts, strict=True) for tight in _tightest(name, part, bounds.people, rule)]
    return tuple(sorted(tightest, key=lambda tight: (tight.odds, tight.column)))


def _tightest(column: str, bounds: Bounds, people: int, rule: SoftTests | None) -> list[TightestValue]:
    mark = f"{column}: "
    tightest = []
    for event, count, bound in zip(bounds.labels, bounds.counts, bounds.limits, strict=True):
        if bound == 1 or not count:
            continue
        share = Fraction(count, people)
        smallest = None if rule is None else _smallest(rule.patience, share, bound, people)
        odds = growth(share, bound)
        if odds < ENOUGH or (smallest is not None and FEW * smallest > people):
            needed = _needed(share, people, rule)
            tightest.append(TightestValue(column, event.removeprefix(mark), share, bound, odds, smallest, needed))
    return sorted(tightest, key=lambda tight: (tight.odds, tight.event))[:1]


def _smallest(patience: int, share: Fraction, bound: Fraction, people: int) -> int:
    size = affordable_from(patience, share, bound)
    return people if size is None else int(size) + 1


def _needed(share: Fraction, people: int, rule: SoftTests | None) -> Fraction | None:
    """Return the least bound with which odds may grow enough, and with which boxes of one in `FEW` people can be tested."""
    bound = ENOUGH * share / (1 + (ENOUGH - 1) * share)
    if rule is not None:
        spare = max(1 - Fraction(FEW * (rule.patience + 1), people), LEAST_CHANCE)
        bound = max(bound, share / spare)
    return round_up(bound, 3) if bound < 1 else None


def looser(table: Table, requirement: Requirement, rule: SoftTests | None) -> str:
    """Return parameters of the same model with which nothing is too tight, as a policy writes them; nothing where none do."""
    for change in _changes(requirement, table_bounds(table, requirement)):
        try:
            bounds = table_bounds(table, variant(requirement, **change))
        except (Infeasible, PolicyError):
            continue
        if not too_tight(bounds, table.schema.sensitive, None if rule is None else soft_rule(bounds)):
            return ", ".join(f"{name} = {_typed(value)}" for name, value in change.items())
    return ""


def _changes(requirement: Requirement, bounds: Bounds) -> list[dict[str, Any]]:
    if isinstance(requirement, FPrivacy):
        least = requirement.odds or Fraction(1)
        return [{"theta": max(requirement.theta, times), "odds": times} for times in map(Fraction, (4, 8)) if times > least]
    if isinstance(requirement, BetaLikeness):
        return [{"beta": Fraction(ENOUGH - 1)}, {"beta": Fraction(ENOUGH)}]
    if isinstance(requirement, LDiversity):
        return [{"l": ell} for ell in range(requirement.l - 1, 1, -1)]
    if isinstance(requirement, RhoPrivacy):
        shares = [Fraction(count, bounds.people) for count in bounds.counts]
        largest = max((share for share in shares if share <= requirement.rho1), default=Fraction(0))
        return [{"rho2": round_up(ENOUGH * largest / (1 + (ENOUGH - 1) * largest), 3)}]
    return []


def _typed(value: Fraction | int) -> str:
    return str(value) if value == int(value) else f'"{decimal_text(Fraction(value))}"'


@dataclass(frozen=True)
class Tightness:
    """What is too tight in a table, of how many secrets, and parameters that would leave room."""

    tight: tuple[TightestValue, ...]
    secrets: int
    helps: str

    @classmethod
    def of(cls, table: Table, requirement: Requirement, bounds: Bounds, rule: SoftTests | None) -> Tightness | None:
        """Return what these bounds leave too little room for; None where there is room."""
        tight = too_tight(bounds, table.schema.sensitive, rule)
        return cls(tight, len(bounds.secrets), looser(table, requirement, rule)) if tight else None

    def sentence(self, helps: Sequence[str] = ()) -> str:
        """Return which secrets are too tight, with their numbers, and what would leave room; `helps` is more of that."""
        many = f"{len(self.tight)} of {self.secrets} secrets" if self.secrets > 1 else "the bounds"
        others = [tight.column for tight in self.tight[_NAMED:]]
        more = f"; and as tight or nearly so: {', '.join(others)}" if others else ""
        named = "; ".join(map(str, self.tight[:_NAMED]))
        grown = any(tight.odds < ENOUGH for tight in self.tight)
        why = f" Groups tell something about a value whose odds may grow about {ENOUGH}-fold or more." if grown else ""
        alone = " Changing one alone helps little, since every group keeps all bounds." if len(self.tight) > 1 else ""
        ways = "; or ".join(dict.fromkeys((*helps, *self._ways())))
        return (
            f"Too tight to tell much: {many}. {_capital(named)}{more}.{why} Measured errors say what they tell of the others."
            f"{alone}" + (f" What would leave room: {ways}." if ways else "")
        )

    def _ways(self) -> list[str]:
        wanted = [
            f"{decimal_text(tight.needed)} for {tight.column} '{tight.event}'" for tight in self.tight if tight.needed is not None
        ]
        all_named = len(wanted) == len(self.tight) <= _NAMED
        bounds = [f"{'bounds' if len(wanted) > 1 else 'a bound'} of at least {', '.join(wanted)}"] if all_named else []
        column = "this column" if len(self.tight) == 1 else "these columns"
        return [*([self.helps] if self.helps else []), *bounds, *([f"the role other for {column}"] if self.secrets > 1 else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, every number exact."""
        plain = [
            {**vars(tight), **{name: str(getattr(tight, name)) for name in ("share", "bound", "odds", "needed")}}
            for tight in self.tight
        ]
        return {"secrets": self.secrets, "tight": plain, "sentence": self.sentence()}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
