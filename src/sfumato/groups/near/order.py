"""Where people lie: the scale of every column, orders in which near people follow each other, and who is nearest to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import prange

from sfumato._jit import njit
from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.groups.cuts import Space
from sfumato.randomness import Randomness
from sfumato.table.column import Column

BLOCK = 800  # neighbours are looked for among so many people who follow each other
NEIGHBOURS = 32
_LEAF = 6

FINE = 1 << 30
"""Places in whole numbers: so many steps make up a column's domain."""


@dataclass(frozen=True, eq=False)
class Scale:
    """What a box costs: categories `unit` each after the first, numbers by how far apart their `place`s are.

    `codes` are the columns', rows first. A numeric column has the unit 0, a categorical one the place 0 everywhere.
    """

    codes: Small  # [rows × columns]
    first: Integers  # first code of each column in `place`, one entry more than columns
    place: Floats
    unit: Floats
    absent: Integers  # the code that means missing in a numeric or date column, −1 for none

    @classmethod
    def of(cls, columns: Sequence[Column], widths: Sequence[float]) -> Scale:
        """Return the scale of columns whose domains have these widths: upper − lower end, or categories − 1."""
        space = Space.of(columns)
        unit, place, absent = np.zeros(len(columns)), np.zeros(int(space.first[-1])), np.full(len(columns), -1, np.int64)
        for j, (column, width) in enumerate(zip(columns, widths, strict=True)):
            if column.kind == "categorical":
                unit[j] = 1 / width if width > 0 else 0.0
                continue
            absent[j] = len(column.values) if column.has_missing else -1
            seen = seen_width(column)
            if width > 0:
                place[space.first[j] : space.first[j + 1]] = space.position[space.first[j] : space.first[j + 1]] * seen / width
        return cls(np.ascontiguousarray(space.codes.T), space.first, place, unit, absent)

    @cached_property
    def steps(self) -> Integers:
        """The places in whole numbers: their sums are the same in any order of the rows."""
        return np.rint(self.place * FINE).astype(np.int64)

    def take(self, rows: Array) -> Scale:
        """Return the scale with these rows."""
        return Scale(np.ascontiguousarray(self.codes[rows]), self.first, self.place, self.unit, self.absent)

    def order(self, random: Randomness, *, wobble: float) -> Integers:
        """Return an order in which near people follow each other; `wobble` > 0 lets chance choose among good ones."""
        seed = random.words(1)
        return np.asarray(kd_order(self.codes, self.first, self.steps, self.unit, wobble, seed.copy()))


def seen_width(column: Column) -> float:
    """Return upper − lower end of the values seen, dates in days, or categories − 1."""
    if column.kind == "categorical":
        return float(max(column.size - 1, 0))
    if len(column.values) < 2:
        return 0.0
    low, high = column.values[0].as_py(), column.values[-1].as_py()
    apart = high - low
    return float(apart.total_seconds() / 86_400) if column.kind == "date" else float(apart)


def neighbours(scale: Scale, orders: Sequence[Integers], random: Randomness) -> Small:
    """Return for every row its nearest rows among those close to it in one of the orders; −1 where there are fewer."""
    near = np.full((len(scale.codes), NEIGHBOURS), -1, np.int32)
    apart = np.full((len(scale.codes), NEIGHBOURS), np.inf, np.float32)
    for order in orders:
        turn = random.below(BLOCK, 1)[0]
        find_neighbours(scale.codes, scale.first, scale.place, scale.unit, order, int(turn), near, apart)
    return near


@njit(cache=True)
def _fraction(word: Any) -> Any:
    word[0] += np.uint64(0x9E3779B97F4A7C15)
    z = word[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True)
def _variety(mine: Any, codes: Any, j: int, first: Any, steps: Any, unit: Any, times: Any) -> Any:
    """Return how far apart two people of a box are in column j, roughly; sums are whole, the same in any order of the rows."""
    people = len(mine)
    if unit[j] > 0:
        alike = np.int64(0)
        for row in mine:
            times[codes[row, j]] += 1
        for row in mine:
            code = codes[row, j]
            alike += times[code] ** 2
            times[code] = 0
        return unit[j] * (1 - alike / (people * people))
    total = np.int64(0)
    for row in mine:
        total += steps[first[j] + codes[row, j]]
    mean = total // people
    away = np.int64(0)
    for row in mine:
        away += abs(steps[first[j] + codes[row, j]] - mean)
    return 1.3 * away / (people * FINE)


