"""Cutting boxes of people in two, level by level: plain loops over codes, the same result for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

SAFE, TIGHT = 0, 1
LEAST_SHARE = 50  # a tight cut leaves at least 1/50 of the box on each side


@njit(cache=True)
def smallest_group(counts: Any, need: Any, start: Any) -> int:  # pragma: no cover - compiled
    """Return the smallest group in which these counts keep their bounds: the largest ⌈count / bound⌉."""
    largest = 0
    for value in range(len(counts)):
        if counts[value] > 0:
            largest = max(largest, need[start[value] + counts[value]])
    return largest


@njit(cache=True)
def by_falling_score(score: Any) -> Any:  # pragma: no cover - compiled
    """Return the columns by falling score, equal scores by number."""
    order = np.arange(len(score))
    for k in range(1, len(order)):
        moving = order[k]
        place = k
        while place > 0 and score[order[place - 1]] < score[moving]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moving
    return order


@njit(cache=True)
def even_cut(histogram: Any, missing: int, size: int) -> tuple[int, bool, int]:  # pragma: no cover - compiled
    """Return (last code on the left, whether missing goes left, smaller side) of the most even cut of a column; side 0: none.

    The last entry of `histogram` counts missing values when `missing`; they may go to either side.
    """
    values = len(histogram) - missing
    lost = histogram[values] if missing else 0
    best, boundary, joins = 0, -1, False
    left = 0
    for code in range(values):
        left += histogram[code]
        smaller = min(left, size - left)
        if smaller > best:
            best, boundary, joins = smaller, code, False
        smaller = min(left + lost, size - left - lost)
        if lost > 0 and smaller > best:
            best, boundary, joins = smaller, code, True
    return boundary, joins, best


@njit(cache=True)
def keeps_bounds(left: Any, whole: Any, people: int, size: int, need: Any, start: Any) -> bool:  # pragma: no cover - compiled
    """Return whether `people` with the counts `left` keep the bounds, and the rest of the box too."""
    for value in range(len(whole)):
        if whole[value] == 0:
            continue
        if need[start[value] + left[value]] > people or need[start[value] + whole[value] - left[value]] > size - people:
            return False
    return True


@njit(cache=True)
def tight_cut(
    pairs: Any, missing: int, size: int, least: int, whole: Any, need: Any, start: Any
) -> tuple[int, bool, int]:  # pragma: no cover - compiled
    """Return the most even cut whose two sides keep the bounds and hold at least `least` people, as `even_cut` does.

    `pairs[code, v]` counts the people of the box with a code and a value, `whole[v]` those with a value.
    """
    values = pairs.shape[0] - missing
    best, boundary, joins = 0, -1, False
    left = np.zeros(pairs.shape[1], np.int64)
    for code in range(values):
        left += pairs[code]
        here = left.sum()
        smaller = min(here, size - here)
        if smaller >= least and smaller > best and keeps_bounds(left, whole, here, size, need, start):
            best, boundary, joins = smaller, code, False
        if missing:
            more = left + pairs[values]
            here = more.sum()
            smaller = min(here, size - here)
            if smaller >= least and smaller > best and keeps_bounds(more, whole, here, size, need, start):
                best, boundary, joins = smaller, code, True
    return boundary, joins, best


@njit(cache=True)
def spread(histogram: Any, missing: int, position: Any) -> float:  # pragma: no cover - compiled
    """Return how far apart the values of a column lie in a box; a little where only missing and present ones differ."""
    values = len(histogram) - missing
    low, high = -1, -1
    for code in range(values):
        if histogram[code] > 0:
            low = code if low < 0 else low
            high = code
    if low < 0:
        return 0.0
    wide = float(position[high] - position[low])
    return max(wide, 1e-9) if missing and histogram[values] > 0 else wide


@njit(cache=True)
def split_rows(rows: Any, codes: Any, boundary: int, joins: bool, absent: int) -> int:  # pragma: no cover - compiled
    """Put the rows of the left side first, each side in its former order, and return how many are on the left."""
    right = np.empty(len(rows), rows.dtype)
    lefts, rights = 0, 0
    for k in range(len(rows)):
        code = codes[rows[k]]
        if code <= boundary or (joins and code == absent):
            rows[lefts] = rows[k]
            lefts += 1
        else:
            right[rights] = rows[k]
            rights += 1
    rows[lefts:] = right[:rights]
    return lefts


@njit(cache=True, parallel=True)
def cut_level(
    codes: npt.NDArray[Any],
    sensitive: npt.NDArray[Any],
    rows: npt.NDArray[Any],
    low: npt.NDArray[Any],
    high: npt.NDArray[Any],
    first: npt.NDArray[Any],
    missing: npt.NDArray[Any],
    position: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    need: npt.NDArray[Any],
    start: npt.NDArray[Any],
    floor: int,
    mode: int,
) -> npt.NDArray[Any]:  # pragma: no cover - compiled
    """Cut every box rows[low:high] in two where that is allowed and return where, −1 for a final box.

    SAFE looks at quasi values and at the box's own histogram only; TIGHT also at the histograms of the sides.
    """
    where = np.full(len(low), -1, np.int64)
    for box in prange(len(low)):
        mine = rows[low[box] : high[box]]
        size = len(mine)
        counts = np.zeros(len(start) - 1, np.int64)
        for row in mine:
            counts[sensitive[row]] += 1
        least = max(floor, smallest_group(counts, need, start)) if mode == SAFE else max(floor, -(-size // LEAST_SHARE))
        if size < 2 * least:
            continue
        histogram = np.zeros(first[-1], np.int64)
        score = np.zeros(len(missing))
        for j in range(len(missing)):
            for row in mine:
                histogram[first[j] + codes[j, row]] += 1
            score[j] = weight[j] * spread(histogram[first[j] : first[j + 1]], missing[j], position[first[j] : first[j + 1]])
        for j in by_falling_score(score):
            if score[j] <= 0:
                break
            if mode == SAFE:
                boundary, joins, smaller = even_cut(histogram[first[j] : first[j + 1]], missing[j], size)
            else:
                pairs = np.zeros((first[j + 1] - first[j], len(counts)), np.int64)
                for row in mine:
                    pairs[codes[j, row], sensitive[row]] += 1
                boundary, joins, smaller = tight_cut(pairs, missing[j], size, least, counts, need, start)
            if smaller >= least and smaller > 0:
                absent = first[j + 1] - first[j] - 1 if missing[j] else -1
                where[box] = low[box] + split_rows(mine, codes[j], boundary, joins, absent)
                break
    return where
