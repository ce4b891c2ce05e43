"""How the people of a group lie in its ranges and sets: evenly, or as the release as a whole suggests.

`even` is the papers' assumption. `fitted` estimates for every column how often each unit occurs, from all groups together: it
spreads the people of every group over its units in proportion to the current shares, adds up, and starts again (expectation
maximisation). Groups are shown by their smallest box, so at least one person has each end of a range and each
value of a set; the numbers there are taken as Poisson, given that they are not 0. In a group of two with the range 20–60 nobody
is thus taken to be 40.

`fitted` is the default by measurement. Census of 100,000, Occupation, boxes shown as ranges, median relative error of `even` and
of `fitted` on the Anatomy-style / range workload: tight boxes of at least 100 people at 8f + 0.02 .374 / .259 and .131 / .126,
of at least 2 .221 / .112 and .068 / .049; at 32f + 0.02 .045 / .018 and .019 / .009; safe boxes at 32f + 0.02 .279 / .091 and
.050 / .039, at 8f + 0.02 .992 / 6.03 and .252 / .150. The same groups as buckets, which show exact quasi values, do better still.

**Ranges of one's own** (003, ring). A record's ranges are the smallest box of the m people that it was matched with, any of
whom may be behind it, and everybody is among the matches of m records. So a record is spread like a group of m people, and
counts as one: at each end of its ranges is one person in m, not the record itself. People who are matched are chosen near
each other, and so are not drawn as expectation maximisation takes them to be: its rounds draw everybody toward the middle,
where most ranges overlap. So shares go only part of the way from equal ones to those of one round: `own_step`. See
docs/answers.md for what was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from sfumato.arrays import Array, Bytes, Flags, Floats, Integers, Small
from sfumato.query.language.disjoint import Conjunction
from sfumato.query.model_cache import fitting
from sfumato.query.models import _spread_kernels as kernels
from sfumato.query.models.protocol import Moments
from sfumato.query.models.units import CodeUnits, RangeColumn, SetColumn

ROUNDS = 300
"""Most rounds of expectation maximisation. Where groups are large and few, 10 are far too few; beyond 300 nothing is gained."""

LEAST_STEP = 0.25
"""How much of one round is made for records with ranges of their own and few matches: with a half, age can err more than `even`
does."""

WHOLE_STEP = 50
"""So many matches are near each other no more, and one round is made whole; with fewer, as much of it as they are of these."""

SETTLED = 1e-5
"""Rounds end when the shares of a column move by less than this in all."""


class GroupValues(NamedTuple):
    """The groups' sensitive values: `start[g]` is the first entry of group g among `value` and `times`."""

    sizes: Integers
    start: Integers
    value: Small
    times: Integers


class Reach(NamedTuple):
    """Per group the share of people who meet a condition, and whether any may and all must."""

    share: Floats
    may: Bytes
    must: Bytes

    @classmethod
    def full(cls, groups: int, value: int) -> Reach:
        """Return the reach of a condition that everybody meets (1), or nobody (0)."""
        return cls(np.full(groups, float(value)), *(np.full(groups, value, np.uint8) for _ in range(2)))


class RangeShares(NamedTuple):
    """For each group the share of people per unit of `weight` between its ends, at either end, and without a value."""

    weight: Floats
    inner: Floats
    at_low: Floats
    at_high: Floats
    at_missing: Floats


@dataclass(frozen=True, eq=False)
class RangeSpread:
    """How people lie in the ranges of a column."""

    column: RangeColumn
    shares: RangeShares

    def narrow(self, accepted: Flags, cut: CodeUnits | None, reach: Reach) -> None:
        """Narrow the reach of a condition to people whose code in this column is accepted."""
        inside = self.column.inside(accepted, cut)
        before = np.concatenate(([0.0], np.cumsum(self.shares.weight * inside.share[:-1])))
        some = np.concatenate(([0], np.cumsum(inside.some[:-1], dtype=np.int64)))
        whole = some if cut is None else np.concatenate(([0], np.cumsum(inside.whole[:-1], dtype=np.int64)))
        kernels.range_share(self.column.ends, self.shares, kernels.UnitSums(inside.share, before, some, whole), reach)


