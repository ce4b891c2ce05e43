"""Cutting boxes of people in two, level by level: plain loops over codes, the same result for any number of threads.

Which cut is made, if any, says the one rule (`_rule_kernels`); here are its histograms where people are at hand, and what becomes
of their rows. An acceptance that moves people from one side of a cut to the other says so in `part`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads
from numba.extending import overload

from sfumato._jit import njit
from sfumato.arrays import Array, Integers
from sfumato.groups._cover_kernels import covers
from sfumato.groups._rule_kernels import (
    Axes,
    absent_code,
    both_cover,
    column_of,
    cut_across,
    ends_of,
    entries_of,
    events_by_code,
    events_left,
    histogram_of,
    implement,
    of_box,
)


class Secret(NamedTuple):
    """The sensitive values as kernels see them: a code a person, how many values there are, and the values of every set.

    A set of values has a count as a value has. Counts of *events* list those of the values and then those of the sets. Where
    several columns are protected each by itself, everybody has a code in each: those of the second follow those of the first.
    """

    codes: Array  # [columns × people]
    values: int
    start: Integers  # where in `member` each set begins, one entry more than sets
    member: Integers


class Incidence(NamedTuple):
    """The same where people have any number of values: the events of everybody, values and sets alike, each once.

    Once: a cut is decided by how many people have an event, never by how often, since exchanging two people's events may move
    a count by one and no more.
    """

    begin: Integers  # where in `event` each person's begin, one entry more than people
    event: Array
    events: int


class Rows(NamedTuple):
    """A box whose people are at hand: their rows, everybody's codes, and what everybody has."""

    mine: Array
    codes: Array
    secret: Secret | Incidence


class RowsAcross(NamedTuple):
    """The same along one column: everybody's codes in it, how many codes there are, and of which kind."""

    mine: Array
    codes: Array
    width: int
    kind: int
    secret: Secret | Incidence


@njit(cache=True)
def add_sets(counts: Any, secret: Any) -> None:
    """Fill in the counts of the sets, given those of the values."""
    for event in range(len(secret.start) - 1):
        total = 0
        for place in range(secret.start[event], secret.start[event + 1]):
            total += counts[secret.member[place]]
        counts[secret.values + event] = total


def events_of(secret: Any) -> int:
    """Return how many events there are."""
    raise TypeError(f"{type(secret).__name__} is no secret, or this is not compiled code")


def tally(secret: Any, rows: Any, counts: Any) -> None:
    """Fill in how many of these people have each event."""
    raise TypeError(f"{type(secret).__name__} is no secret, or this is not compiled code")


def tally_by_code(secret: Any, rows: Any, column: Any, pairs: Any) -> None:
    """Fill in the same for the people with each code of a column."""
    raise TypeError(f"{type(secret).__name__} is no secret, or this is not compiled code")


def _events_of_codes(secret: Any) -> Any:
    return secret.values + len(secret.start) - 1


def _tally_codes(secret: Any, rows: Any, counts: Any) -> None:
    for codes in secret.codes:
        for row in rows:
            counts[codes[row]] += 1
    add_sets(counts, secret)


def _tally_codes_by_code(secret: Any, rows: Any, column: Any, pairs: Any) -> None:
    for codes in secret.codes:
        for row in rows:
            pairs[column[row], codes[row]] += 1
    for code in range(len(pairs)):
        add_sets(pairs[code], secret)


def _events_of_incidence(secret: Any) -> Any:
    return secret.events


def _tally_incidence(secret: Any, rows: Any, counts: Any) -> None:
    for row in rows:
        for place in range(secret.begin[row], secret.begin[row + 1]):
            counts[secret.event[place]] += 1


def _tally_incidence_by_code(secret: Any, rows: Any, column: Any, pairs: Any) -> None:
    for row in rows:
        for place in range(secret.begin[row], secret.begin[row + 1]):
            pairs[column[row], secret.event[place]] += 1


