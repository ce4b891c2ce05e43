"""The groups of one window: exact changes of cost, exact caps, moves and undoing them.

A window is a set of whole groups. Its records are numbered in a kd order, its codes and values are numbered anew, so that all
counts of a group stand in one short row. Costs are integers, NCP in units of 2⁻³⁶, so that adding changes never drifts; whether a
group keeps its bounds is decided by `need`, the smallest size for a count of a value. Every function takes the `Window` first,
its `WindowBoxes`, or one of its arrays; records, groups, columns and codes are int64 everywhere outside of its arrays, so that
each is compiled once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import intrinsic

from sfumato._jit import njit
from sfumato.arrays import Array, Integers, Small

HOME, SLOT, VALUE, NEED, CODES = 0, 1, 2, 3, 4
SIZE, START, ROOM, NCP, MARKS = 0, 1, 2, 3, 4
CATEGORIES, NUMBERS = -2, -1
ONE = 1 << 36  # an NCP of 1
SCAN = 64  # so many codes are looked at for the next end of a range before the members are


class Window(NamedTuple):
    """What annealing looks at and changes."""

    people: Small
    """[records × …] home, slot among the members, place of the value in a row of `counts`, where in `need` the value's entries
    begin, then the place of every code in a row of `counts`."""
    near: Small
    """[records × …] neighbours in the window, −1 for one outside."""
    groups: Integers
    """[slots × …] size, first member in `pool`, room there, what the box costs one person; then for every 64 codes two words of
    marks, a bit where somebody has the code and a bit where exactly one has; then two ends per column: lowest and highest code,
    or number of categories and a code of the column. A tried step looks at these few words only."""
    counts: Array
    """[slots × …] the people of a group with each code and, at the end of a row, with each value."""
    pool: Small
    """Members of all groups, the end of its used part last."""
    held: Small
    """Room to work in, as long as `pool`."""
    place: Integers
    """By place in a row of `counts`: where on its scale a numeric code lies, or what one more category costs."""
    kind: Small
    """[columns] `CATEGORIES`, `NUMBERS`, or the place of the code that means missing among numbers."""
    need: Small
    """The smallest group for a count of a value."""
    starts: Integers
    """Where in `need` the entries of each value of the window begin."""
    log: Integers
    """Moves that may be undone: record and former group in turn, their number last."""
    spare: Integers
    """Slots without members, their number last."""
    rare: Integers
    """Records whose value only larger groups may hold."""
    sizes: Integers
    """The smallest and the largest group that a single record can need."""
    word: Array
    """The random stream."""


class WindowBoxes(NamedTuple):
    """The part of a window that the cost of boxes depends on: a call with every array of the window would take longer."""

    people: Small
    groups: Integers
    pool: Small
    place: Integers
    kind: Small


inner = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)  # for compiled callers only: compiles in half the time
inlined = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def _borrowed(typing: Any, window: Any) -> Any:
    """Return a window whose arrays are not reference counted: their owner has to outlive it, as a caller's arguments do.

    Counting references to all arrays of a window at every call makes a step three times as slow. So what is called begins with
    this: numba passes over arrays without an owner, and that they have none is then known where it compiles.
    """

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        made = given[0]
        for k, kind in enumerate(signature.return_type):
            array = context.make_array(kind)(context, builder, builder.extract_value(made, k))
            array.meminfo = array.meminfo.type(None)
            array.parent = array.parent.type(None)
            made = builder.insert_value(made, array._getvalue(), k)
        return made

    return window(window), code


borrowed: Any = intrinsic(_borrowed)


@inlined
def boxes(w: Any) -> Any:
    """Return the part of a window that the cost of boxes depends on."""
    return WindowBoxes(w.people, w.groups, w.pool, w.place, w.kind)


@inlined
def home(people: Any, r: Any) -> Any:
    """Return the group of a record."""
    return np.int64(people[r, HOME])


@inlined
def code_of(people: Any, r: Any, j: Any) -> Any:
    """Return the code of a record in column j."""
    return np.int64(people[r, CODES + j])


@inlined
def member(pool: Any, groups: Any, g: Any, slot: Any) -> Any:
    """Return a member of a group."""
    return np.int64(pool[groups[g, START] + slot])


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


@inner
def next_end(w: Any, g: Any, j: Any, code: Any, step: Any) -> Any:
    """Return the end of a group's range in column j once nobody has `code`, the present end; −1 if nobody has a value.

    `step` is 1 for the lower end and −1 for the upper one.
    """
    at = ends(w.groups, w.kind, j)
    last = w.groups[g, at + 1] if step > 0 else w.groups[g, at]
    end = code + step
    for _ in range(SCAN):
        if (last - end) * step < 0:
            return np.int64(-1)
        if present(w.groups, g, end):
            return end
        end += step
    end = np.int64(-1)
    for k in range(w.groups[g, SIZE]):
        here = code_of(w.people, member(w.pool, w.groups, g, k), j)
        if here != code and here != w.kind[j] and (end < 0 or (end - here) * step > 0):
            end = here
    return end


@inlined
def width_without(w: Any, g: Any, j: Any, out: Any, new: Any) -> Any:
    """Return how wide a range is when the person at an end, with code `out`, goes and one with `new` comes (−1 for nobody)."""
    at = ends(w.groups, w.kind, j)
    below, above = w.groups[g, at], w.groups[g, at + 1]
    if out == below:
        below = next_end(w, g, j, out, 1)
    if out == above:
        above = next_end(w, g, j, out, -1)
    if below < 0 or above < 0:
        return np.int64(0)
    if new >= 0 and new != w.kind[j]:
        below, above = min(below, new), max(above, new)
    return w.place[above] - w.place[below]


@inlined
def grown(w: Any, g: Any, j: Any, new: Any) -> Any:
    """Return by how much a range grows when somebody comes."""
    at = ends(w.groups, w.kind, j)
    low, high = w.groups[g, at], w.groups[g, at + 1]
    if low < 0 or new == w.kind[j]:
        return np.int64(0)
    return max(w.place[low] - w.place[new], 0) + max(w.place[new] - w.place[high], 0)


@inner
def swapped(w: Any, g: Any, leaves: Any, joins: Any) -> Any:
    """Return by how much the box of a group costs one person more with another record in the place of a member."""
    change = np.int64(0)
    for j in range(len(w.kind)):
        out, new = code_of(w.people, leaves, j), code_of(w.people, joins, j)
        if out == new:
            continue
        if w.kind[j] == CATEGORIES:
            change += w.place[new] * (1 - present(w.groups, g, new)) - w.place[out] * alone(w.groups, g, out)
            continue
        at = ends(w.groups, w.kind, j)
        low, high = w.groups[g, at], w.groups[g, at + 1]
        if out in (low, high) and alone(w.groups, g, out):
            change += width_without(w, g, j, out, new) - (w.place[high] - w.place[low])
        else:
            change += grown(w, g, j, new)
    return change


@inner
def joined(w: Any, g: Any, r: Any) -> Any:
    """Return by how much the box of a group costs one person more with another record in it."""
    change = np.int64(0)
    for j in range(len(w.kind) if w.groups[g, SIZE] > 0 else 0):
        code = code_of(w.people, r, j)
        if w.kind[j] == CATEGORIES:
            change += w.place[code] * (1 - present(w.groups, g, code))
        else:
            change += grown(w, g, j, code)
    return change


@inner
def left(w: Any, r: Any) -> Any:
    """Return by how much the box of a record's group costs one person more without it: 0 or less."""
    g = home(w.people, r)
    change = np.int64(0)
    for j in range(len(w.kind) if w.groups[g, SIZE] > 1 else 0):
        code = code_of(w.people, r, j)
        if alone(w.groups, g, code) == 0:
            continue
        if w.kind[j] == CATEGORIES:
            change -= w.place[code]
            continue
        at = ends(w.groups, w.kind, j)
        low, high = w.groups[g, at], w.groups[g, at + 1]
        if code in (low, high):
            change += width_without(w, g, j, code, -1) - (w.place[high] - w.place[low])
    return change


