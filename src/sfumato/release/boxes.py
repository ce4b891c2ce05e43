"""What a group shows of its people's quasi values: a range of numbers or dates, or a set of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Flags, Floats, Integers, Small, combine_codes
from sfumato.errors import FormatError, InputError
from sfumato.release.canonical import ranked_lists
from sfumato.table.column import Column, Kind

NOWHERE = -2
"""The position of a value that no group can hold."""
NO_VALUE = -1
"""The position of a missing value."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """A numeric or date column: per group its smallest and largest value, and whether it holds people without one.

    `values` are the distinct published ends, ascending, and nothing else; `low` and `high` number them, −1 where nobody in the
    group has a value. On the line of all values the k-th end has the position 2k + 1, what lies just below it 2k.
    """

    name: str
    kind: Kind
    values: pa.Array
    low: Small
    high: Small
    missing: Flags

    @classmethod
    def between(cls, column: Column, low: Integers, high: Integers, missing: Flags) -> Ranges:
        """Return the ranges between these codes of a column; `high` is −1 where nobody has a value."""
        nobody = high < 0
        ends = np.unique(np.concatenate([low[~nobody], high[~nobody]]))
        first, last = (np.where(nobody, -1, np.searchsorted(ends, codes)).astype(np.int32) for codes in (low, high))
        return cls(column.name, column.kind, column.values.take(pa.array(ends)), first, last, missing)

    @property
    def has_missing(self) -> bool:
        """Whether some group holds people without a value."""
        return bool(self.missing.any())

    def take(self, groups: Integers) -> Ranges:
        """Return what these groups show, in this order."""
        return replace(self, low=self.low[groups], high=self.high[groups], missing=self.missing[groups])

    def ranks(self) -> tuple[Integers, int]:
        """Return a number per group that ascends with what it shows, and how many numbers there are; no value comes last."""
        size = len(self.values) + 1
        low, high = (np.where(ends < 0, size - 1, ends).astype(np.int64) for ends in (self.low, self.high))
        return (low * size + high) * 2 + self.missing, 2 * size * size

    def positions(self, values: pa.Array) -> Integers:
        """Return where each value lies on the line of published ends; a null is `NO_VALUE`."""
        known = _comparable(self.values)
        asked = _comparable(_as_type(values, self.values.type, self.name))
        place = np.searchsorted(known, asked, side="right") + np.searchsorted(known, asked, side="left")
        nulls = np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False), dtype=bool)
        return np.where(nulls, NO_VALUE, place).astype(np.int64)

    def combinations(self) -> Floats:
        """Return how many values each group covers, no value being one more; refused where values may lie anywhere between."""
        countable = pa.types.is_integer(self.values.type) or pa.types.is_date(self.values.type)
        if not countable and (self.low != self.high).any():
            raise FormatError(
                f"column {self.name!r}: values may lie anywhere between the ends of its ranges, so that nobody can say how many "
                "combinations a group covers, which presence depends on",
                hint="publish whole numbers or days, or categories",
            )
        line = np.append(np.asarray(_comparable(self.values), np.float64), 0.0)
        covered: Floats = np.where(self.low < 0, 0.0, line[self.high] - line[self.low] + 1) + self.missing
        return covered

    def holds(self, position: int) -> Flags:
        """Return which groups can hold a person whose value has this position."""
        if position == NO_VALUE:
            return self.missing
        return (
            (2 * self.low.astype(np.int64) + 1 <= position) & (position <= 2 * self.high.astype(np.int64) + 1) & (self.low >= 0)
        )


@dataclass(frozen=True, eq=False)
class Sets:
    """A categorical column: per group the values that occur in it.

    `values` ascend; the code of a missing value is `len(values)`. The codes of group g are `codes[start[g] : start[g + 1]]`,
    ascending.
    """

    name: str
    values: pa.Array
    start: Integers
    codes: Small
    kind: Kind = "categorical"

    @cached_property
    def has_missing(self) -> bool:
        """Whether some group holds people without a value."""
        return bool((self.codes == len(self.values)).any())

    @cached_property
    def owner(self) -> Integers:
        """The group of each entry of `codes`."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def take(self, groups: Integers) -> Sets:
        """Return what these groups show, in this order."""
        length = np.diff(self.start)[groups]
        start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
        place = np.repeat(self.start[:-1][groups] - start[:-1], length) + np.arange(int(start[-1]))
        return replace(self, start=start, codes=self.codes[place])

    def ranks(self) -> tuple[Integers, int]:
        """Return a number per group that ascends with its list of values, and how many numbers there are."""
        return ranked_lists(self.start, self.codes)

    def positions(self, values: pa.Array) -> Integers:
        """Return the code of each value, `NOWHERE` for one that no group has; a null is `NO_VALUE`."""
        place = pc.index_in(_as_type(values, self.values.type, self.name), value_set=self.values).fill_null(NOWHERE)
        nulls = np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False), dtype=bool)
        return np.where(nulls, NO_VALUE, np.asarray(place)).astype(np.int64)

    def combinations(self) -> Floats:
        """Return how many values each group covers, no value being one more."""
        return np.diff(self.start).astype(np.float64)

    def holds(self, position: int) -> Flags:
        """Return which groups can hold a person whose value has this code."""
        held = np.zeros(len(self.start) - 1, bool)
        if position != NOWHERE:
            held[self.owner[self.codes == (len(self.values) if position == NO_VALUE else position)]] = True
        return held


