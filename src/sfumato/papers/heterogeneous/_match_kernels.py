"""Compiled loops of matching: what a record would add to the ranges of each set of matches, and who is matched with whom.

The last ones are of the threshold mode: everybody into the pool that is most unlike her.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Flags, Integers, Small
from sfumato.papers.heterogeneous._assignment_kernel import FORBIDDEN, cheapest_assignment

NOTHING = -(1 << 30)
"""The place of somebody who has no value in a numeric column."""

HUNGARIAN, SORTGREEDY, GREEDY = 0, 1, 2


class Slots(NamedTuple):
    """The slots of all pools, and what they cost.

    `places[j, b, i]` is where slot i of pool b lies in numeric column j, `codes[j, b, i]` its category in column j, numbered on
    from `first[j]` (−1: none), `value[b, i]` its sensitive value among those that a record may meet only once (−1: it may meet
    it freely).
    """

    places: Small
    codes: Small
    first: Integers
    weights: Small
    value: Small


class SlotRanges(NamedTuple):
    """The matches so far of every slot of one pool: ranges, categories seen, whether any, and values met, one row a slot."""

    low: Integers
    high: Integers
    seen: Flags
    some: Flags
    met: Flags


@njit(cache=True, nogil=True)
def match_blocks(slots: Any, start: Any, matcher: int, links: Any, first: int, last: int) -> int:
    """Match the records of some pools with one record of every other, and return for how many nothing allowed was left.

    Block k holds the slots `start[k]` to `start[k + 1]` of every pool. Pool b of block k is task k·μ + b; tasks `first` to
    `last` are done. Filled in: `links[b, i, o]`, the slot of pool o that slot i of pool b is matched with.

    Each pool of each block is matched by itself, so that it does not matter which thread does which.
    """
    pools = links.shape[0]
    values = slots.value.max() + 1
    stuck = 0
    for task in range(first, last):
        block, anchor = task // pools, task % pools
        stuck += _match_pool(slots, values, start[block], start[block + 1], anchor, matcher, links)
    return stuck


@njit(cache=True)
def _match_pool(slots: Any, values: int, begin: int, end: int, anchor: int, matcher: int, links: Any) -> int:
    """Match one pool of one block with all others in turn, each time at the cost of what the sets of matches are so far."""
    n, pools = end - begin, links.shape[0]
    places, codes = slots.places, slots.codes
    sets = SlotRanges(
        np.full((n, len(places)), FORBIDDEN, np.int64),
        np.full((n, len(places)), NOTHING, np.int64),
        np.zeros((n, slots.first[-1]), np.bool_),
        np.zeros((n, len(codes)), np.bool_),
        np.zeros((n, values), np.bool_),
    )
    cost = np.empty((n, n), np.int32)
    to = np.arange(n)
    back = np.empty(n, np.int64)
    stuck = 0
    for step in range(pools):
        other = (anchor + step) % pools
        if step:
            for i in range(n):
                _row(slots, sets, i, other, begin, cost[i])
            if matcher == HUNGARIAN:
                cheapest_assignment(cost, to, back)
            elif matcher == SORTGREEDY:
                _sort_greedy(cost, to, back)
            else:
                _greedy(cost, to, back)
        for i in range(n):
            k = begin + to[i]
            stuck += step > 0 and cost[i, to[i]] >= FORBIDDEN
            links[anchor, begin + i, other] = k
            for j in range(len(places)):
                if places[j, other, k] != NOTHING:
                    sets.low[i, j] = min(sets.low[i, j], places[j, other, k])
                    sets.high[i, j] = max(sets.high[i, j], places[j, other, k])
            for j in range(len(codes)):
                if codes[j, other, k] >= 0:
                    sets.seen[i, codes[j, other, k]] = True
                    sets.some[i, j] = True
            if slots.value[other, k] >= 0:
                sets.met[i, slots.value[other, k]] = True
    return stuck


@njit(cache=True)
def _row(slots: Any, sets: Any, i: int, other: int, begin: int, cost: Any) -> None:
    """Fill in what each slot of the other pool would add to the matches of slot i."""
    n = len(cost)
    cost[:] = 0
    for j in range(len(slots.places)):
        if sets.low[i, j] > sets.high[i, j]:
            continue
        bottom, top = np.int32(sets.low[i, j]), np.int32(sets.high[i, j])
        line = slots.places[j, other]
        for k in range(n):
            x = line[begin + k]
            if x != NOTHING:
                cost[k] += max(np.int32(0), bottom - x, x - top)
    seen, met = sets.seen[i], sets.met[i]
    for j in range(len(slots.codes)):
        if sets.some[i, j]:
            weight = np.int32(slots.weights[j])
            line = slots.codes[j, other]
            for k in range(n):
                code = line[begin + k]
                if code >= 0 and not seen[code]:
                    cost[k] += weight
    if len(met):
        for k in range(n):
            mine = slots.value[other, begin + k]
            if mine >= 0 and met[mine]:
                cost[k] = FORBIDDEN


@njit(cache=True)
def _greedy(cost: Any, to: Any, back: Any) -> None:
    """Give every row in turn its cheapest free column."""
    n = len(cost)
    to[:] = -1
    back[:] = -1
    for i in range(n):
        j = _cheapest_free(cost[i], back)
        if j >= 0:
            to[i] = j
            back[j] = i
        else:
            _repair(cost, to, back, i)


@njit(cache=True)
def _sort_greedy(cost: Any, to: Any, back: Any) -> None:
    """Take the cheapest pair of a free row and a free column, again and again; equal ones by row, then column.

    A row's cheapest free column can only become dearer, so a heap of rows by the last known cost finds the pairs in the order in
    which sorting all of them would.
    """
    n = len(cost)
    to[:] = -1
    back[:] = -1
    best = np.empty(n, np.int64)
    heap = [(np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(n):
        best[i] = _cheapest_free(cost[i], back)
        if best[i] >= 0:
            heapq.heappush(heap, (np.int64(cost[i, best[i]]), np.int64(i)))
    while heap:
        i = int(heapq.heappop(heap)[1])
        if back[best[i]] < 0:
            to[i] = best[i]
            back[best[i]] = i
            continue
        best[i] = _cheapest_free(cost[i], back)
        if best[i] >= 0:
            heapq.heappush(heap, (np.int64(cost[i, best[i]]), np.int64(i)))
    for i in range(n):
        if to[i] < 0:
            _repair(cost, to, back, i)


@njit(cache=True)
def _cheapest_free(row: Any, back: Any) -> int:
    """Return the cheapest allowed column that nobody has, −1 if there is none."""
    found, least = -1, np.int64(FORBIDDEN)
    for j in range(len(row)):
        if row[j] < least and back[j] < 0:
            found, least = j, np.int64(row[j])
    return found


@njit(cache=True)
def _repair(cost: Any, to: Any, back: Any, start: int) -> None:
    """Match a row that has no allowed free column: along a shortest path of allowed exchanges, breadth first.

    Where there is no such path no perfect matching exists; the row then gets a free column that is forbidden, which is counted.
    """
    n = len(cost)
    before = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    queue[0] = start
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for j in range(n):
            if cost[i, j] < FORBIDDEN and before[j] < 0:
                before[j] = i
                if back[j] >= 0:
                    queue[tail] = back[j]
                    tail += 1
                    continue
                while j >= 0:
                    row = before[j]
                    back[j] = row
                    j, to[row] = to[row], j
                return
    for j in range(n):
        if back[j] < 0:
            to[start] = j
            back[j] = start
            return


@njit(cache=True)
def deal_to_distant(places: Any, codes: Any, weights: Any, order: Any, home: Any, pools: int, size: int) -> Any:
    """Return a pool per row: its `home`, or where that is −1 the one with room whose people differ most from it on average."""
    found = np.full(len(order), -1, np.int64)
    filled = np.zeros(pools, np.int64)
    members = np.empty((pools, size), np.int64)
    for row in order:
        best, farthest = home[row], -1.0
        if best < 0:
            for pool in range(pools):
                if filled[pool] < size:
                    total = 0.0
                    for k in range(filled[pool]):
                        total += _apart(places, codes, weights, row, members[pool, k])
                    mean = total / max(filled[pool], 1)
                    if mean > farthest:
                        best, farthest = pool, mean
        found[row] = best
        members[best, filled[best]] = row
        filled[best] += 1
    return found


@njit(cache=True)
def _apart(places: Any, codes: Any, weights: Any, one: int, two: int) -> float:
    total = 0.0
    for j in range(len(places)):
        if places[j, one] != NOTHING and places[j, two] != NOTHING:
            total += abs(places[j, one] - places[j, two])
    for j in range(len(codes)):
        if codes[j, one] != codes[j, two]:
            total += weights[j]
    return total
