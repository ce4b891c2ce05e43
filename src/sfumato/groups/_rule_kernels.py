"""The one rule of cuts: given the histogram of a box along a column, which boundary, if any.

A cut is told by the last code on its left and by one code that goes left too, −1 for none: a boundary along the line, with
missing values on either side, or one level against all others. Columns are tried by falling weight · width (`cut_across`). What
cut of a column is made, if any, is for an *acceptance* to say: a named tuple, for which one says what `least_side` and `choose`
do (`implement`), as below for `Safe`, `TightCut` and `Even`; for one with a `ledger`, a row for every box of a level, also
`of_box` (soft cuts).

Who has the people of a box, or only their counts, says how its histograms are filled: `column_of`, and for what that gives
`ends_of`, `histogram_of`, `events_by_code`, `events_left` and `both_cover`. There are two ways: rows (`_cut_kernels`) and counts
(`_counted_kernels`). Kernels are compiled for each acceptance and each way by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from sfumato._jit import njit
from sfumato.arrays import Floats, Integers
from sfumato.groups._cover_kernels import CoverRule

LEAST_SHARE = 50  # a tight cut leaves at least 1/50 of the box on each side

ORDERED, LOSSY, LEVELS = range(3)
"""What the codes of a column are: values in an order; the same, but the last one means missing; or levels of a category, which
may be cut one from all others."""


class Axes(NamedTuple):
    """Quasi space without its people (see `Space`), and how much each column counts.

    `published` is the published code of every code, column after column, where nobody holds the people.
    """

    first: Integers
    kind: Integers
    position: Floats
    weights: Floats
    published: Integers = np.zeros(0, np.int64)


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


_UNKNOWN = "is neither an acceptance nor a box, or this is not compiled code"


def implement(generic: Callable[..., Any], kind: type, compiled: Callable[..., Any]) -> None:
    """Let a function that is for others to say, as `choose` is, be this one where its first argument is of this kind."""

    def answer(first: Any, *_: Any) -> Callable[..., Any] | None:
        return compiled if getattr(first, "instance_class", None) is kind else None

    overload(generic, strict=False)(answer)  # strict: numba would want the parameters of `generic` written again


def least_side(acceptance: Any, counts: Any, size: int) -> int:
    """Return how many people each side of a cut needs, in a box of `size` people with these counts of events."""
    raise TypeError(f"{type(acceptance).__name__} {_UNKNOWN}")


def choose(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    """Return a column's cut: last code on the left, code that goes left too or −1, size of the left side; size 0: none."""
    raise TypeError(f"{type(acceptance).__name__} {_UNKNOWN}")


def of_box(acceptance: Any, box: int) -> Any:
    """Return the acceptance for one box of a level; most are the same for all boxes."""
    raise TypeError(f"{type(acceptance).__name__} {_UNKNOWN}")


def column_of(box: Any, axes: Any, j: int) -> Any:
    """Return a box along its j-th column; it has a `kind`."""
    raise TypeError(f"{type(box).__name__} {_UNKNOWN}")


def ends_of(column: Any) -> Any:
    """Return the lowest and the highest code of a box along a column, −1 where nobody has one, and whether somebody has none."""
    raise TypeError(f"{type(column).__name__} {_UNKNOWN}")


def histogram_of(column: Any) -> Any:
    """Return how many people of a box have each code."""
    raise TypeError(f"{type(column).__name__} {_UNKNOWN}")


def events_by_code(column: Any) -> Any:
    """Return [codes × events]: how many of those with a code have each event."""
    raise TypeError(f"{type(column).__name__} {_UNKNOWN}")


def entries_of(column: Any, values: int) -> Any:
    """Return the pairs of a code and one of so many values that occur, code · values + value, ascending, and how often."""
    raise TypeError(f"{type(column).__name__} {_UNKNOWN}")


def events_left(column: Any, boundary: int, also: int) -> Any:
    """Return how many people on the left of a cut have each event."""
    raise TypeError(f"{type(column).__name__} {_UNKNOWN}")


def both_cover(column: Any, boundary: int, also: int, left: int, cover: Any) -> Any:
    """Return whether both sides of a cut cover enough combinations of values; without a cover nothing is asked of them."""
    raise TypeError(f"{type(column).__name__} {_UNKNOWN}")


def _of_any_box(acceptance: Any, box: int) -> Any:
    return acceptance


@overload(of_box)
def _same_for_all(acceptance: Any, box: int) -> Any:
    return None if "ledger" in getattr(acceptance, "fields", ()) else _of_any_box


@njit(cache=True)
def absent_code(width: int, kind: int) -> int:
    """Return the code that means missing, −1 where none does."""
    return width - 1 if kind == LOSSY else -1


@njit(cache=True)
def even_cut(histogram: Any, kind: int, size: int) -> tuple[int, int, int]:
    """Return (last code on the left, code that goes left too or −1, smaller side) of the most even boundary; side 0: none.

    Missing values may go to either side.
    """
    absent = absent_code(len(histogram), kind)
    lost = histogram[absent] if absent >= 0 else 0
    best, boundary, also = 0, -1, -1
    left = 0
    for code in range(len(histogram) if absent < 0 else absent):
        left += histogram[code]
        smaller = left if 2 * left < size else size - left
        if smaller > best:
            best, boundary, also = smaller, code, -1
        more = left + lost
        smaller = more if 2 * more < size else size - more
        if lost > 0 and smaller > best:
            best, boundary, also = smaller, code, absent
    return boundary, also, best


