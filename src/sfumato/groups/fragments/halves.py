"""Disjoint boxes that hide presence also from a stranger who knows the program: only halves are cut, and only one cut is tried.

Where a box might be cut follows from what it shows if it stays whole: in the column that shows the most values, among those that
show an even number, with the lower half of these values on one side. The cut is made if both sides keep what a box has to keep.
Then everything that a box shows of itself when it is cut, its parts show too. And that a cut could not be made tells nothing of
single values: exchange two values of a half, or the halves, or two values of another column, and it still cannot be made
(docs/guarantees.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.groups.cuts import column_weights
from sfumato.groups.fragments.cover import PresenceRule, require_presence
from sfumato.groups.grouping import Grouping, need_table
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.table.column import Column


@dataclass(frozen=True, eq=False)
class HalvedBox:
    """People, the codes that they have in every column, and how many have each sensitive value, and one of each set."""

    rows: Integers
    shown: tuple[Integers, ...]
    counts: Integers

    @property
    def combinations(self) -> int:
        """V: how many combinations the values make up."""
        return prod(len(codes) for codes in self.shown)


@dataclass(frozen=True, eq=False)
class HalvingRule:
    """What every box keeps, and where the one cut of a box would be."""

    columns: Sequence[Column]
    sensitive: Array
    bounds: Bounds
    rule: PresenceRule

    def box(self, rows: Integers) -> HalvedBox:
        """Return the box of these people."""
        values = np.bincount(self.sensitive[..., rows].ravel(), minlength=self.bounds.valued)
        counts = np.array([*values, *(values[list(members)].sum() for members in self.bounds.members)], dtype=np.int64)
        return HalvedBox(rows, tuple(_distinct(column.codes[rows], column.size) for column in self.columns), counts)

    def place(self, box: HalvedBox) -> tuple[int, int] | None:
        """Return the column to halve and the last code of its lower half; None if none shows an even number of values."""
        many = [len(codes) for codes in box.shown]
        even = [j for j in range(len(many)) if many[j] % 2 == 0]
        if not even:
            return None
        column = max(even, key=lambda j: (many[j] * self._weights[j], -j))
        return column, int(box.shown[column][many[column] // 2 - 1])

    def sides(self, box: HalvedBox, place: tuple[int, int]) -> tuple[HalvedBox, HalvedBox] | None:
        """Return the two sides of a cut, if both keep the floor, the bounds on values and α."""
        lower = self.columns[place[0]].codes[box.rows] <= place[1]
        left, right = box.rows[lower], box.rows[~lower]
        smaller = min(len(left), len(right))
        if smaller < self.rule.floor or (not self.rule.tight and self._least(box) > smaller):
            return None
        pair = self.box(left), self.box(right)
        return pair if all(self._keeps(side) for side in pair) else None

    def _keeps(self, box: HalvedBox) -> bool:
        n = len(box.rows)
        return self._least(box) <= n and (self.rule.alpha == 1 or n <= self.rule.alpha * box.combinations)

    def _least(self, box: HalvedBox) -> int:
        """Return the smallest group in which the counts of this box keep their bounds."""
        need, start = self._need
        return int(need[start[:-1] + box.counts].max())

    @cached_property
    def _weights(self) -> list[Fraction]:
        return [Fraction(weight) for weight in column_weights(self.columns, self.rule.weights).tolist()]

    @cached_property
    def _need(self) -> tuple[Integers, Integers]:
        return need_table(self.bounds)


def half_boxes(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    rule: PresenceRule,
    *,
    progress: Progress = silent,
) -> Grouping:
    """Return boxes that keep the bounds and the rule, each the whole or a half of a larger one."""
    people = sensitive.shape[-1]
    require_presence(columns, people, rule.alpha, bounded=bounds.protects)
    halving = HalvingRule(columns, sensitive, bounds, rule)
    group = np.empty(people, np.int32)
    waiting = [halving.box(np.arange(people))]
    groups = done = 0
    while waiting:
        box = waiting.pop()
        place = halving.place(box)
        halves = None if place is None else halving.sides(box, place)
        if halves is not None:
            waiting += halves
            continue
        group[box.rows] = groups
        groups, done = groups + 1, done + len(box.rows)
        progress("halving quasi space", done / people)
    return Grouping(group, groups, "tight" if rule.tight else "safe")


def _distinct(codes: Array, size: int) -> Integers:
    """Return the codes that occur, ascending."""
    return np.flatnonzero(np.bincount(codes, minlength=size)) if size < 4 * len(codes) else np.unique(codes).astype(np.int64)
