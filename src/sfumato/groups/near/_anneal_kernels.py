"""The groups of one window: exact changes of cost, exact caps, moves and undoing them.

A window is a set of whole groups. Its records are numbered in a kd order, its codes and values are numbered anew, so that all
counts of a group stand in one short row. Costs are integers, NCP in units of 2⁻³⁶, so that adding changes never drifts; whether a
group keeps its bounds is decided by `need`, the smallest size for a count of a value.

Every function takes the same state, in plain arrays because that is several times faster than a tuple of them:

- `people` [records × …] home, slot among the members, place of the value in a row of `count`, where in `need` the value's entries
  begin, then the place of every code in a row of `count`;
- `near` [records × …] neighbours in the window, −1 for one outside;
- `groups` [slots × …] size, first member in `pool`, room there, what the box costs one person; then for every 64 codes two words
  of marks, a bit where somebody has the code and a bit where exactly one has; then two ends per column: lowest and highest code,
  or number of categories and a code of the column. A tried step looks at these few words only;
- `count` [slots × …] the people of a group with each code and, at the end of a row, with each value;
- `pool` members of all groups, the end of its used part last;
- `place` by place in a row of `count`: where on its scale a numeric code lies, or what one more category costs;
- `kind` [columns] `CATEGORIES`, `NUMBERS`, or the place of the code that means missing among numbers;
- `need` the smallest group for a count of a value, `starts` where in it the entries of each value of the window begin;
- `log` moves that may be undone: record and former group in turn, their number last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sfumato._jit import njit

HOME, SLOT, VALUE, NEED, CODES = 0, 1, 2, 3, 4
SIZE, START, ROOM, NCP, MARKS = 0, 1, 2, 3, 4
CATEGORIES, NUMBERS = -2, -1
ONE = 1 << 36  # an NCP of 1
SCAN = 64  # so many codes are looked at for the next end of a range before the members are


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
def random_word(word: Any) -> Any:
    """Return 64 random bits and step the stream."""
    word[0] += np.uint64(0x9E3779B97F4A7C15)
    z = word[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def high_below(bits: Any, limit: Any) -> Any:
    """Return a number from 0 to limit − 1 from the upper half of 64 random bits."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@inlined
def low_below(bits: Any, limit: Any) -> Any:
    """Return a number from 0 to limit − 1 from the lower half of 64 random bits."""
    return np.int64(((bits & np.uint64(0xFFFFFFFF)) * np.uint64(limit)) >> np.uint64(32))


@inlined
def random_below(word: Any, limit: Any) -> Any:
    """Return a number from 0 to limit − 1 and step the stream."""
    return high_below(random_word(word), limit)


@inlined
def ends(groups: Any, kind: Any, j: Any) -> Any:
    """Return where in a row of `groups` the two ends of column j stand."""
    return groups.shape[1] - 2 * (len(kind) - j)


@inlined
def present(groups: Any, g: Any, code: Any) -> Any:
    """Return 1 if somebody in a group has a code, else 0."""
    return (groups[g, MARKS + 2 * (code >> 6)] >> (code & 63)) & 1


@inlined
def alone(groups: Any, g: Any, code: Any) -> Any:
    """Return 1 if exactly one person in a group has a code, else 0."""
    return (groups[g, MARKS + 2 * (code >> 6) + 1] >> (code & 63)) & 1


@compiled
def next_end(people: Any, groups: Any, pool: Any, kind: Any, g: Any, j: Any, code: Any, step: Any) -> Any:
    """Return the end of a group's range in column j once nobody has `code`, the present end; −1 if nobody has a value.

    `step` is 1 for the lower end and −1 for the upper one.
    """
    at = ends(groups, kind, j)
    last = groups[g, at + 1] if step > 0 else groups[g, at]
    found = code + step
    for _ in range(SCAN):
        if (last - found) * step < 0:
            return np.int64(-1)
        if present(groups, g, found):
            return np.int64(found)
        found += step
    best = np.int64(-1)
    for k in range(groups[g, START], groups[g, START] + groups[g, SIZE]):
        here = people[pool[k], CODES + j]
        if here != code and here != kind[j] and (best < 0 or (best - here) * step > 0):
            best = np.int64(here)
    return best


