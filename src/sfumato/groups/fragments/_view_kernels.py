"""Judging boxes by the matchings of two views, and cutting them: plain loops, the same result for any number of threads.

Of n rows in a group, m_a of the first view are a person's, m_z of the second have her joined value, and m_zs of those a sensitive
value. If all matchings are equally likely, some row of hers meets one of m rows with probability 1 − C(n−m, m_a) / C(n, m_a).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from sfumato._jit import njit
from sfumato.groups._cut_kernels import by_falling_score, even_cut, split_rows, spread

GOOD, GREY, CERTAIN_PRESENCE, CERTAIN_VALUE = 1, 0, -1, -2
ERROR = 1e-15  # a bound on the relative error of one step of `meets`, which adds and multiplies positive numbers only


@njit(cache=True)
def meets(people: int, mine: int, theirs: int) -> float:
    """Return the probability that one of `mine` rows is matched with one of `theirs`, among so many people."""
    few, many = min(mine, theirs), max(mine, theirs)
    if few + many > people:
        return 1.0
    sure = 0.0
    for k in range(few):
        sure += (1.0 - sure) * (many / (people - k))
    return sure


@njit(cache=True)
def at_most(sure: float, limit: float, steps: int) -> int:
    """Return 1 for below the limit, −1 for above it, 0 for too near to tell after so many steps."""
    error = ERROR * (8 + 4 * steps)
    if sure <= limit * (1 - error):
        return 1
    return -1 if sure >= limit * (1 + error) else 0


@njit(cache=True)
def longest_run(ids: Any) -> int:
    """Return how often the most frequent of some sorted numbers occurs."""
    longest, run = 0, 0
    for k in range(len(ids)):
        run = run + 1 if k and ids[k] == ids[k - 1] else 1
        longest = max(longest, run)
    return longest


@njit(cache=True)
def judge(
    mine: Any, left: Any, right: Any, sensitive: Any, values: int, need: Any, start: Any, limits: Any, most: Any, alpha: float
) -> int:
    """Return whether these people as a group keep α and every bound, or which is broken; GREY where floats cannot tell.

    `left` and `right` number the rows of the two views, the sensitive value apart; `most[n]` is ⌊α·n⌋. Both probabilities grow
    with m_a, so the most frequent row of the first view decides.
    """
    people = len(mine)
    pairs, rows = np.empty(people, np.int64), np.empty(people, np.int64)
    for k in range(people):
        pairs[k] = np.int64(right[mine[k]]) * values + sensitive[mine[k]]
        rows[k] = left[mine[k]]
    pairs.sort()
    rows.sort()
    again = longest_run(rows)
    joined = longest_run(pairs // values)
    if again > most[people] or joined > most[people]:
        return CERTAIN_PRESENCE
    grey = False
    if again > 1 and joined > 1:
        sign = at_most(meets(people, again, joined), alpha, min(again, joined))
        if sign < 0:
            return CERTAIN_PRESENCE
        grey = sign == 0
    begin = 0
    while begin < people:
        end = begin
        while end < people and pairs[end] // values == pairs[begin] // values:
            end += 1
        k = begin
        sure = meets(people, again, end - begin)
        while k < end:
            same = k
            while same < end and pairs[same] == pairs[k]:
                same += 1
            value = pairs[k] % values
            if need[start[value] + same - k] > end - begin:
                return CERTAIN_VALUE
            if again > 1 and limits[value] < 1:
                sign = at_most(meets(people, again, same - k), limits[value] * sure, 2 * again)
                if sign < 0:
                    return CERTAIN_VALUE
                grey = grey or sign == 0
            k = same
        begin = end
    return GREY if grey else GOOD


@njit(cache=True)
def distinct_ids(mine: Any, ids: Any, enough: int) -> bool:
    """Return whether the people have at least so many different numbers."""
    found = np.empty(len(mine), np.int64)
    for k in range(len(mine)):
        found[k] = ids[mine[k]]
    found.sort()
    seen = 0
    for k in range(len(found)):
        if k == 0 or found[k] != found[k - 1]:
            seen += 1
            if seen >= enough:
                return True
    return False


@njit(cache=True)
def hopeful(mine: Any, left: Any, right: Any, least: int, enough: int) -> bool:
    """Return whether a group that keeps α may exist inside a box: it needs ⌈1/α⌉ different rows in either view."""
    if len(mine) < least:
        return False
    return bool(distinct_ids(mine, right, enough) and distinct_ids(mine, left, enough))


@njit(cache=True)
def cut_view(
    mine: Any,
    codes: Any,
    first: Any,
    missing: Any,
    position: Any,
    weight: Any,
    left: Any,
    right: Any,
    sensitive: Any,
    values: int,
    need: Any,
    start: Any,
    limits: Any,
    most: Any,
    alpha: float,
    least: int,
    enough: int,
) -> int:
    """Cut a box evenly across the first column both of whose sides are groups, else the first whose sides may hold some.

    Returns the size of the left side, 0 for a final box.
    """
    if len(mine) < 2 * least:
        return 0
    score = np.zeros(len(missing))
    for j in range(len(missing)):
        absent = first[j + 1] - first[j] - 1 if missing[j] else -1
        score[j] = weight[j] * spread(mine, codes[j], absent, position[first[j] : first[j + 1]])
    chosen, at, together = -1, -1, False
    for j in by_falling_score(score):
        if score[j] <= 0:
            break
        width = first[j + 1] - first[j]
        absent = width - 1 if missing[j] else -1
        histogram = np.zeros(width, np.int64)
        for row in mine:
            histogram[codes[j, row]] += 1
        boundary, joins, smaller = even_cut(histogram, int(absent >= 0), len(mine))
        if smaller < least:
            continue
        size = split_rows(mine, codes[j], boundary, joins, absent)
        one, two = mine[:size], mine[size:]
        if not hopeful(one, left, right, least, enough) or not hopeful(two, left, right, least, enough):
            continue
        if (
            judge(one, left, right, sensitive, values, need, start, limits, most, alpha) == GOOD
            and judge(two, left, right, sensitive, values, need, start, limits, most, alpha) == GOOD
        ):
            return size
        if chosen < 0:
            chosen, at, together = j, boundary, joins
    if chosen < 0:
        return 0
    absent = first[chosen + 1] - first[chosen] - 1 if missing[chosen] else -1
    return split_rows(mine, codes[chosen], at, together, absent)


@njit(cache=True, parallel=True)
def view_level(
    rows: Any,
    low: Any,
    high: Any,
    codes: Any,
    first: Any,
    missing: Any,
    position: Any,
    weight: Any,
    left: Any,
    right: Any,
    sensitive: Any,
    values: int,
    need: Any,
    start: Any,
    limits: Any,
    most: Any,
    alpha: float,
    least: int,
    enough: int,
) -> tuple[Any, Any]:
    """Judge every box rows[low:high] and cut it in two where that may help: return the verdicts, and where (−1: final)."""
    verdict = np.empty(len(low), np.int64)
    where = np.full(len(low), -1, np.int64)
    for box in prange(len(low)):
        mine = rows[low[box] : high[box]]
        verdict[box] = judge(mine, left, right, sensitive, values, need, start, limits, most, alpha)
        size = cut_view(
            mine,
            codes,
            first,
            missing,
            position,
            weight,
            left,
            right,
            sensitive,
            values,
            need,
            start,
            limits,
            most,
            alpha,
            least,
            enough,
        )
        if size > 0:
            where[box] = low[box] + size
    return verdict, where