implement(events_of, Secret, _events_of_codes)
implement(events_of, Incidence, _events_of_incidence)
implement(tally, Secret, _tally_codes)
implement(tally, Incidence, _tally_incidence)
implement(tally_by_code, Secret, _tally_codes_by_code)
implement(tally_by_code, Incidence, _tally_incidence_by_code)


@njit(cache=True)
def count_events(rows: Any, secret: Any) -> Any:
    """Return how many of these people have each value, and how many have one of each set."""
    counts = np.zeros(events_of(secret), np.int64)
    tally(secret, rows, counts)
    return counts


@njit(cache=True)
def count_by_code(rows: Any, column: Any, width: int, secret: Any) -> Any:
    """Return the same for the people with each code of a column, [codes × events]."""
    pairs = np.zeros((width, events_of(secret)), np.int64)
    tally_by_code(secret, rows, column, pairs)
    return pairs


@njit(cache=True)
def count_codes(rows: Any, column: Any, width: int) -> Any:
    """Return how many of these people have each code of a column."""
    histogram = np.zeros(width, np.int64)
    for row in rows:
        histogram[column[row]] += 1
    return histogram


def _add_by_code(codes: Array, others: Array, amount: Array, size: int) -> Integers:
    total = np.zeros(size, np.int64)
    np.add.at(total, codes, amount[others])
    return total


@njit(cache=True, plain=_add_by_code, same=True)
def add_by_code(codes: Any, others: Any, amount: Any, size: int) -> Any:
    """Return for each code below `size` the sum of `amount` at its people's codes in another column: in whole numbers."""
    total = np.zeros(size, np.int64)
    for row in range(len(codes)):
        total[codes[row]] += amount[others[row]]
    return total


def _column_of_rows(box: Any, axes: Any, j: int) -> Any:
    return RowsAcross(box.mine, box.codes[j], axes.first[j + 1] - axes.first[j], axes.kind[j], box.secret)


def _ends_of_rows(column: Any) -> Any:
    codes, absent = column.codes, absent_code(column.width, column.kind)
    low, high, lost = column.width, -1, False
    for row in column.mine:
        code = codes[row]
        if code == absent:
            lost = True
            continue
        if code < low:
            low = code
        if code > high:
            high = code
    return low, high, lost


def _histogram_of_rows(column: Any) -> Any:
    return count_codes(column.mine, column.codes, column.width)


def _events_by_code_of_rows(column: Any) -> Any:
    return count_by_code(column.mine, column.codes, column.width, column.secret)


def _entries_of_rows(column: Any, values: int) -> Any:
    keys, codes, values_of = np.empty(len(column.mine), np.int64), column.codes, column.secret.codes
    for k in range(len(column.mine)):
        row = column.mine[k]
        keys[k] = np.int64(codes[row]) * values + values_of[0, row]
    return np.sort(keys), np.ones(len(keys), np.int64)


def _events_left_of_rows(column: Any, boundary: int, also: int) -> Any:
    return count_events(left_rows(column.mine, column.codes, boundary, also), column.secret)


def _rows_cover(column: Any, boundary: int, also: int, left: int, cover: Any) -> Any:
    if cover is None:
        return True
    mine, codes = column.mine, column.codes
    if not covers(left_rows(mine, codes, boundary, also), cover.codes, cover.covering):
        return False
    return covers(right_rows(mine, codes, boundary, also), cover.codes, cover.covering)


implement(column_of, Rows, _column_of_rows)
implement(ends_of, RowsAcross, _ends_of_rows)
implement(histogram_of, RowsAcross, _histogram_of_rows)
implement(events_by_code, RowsAcross, _events_by_code_of_rows)
implement(entries_of, RowsAcross, _entries_of_rows)
implement(events_left, RowsAcross, _events_left_of_rows)
implement(both_cover, RowsAcross, _rows_cover)