@inlined
def width_without(people: Any, groups: Any, pool: Any, place: Any, kind: Any, g: Any, j: Any, out: Any, new: Any) -> Any:
    """Return how wide a range is when the person at an end, with code `out`, goes and one with `new` comes (−1 for nobody)."""
    at = ends(groups, kind, j)
    below, above = groups[g, at], groups[g, at + 1]
    if out == below:
        below = next_end(people, groups, pool, kind, g, j, out, 1)
    if out == above:
        above = next_end(people, groups, pool, kind, g, j, out, -1)
    if below < 0 or above < 0:
        return np.int64(0)
    if new >= 0 and new != kind[j]:
        below, above = min(below, new), max(above, new)
    return place[above] - place[below]


@inlined
def grown(groups: Any, place: Any, kind: Any, g: Any, j: Any, new: Any) -> Any:
    """Return by how much a range grows when somebody comes."""
    at = ends(groups, kind, j)
    low, high = groups[g, at], groups[g, at + 1]
    if low < 0 or new == kind[j]:
        return np.int64(0)
    return max(place[low] - place[new], 0) + max(place[new] - place[high], 0)


@compiled
def swapped(people: Any, groups: Any, pool: Any, place: Any, kind: Any, g: Any, leaves: Any, joins: Any) -> Any:
    """Return by how much the box of a group costs one person more with another record in the place of a member."""
    change = np.int64(0)
    for j in range(len(kind)):
        out, new = people[leaves, CODES + j], people[joins, CODES + j]
        if out == new:
            continue
        if kind[j] == CATEGORIES:
            change += place[new] * (1 - present(groups, g, new)) - place[out] * alone(groups, g, out)
            continue
        at = ends(groups, kind, j)
        low, high = groups[g, at], groups[g, at + 1]
        if out in (low, high) and alone(groups, g, out):
            change += width_without(people, groups, pool, place, kind, g, j, out, new) - (place[high] - place[low])
        else:
            change += grown(groups, place, kind, g, j, new)
    return change


@compiled
def joined(people: Any, groups: Any, place: Any, kind: Any, g: Any, r: Any) -> Any:
    """Return by how much the box of a group costs one person more with another record in it."""
    change = np.int64(0)
    if groups[g, SIZE] == 0:
        return change
    for j in range(len(kind)):
        code = people[r, CODES + j]
        if kind[j] == CATEGORIES:
            change += place[code] * (1 - present(groups, g, code))
        else:
            change += grown(groups, place, kind, g, j, code)
    return change


@compiled
def left(people: Any, groups: Any, pool: Any, place: Any, kind: Any, r: Any) -> Any:
    """Return by how much the box of a record's group costs one person more without it: 0 or less."""
    g = people[r, HOME]
    change = np.int64(0)
    if groups[g, SIZE] == 1:
        return change
    for j in range(len(kind)):
        code = people[r, CODES + j]
        if alone(groups, g, code) == 0:
            continue
        if kind[j] == CATEGORIES:
            change -= place[code]
            continue
        at = ends(groups, kind, j)
        low, high = groups[g, at], groups[g, at + 1]
        if code in (low, high):
            change += width_without(people, groups, pool, place, kind, g, j, code, -1) - (place[high] - place[low])
    return change


@inlined
def swap_cost(people: Any, groups: Any, pool: Any, place: Any, kind: Any, a: Any, b: Any, most: Any) -> Any:
    """Return by how much the cost changes if two records of two groups change places, or some number above `most` if that is."""
    g, h = people[a, HOME], people[b, HOME]
    here = groups[g, SIZE] * swapped(people, groups, pool, place, kind, g, a, b)
    if here - groups[h, SIZE] * groups[h, NCP] > most:
        return here
    return here + groups[h, SIZE] * swapped(people, groups, pool, place, kind, h, b, a)