@dataclass(frozen=True, eq=False)
class SetSpread:
    """For each entry of a column's sets the share of the group's people who have it."""

    column: SetColumn
    part: Floats

    def narrow(self, accepted: Flags, cut: CodeUnits | None, reach: Reach) -> None:
        """Narrow the reach of a condition to people whose code in this column is accepted."""
        kernels.set_share(self.column.start, self.column.codes, self.part, accepted.view(np.uint8), *reach)


Spread = RangeSpread | SetSpread


class AskedBoxes(NamedTuple):
    """A piece of a question to groups that are shown column by column: disjoint conditions, for which values.

    `cuts` says how the codes of each column make up the units of a continuum.
    """

    conjunctions: Sequence[Conjunction]
    values: Flags
    cuts: Sequence[CodeUnits | None]


class ShownBoxes(Protocol):
    """Groups that are shown column by column, as models are fitted to them."""

    @property
    def columns(self) -> tuple[RangeColumn | SetColumn, ...]:
        """What is shown of each quasi column."""

    @property
    def shown(self) -> GroupValues:
        """The groups' sensitive values."""

    @property
    def values(self) -> int:
        """How many sensitive values there are."""

    @property
    def behind(self) -> Integers:
        """How many people the box of each group was drawn around."""

    @property
    def own(self) -> bool:
        """Whether records have ranges of their own."""

    @property
    def no_interval(self) -> str:
        """Why no answer has an interval."""

    @property
    def evenly(self) -> Spreads:
        """People spread evenly."""


@dataclass(frozen=True, eq=False)
class Spreads:
    """How people lie in every column; columns are unrelated inside a group."""

    each: tuple[Spread, ...]
    shown: GroupValues
    note: str

    version: ClassVar[int] = 3

    @classmethod
    def fit(cls, groups: ShownBoxes) -> Spreads:
        """Return people spread as all groups together suggest."""
        spreads = (fitted(column, groups.behind, own=groups.own) for column in groups.columns)
        return cls(tuple(spreads), groups.shown, groups.no_interval)

    @classmethod
    def even(cls, groups: ShownBoxes) -> Spreads:
        """Return people spread evenly in every column."""
        return cls(tuple(even(column) for column in groups.columns), groups.shown, groups.no_interval)

    def estimate(self, question: AskedBoxes) -> Moments:
        """Return the number of people in a piece of a question, and what is certain of it."""
        reach, (_, *shown) = self.reach(question.conjunctions, question.cuts), self.shown
        value, variance, least, most = kernels.weigh_groups(*reach, question.values.view(np.uint8), *shown)
        return Moments(value, variance, self.note, least=least, most=most)

    def reach(self, conjunctions: Sequence[Conjunction], cuts: Sequence[CodeUnits | None]) -> Reach:
        """Return per group the share of people who meet one of the conjunctions."""
        groups = len(self.shown.sizes)
        total = Reach.full(groups, 0)
        for conjunction in conjunctions:
            reach = Reach.full(groups, 1)
            for column, accepted in conjunction.items():
                self.each[column].narrow(accepted, cuts[column], reach)
            total.share[:] += reach.share
            total.may[:] |= reach.may
            total.must[:] |= reach.must
        np.minimum(total.share, 1.0, out=total.share)
        return total

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        arrays: dict[str, Array] = {}
        for j, spread in enumerate(self.each):
            if isinstance(spread, SetSpread):
                arrays[f"part {j}"] = spread.part
            else:
                arrays |= {f"{name} {j}": each for name, each in spread.shares._asdict().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: ShownBoxes) -> Spreads:
        """Return the spreads that have these arrays; `ValueError` if they are not of these groups."""
        many = len(groups.behind)
        made: list[Spread] = []
        for j, column in enumerate(groups.columns):
            if isinstance(column, SetColumn):
                made.append(SetSpread(column, fitting(arrays, f"part {j}", (len(column.codes),))))
                continue
            lengths = {name: column.width.shape if name == "weight" else (many,) for name in RangeShares._fields}
            made.append(
                RangeSpread(column, RangeShares(*(fitting(arrays, f"{name} {j}", size) for name, size in lengths.items())))
            )
        return cls(tuple(made), groups.shown, groups.no_interval)


