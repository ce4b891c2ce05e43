"""Compiled loops of completed tables of people with several values: as many values a person as boxes show."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


@njit(cache=True, nogil=True)
def _next(state: Any) -> Any:
    """Advance a box's generator (xorshift) and return its word."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@njit(cache=True, nogil=True)
def _below(state: Any, many: int) -> Any:
    return np.int64(((_next(state) >> np.uint64(32)) * np.uint64(many)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def _unit(state: Any) -> float:
    return np.float64(_next(state) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _one_that_lacks(state: Any, has: Any, i: int, j: int) -> int:
    """Return a value of i, any of them alike, that j has not; −1 where there is none."""
    found, chosen = 0, -1
    for v in range(has.shape[1]):
        if has[i, v] and not has[j, v]:
            found += 1
            if _below(state, found) == 0:
                chosen = v
    return chosen


@njit(cache=True, nogil=True)
def _along_a_path(has: Any, i: int, more: Any, before: Any, via: Any, queue: Any) -> int:
    """Hand one value of i to somebody who is to have more, through others who hand on one of theirs; return who, or −1.

    `has` and `more` are those of one box.
    """
    before[: len(has)] = -1
    before[i] = i
    queue[0], at, end = i, 0, 1
    while at < end:
        x = queue[at]
        at += 1
        for y in range(len(has)):
            if before[y] >= 0:
                continue
            for v in range(has.shape[1]):
                if has[x, v] and not has[y, v]:
                    before[y], via[y] = x, v
                    break
            if before[y] < 0:
                continue
            if more[y] > 0:
                last = y
                while y != i:
                    x = before[y]
                    has[x, via[y]], has[y, via[y]] = 0, 1
                    y = x
                return last
            queue[end] = y
            end += 1
    return -1


@njit(cache=True, nogil=True)
def settle(first: Any, number: Any, odds: Any, tries: int, words: Any, has: Any) -> bool:
    """Hand values on inside boxes until as many people as shown have 0, 1, 2, … of them; return whether that can be.

    `has` is [people × values], box by box; number[first[b] : first[b + 1]] are the numbers of box b, ascending. Who has more
    values is to have more. Somebody with too many gives one of hers to somebody with too few, the more willingly the likelier it
    is to be the other's: a Metropolis step of the model. As many as it takes, and no more: steps that go on would draw from the
    product of all values' odds given the numbers, in which values that exclude each other count twice.
    """
    people, values = has.shape
    state, more = np.empty(1, np.uint64), np.zeros(people, np.int64)
    most = 0
    for b in range(len(first) - 1):
        most = max(most, first[b + 1] - first[b])
    before, via = np.empty(most, np.int64), np.empty(most, np.int64)
    queue, poor = np.empty(most, np.int64), np.empty(most, np.int64)
    for b in range(len(first) - 1):
        low, high = first[b], first[b + 1]
        state[0] = words[b] | np.uint64(1)
        now = np.empty(high - low)
        for i in range(low, high):
            own = 0
            for v in range(values):
                own += has[i, v]
            now[i - low] = own + _unit(state)
        order = np.argsort(now)
        for k in range(high - low):
            more[low + order[k]] = number[low + k] - np.int64(now[order[k]])
        few = 0
        for i in range(low, high):
            if more[i] > 0:
                poor[few] = i
                few += 1
        for i in range(low, high):
            while more[i] < 0:
                taker = -1
                for _ in range(tries):
                    place = _below(state, few)
                    j = poor[place]
                    v = _one_that_lacks(state, has, i, j)
                    if v >= 0 and _unit(state) * odds[i, v] <= odds[j, v]:
                        has[i, v], has[j, v], taker = 0, 1, j
                        break
                if taker < 0:
                    taker = _along_a_path(has[low:high], i - low, more[low:high], before, via, queue)
                    if taker < 0:
                        return False
                    taker += low
                more[i] += 1
                more[taker] -= 1
                if more[taker] == 0:
                    for k in range(few):
                        if poor[k] == taker:
                            few -= 1
                            poor[k] = poor[few]
                            break
    return True