@inlined
def swap_cost(w: Any, a: Any, b: Any, most: Any) -> Any:
    """Return by how much the cost changes if two records of two groups change places, or some number above `most` if that is."""
    g, h = home(w.people, a), home(w.people, b)
    here = w.groups[g, SIZE] * swapped(boxes(w), g, a, b)
    if here - w.groups[h, SIZE] * w.groups[h, NCP] > most:
        return here
    return here + w.groups[h, SIZE] * swapped(boxes(w), h, b, a)


@inlined
def join_cost(w: Any, r: Any, g: Any) -> Any:
    """Return by how much a group costs more with another record in it."""
    return w.groups[g, NCP] + (w.groups[g, SIZE] + 1) * joined(boxes(w), g, r)


@inlined
def leave_cost(w: Any, r: Any) -> Any:
    """Return by how much the group of a record costs more without it: 0 or less."""
    h = home(w.people, r)
    return (w.groups[h, SIZE] - 1) * left(boxes(w), r) - w.groups[h, NCP]


@inlined
def move_cost(w: Any, r: Any, g: Any, most: Any) -> Any:
    """Return by how much the cost changes if a record goes to another group, or some number above `most` if that is."""
    here = join_cost(w, r, g)
    h = home(w.people, r)
    if here - w.groups[h, SIZE] * w.groups[h, NCP] > most:
        return here
    return here + leave_cost(w, r)


