"""Quasi columns as the lines along which boxes are cut, by the published rows alone, and where on each a group's people lie.

Numbers and dates lie where they are, from 0 for the smallest to 1 for the largest. Categories lie in the order of the first
principal axis of their mean ranks in the other columns, in whole numbers (docs/formats.md, "How cuts are replayed"). It is
written apart from what cuts boxes, whose faults it would share otherwise. Whoever cannot hold rows gives them in blocks: what is
kept is how many people of each group have each value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers
from sfumato.auditor._replay_kernels import count_codes
from sfumato.table.column import Column

LineBlocks = Iterable[Sequence[Array]]
"""Blocks of published rows, read more than once: a code for every quasi column, then the group from 0 on."""

_ROUGH, _SHARP, _LONGEST = 15, 30, 20
"""Bits: of mean ranks while the axis is sought, of mean ranks along it, and of the axis' largest entry."""
_SQUARINGS = 12
_NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Line:
    """A column: `place` and `people` say who of a group lies where, entries of group b from start[b] on.

    Missing numbers and dates lie nowhere; `lost` counts them by group. `low` and `high` are the first and last place of each
    group, high −1 where all its people are lost. Places of a category are `levels`, which may be cut one from all others.
    """

    position: Floats
    start: Integers
    place: Integers
    people: Integers
    lost: Integers
    low: Integers
    high: Integers
    levels: bool


def lines_of(quasi: Sequence[Column], rows: LineBlocks, groups: int) -> list[Line]:
    """Return the line of every quasi column."""
    counted = [_CodeCounts(column.size, groups) for column in quasi]
    for block in rows:
        *codes, group = block
        for counter, mine in zip(counted, codes, strict=True):
            counter.add(group, mine)
    counts = [counter.counts() for counter in counted]
    times = [
        np.bincount(code, weights=people, minlength=column.size) for (_, code, people), column in zip(counts, quasi, strict=True)
    ]
    order = _orders(quasi, [count.astype(np.int64) for count in times], rows)
    return [_line(column, *count, order.get(j), groups) for j, (column, count) in enumerate(zip(quasi, counts, strict=True))]


class _CodeCounts:
    """How many people of each group have each code, added up block by block."""

    def __init__(self, size: int, groups: int) -> None:
        self.size, self.groups = size, groups
        self.keys: list[Integers] = []
        self.people: list[Integers] = []

    def add(self, group: Array, code: Array) -> None:
        first = int(group.min(initial=self.groups))
        room = (int(group.max(initial=first)) - first + 1) * self.size
        if room <= 4 * len(group):
            counts = np.zeros(room, np.int64)
            count_codes(group, code, first, self.size, counts)
            key = np.flatnonzero(counts)
            people = counts[key]
        else:
            key, people = np.unique((group.astype(np.int64) - first) * self.size + code, return_counts=True)
        self.keys.append(key + first * self.size)
        self.people.append(people.astype(np.int64))

    def counts(self) -> tuple[Integers, Integers, Integers]:
        """Return group, code and number of people, by group and then code; blocks may share groups."""
        key, people = (np.concatenate([np.zeros(0, np.int64), *parts]) for parts in (self.keys, self.people))
        if (key[1:] <= key[:-1]).any():
            key, of = np.unique(key, return_inverse=True)
            total = np.zeros(len(key), np.int64)
            np.add.at(total, of, people)
            people = total
        return key // self.size, key % self.size, people


def _line(column: Column, group: Integers, code: Integers, people: Integers, order: Integers | None, groups: int) -> Line:
    lost, position = np.zeros(groups, np.int64), np.zeros(column.size)
    if column.kind == "categorical":
        position = np.arange(column.size) / max(column.size - 1, 1)
    else:
        position[: len(column.values)] = _between_0_and_1(column)
        absent = code == len(column.values)
        lost[group[absent]] = people[absent]
        group, code, people = group[~absent], code[~absent], people[~absent]
    place = code if order is None else order[code]
    low, high = np.full(groups, _NOWHERE), np.full(groups, -1)
    np.minimum.at(low, group, place)
    np.maximum.at(high, group, place)
    start = np.searchsorted(group, np.arange(groups + 1)).astype(np.int64)
    return Line(position, start, place, people, lost, low, high, column.kind == "categorical")


def _between_0_and_1(column: Column) -> Floats:
    """Return where values lie, which ascend; halves, because the widest range of doubles has no finite width."""
    values = column.values
    if column.kind == "date":
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    halves = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64) / 2
    if len(halves) == 0 or not halves[-1] - halves[0] > 0:
        return np.zeros(len(halves))
    ranks: Floats = (halves - halves[0]) / (halves[-1] - halves[0])
    return ranks


def _orders(quasi: Sequence[Column], times: Sequence[Integers], rows: LineBlocks) -> dict[int, Integers]:
    """Return the place of each category of the columns whose categories have an order: three or more, beside another column."""
    ordered = [j for j, column in enumerate(quasi) if column.kind == "categorical" and column.size >= 3 and len(quasi) > 1]
    if not ordered:
        return {}
    doubled = [2 * np.cumsum(count) - count for count in times]  # twice the middle rank of everybody with a code: whole numbers
    sums = {j: np.zeros((quasi[j].size, len(quasi)), np.int64) for j in ordered}
    for block in rows:
        for k, rank in enumerate(doubled):
            mine = rank[block[k]]
            for j in ordered:
                if j != k:
                    np.add.at(sums[j][:, k], block[j], mine)
    return {j: _places(times[j], np.delete(sums[j], j, axis=1)) for j in ordered}


def _places(times: Integers, sums: Integers) -> Integers:
    """Return the place of each category, given how often it occurs and the sums of its people's doubled ranks [× columns]."""
    people = int(times.sum())
    mean = (sums - people * times[:, None]) / np.maximum(people * times, 1)[:, None]  # one quotient each: rounded in one way
    rough = np.rint(mean * 2.0**_ROUGH).astype(np.int64)
    axis = _principal_axis(_whole(rough.T) @ (_whole(rough) * _whole(times)[:, None]))
    along = _whole(np.rint(mean * 2.0**_SHARP).astype(np.int64)) @ axis
    place = np.empty(len(times), np.int64)
    place[sorted(range(len(times)), key=lambda category: along[category])] = np.arange(len(times))  # ties stay by name
    return place


def _whole(numbers: Integers) -> Any:
    """Return Python's own integers, which are never too small for a product."""
    return numbers.astype(object)


def _principal_axis(squares: Any) -> Any:
    """Return about the first eigenvector: a column of a high power of the matrix, the first with the largest diagonal entry."""
    bits = (62 - len(squares).bit_length()) // 2
    power = _to_bits(squares, bits)
    for _ in range(_SQUARINGS):
        power = _to_bits(power @ power, bits)
    diagonal = [power[k, k] for k in range(len(power))]
    return _to_bits(power[:, diagonal.index(max(diagonal))], _LONGEST)


def _to_bits(numbers: Any, bits: int) -> Any:
    """Return the numbers times a power of two, rounded down, so that the largest one has so many bits."""
    more = max(abs(number) for number in numbers.ravel()).bit_length() - bits
    return numbers // (1 << more) if more > 0 else numbers * (1 << -more)