@inlined
def join_cost(people: Any, groups: Any, place: Any, kind: Any, r: Any, g: Any) -> Any:
    """Return by how much a group costs more with another record in it."""
    return groups[g, NCP] + (groups[g, SIZE] + 1) * joined(people, groups, place, kind, g, r)


@inlined
def leave_cost(people: Any, groups: Any, pool: Any, place: Any, kind: Any, r: Any) -> Any:
    """Return by how much the group of a record costs more without it: 0 or less."""
    h = people[r, HOME]
    return (groups[h, SIZE] - 1) * left(people, groups, pool, place, kind, r) - groups[h, NCP]


@inlined
def move_cost(people: Any, groups: Any, pool: Any, place: Any, kind: Any, r: Any, g: Any, most: Any) -> Any:
    """Return by how much the cost changes if a record goes to another group, or some number above `most` if that is."""
    here = join_cost(people, groups, place, kind, r, g)
    h = people[r, HOME]
    if here - groups[h, SIZE] * groups[h, NCP] > most:
        return here
    return here + leave_cost(people, groups, pool, place, kind, r)


@allocating
def make_room(groups: Any, pool: Any, g: Any) -> None:
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


@inlined
def add_code(groups: Any, count: Any, place: Any, kind: Any, g: Any, j: Any, code: Any) -> None:
    """Count one more person with a code."""
    count[g, code] += 1
    word, bit = MARKS + 2 * (code >> 6), np.int64(1) << (code & 63)
    if count[g, code] > 1:
        groups[g, word + 1] &= ~bit
        return
    groups[g, word] |= bit
    groups[g, word + 1] |= bit
    at = ends(groups, kind, j)
    if kind[j] == CATEGORIES:
        groups[g, at] += 1
        groups[g, NCP] += place[code] if groups[g, at] > 1 else 0
    elif code != kind[j]:
        groups[g, NCP] += grown(groups, place, kind, g, j, code)
        groups[g, at] = code if groups[g, at] < 0 else min(groups[g, at], code)
        groups[g, at + 1] = max(groups[g, at + 1], code)


@inlined
def take_code(people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, g: Any, j: Any, code: Any) -> None:
    """Count one person less with a code."""
    count[g, code] -= 1
    word, bit = MARKS + 2 * (code >> 6), np.int64(1) << (code & 63)
    if count[g, code] > 0:
        if count[g, code] == 1:
            groups[g, word + 1] |= bit
        return
    groups[g, word] &= ~bit
    groups[g, word + 1] &= ~bit
    at = ends(groups, kind, j)
    low, high = groups[g, at], groups[g, at + 1]
    if kind[j] == CATEGORIES:
        groups[g, at] -= 1
        groups[g, NCP] -= place[code] if low > 1 else 0
    elif code in (low, high):
        below = next_end(people, groups, pool, kind, g, j, code, 1) if code == low else low
        above = next_end(people, groups, pool, kind, g, j, code, -1) if code == high else high
        if below < 0 or above < 0:
            below, above = -1, -1
        groups[g, at], groups[g, at + 1] = below, above
        groups[g, NCP] -= place[high] - place[low] - (place[above] - place[below] if below >= 0 else 0)


@compiled
def drop(people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, r: Any) -> None:
    """Take a record out of its group."""
    g = people[r, HOME]
    groups[g, SIZE] -= 1
    last = pool[groups[g, START] + groups[g, SIZE]]
    pool[groups[g, START] + people[r, SLOT]] = last
    people[last, SLOT] = people[r, SLOT]
    count[g, people[r, VALUE]] -= 1
    for j in range(len(kind)):
        take_code(people, groups, count, pool, place, kind, g, j, people[r, CODES + j])


