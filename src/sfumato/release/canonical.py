"""The one order in which a release is written down (docs/formats.md): any other order of rows or groups could leak information.

Rows of a table are sorted by group, then by what they show, column after column. Groups are numbered by what they show: by
their sorted rows in the first table, then in the second, and so on. Of two groups of which one shows the first rows of
the other, the shorter comes first. Groups that show the same are interchangeable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Integers, Small, counted, taken
from sfumato.errors import FormatError
from sfumato.release._canonical_kernels import first_fall, ranks, sort_ties
from sfumato.table.coding import ascending, falls, place_type, sorted_with_places

_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class TableRows:
    """One table of a release: the group of every row, and a number from 0 on that ascends with what the row shows."""

    name: str
    group: Array
    key: Integers


@dataclass(frozen=True, eq=False)
class CanonicalOrder:
    """`number[g]` is the canonical number of group g, from 0 on; `rows[t][i]` is the row that stands i-th in table t."""

    number: Small
    rows: tuple[Array, ...]


def canonical_order(tables: Sequence[TableRows], groups: int) -> CanonicalOrder:
    """Return the canonical order of these tables of groups 0 … groups−1, whatever order they are in."""
    sorted_rows = [_by_group(table) for table in tables]
    starts = [_starts(table.group, groups) for table in tables]
    order = _by_first_rows(tables[0].key, sorted_rows[0], starts[0])
    if order is None:
        start, keys = _sequences([table.key[rows] for table, rows in zip(tables, sorted_rows, strict=True)], starts)
        order = sort_ties(start, keys, ascending(keys[start[:-1]] + 1))
    number = np.empty(groups, np.int32)
    number[order] = np.arange(groups, dtype=np.int32)
    return CanonicalOrder(
        number, tuple(taken(rows, _segments(begin, order)) for rows, begin in zip(sorted_rows, starts, strict=True))
    )


def _by_first_rows(key: Integers, rows: Array, start: Integers) -> Integers | None:
    """Return the order of groups by the first row of each, where no two begin alike; None where that does not decide."""
    if (start[1:] == start[:-1]).any():
        return None
    ranked, order = sorted_with_places(key[rows[start[:-1]]].astype(np.int64), used_up=True)
    return None if (ranked[1:] == ranked[:-1]).any() else order


def require_canonical(tables: Sequence[TableRows], groups: int) -> None:
    """Raise `FormatError` unless rows and groups are in canonical order; group numbers must lie in 0 … groups−1."""
    for table in tables:
        if _rows_fall(table):
            raise _out_of_order(f"the rows of table {table.name!r} are")
    starts = [_starts(table.group, groups) for table in tables]
    if groups > 1 and groups_fall([table.key for table in tables], starts):
        raise _out_of_order("the numbers of groups are")


def ranked_lists(start: Integers, codes: Array) -> tuple[Integers, int]:
    """Return a number per list of codes that ascends with the lists, equal for equal ones, and how many there are."""
    lists = start.astype(np.int64)
    keys = codes.astype(np.int64)
    first = np.full(len(lists) - 1, -1, np.int64)
    filled = np.diff(lists) > 0
    first[filled] = keys[lists[:-1][filled]]
    order = sort_ties(lists, keys, ascending(first + 1))
    rank = ranks(lists, keys, order)
    return rank, int(rank.max(initial=-1)) + 1


def _out_of_order(what: str) -> FormatError:
    return FormatError(
        f"{what} not in the canonical order, and another order could carry information",
        hint="the release was changed, or made by other software; get it again",
    )


def _by_group(table: TableRows) -> Array:
    """Return the rows by group, then by key."""
    return ascending(_packed(table), used_up=True) if falls(table.key) else ascending(table.group)


def _rows_fall(table: TableRows) -> bool:
    """Return whether a row comes after one of a later group, or after one of its group with a larger key."""
    for begin in range(0, len(table.key) - 1, _AT_ONCE):
        group, key = table.group[begin : begin + _AT_ONCE + 1], table.key[begin : begin + _AT_ONCE + 1]
        if ((group[1:] < group[:-1]) | ((group[1:] == group[:-1]) & (key[1:] < key[:-1]))).any():
            return True
    return False


def _packed(table: TableRows) -> Integers:
    """Return a number per row that ascends with group and key."""
    keys = int(table.key.max(initial=0)) + 1
    groups = int(table.group.max(initial=0)) + 1
    if keys * groups < 1 << 62:
        packed = table.group.astype(np.int64)
        packed *= keys
        packed += table.key
        return packed
    distinct, rank = np.unique(table.key, return_inverse=True)
    return table.group.astype(np.int64) * len(distinct) + rank


def _starts(group: Array, groups: int) -> Integers:
    return np.concatenate(([0], np.cumsum(counted(group, groups)))).astype(np.int64)


def groups_fall(keys: Sequence[Integers], starts: Sequence[Integers]) -> bool:
    """Return whether a group comes after the next one, all rows being sorted; mostly the first row of a table decides."""
    begin = starts[0]
    if (begin[1:] == begin[:-1]).any():
        return first_fall(*_sequences(keys, starts)) >= 0
    first = keys[0][begin[:-1]]
    if (first[1:] < first[:-1]).any():
        return True
    tied = first[1:] == first[:-1]
    if not tied.any():
        return False
    # Of the groups whose first rows are equal, with the next of each run: a run never falls into another one.
    some = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
    rows = [key[_segments(start, some)] for key, start in zip(keys, starts, strict=True)]
    fewer = [np.concatenate(([0], np.cumsum(np.diff(start)[some]))).astype(np.int64) for start in starts]
    return first_fall(*_sequences(rows, fewer)) >= 0


def _sequences(keys: Sequence[Integers], starts: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Return one sequence per group, where it starts and what it holds: its rows of every table, each table closed by −1."""
    lengths = [np.diff(start) + 1 for start in starts]
    start = np.concatenate(([0], np.cumsum(np.sum(lengths, axis=0)))).astype(np.int64)
    joined = np.full(int(start[-1]), -1, np.int64)
    at = start[:-1].copy()
    for key, begin, length in zip(keys, starts, lengths, strict=True):
        joined[np.arange(len(key)) + np.repeat(at - begin[:-1], length - 1)] = key
        at += length
    return start, joined


def _segments(start: Integers, order: Integers) -> Array:
    """Return the places of the groups' rows, group after group in this order."""
    length = np.diff(start)[order]
    end = np.cumsum(length)
    places: Array = np.repeat((start[:-1][order] - (end - length)).astype(place_type(int(start[-1]))), length)
    for begin in range(0, len(places), _AT_ONCE):
        some = places[begin : begin + _AT_ONCE]
        some += np.arange(begin, begin + len(some), dtype=some.dtype)
    return places