@inner
def make_room(w: Any, g: Any) -> None:
    """Give a full group twice its room in the pool, closing the gaps of all groups when the pool is used up."""
    w = borrowed(w)
    wanted = 2 * w.groups[g, ROOM] + 4
    if w.pool[-1] + wanted >= len(w.pool):
        for k in range(w.pool[-1]):
            w.held[k] = w.pool[k]
        w.pool[-1] = 0
        for h in range(len(w.groups)):
            size, begin = w.groups[h, SIZE], w.groups[h, START]
            w.groups[h, START], w.groups[h, ROOM] = w.pool[-1], size
            for k in range(size):
                w.pool[w.pool[-1] + k] = w.held[begin + k]
            w.pool[-1] += size
        wanted = w.groups[g, SIZE] + 4
    top, begin = w.pool[-1], w.groups[g, START]
    for k in range(w.groups[g, SIZE]):
        w.pool[top + k] = w.pool[begin + k]
    w.groups[g, START], w.groups[g, ROOM] = top, wanted
    w.pool[-1] = top + wanted


@inlined
def add_code(w: Any, g: Any, j: Any, code: Any) -> None:
    """Count one more person with a code."""
    w.counts[g, code] += 1
    mark, bit = MARKS + 2 * (code >> 6), np.int64(1) << (code & 63)
    if w.counts[g, code] > 1:
        w.groups[g, mark + 1] &= ~bit
        return
    w.groups[g, mark] |= bit
    w.groups[g, mark + 1] |= bit
    at = ends(w.groups, w.kind, j)
    if w.kind[j] == CATEGORIES:
        w.groups[g, at] += 1
        w.groups[g, NCP] += w.place[code] if w.groups[g, at] > 1 else 0
    elif code != w.kind[j]:
        w.groups[g, NCP] += grown(w, g, j, code)
        w.groups[g, at] = code if w.groups[g, at] < 0 else min(w.groups[g, at], code)
        w.groups[g, at + 1] = max(w.groups[g, at + 1], code)


@inlined
def take_code(w: Any, g: Any, j: Any, code: Any) -> None:
    """Count one person less with a code."""
    w.counts[g, code] -= 1
    mark, bit = MARKS + 2 * (code >> 6), np.int64(1) << (code & 63)
    if w.counts[g, code] > 0:
        if w.counts[g, code] == 1:
            w.groups[g, mark + 1] |= bit
        return
    w.groups[g, mark] &= ~bit
    w.groups[g, mark + 1] &= ~bit
    at = ends(w.groups, w.kind, j)
    low, high = w.groups[g, at], w.groups[g, at + 1]
    if w.kind[j] == CATEGORIES:
        w.groups[g, at] -= 1
        w.groups[g, NCP] -= w.place[code] if low > 1 else 0
    elif code in (low, high):
        below = next_end(boxes(w), g, j, code, 1) if code == low else low
        above = next_end(boxes(w), g, j, code, -1) if code == high else high
        if below < 0 or above < 0:
            below, above = -1, -1
        w.groups[g, at], w.groups[g, at + 1] = below, above
        w.groups[g, NCP] -= w.place[high] - w.place[low] - (w.place[above] - w.place[below] if below >= 0 else 0)


@inner
def drop(w: Any, r: Any) -> None:
    """Take a record out of its group."""
    w = borrowed(w)
    g = home(w.people, r)
    w.groups[g, SIZE] -= 1
    last = w.pool[w.groups[g, START] + w.groups[g, SIZE]]
    w.pool[w.groups[g, START] + w.people[r, SLOT]] = last
    w.people[last, SLOT] = w.people[r, SLOT]
    w.counts[g, w.people[r, VALUE]] -= 1
    for j in range(len(w.kind)):
        take_code(w, g, j, code_of(w.people, r, j))


@inner
def put(w: Any, r: Any, g: Any) -> None:
    """Put a record that is in no group into one."""
    w = borrowed(w)
    if w.groups[g, SIZE] == w.groups[g, ROOM]:
        make_room(w, g)
    w.people[r, HOME], w.people[r, SLOT] = g, w.groups[g, SIZE]
    w.pool[w.groups[g, START] + w.groups[g, SIZE]] = r
    w.groups[g, SIZE] += 1
    w.counts[g, w.people[r, VALUE]] += 1
    for j in range(len(w.kind)):
        add_code(w, g, j, code_of(w.people, r, j))


