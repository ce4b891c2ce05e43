"""The linear assignment problem on a dense integer matrix, after Jonker and Volgenant (1987)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit

FORBIDDEN = 1 << 28
"""The cost of a match that may not be. All costs that may be, one a row, add up to less; so sums of few fit 32 bits."""

_FAR = np.int64(1) << 60
_FAR_AWAY = np.int32(1 << 30)
_WIDTH = 64


class _Matching(NamedTuple):
    """Costs, the column of each row and the row of each column (−1: none yet), and what columns cost beside."""

    cost: Any
    to: Any
    back: Any
    price: Any


class _Reached(NamedTuple):
    """Columns in the order in which they were reached, what going on from each costs beside, and by column how far it is."""

    column: Any
    offset: Any
    final: Any


@njit(cache=True)
def cheapest_assignment(cost: Any, to: Any, back: Any) -> None:
    """Fill `to[row]` and `back[column]` with an assignment of least total cost.

    Costs are 32-bit numbers from 0 on, `FORBIDDEN` where a match may not be. Where every assignment holds forbidden matches, so
    does the one found.
    """
    n = len(cost)
    matching = _Matching(cost, to, back, np.empty(n, np.int64))
    free = np.empty(n, np.int64)
    left = _reduce_columns(matching, free)
    for _ in range(2):
        left = _reduce_rows(matching, free, left)
    _augment(matching, free, left)


@njit(cache=True)
def _reduce_columns(matching: _Matching, free: Any) -> int:
    """Give every column its cheapest row, as far as rows are not taken; return how many rows are left free."""
    cost, to, back, price = matching
    n = len(cost)
    times = np.zeros(n, np.int64)
    cheapest = np.zeros(n, np.int64)
    for j in range(n):
        price[j] = cost[0, j]
    for i in range(1, n):
        for j in range(n):
            if cost[i, j] < price[j]:
                price[j] = cost[i, j]
                cheapest[j] = i
    to[:] = -1
    for j in range(n - 1, -1, -1):
        i = cheapest[j]
        times[i] += 1
        back[j] = -1
        if times[i] == 1:
            to[i] = j
            back[j] = i
    left = 0
    for i in range(n):
        if times[i] == 0:
            free[left] = i
            left += 1
        elif times[i] == 1:
            spare = _FAR
            for j in range(n):
                if j != to[i]:
                    spare = min(spare, cost[i, j] - price[j])
            price[to[i]] -= spare if n > 1 else 0
    return left


@njit(cache=True)
def _reduce_rows(matching: _Matching, free: Any, many: int) -> int:
    """Let every free row take its cheapest column and raise that column's price; return how many rows are free afterwards."""
    cost, to, back, price = matching
    n = len(cost)
    k, left, again = 0, 0, 0
    while k < many:
        i = free[k]
        k += 1
        first, second, best, next_best = 0, 0, _FAR, _FAR
        for j in range(n):
            reduced = cost[i, j] - price[j]
            if reduced < next_best:
                if reduced >= best:
                    next_best, second = reduced, j
                else:
                    next_best, second = best, first
                    best, first = reduced, j
        holder = back[first]
        if best < next_best:
            price[first] -= next_best - best if n > 1 else 0
        elif holder >= 0:
            first = second
            holder = back[second]
        to[i] = first
        back[first] = i
        if holder >= 0:
            # Rows may outbid each other many times by very little; a row that was outbid late waits for the next pass.
            if best < next_best and again < 4 * n:
                again += 1
                k -= 1
                free[k] = holder
            else:
                free[left] = holder
                left += 1
    return left


@njit(cache=True)
def _augment(matching: _Matching, free: Any, many: int) -> None:
    """Match every free row along a shortest path of exchanges.

    Distances are all that is kept up for every column, in 32 bits, because processors compare many of those at once; the path is
    found from them afterwards.
    """
    cost, to, back, price = matching
    n = len(cost)
    distance = np.empty(n, np.int32)
    shift = np.empty(n, np.int32)
    reached = _Reached(np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32))
    column, offset, final = reached
    least = np.empty(-(-n // _WIDTH), np.int32)
    for f in range(many):
        start = free[f]
        for j in range(n):
            shift[j] = price[j]
            distance[j] = cost[start, j] - shift[j]
        done, end, nearest = 0, -1, np.int32(0)
        while True:
            nearest = _least(distance, least)
            if nearest >= _FAR_AWAY >> 1:
                _match_anyhow(to, back, free, f, many)
                return
            ready = done
            for k in range(len(least)):
                if least[k] != nearest:
                    continue
                for j in range(k * _WIDTH, min(n, (k + 1) * _WIDTH)):
                    if distance[j] == nearest:
                        if back[j] < 0:
                            end = j
                        column[ready] = j
                        ready += 1
            if end >= 0:
                break
            for k in range(done, ready):
                j = column[k]
                final[j] = nearest
                distance[j] = _FAR_AWAY
                shift[j] = -_FAR_AWAY
            for k in range(done, ready):
                j = column[k]
                offset[k] = cost[back[j], j] - price[j] - nearest
                _relax(cost[back[j]], shift, offset[k], distance)
            done = ready
        _exchange(matching, reached, done, start, end, nearest)
        for k in range(done):
            price[column[k]] += final[column[k]] - nearest


@njit(cache=True)
def _exchange(matching: _Matching, reached: _Reached, done: int, start: int, end: int, nearest: int) -> None:
    """Give every column on a shortest path to the row before it; that row was reached earlier, and explains the distance."""
    cost, to, back, price = matching
    column, offset, final = reached
    j, before, away = end, done, nearest
    while True:
        row = start
        if cost[start, j] - price[j] != away:
            for k in range(before):
                through = back[column[k]]
                if cost[through, j] - price[j] - offset[k] == away:
                    row, before, away = through, k, final[column[k]]
                    break
        back[j] = row
        j, to[row] = to[row], j
        if row == start:
            return


@njit(cache=True)
def _match_anyhow(to: Any, back: Any, free: Any, first: int, many: int) -> None:
    """Give the free rows any free columns: the matches before them already hold forbidden ones."""
    j = 0
    for f in range(first, many):
        while back[j] >= 0:
            j += 1
        to[free[f]] = j
        back[j] = free[f]


@njit(cache=True)
def _least(distance: Any, least: Any) -> Any:
    """Return the smallest distance, and fill in that of every stretch of columns, so that only few have to be searched."""
    nearest = distance[0]
    for k in range(len(least)):
        found = distance[k * _WIDTH]
        for j in range(k * _WIDTH, min(len(distance), (k + 1) * _WIDTH)):
            found = min(found, distance[j])
        least[k] = found
        nearest = min(nearest, found)
    return nearest


@njit(cache=True)
def _relax(row: Any, shift: Any, offset: int, distance: Any) -> None:
    """Shorten distances by going through a row; columns that are done have a shift that keeps them far away."""
    for k in range(len(row)):
        distance[k] = min(distance[k], np.int32(row[k] - shift[k] - offset))