Box = Ranges | Sets


def box_of(column: Column, group: Array, groups: int) -> Box:
    """Return what every group shows of a column: the smallest range or set that holds its people, and no other value."""
    codes = column.codes.astype(np.int64)
    if column.kind == "categorical":
        pairs = np.unique(group.astype(np.int64) * column.size + codes)
        used, short = np.unique(pairs % column.size, return_inverse=True)
        start = np.searchsorted(pairs // column.size, np.arange(groups + 1)).astype(np.int64)
        known = used[used < len(column.values)]
        return Sets(column.name, column.values.take(pa.array(known)), start, short.astype(np.int32))
    held = codes < len(column.values)
    low = np.full(groups, len(column.values), np.int64)
    high = np.full(groups, -1, np.int64)
    np.minimum.at(low, group[held], codes[held])
    np.maximum.at(high, group[held], codes[held])
    missing = np.zeros(groups, bool)
    missing[group[~held]] = True
    return Ranges.between(column, low, high, missing)


def extents(column: Column, group: Array, groups: int) -> tuple[Integers, Integers]:
    """Return the least and the largest code of a column in every group; a missing value is the largest of all."""
    low, high = np.full(groups, column.size, np.int64), np.zeros(groups, np.int64)
    np.minimum.at(low, group, column.codes)
    np.maximum.at(high, group, column.codes)
    return low, high


def box_ranks(boxes: Sequence[Box]) -> Integers:
    """Return a number per group that ascends with all that it shows of its people's quasi values."""
    dense: Integers = np.unique(combine_codes([box.ranks() for box in boxes]), return_inverse=True)[1].astype(np.int64)
    return dense


def fitting(boxes: Sequence[Box], positions: Sequence[int]) -> Flags:
    """Return which groups can hold a person with these positions, one per column."""
    held: Flags = np.logical_and.reduce([box.holds(int(place)) for box, place in zip(boxes, positions, strict=True)])
    return held


def _as_type(values: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    try:
        if pa.types.is_integer(kind) and pa.types.is_floating(values.type):
            return values
        return values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"column {name!r}: values of type {values.type}", hint=f"expected {kind} values") from None


def _comparable(values: pa.Array) -> Any:
    """Return numbers that compare as the values do; dates as days or microseconds, nulls as 0."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    return values.fill_null(0).to_numpy(zero_copy_only=False)
