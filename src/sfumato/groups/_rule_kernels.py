"""Which cut of a column is looked at, given the histogram of a box along it: one rule for people in memory and for counts.

A cut is told by the last code on its left and by one code that goes left too, −1 for none: a boundary along the line, with
missing values on either side, or one level against all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit

ORDERED, LOSSY, LEVELS = range(3)
"""What the codes of a column are: values in an order; the same, but the last one means missing; or levels of a category, which
may be cut one from all others."""


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