@njit(cache=True)
def _halve(mine: Any, codes: Any, j: int, rank: int) -> int:
    """Put the people with lower codes first, cut at the boundary nearest a rank, and return how many they are."""
    people = len(mine)
    column = np.empty(people, np.int32)
    for k in range(people):
        column[k] = codes[mine[k], j]
    middle = np.partition(column, rank)[rank]
    below, upto = 0, 0
    for code in column:
        below += code < middle
        upto += code <= middle
    last = middle - 1 if below > 0 and (upto == people or rank - below <= upto - rank) else middle
    lefts, rights = 0, 0
    right = np.empty(people, mine.dtype)
    for k in range(people):
        if column[k] <= last:
            mine[lefts] = mine[k]
            lefts += 1
        else:
            right[rights] = mine[k]
            rights += 1
    mine[lefts:] = right[:rights]
    return lefts


@njit(cache=True)
def kd_order(codes: Any, first: Any, steps: Any, unit: Any, wobble: float, word: Any) -> Any:
    """Return the rows in an order that cuts boxes in two across the column in which their people differ most."""
    rows = np.arange(len(codes))
    widest = 0
    for j in range(len(unit)):
        widest = max(widest, first[j + 1] - first[j])
    times = np.zeros(widest, np.int64)
    stack = [(0, len(rows))]
    while len(stack) > 0:
        low, high = stack.pop()
        mine = rows[low:high]
        if high - low <= _LEAF:
            continue
        best, column = 0.0, -1
        for j in range(len(unit)):
            found = _variety(mine, codes, j, first, steps, unit, times) * np.exp(wobble * (2 * _fraction(word) - 1))
            if found > best:
                best, column = found, j
        if column < 0:
            continue
        share = 0.5 + 0.3 * wobble * (_fraction(word) - 0.5)
        left = _halve(mine, codes, column, int(share * (high - low)))
        if 0 < left < high - low:
            stack.append((low + left, high))
            stack.append((low, low + left))
    return rows


@njit(cache=True)
def _spots(mine: Any, codes: Any, first: Any, place: Any, unit: Any) -> Any:
    """Return [columns × people] where on its scale each code lies, the code itself for a category."""
    spots = np.empty((len(unit), len(mine)), np.float32)
    for j in range(len(unit)):
        for k in range(len(mine)):
            code = codes[mine[k], j]
            spots[j, k] = np.float32(code) if unit[j] > 0 else np.float32(place[first[j] + code])
    return spots


@njit(cache=True)
def _distances(spots: Any, unit: Any, a: int, away: Any) -> None:
    """Set how far everybody is from person a; column by column, which lets the machine do several people at once."""
    away[:] = 0
    for j in range(len(unit)):
        row, here, step = spots[j], spots[j, a], np.float32(unit[j])
        if step > 0:
            for b in range(len(away)):
                away[b] += step if row[b] != here else np.float32(0)
        else:
            for b in range(len(away)):
                away[b] += abs(row[b] - here)


@njit(cache=True)
def _keep(near: Any, apart: Any, b: int, d: Any) -> None:
    """Put b among somebody's nearest, which are in order, unless it is there already."""
    for known in near:
        if known == b:
            return
    at = len(near) - 1
    while at > 0 and apart[at - 1] > d:
        apart[at], near[at] = apart[at - 1], near[at - 1]
        at -= 1
    apart[at], near[at] = d, b


@njit(cache=True, parallel=True)
def find_neighbours(codes: Any, first: Any, place: Any, unit: Any, order: Any, turn: int, near: Any, apart: Any) -> None:
    """Add to everybody's nearest those of her block of the order, blocks beginning at a turn."""
    people, most = len(order), near.shape[1]
    blocks = (people + turn + BLOCK - 1) // BLOCK
    for block in prange(blocks):
        mine = order[max(block * BLOCK - turn, 0) : min((block + 1) * BLOCK - turn, people)]
        spots = _spots(mine, codes, first, place, unit)
        away = np.empty(len(mine), np.float32)
        for k in range(len(mine)):
            a = mine[k]
            _distances(spots, unit, k, away)
            for later in range(1, len(mine)):  # those who follow first: equally near ones would all be the first of the block
                b = k + later if k + later < len(mine) else k + later - len(mine)
                if away[b] < apart[a, most - 1]:
                    _keep(near[a], apart[a], mine[b], away[b])