@njit(cache=True)
def left_rows(rows: Any, codes: Any, boundary: int, also: int) -> Any:
    """Return the rows on the left of a cut."""
    found, many = np.empty(len(rows), rows.dtype), 0
    for row in rows:
        if codes[row] <= boundary or codes[row] == also:
            found[many] = row
            many += 1
    return found[:many]


@njit(cache=True)
def right_rows(rows: Any, codes: Any, boundary: int, also: int) -> Any:
    """Return the rows on the right of a cut."""
    found, many = np.empty(len(rows), rows.dtype), 0
    for row in rows:
        if codes[row] > boundary and codes[row] != also:
            found[many] = row
            many += 1
    return found[:many]


@njit(cache=True)
def split_rows(rows: Any, codes: Any, boundary: int, also: int) -> int:
    """Put the rows of the left side first, each side in its former order, and return how many are on the left."""
    right = np.empty(len(rows), rows.dtype)
    lefts, rights = 0, 0
    for k in range(len(rows)):
        code = codes[rows[k]]
        if code <= boundary or code == also:
            rows[lefts] = rows[k]
            lefts += 1
        else:
            right[rights] = rows[k]
            rights += 1
    put(right[:rights], rows[lefts:])
    return lefts


@njit(cache=True)
def put(values: Any, where: Any) -> None:
    """Write values one after the other: assigning to a slice would compile the words of an error too, for seconds."""
    for k in range(len(values)):
        where[k] = values[k]


def part(acceptance: Any, mine: Any, codes: Any, boundary: int, also: int, left: int, counts: Any) -> int:
    """Put the rows of the left side of a cut across a column first, and return how many these are."""
    raise TypeError(f"{type(acceptance).__name__} is no acceptance, or this is not compiled code")


def _part_by_codes(acceptance: Any, mine: Any, codes: Any, boundary: int, also: int, left: int, counts: Any) -> Any:
    return split_rows(mine, codes, boundary, also)


_OTHERWISE: set[str] = set()


def part_otherwise(kind: type, compiled: Any) -> None:
    """Let `part` be this one for acceptances of this kind."""
    _OTHERWISE.add(kind.__name__)
    implement(part, kind, compiled)


@overload(part, strict=False)
def _by_codes(acceptance: Any, *_: Any) -> Any:
    kind = getattr(acceptance, "instance_class", None)
    return None if kind is None or kind.__name__ in _OTHERWISE else _part_by_codes


def cut_level(
    codes: Array, axes: Axes, secret: Secret | Incidence, rows: Array, low: Array, high: Array, acceptance: Any
) -> Array:
    """Cut every box rows[low:high] in two where the acceptance allows it and return where, −1 for a final box.

    Threads share the boxes of a level: a plain kernel compiles in half the time of one that numba makes parallel.
    """
    where = np.full(len(low), -1, np.int64)

    def cut(begin: int, end: int) -> None:
        cut_boxes(where, begin, end, codes, axes, secret, rows, low, high, acceptance)

    threads = min(get_num_threads(), len(low))
    if threads < 2:
        cut(0, len(low))
        return where
    people = np.cumsum(high - low)
    ends = np.searchsorted(people, people[-1] * np.arange(1, 4 * threads) / (4 * threads), side="right").tolist()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(cut, [0, *ends], [*ends, len(low)]))
    return where


@njit(cache=True, nogil=True)
def cut_boxes(
    where: Any, begin: int, end: int, codes: Any, axes: Any, secret: Any, rows: Any, low: Any, high: Any, acceptance: Any
) -> None:
    """Cut boxes of a level from `begin` up to `end`, each across the first column that can be cut, and set where."""
    score = np.zeros(len(axes.kind))
    for box in range(begin, end):
        mine, own = rows[low[box] : high[box]], of_box(acceptance, box)
        counts = count_events(mine, secret)
        j, boundary, also, left = cut_across(own, Rows(mine, codes, secret), counts, len(mine), axes, score)
        if left > 0:
            where[box] = low[box] + part(own, mine, codes[j], boundary, also, left, counts)