def even(column: RangeColumn | SetColumn) -> Spread:
    """Return people spread evenly: over the units of a range, the length of a continuum, the values of a set.

    A missing value counts as one more unit; in a continuum as one more value beside the published ends in the range.
    """
    if isinstance(column, SetColumn):
        length = np.diff(column.start)
        return SetSpread(column, np.repeat(1.0 / np.maximum(length, 1), length))
    before = np.concatenate(([0.0], np.cumsum(column.width)))
    known = column.ends.low >= 0
    low, high = np.maximum(column.ends.low, 0), np.maximum(column.ends.high, 0)
    missing = column.ends.missing.astype(np.float64)
    if column.continuous:
        values = np.where(missing > 0, 1.0 - 1.0 / ((high - low) // 2 + 2), 1.0)
        inside = before[high] - before[low]
        point = high == low
        inner = np.where(point, 0.0, values / np.where(inside > 0, inside, 1.0))
        at_low, at_high, at_missing = np.where(point, values, 0.0), np.zeros(len(low)), 1.0 - values
    else:
        inner = at_low = 1.0 / (high - low + 1 + missing)
        at_high, at_missing = np.where(high > low, inner, 0.0), inner * missing
    parts = (np.where(known, part, other) for part, other in ((inner, 0.0), (at_low, 0.0), (at_high, 0.0), (at_missing, 1.0)))
    return RangeSpread(column, RangeShares(column.width, *parts))


def fitted(column: RangeColumn | SetColumn, behind: Integers, *, own: bool = False) -> Spread:
    """Return people spread as the shares of all groups together suggest; so many are behind the box of each group.

    `own`: records have ranges of their own.
    """
    return _learned_sets(column, behind, own) if isinstance(column, SetColumn) else _learned_ranges(column, behind, own)


def _learned_ranges(column: RangeColumn, behind: Integers, own: bool) -> RangeSpread:
    people = max(int(behind.sum()), 1)
    weight = np.append(_first_guess(column, people), max(1.0, float(column.ends.missing.sum())) / people)
    shares = RangeShares(weight, *(np.empty(len(behind)) for _ in range(4)))
    step = own_step(behind) if own else None
    used = _settle(weight, step, lambda current, expected: kernels.spread_ranges(behind, column.ends, current, shares, expected))
    return RangeSpread(column, shares._replace(weight=used[:-1]))


def _learned_sets(column: SetColumn, behind: Integers, own: bool) -> SetSpread:
    codes = int(column.codes.max(initial=-1)) + 1
    part = np.empty(len(column.codes))
    room = np.empty(int(np.diff(column.start).max(initial=0)))

    def spread(current: Floats, expected: Floats) -> None:
        kernels.spread_sets(behind, column.start, column.codes, current, room, part, expected)

    _settle(np.full(codes, 1.0 / max(codes, 1)), own_step(behind) if own else None, spread)
    return SetSpread(column, part)


def own_step(matches: Integers) -> float:
    """Return how much of one round is made for records with so many matches each."""
    return min(1.0, max(LEAST_STEP, float(matches.mean()) / WHOLE_STEP)) if len(matches) else 1.0


def _settle(weight: Floats, step: float | None, spread: Callable[[Floats, Floats], None]) -> Floats:
    """Return the weights that people were spread by last: those that spreading gives back, or those after all rounds.

    With a `step` so much of one round is made.
    """
    used: Floats = weight / weight.sum()
    expected = np.empty(len(weight))
    spread(used, expected)
    if step is not None:
        used = used + step * (expected / expected.sum() - used)
        spread(used, expected)
        return used
    for _ in range(ROUNDS - 1):
        before, used = used, expected / expected.sum()
        spread(used, expected)
        if np.abs(used - before).sum() < SETTLED:
            break
    return used


def _first_guess(column: RangeColumn, people: int) -> Floats:
    """Return equal shares by width; the single points of a continuum start with the people who are certainly there."""
    start = column.width / max(float(column.width.sum()), 1e-300)
    if column.continuous:
        known = column.ends.low >= 0
        for ends in (column.ends.low, column.ends.high):
            start = start + np.bincount(ends[known], minlength=len(start)) / people
    return start / max(float(start.sum()), 1e-300)