@compiled
def put(people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, r: Any, g: Any) -> None:
    """Put a record that is in no group into one."""
    if groups[g, SIZE] == groups[g, ROOM]:
        make_room(groups, pool, g)
    people[r, HOME], people[r, SLOT] = g, groups[g, SIZE]
    pool[groups[g, START] + groups[g, SIZE]] = r
    groups[g, SIZE] += 1
    count[g, people[r, VALUE]] += 1
    for j in range(len(kind)):
        add_code(groups, count, place, kind, g, j, people[r, CODES + j])


@compiled
def shift(people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, log: Any, r: Any, g: Any) -> None:
    """Move a record to another group and note where it was."""
    many = log[-1]
    log[2 * many], log[2 * many + 1] = r, people[r, HOME]
    log[-1] = many + 1
    drop(people, groups, count, pool, place, kind, r)
    put(people, groups, count, pool, place, kind, r, g)


@compiled
def undo(people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, log: Any) -> None:
    """Take back the noted moves, the last first."""
    while log[-1] > 0:
        many = log[-1] - 1
        shift(people, groups, count, pool, place, kind, log, log[2 * many], log[2 * many + 1])
        log[-1] = many


@compiled
def exchange(people: Any, groups: Any, count: Any, pool: Any, place: Any, kind: Any, log: Any, a: Any, b: Any) -> None:
    """Let two records of two groups change places, and note it."""
    many = log[-1]
    log[2 * many], log[2 * many + 1], log[2 * many + 2], log[2 * many + 3] = a, people[a, HOME], b, people[b, HOME]
    log[-1] = many + 2
    for k in range(2):
        people[a, k], people[b, k] = people[b, k], people[a, k]
    for turn in range(2):
        leaves, joins = (a, b) if turn == 0 else (b, a)
        g = people[joins, HOME]
        pool[groups[g, START] + people[joins, SLOT]] = joins
        count[g, people[leaves, VALUE]] -= 1
        count[g, people[joins, VALUE]] += 1
        for j in range(len(kind)):
            out, new = people[leaves, CODES + j], people[joins, CODES + j]
            if out != new:
                add_code(groups, count, place, kind, g, j, new)
                take_code(people, groups, count, pool, place, kind, g, j, out)


@compiled
def may_leave(people: Any, groups: Any, count: Any, pool: Any, need: Any, starts: Any, r: Any) -> bool:
    """Return whether the group of a record keeps its bounds without it."""
    g = people[r, HOME]
    size, begin = groups[g, SIZE] - 1, groups[g, START]
    mine = people[r, VALUE]
    if len(starts) <= size:
        first = count.shape[1] - len(starts)
        for v in range(len(starts)):
            held = np.int64(count[g, first + v]) - (first + v == mine)
            if held > 0 and need[starts[v] + held] > size:
                return False
        return True
    for k in range(begin, begin + size + 1):
        v = people[pool[k], VALUE]
        held = np.int64(count[g, v]) - (v == mine)
        if held > 0 and need[people[pool[k], NEED] + held] > size:
            return False
    return True


@inlined
def may_join(people: Any, count: Any, need: Any, r: Any, g: Any, size: Any) -> Any:
    """Return whether a group that will have `size` people may hold the record too."""
    return need[people[r, NEED] + count[g, people[r, VALUE]] + 1] <= size


@inlined
def may_swap(people: Any, groups: Any, count: Any, need: Any, leaves: Any, joins: Any) -> Any:
    """Return whether the group of `leaves` keeps its bounds with `joins` in its place."""
    g = people[leaves, HOME]
    return people[leaves, VALUE] == people[joins, VALUE] or may_join(people, count, need, joins, g, groups[g, SIZE])


@compiled
def release_slot(groups: Any, spare: Any, g: Any) -> None:
    """Put the number of a group without members back among the free ones."""
    if groups[g, SIZE] == 0:
        spare[spare[-1]] = g
        spare[-1] += 1