@inner
def shift(w: Any, r: Any, g: Any) -> None:
    """Move a record to another group and note where it was."""
    w = borrowed(w)
    many = w.log[-1]
    w.log[2 * many], w.log[2 * many + 1] = r, home(w.people, r)
    w.log[-1] = many + 1
    drop(w, r)
    put(w, r, g)


@inner
def undo(w: Any) -> None:
    """Take back the noted moves, the last first."""
    w = borrowed(w)
    while w.log[-1] > 0:
        many = w.log[-1] - 1
        shift(w, w.log[2 * many], w.log[2 * many + 1])
        w.log[-1] = many


@inner
def exchange(w: Any, a: Any, b: Any) -> None:
    """Let two records of two groups change places, and note it."""
    w = borrowed(w)
    many = w.log[-1]
    w.log[2 * many], w.log[2 * many + 1], w.log[2 * many + 2], w.log[2 * many + 3] = a, home(w.people, a), b, home(w.people, b)
    w.log[-1] = many + 2
    for k in range(2):
        w.people[a, k], w.people[b, k] = w.people[b, k], w.people[a, k]
    for turn in range(2):
        leaves, joins = (a, b) if turn == 0 else (b, a)
        g = home(w.people, joins)
        w.pool[w.groups[g, START] + w.people[joins, SLOT]] = joins
        w.counts[g, w.people[leaves, VALUE]] -= 1
        w.counts[g, w.people[joins, VALUE]] += 1
        for j in range(len(w.kind)):
            out, new = code_of(w.people, leaves, j), code_of(w.people, joins, j)
            if out != new:
                add_code(w, g, j, new)
                take_code(w, g, j, out)


@inlined
def may_leave(w: Any, r: Any) -> bool:
    """Return whether the group of a record keeps its bounds without it."""
    g, mine = home(w.people, r), w.people[r, VALUE]
    size = w.groups[g, SIZE] - 1
    if len(w.starts) <= size:  # so few values that they are gone through, not the members
        first = w.counts.shape[1] - len(w.starts)
        for v in range(len(w.starts)):
            held = np.int64(w.counts[g, first + v]) - (first + v == mine)
            if held > 0 and w.need[w.starts[v] + held] > size:
                return False
        return True
    for k in range(size + 1):
        other = member(w.pool, w.groups, g, k)
        held = np.int64(w.counts[g, w.people[other, VALUE]]) - (w.people[other, VALUE] == mine)
        if held > 0 and w.need[w.people[other, NEED] + held] > size:
            return False
    return True


@inlined
def may_join(w: Any, r: Any, g: Any, size: Any) -> Any:
    """Return whether a group that will have `size` people may hold the record too."""
    return w.need[w.people[r, NEED] + w.counts[g, w.people[r, VALUE]] + 1] <= size


@inlined
def may_swap(w: Any, leaves: Any, joins: Any) -> Any:
    """Return whether the group of `leaves` keeps its bounds with `joins` in its place."""
    g = home(w.people, leaves)
    return w.people[leaves, VALUE] == w.people[joins, VALUE] or may_join(w, joins, g, w.groups[g, SIZE])


@inner
def release_slot(w: Any, g: Any) -> None:
    """Put the number of a group without members back among the free ones."""
    if w.groups[g, SIZE] == 0:
        w.spare[w.spare[-1]] = g
        w.spare[-1] += 1


@inner
def open_groups(w: Any) -> None:
    """Put every record into its home, the groups being empty, and the slots that stay empty among the free ones."""
    w = borrowed(w)
    for j in range(len(w.kind)):
        at = ends(w.groups, w.kind, j)
        for g in range(len(w.groups)):
            w.groups[g, at] = 0 if w.kind[j] == CATEGORIES else -1
            w.groups[g, at + 1] = code_of(w.people, 0, j) if w.kind[j] == CATEGORIES else -1
    for r in range(len(w.people)):
        w.groups[home(w.people, r), ROOM] += 1
    w.pool[-1] = 0
    for g in range(len(w.groups)):
        w.groups[g, START] = w.pool[-1]
        w.groups[g, ROOM] += 2
        w.pool[-1] += w.groups[g, ROOM]
    for r in range(len(w.people)):
        put(w, r, home(w.people, r))
    for g in range(len(w.groups)):
        release_slot(w, g)
