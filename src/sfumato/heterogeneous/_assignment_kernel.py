"""The linear assignment problem on a dense integer matrix, after Jonker and Volgenant (1987)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_FAR = np.int64(1) << 60
_FAR_AWAY = 1e15
_WIDTH = 64


@njit(cache=True)
def cheapest_assignment(cost: Any, to: Any, back: Any) -> None:  # pragma: no cover - compiled
    """Fill `to[row]` and `back[column]` with an assignment of least total cost."""
    n = len(cost)
    price = np.empty(n, np.int64)
    free = np.empty(n, np.int64)
    left = _reduce_columns(cost, to, back, price, free)
    for _ in range(2):
        left = _reduce_rows(cost, to, back, price, free, left)
    _augment(cost, to, back, price, free, left)


@njit(cache=True)
def _reduce_columns(cost: Any, to: Any, back: Any, price: Any, free: Any) -> int:  # pragma: no cover - compiled
    """Give every column its cheapest row, as far as rows are not taken; return how many rows are left free."""
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
def _reduce_rows(cost: Any, to: Any, back: Any, price: Any, free: Any, many: int) -> int:  # pragma: no cover - compiled
    """Let every free row take its cheapest column and raise that column's price; return how many rows are free afterwards."""
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
def _augment(cost: Any, to: Any, back: Any, price: Any, free: Any, many: int) -> None:  # pragma: no cover - compiled
    """Match every free row along a shortest path of exchanges.

    Distances are whole numbers far below 2^53, kept as floats because processors compare many of those at once.
    """
    n = len(cost)
    distance = np.empty(n, np.float64)
    final = np.empty(n, np.float64)
    shift = np.empty(n, np.float64)
    before = np.empty(n, np.int64)
    reached = np.empty(n, np.int64)
    least = np.empty(-(-n // _WIDTH), np.float64)
    for f in range(many):
        start = free[f]
        for j in range(n):
            shift[j] = price[j]
            distance[j] = cost[start, j] - shift[j]
            before[j] = start
        done, end, nearest = 0, -1, 0.0
        while True:
            nearest = _least(distance, least)
            ready = done
            for k in range(len(least)):
                if least[k] != nearest:
                    continue
                for j in range(k * _WIDTH, min(n, (k + 1) * _WIDTH)):
                    if distance[j] == nearest:
                        if back[j] < 0:
                            end = j
                        reached[ready] = j
                        ready += 1
            if end >= 0:
                break
            for k in range(done, ready):
                j = reached[k]
                final[j] = nearest
                distance[j] = _FAR_AWAY
                shift[j] = -2 * _FAR_AWAY
            for k in range(done, ready):
                j = reached[k]
                _relax(cost[back[j]], shift, cost[back[j], j] - price[j] - nearest, back[j], distance, before)
            done = ready
        for k in range(done):
            price[reached[k]] += np.int64(final[reached[k]] - nearest)
        while True:
            i = before[end]
            back[end] = i
            end, to[i] = to[i], end
            if i == start:
                break


@njit(cache=True, fastmath={"nnan", "ninf", "nsz"})
def _least(distance: Any, least: Any) -> Any:  # pragma: no cover - compiled
    """Return the smallest distance, and fill in that of every stretch of columns, so that only few have to be searched."""
    nearest = distance[0]
    for k in range(len(least)):
        found = distance[k * _WIDTH]
        for j in range(k * _WIDTH, min(len(distance), (k + 1) * _WIDTH)):
            found = distance[j] if distance[j] < found else found
        least[k] = found
        nearest = min(nearest, found)
    return nearest


@njit(cache=True, fastmath={"nnan", "ninf", "nsz"})
def _relax(row: Any, shift: Any, offset: float, i: int, distance: Any, before: Any) -> None:  # pragma: no cover - compiled
    """Shorten distances by going through row i; columns that are done have a shift that keeps them far away."""
    for k in range(len(row)):
        reach = row[k] - shift[k] - offset
        nearer = reach < distance[k]
        before[k] = i if nearer else before[k]
        distance[k] = reach if nearer else distance[k]
