"""The groups of one window: exact changes of cost, exact caps, moves and undoing them.

A window is a set of whole groups. Its records are numbered in a kd order, its codes and values are numbered anew, so that all
counts of a group stand in one short row. Costs are floats and decide only what is kept; whether a group keeps its bounds is
decided by `need`, the smallest size for a count of a value, in integers.

Every function takes the same state, in plain arrays because that is several times faster than a tuple of them:

- `people` [records × …] home, slot among the members, place of the value in a row of `count`, where in `need` the value's entries
  begin, then the place of every code in a row of `count`, then neighbours in the window (−1 for one outside);
- `groups` [slots × …] size, first member in `pool`, room there, two ends per column: lowest and highest code, or number of
  categories and 0;
- `count` [slots × …] the people of a group with each code and each value;
- `ncp` [slots] what the box of a group costs one person, the sum over columns;
- `pool` members of all groups, the end of its used part last;
- `place` by place in a row of `count`: where on its scale a numeric code lies, or what one more category costs;
- `kind` [columns] `CATEGORIES`, `NUMBERS`, or the place of the code that means missing among numbers;
- `need` the smallest group for a count of a value;
- `log` moves that may be undone: record and former group in turn, their number last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

HOME, SLOT, VALUE, NEED, CODES = 0, 1, 2, 3, 4
SIZE, START, ROOM, ENDS = 0, 1, 2, 3
CATEGORIES, NUMBERS = -2, -1
SCAN = 48  # so many codes are looked at for the next end of a range before the members are


Function = TypeVar("Function", bound=Callable[..., Any])


def _compiled(function: Function, **more: bool) -> Function:
    """Return the function compiled for compiled callers only: without ways in from elsewhere it takes half the time."""
    options: dict[str, Any] = {"cache": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **more}
    fast: Function = njit(**options)(function)
    return fast


def allocating(function: Function) -> Function:
    """Return the function compiled, one that makes arrays."""
    return _compiled(function, _nrt=True)


def compiled(function: Function) -> Function:
    """Return the function compiled, one that makes no array: counting who refers to which array would take half of a step."""
    return _compiled(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Return the function compiled into its callers; it makes no array."""
    return _compiled(function, _nrt=False, forceinline=True)


