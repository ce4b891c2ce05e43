"""The inner loops of ring generalization: merging groups that lack diversity, and mending the order of a ring."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import prange

from sfumato._jit import njit

NEAR = 16
"""How many places away on the curve, within a ring, people count as alike."""

PASSES = 8
"""How often everybody's place on a ring is reconsidered at most."""


class _RingCost(NamedTuple):
    """A ring, the cost of the window that begins at each place, and room for those that an exchange changes."""

    ring: Any
    cost: Any
    fresh: Any


@njit(cache=True)
def _ones(word: Any) -> int:
    """Return how many bits of a word are set."""
    many = 0
    while word:
        word &= word - np.uint64(1)
        many += 1
    return many


@njit(cache=True)
def _joint(low: Any, high: Any, bits: Any, weights: Any, f: int, h: int) -> float:
    """Return ΣNCP of two groups together, but for a constant: one value of a set too many for each column."""
    cost = 0.0
    for j in range(low.shape[1]):
        below, above = min(low[f, j], low[h, j]), max(high[f, j], high[h, j])
        if above > below:
            cost += above - below
    for w in range(bits.shape[1]):
        cost += _ones(bits[f, w] | bits[h, w]) * weights[w]
    return cost


@njit(cache=True)
def merge_until_diverse(low: Any, high: Any, bits: Any, weights: Any, counts: Any, sizes: Any, l: int) -> Any:
    """Return for every group the one it ends in: who lacks diversity joins the group that makes the loss rise least.

    A group is diverse if ℓ · (most frequent count) ≤ size. All arrays but the weights are changed: ranges, sets, histograms and
    sizes of the groups that are left.
    """
    groups = len(sizes)
    into = np.arange(groups)
    alive = np.ones(groups, np.bool_)
    cost = np.empty(groups)
    for g in range(groups):
        cost[g] = _joint(low, high, bits, weights, g, g)
    for first in np.argsort(sizes, kind="mergesort"):
        f = first
        while alive[f] and l * counts[f].max() > sizes[f]:
            best, least = -1, np.inf
            for h in range(groups):
                if alive[h] and h != f:
                    rise = _joint(low, high, bits, weights, f, h) * (sizes[f] + sizes[h]) - cost[h] * sizes[h]
                    if rise < least:
                        best, least = h, rise
            if best < 0:
                break
            cost[best] = _joint(low, high, bits, weights, f, best)
            for j in range(low.shape[1]):
                low[best, j], high[best, j] = min(low[best, j], low[f, j]), max(high[best, j], high[f, j])
            bits[best] |= bits[f]
            counts[best] += counts[f]
            sizes[best] += sizes[f]
            alive[f] = False
            into[f] = best
            f = best
    for g in range(groups):
        end = g
        while into[end] != end:
            end = into[end]
        into[g] = end
    return into


@njit(cache=True)
def _window(ring: Any, begin: int, l: int, quasi: Any) -> float:
    """Return the cost of the ℓ people of a ring from `begin` on, as `_joint` counts it."""
    cost = 0.0
    size = len(ring)
    for j in range(quasi.places.shape[1]):
        low, high = np.inf, -np.inf
        for k in range(l):
            value = quasi.places[ring[(begin + k) % size], j]
            if value < low:
                low = value
            if value > high:
                high = value
        if high > low:
            cost += high - low
    for w in range(quasi.bits.shape[1]):
        held = np.uint64(0)
        for k in range(l):
            held |= quasi.bits[ring[(begin + k) % size], w]
        cost += _ones(held) * quasi.weights[w]
    return cost


@njit(cache=True)
def _stands_alone(ring: Any, value: Any, place: int, l: int) -> bool:
    """Return whether nobody less than ℓ places away has the same value."""
    size = len(ring)
    own = value[ring[place]]
    near = 0
    for k in range(1, l):
        near += (value[ring[(place + k) % size]] == own) + (value[ring[(place - k) % size]] == own)
    return near == 0


@njit(cache=True)
def _swap_if_better(now: _RingCost, i: int, j: int, l: int, value: Any, quasi: Any) -> bool:
    """Exchange the people at two places if all windows stay diverse and their costs sum to less; return whether it was done."""
    ring, cost, fresh = now
    size = len(ring)
    ring[i], ring[j] = ring[j], ring[i]
    better = value[ring[i]] == value[ring[j]] or (_stands_alone(ring, value, i, l) and _stands_alone(ring, value, j, l))
    if better:
        change = 0.0
        for k in range(2 * l):
            begin = ((i if k < l else j) - k % l) % size
            # A window that holds both places is counted with the first.
            if k < l or (i - begin) % size >= l:
                fresh[k] = _window(ring, begin, l, quasi)
                change += fresh[k] - cost[begin]
        better = change < -1e-9
    if not better:
        ring[i], ring[j] = ring[j], ring[i]
        return False
    for k in range(2 * l):
        begin = ((i if k < l else j) - k % l) % size
        if k < l or (i - begin) % size >= l:
            cost[begin] = fresh[k]
    return True


@njit(cache=True)
def _beside_somebody_alike(ranked: Any, place: Any, mine: int, l: int, word: Any) -> int:
    """Return a place less than ℓ from somebody who is near on the curve: `ranked` lists people by rank, `mine` is one's own."""
    size = len(ranked)
    reach = min(NEAR, size - 1)
    offset = np.int64((word >> np.uint64(33)) % np.uint64(2 * reach)) - reach
    step = np.int64((word >> np.uint64(13)) % np.uint64(2 * l - 1)) - l + 1
    return int((place[ranked[(mine + offset + (offset >= 0)) % size]] + step) % size)


@njit(cache=True, parallel=True)
def mend_rings(rings: tuple[Any, Any], l: int, value: Any, rank: Any, quasi: Any, tries: int, words: Any) -> None:
    """Exchange people inside each ring, as long as that lowers the cost of its windows and keeps them diverse.

    Ring r of (order, start) is `order[start[r]:start[r + 1]]`. In each pass everybody is tried against `tries` places beside
    somebody alike, in a small ring against all; `words` has one word for each ring to draw from, so that the number of
    processors changes nothing.
    """
    order, start = rings
    for r in prange(len(start) - 1):
        ring = order[start[r] : start[r + 1]]
        size = len(ring)
        if size == l:
            continue
        cost = np.empty(size)
        for begin in range(size):
            cost[begin] = _window(ring, begin, l, quasi)
        now = _RingCost(ring, cost, np.empty(2 * l))
        members = ring.copy()
        ranked = np.argsort(rank[members])  # people are numbered by the place they had at first
        own = np.empty(size, np.int64)
        own[ranked] = np.arange(size)
        place, who = np.arange(size), np.arange(size)
        state = words[r]
        for _ in range(PASSES):
            improved = False
            for i in range(size):
                for k in range(min(tries, size - 1)):
                    j = (i + 1 + k) % size
                    if size - 1 > tries:
                        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                        j = _beside_somebody_alike(ranked, place, own[who[i]], l, state)
                    if i != j and _swap_if_better(now, i, j, l, value, quasi):
                        who[i], who[j] = who[j], who[i]
                        place[who[i]], place[who[j]] = i, j
                        improved = True
            if not improved:
                break
