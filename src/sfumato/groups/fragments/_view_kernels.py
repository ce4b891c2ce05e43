"""Judging boxes by the matchings of two views, and their cuts as an acceptance of the engine.

Of n rows in a group, m_a of the first view are a person's, m_z of the second have her joined value, and m_zs of those a sensitive
value. If all matchings are equally likely, some row of hers meets one of m rows with probability 1 − C(n−m, m_a) / C(n, m_a).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from sfumato._jit import njit
from sfumato.arrays import Floats, Integers, Small
from sfumato.groups._cut_kernels import split_rows
from sfumato.groups._rule_kernels import choose, cut_of, histogram_of, implement, least_side

GOOD, GREY, CERTAIN_PRESENCE, CERTAIN_VALUE = 1, 0, -1, -2
ERROR = 1e-15  # a bound on the relative error of one step of `meets`, which adds and multiplies positive numbers only


class Matched(NamedTuple):
    """The most even cut, if both sides are groups (`strict`), or if groups may exist inside both.

    `left` and `right` number the rows of the two views, the sensitive value apart; `most[n]` is ⌊α·n⌋, `least` and `enough` are
    what a group needs: people, and different rows in either view.
    """

    left: Small
    right: Small
    need: Integers
    start: Integers
    limits: Floats
    most: Integers
    alpha: float
    least: int
    enough: int
    strict: bool


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
def judge(mine: Any, sensitive: Any, views: Any) -> int:
    """Return whether these people as a group keep α and every bound, or which is broken; GREY where floats cannot tell.

    Both probabilities grow with m_a, so the most frequent row of the first view decides.
    """
    left, right, need, start, limits, most = views.left, views.right, views.need, views.start, views.limits, views.most
    values = len(limits)
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
        sign = at_most(meets(people, again, joined), views.alpha, min(again, joined))
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
    own = np.empty(len(mine), np.int64)
    for k in range(len(mine)):
        own[k] = ids[mine[k]]
    own.sort()
    seen = 0
    for k in range(len(own)):
        if k == 0 or own[k] != own[k - 1]:
            seen += 1
            if seen >= enough:
                return True
    return False


@njit(cache=True)
def hopeful(mine: Any, views: Any) -> bool:
    """Return whether a group that keeps α may exist inside a box: it needs ⌈1/α⌉ different rows in either view."""
    if len(mine) < views.least:
        return False
    return bool(distinct_ids(mine, views.right, views.enough) and distinct_ids(mine, views.left, views.enough))


@njit(cache=True, parallel=True)
def judge_boxes(rows: Any, low: Any, high: Any, sensitive: Any, views: Any) -> Any:
    """Return the verdict on every box rows[low:high]."""
    verdict = np.empty(len(low), np.int64)
    for box in prange(len(low)):
        verdict[box] = judge(rows[low[box] : high[box]], sensitive, views)
    return verdict


def _least_matched(acceptance: Any, counts: Any, size: int) -> Any:
    return acceptance.least


def _choose_matched(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    boundary, also, left = cut_of(histogram_of(column), column.kind, size, least)
    if left > 0:
        rows = column.mine.copy()
        split_rows(rows, column.codes, boundary, also)
        for some in (rows[:left], rows[left:]):
            good = judge(some, column.secret.codes[0], acceptance) == GOOD if acceptance.strict else hopeful(some, acceptance)
            if not good:
                return boundary, also, 0
    return boundary, also, left


implement(least_side, Matched, _least_matched)
implement(choose, Matched, _choose_matched)