@inlined
def random_below(word: Any, limit: int) -> Any:  # pragma: no cover - compiled
    """Return a number from 0 to limit − 1 and step the stream."""
    word[0] += np.uint64(0x9E3779B97F4A7C15)
    z = word[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.int64(((z >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@compiled
def next_end(
    people: Any, groups: Any, count: Any, pool: Any, absent: int, g: int, j: int, code: int, step: int
) -> Any:  # pragma: no cover - compiled
    """Return the end of a group's range in column j once nobody has `code`, the present end; −1 if nobody has a value.

    `step` is 1 for the lower end and −1 for the upper one.
    """
    last = groups[g, ENDS + 2 * j + 1] if step > 0 else groups[g, ENDS + 2 * j]
    at = code + step
    for _ in range(SCAN):
        if (last - at) * step < 0:
            return -1
        if count[g, at] > 0:
            return at
        at += step
    best = -1
    for k in range(groups[g, START], groups[g, START] + groups[g, SIZE]):
        found = people[pool[k], CODES + j]
        if found != code and found != absent and (best < 0 or (best - found) * step > 0):
            best = found
    return best


@compiled
def ncp_after(
    people: Any, groups: Any, count: Any, ncp: Any, pool: Any, place: Any, kind: Any, g: int, leaves: int, joins: int
) -> Any:  # pragma: no cover - compiled
    """Return what the box of a group costs one person once a record left and another joined; −1 for nobody."""
    total = ncp[g]
    for j in range(len(kind)):
        out = people[leaves, CODES + j] if leaves >= 0 else -1
        new = people[joins, CODES + j] if joins >= 0 else -1
        if out == new:
            continue
        if kind[j] == CATEGORIES:
            if out >= 0 and count[g, out] == 1:
                total -= place[out]
            if new >= 0 and count[g, new] == 0:
                total += place[new]
            if (new < 0 and groups[g, SIZE] == 1) or (out < 0 and groups[g, SIZE] == 0):
                total += place[out] if new < 0 else -place[new]  # the first category costs nothing
            continue
        low, high = groups[g, ENDS + 2 * j], groups[g, ENDS + 2 * j + 1]
        below, above = low, high
        if out >= 0 and out in (low, high) and count[g, out] == 1:
            if out == low:
                below = next_end(people, groups, count, pool, kind[j], g, j, out, 1)
            if out == high:
                above = next_end(people, groups, count, pool, kind[j], g, j, out, -1)
            if below < 0 or above < 0:
                below, above = -1, -1
        if new >= 0 and new != kind[j]:
            below = new if below < 0 else min(below, new)
            above = max(above, new)
        if below != low or above != high:
            total -= place[high] - place[low] if low >= 0 else 0.0
            total += place[above] - place[below] if below >= 0 else 0.0
    return total


@inlined
def refresh(groups: Any, ncp: Any, place: Any, kind: Any, unit: Any, g: int) -> None:  # pragma: no cover - compiled
    """Set what the box of a group costs one person, from its ends."""
    total = 0.0
    for j in range(len(kind)):
        low, high = groups[g, ENDS + 2 * j], groups[g, ENDS + 2 * j + 1]
        if kind[j] == CATEGORIES:
            total += max(low - 1, 0) * unit[j]
        elif low >= 0:
            total += place[high] - place[low]
    ncp[g] = total


@allocating
def make_room(groups: Any, pool: Any, g: int) -> None:  # pragma: no cover - compiled
    """Give a full group twice its room in the pool, closing the gaps of all groups when the pool is used up."""
    wanted = 2 * groups[g, ROOM] + 4
    if pool[-1] + wanted >= len(pool):
        held = pool[: pool[-1]].copy()
        pool[-1] = 0
        for h in range(len(groups)):
            size, begin = groups[h, SIZE], groups[h, START]
            groups[h, START], groups[h, ROOM] = pool[-1], size
            pool[pool[-1] : pool[-1] + size] = held[begin : begin + size]
            pool[-1] += size
        wanted = groups[g, SIZE] + 4
    top, begin = pool[-1], groups[g, START]
    for k in range(groups[g, SIZE]):
        pool[top + k] = pool[begin + k]
    groups[g, START], groups[g, ROOM] = top, wanted
    pool[-1] = top + wanted


@compiled
def drop(people: Any, groups: Any, count: Any, pool: Any, kind: Any, r: int) -> None:  # pragma: no cover - compiled
    """Take a record out of its group; `ncp` is left to `refresh`."""
    g = people[r, HOME]
    groups[g, SIZE] -= 1
    last = pool[groups[g, START] + groups[g, SIZE]]
    pool[groups[g, START] + people[r, SLOT]] = last
    people[last, SLOT] = people[r, SLOT]
    count[g, people[r, VALUE]] -= 1
    for j in range(len(kind)):
        code = people[r, CODES + j]
        count[g, code] -= 1
        if count[g, code] > 0 or code == kind[j]:
            continue
        at = ENDS + 2 * j
        if kind[j] == CATEGORIES:
            groups[g, at] -= 1
            continue
        low, high = groups[g, at], groups[g, at + 1]
        below = next_end(people, groups, count, pool, kind[j], g, j, code, 1) if code == low else low
        above = next_end(people, groups, count, pool, kind[j], g, j, code, -1) if code == high else high
        if below < 0 or above < 0:
            below, above = -1, -1
        groups[g, at], groups[g, at + 1] = below, above


@compiled
def put(people: Any, groups: Any, count: Any, pool: Any, kind: Any, r: int, g: int) -> None:  # pragma: no cover - compiled
    """Put a record that is in no group into one; `ncp` is left to `refresh`."""
    if groups[g, SIZE] == groups[g, ROOM]:
        make_room(groups, pool, g)
    people[r, HOME], people[r, SLOT] = g, groups[g, SIZE]
    pool[groups[g, START] + groups[g, SIZE]] = r
    groups[g, SIZE] += 1
    count[g, people[r, VALUE]] += 1
    for j in range(len(kind)):
        code = people[r, CODES + j]
        count[g, code] += 1
        if count[g, code] > 1 or code == kind[j]:
            continue
        at = ENDS + 2 * j
        if kind[j] == CATEGORIES:
            groups[g, at] += 1
        else:
            groups[g, at] = code if groups[g, at] < 0 else min(groups[g, at], code)
            groups[g, at + 1] = max(groups[g, at + 1], code)


@compiled
def shift(
    people: Any, groups: Any, count: Any, ncp: Any, pool: Any, place: Any, kind: Any, unit: Any, log: Any, r: int, g: int
) -> None:  # pragma: no cover - compiled
    """Move a record to another group and note where it was."""
    h = people[r, HOME]
    many = log[-1]
    log[2 * many], log[2 * many + 1] = r, h
    log[-1] = many + 1
    drop(people, groups, count, pool, kind, r)
    put(people, groups, count, pool, kind, r, g)
    refresh(groups, ncp, place, kind, unit, g)
    refresh(groups, ncp, place, kind, unit, h)


@compiled
def undo(
    people: Any, groups: Any, count: Any, ncp: Any, pool: Any, place: Any, kind: Any, unit: Any, log: Any
) -> None:  # pragma: no cover - compiled
    """Take back the noted moves, the last first."""
    while log[-1] > 0:
        many = log[-1] - 1
        shift(people, groups, count, ncp, pool, place, kind, unit, log, log[2 * many], log[2 * many + 1])
        log[-1] = many


@compiled
def may_leave(people: Any, groups: Any, count: Any, pool: Any, need: Any, r: int) -> bool:  # pragma: no cover - compiled
    """Return whether the group of a record keeps its bounds without it."""
    g = people[r, HOME]
    size, begin = groups[g, SIZE] - 1, groups[g, START]
    mine = people[r, VALUE]
    for k in range(begin, begin + size + 1):
        v = people[pool[k], VALUE]
        held = count[g, v] - (1 if v == mine else 0)
        if held > 0 and need[people[pool[k], NEED] + held] > size:
            return False
    return True


@inlined
def may_join(people: Any, groups: Any, count: Any, need: Any, r: int, g: int, size: int) -> Any:  # pragma: no cover - compiled
    """Return whether a group that will have `size` people may hold the record too."""
    return need[people[r, NEED] + count[g, people[r, VALUE]] + 1] <= size


@inlined
def may_swap(people: Any, groups: Any, count: Any, need: Any, leaves: int, joins: int) -> Any:  # pragma: no cover - compiled
    """Return whether the group of `leaves` keeps its bounds with `joins` in its place."""
    g = people[leaves, HOME]
    return people[leaves, VALUE] == people[joins, VALUE] or may_join(people, groups, count, need, joins, g, groups[g, SIZE])


@inlined
def range_change(
    people: Any, groups: Any, count: Any, pool: Any, place: Any, absent: int, g: int, j: int, out: int, new: int
) -> Any:  # pragma: no cover - compiled
    """Return by how much the range of a group in a column of numbers grows when somebody with another code takes a place."""
    low, high = groups[g, ENDS + 2 * j], groups[g, ENDS + 2 * j + 1]
    below, above = low, high
    if out in (low, high) and count[g, out] == 1:
        if out == low:
            below = next_end(people, groups, count, pool, absent, g, j, out, 1)
        if out == high:
            above = next_end(people, groups, count, pool, absent, g, j, out, -1)
        if below < 0 or above < 0:
            below, above = -1, -1
    if new != absent:
        below = new if below < 0 else min(below, new)
        above = max(above, new)
    if below == low and above == high:
        return 0.0
    before = place[high] - place[low] if low >= 0 else 0.0
    return (place[above] - place[below] if below >= 0 else 0.0) - before


@compiled
def swap_cost(
    people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, a: int, b: int
) -> Any:  # pragma: no cover - compiled
    """Return by how much the cost changes if two records of two groups change places."""
    g, h = people[a, HOME], people[b, HOME]
    here, there = 0.0, 0.0
    for j in range(len(kind)):
        x, y = people[a, CODES + j], people[b, CODES + j]
        if x == y:
            continue
        if kind[j] == CATEGORIES:
            here += (place[y] if count[g, y] == 0 else 0.0) - (place[x] if count[g, x] == 1 else 0.0)
            there += (place[x] if count[h, x] == 0 else 0.0) - (place[y] if count[h, y] == 1 else 0.0)
        else:
            here += range_change(people, groups, count, pool, place, kind[j], g, j, x, y)
            there += range_change(people, groups, count, pool, place, kind[j], h, j, y, x)
    return groups[g, SIZE] * here + groups[h, SIZE] * there


@compiled
def move_cost(
    people: Any, groups: Any, count: Any, ncp: Any, pool: Any, place: Any, kind: Any, r: int, g: int
) -> Any:  # pragma: no cover - compiled
    """Return by how much the cost changes if a record goes to another group."""
    h = people[r, HOME]
    size, left = groups[g, SIZE], groups[h, SIZE]
    here = (size + 1) * ncp_after(people, groups, count, ncp, pool, place, kind, g, -1, r) - size * ncp[g]
    return here + (left - 1) * ncp_after(people, groups, count, ncp, pool, place, kind, h, r, -1) - left * ncp[h]


@compiled
def exchange(
    people: Any, groups: Any, count: Any, ncp: Any, pool: Any, place: Any, kind: Any, unit: Any, log: Any, a: int, b: int
) -> None:  # pragma: no cover - compiled
    """Let two records of two groups change places, and note it."""
    g, h = people[a, HOME], people[b, HOME]
    many = log[-1]
    log[2 * many], log[2 * many + 1], log[2 * many + 2], log[2 * many + 3] = a, g, b, h
    log[-1] = many + 2
    drop(people, groups, count, pool, kind, a)
    drop(people, groups, count, pool, kind, b)
    put(people, groups, count, pool, kind, a, h)
    put(people, groups, count, pool, kind, b, g)
    refresh(groups, ncp, place, kind, unit, g)
    refresh(groups, ncp, place, kind, unit, h)


@compiled
def release_slot(groups: Any, spare: Any, g: int) -> None:  # pragma: no cover - compiled
    """Put the number of a group without members back among the free ones."""
    if groups[g, SIZE] == 0:
        spare[spare[-1]] = g
        spare[-1] += 1
