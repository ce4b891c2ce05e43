"""Cutting boxes of people in two, level by level: plain loops over codes, the same result for any number of threads.

There is one engine, `cut_level`: it tries the columns of a box by falling weight · width. Which cut of a column is made, if any,
is for an *acceptance* to say: a named tuple, for which one says what `least_side` and `divide` do (`implement`), as below for
`Safe`, `TightCut` and `Even`; for one with a `ledger`, a row for every box of a level, also `of_box` (soft cuts). The engine is
compiled for each acceptance by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads
from numba.extending import overload

from sfumato._jit import njit
from sfumato.arrays import Array, Floats, Integers
from sfumato.groups._cover_kernels import CoverRule, both_cover
from sfumato.groups._rule_kernels import absent_code, cut_of, tight_cut

LEAST_SHARE = 50  # a tight cut leaves at least 1/50 of the box on each side


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


class Axes(NamedTuple):
    """Quasi space without its people (see `Space`), and how much each column counts.

    `published` is the published code of every code, column after column, where nobody holds the people.
    """

    first: Integers
    kind: Integers
    position: Floats
    weights: Floats
    published: Integers = np.zeros(0, np.int64)


class Across(NamedTuple):
    """A column that a box may be cut across: everybody's codes, how many codes there are, and of which kind."""

    codes: Array
    width: int
    kind: int


class Safe(NamedTuple):
    """A column's cut, if both sides keep the bounds however the box's values fall: it looks at the box's histogram only."""

    need: Integers
    start: Integers
    floor: int
    cover: CoverRule | None = None


class TightCut(NamedTuple):
    """The most even cut whose two sides, as they are, keep the bounds."""

    need: Integers
    start: Integers
    floor: int
    cover: CoverRule | None = None


class Even(NamedTuple):
    """A column's cut, if both sides hold at least `floor` people: no sensitive value decides anything."""

    floor: int


def least_side(acceptance: Any, counts: Any, size: int) -> int:
    """Return how many people each side of a cut needs, in a box of `size` people with these counts of values."""
    raise TypeError(f"{type(acceptance).__name__} is no acceptance, or this is not compiled code")


def divide(acceptance: Any, mine: Any, across: Any, secret: Any, counts: Any, least: int) -> int:
    """Cut the rows `mine` of a box across a column and return the size of the left side, 0 for no cut.

    The rows of the left side are put first. `counts` are those of the secret's events in the box.
    """
    raise TypeError(f"{type(acceptance).__name__} is no acceptance, or this is not compiled code")


def of_box(acceptance: Any, box: int) -> Any:
    """Return the acceptance for one box of a level; most are the same for all boxes."""
    raise TypeError(f"{type(acceptance).__name__} is no acceptance, or this is not compiled code")


def implement(generic: Callable[..., Any], kind: type, compiled: Callable[..., Any]) -> None:
    """Let a function that is for acceptances to say, as `divide` is, be this one for acceptances of this kind."""

    def answer(acceptance: Any, *_: Any) -> Callable[..., Any] | None:
        return compiled if getattr(acceptance, "instance_class", None) is kind else None

    overload(generic, strict=False)(answer)  # strict: numba would want the parameters of `generic` written again


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


@njit(cache=True)
def smallest_group(counts: Any, need: Any, start: Any) -> int:
    """Return the smallest group in which these counts of events keep their bounds: the largest ⌈count / bound⌉."""
    largest = 0
    for value in range(len(counts)):
        if counts[value] > 0:
            least = need[start[value] + counts[value]]
            if least > largest:
                largest = least
    return largest


@njit(cache=True)
def widest(score: Any) -> int:
    """Return the first of the columns with the highest score."""
    best = 0
    for column in range(1, len(score)):
        if score[column] > score[best]:
            best = column
    return best


@njit(cache=True)
def spread(mine: Any, column: Any, absent: int, position: Any) -> float:
    """Return how far apart the values of a column lie in a box; a little where only missing and present ones differ."""
    low, high, lost = len(position), -1, False
    for row in mine:
        code = column[row]
        if code == absent:
            lost = True
            continue
        if code < low:
            low = code
        if code > high:
            high = code
    if high < 0:
        return 0.0
    wide = position[high] - position[low]
    return 1e-9 if lost and wide < 1e-9 else wide


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


def least_safely(acceptance: Any, counts: Any, size: int) -> Any:
    """Return how many people keep the bounds whatever values they have."""
    least = smallest_group(counts, acceptance.need, acceptance.start)
    return least if least > acceptance.floor else acceptance.floor


def least_tightly(acceptance: Any, counts: Any, size: int) -> Any:
    """Return a share of the box, or the floor."""
    return max(acceptance.floor, -(-size // LEAST_SHARE))


def least_by_floor(acceptance: Any, counts: Any, size: int) -> Any:
    """Return the floor, whatever the counts are."""
    return acceptance.floor


@njit(cache=True)
def evenly(mine: Any, across: Any, least: int) -> int:
    """Put the left side of a column's cut first and return its size, 0 where a side is too small: by quasi values."""
    boundary, also, left = cut_of(count_codes(mine, across.codes, across.width), across.kind, len(mine), least)
    return split_rows(mine, across.codes, boundary, also) if left > 0 else 0


def _divide_safely(acceptance: Any, mine: Any, across: Any, secret: Any, counts: Any, least: int) -> int:
    left = evenly(mine, across, least)
    return left if left > 0 and both_cover(mine, left, acceptance.cover) else 0


def _divide_tightly(acceptance: Any, mine: Any, across: Any, secret: Any, counts: Any, least: int) -> int:
    pairs, people = count_by_code(mine, across.codes, across.width, secret), count_codes(mine, across.codes, across.width)
    boundary, also, left = tight_cut(pairs, people, across.kind, len(mine), least, counts, acceptance.need, acceptance.start)
    left = split_rows(mine, across.codes, boundary, also) if left > 0 else 0
    return left if left > 0 and both_cover(mine, left, acceptance.cover) else 0


def _divide_evenly(acceptance: Any, mine: Any, across: Any, secret: Any, counts: Any, least: int) -> int:
    return evenly(mine, across, least)


implement(least_side, Safe, least_safely)
implement(least_side, TightCut, least_tightly)
implement(least_side, Even, least_by_floor)
implement(divide, Safe, _divide_safely)
implement(divide, TightCut, _divide_tightly)
implement(divide, Even, _divide_evenly)


def _of_any_box(acceptance: Any, box: int) -> Any:
    return acceptance


@overload(of_box)
def _same_for_all(acceptance: Any, box: int) -> Any:
    return None if "ledger" in getattr(acceptance, "fields", ()) else _of_any_box


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
    first, columns = axes.first, len(axes.kind)
    score = np.zeros(columns)
    for box in range(begin, end):
        mine, own = rows[low[box] : high[box]], of_box(acceptance, box)
        counts = count_events(mine, secret)
        least = least_side(own, counts, len(mine))
        if len(mine) < 2 * least:
            continue
        for j in range(columns):
            absent = absent_code(first[j + 1] - first[j], axes.kind[j])
            score[j] = axes.weights[j] * spread(mine, codes[j], absent, axes.position[first[j] : first[j + 1]])
        for _ in range(columns):
            j = widest(score)
            if score[j] <= 0:
                break
            score[j] = 0
            left = divide(own, mine, Across(codes[j], first[j + 1] - first[j], axes.kind[j]), secret, counts, least)
            if left > 0:
                where[box] = low[box] + left
                break