@njit(cache=True)
def cut_of(histogram: Any, kind: int, size: int, least: int) -> tuple[int, int, int]:
    """Return (last code on the left, code that goes left too or −1, size of the left side) of a column's cut; size 0: none.

    Of a category that is the level nearest to half of the people, the first of equal ones, against all others: boxes that are
    pure in a level teach most about it. Where such a side has fewer than `least` people, or the most even boundary is more than
    twice as even, and for all other columns, it is that boundary.
    """
    boundary, also, smaller = even_cut(histogram, kind, size)
    if kind == LEVELS:
        level, few = -1, 0
        for code in range(len(histogram)):
            if min(histogram[code], size - histogram[code]) > few:
                level, few = code, min(histogram[code], size - histogram[code])
        boundary, also, smaller = level_or_boundary(level, few, least, boundary, also, smaller)
    return boundary, also, left_side(histogram, boundary, also) if smaller >= least and smaller > 0 else 0


@njit(cache=True)
def level_or_boundary(level: int, few: int, least: int, boundary: int, also: int, smaller: int) -> tuple[int, int, int]:
    """Return a level against all others, or a boundary where that is more than twice as even, each with its smaller side."""
    return (-1, level, few) if few > 0 and few >= least and 2 * few >= smaller else (boundary, also, smaller)


@njit(cache=True)
def left_side(histogram: Any, boundary: int, also: int) -> int:
    """Return how many people lie on the left of a cut."""
    left = 0
    for code in range(len(histogram)):
        if code <= boundary or code == also:
            left += histogram[code]
    return left


@njit(cache=True)
def keeps_bounds(left: Any, whole: Any, people: int, size: int, need: Any, start: Any) -> bool:
    """Return whether `people` with the counts `left` keep the bounds, and the rest of the box too."""
    for value in range(len(whole)):
        if whole[value] == 0:
            continue
        if need[start[value] + left[value]] > people or need[start[value] + whole[value] - left[value]] > size - people:
            return False
    return True


@njit(cache=True)
def tight_cut(
    pairs: Any, histogram: Any, kind: int, size: int, least: int, whole: Any, need: Any, start: Any
) -> tuple[int, int, int]:
    """Return the cut of a column among those whose two sides keep the bounds and hold at least `least` people, as `cut_of` does.

    `histogram[code]` counts the people of the box with a code, `pairs[code, v]` those of them with an event, and `whole[v]` all
    with an event.
    """
    absent = absent_code(len(histogram), kind)
    best, boundary, also = 0, -1, -1
    few, level = 0, -1
    left, people = np.zeros(pairs.shape[1], np.int64), 0
    for code in range(len(histogram) if absent < 0 else absent):
        left += pairs[code]
        people += histogram[code]
        smaller = min(people, size - people)
        if smaller >= least and smaller > best and keeps_bounds(left, whole, people, size, need, start):
            best, boundary, also = smaller, code, -1
        if absent >= 0:
            more = left + pairs[absent]
            here = people + histogram[absent]
            smaller = min(here, size - here)
            if smaller >= least and smaller > best and keeps_bounds(more, whole, here, size, need, start):
                best, boundary, also = smaller, code, absent
        if kind == LEVELS:
            here = histogram[code]
            smaller = min(here, size - here)
            if smaller >= least and smaller > few and keeps_bounds(pairs[code], whole, here, size, need, start):
                few, level = smaller, code
    boundary, also, best = level_or_boundary(level, few, least, boundary, also, best)
    return boundary, also, left_side(histogram, boundary, also) if best >= least and best > 0 else 0


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
def spread(column: Any, position: Any) -> float:
    """Return how far apart the values of a column lie in a box; a little where only missing and present ones differ."""
    low, high, lost = ends_of(column)
    if high < 0:
        return 0.0
    wide = position[high] - position[low]
    return 1e-9 if lost and wide < 1e-9 else wide


@njit(cache=True)
def cut_across(acceptance: Any, box: Any, counts: Any, size: int, axes: Any, score: Any) -> Any:
    """Return the cut of a box across the first column that can be cut: column, boundary, code that goes left too, left size.

    Size 0: none. `counts` are those of the events of its people; `score` has room for a number a column.
    """
    first, columns = axes.first, len(axes.kind)
    least = least_side(acceptance, counts, size)
    if size >= 2 * least:
        for j in range(columns):
            score[j] = axes.weights[j] * spread(column_of(box, axes, j), axes.position[first[j] : first[j + 1]])
        for _ in range(columns):
            j = widest(score)
            if score[j] <= 0:
                break
            score[j] = 0
            boundary, also, left = choose(acceptance, column_of(box, axes, j), counts, size, least)
            if left > 0:
                return int(j), int(boundary), int(also), int(left)
    return -1, -1, -1, 0


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


def choose_evenly(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    """Return the cut that the histogram of the box tells, whatever values people have."""
    return cut_of(histogram_of(column), column.kind, size, least)


def _choose_safely(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    boundary, also, left = cut_of(histogram_of(column), column.kind, size, least)
    if left > 0 and not both_cover(column, boundary, also, left, acceptance.cover):
        left = 0
    return boundary, also, left


def _choose_tightly(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    need, start = acceptance.need, acceptance.start
    pairs, people = events_by_code(column), histogram_of(column)
    boundary, also, left = tight_cut(pairs, people, column.kind, size, least, counts, need, start)
    if left > 0 and not both_cover(column, boundary, also, left, acceptance.cover):
        left = 0
    return boundary, also, left


implement(least_side, Safe, least_safely)
implement(least_side, TightCut, least_tightly)
implement(least_side, Even, least_by_floor)
implement(choose, Safe, _choose_safely)
implement(choose, TightCut, _choose_tightly)
implement(choose, Even, choose_evenly)
