"""The steps of annealing: each tries one change of the groups of a window and keeps it if its cost is accepted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Floats, Integers
from sfumato.groups._random_kernels import high_below, low_below, random_below, random_word
from sfumato.groups.near._anneal_kernels import (
    CATEGORIES,
    NCP,
    SIZE,
    VALUE,
    borrowed,
    boxes,
    code_of,
    ends,
    exchange,
    home,
    inlined,
    inner,
    join_cost,
    may_join,
    may_leave,
    may_swap,
    member,
    move_cost,
    open_groups,
    release_slot,
    shift,
    swap_cost,
    undo,
)

FEW = 8  # at most so many people, and at most half of the group, are pushed out of it at once
STRETCH = 2000  # steps stay in so long a stretch of the order for a while, so that its groups stay in the cache
REACH = 400  # a long move goes at most so far in the order
DRAWS = 2  # members of a neighbouring group that are tried as partners of a swap
NEVER = 1 << 62  # a cost above all others


class Pace(NamedTuple):
    """How a window is annealed: steps per record, temperatures at the beginning and the end, and what is drawn how often."""

    steps: float
    warm: float
    cold: float
    chances: Integers
    """Of move, long, evict, carve and dissolve, added up, of 2²⁰; the rest are swaps."""
    minus_logs: Floats
    """−log of evenly spaced numbers below 1, as many as a power of two: what a step may cost, in units of the temperature."""


@inner
def namesake(w: Any, g: Any, v: Any, at: Any) -> Any:
    """Return a member of a group with a value, looked for from a slot on."""
    size = w.groups[g, SIZE]
    for _ in range(size):
        if w.people[member(w.pool, w.groups, g, at), VALUE] == v:
            break
        at = at + 1 if at + 1 < size else 0
    return member(w.pool, w.groups, g, at)


@inlined
def try_swap(w: Any, i: Any, allowed: Any) -> None:
    """Bring a neighbour of a record into its group and send a member away instead."""
    bits = random_word(w.word)
    j = np.int64(w.near[i, high_below(bits, w.near.shape[1])])
    g = home(w.people, i)
    if j < 0 or home(w.people, j) == g:
        return
    size = w.groups[g, SIZE]
    at = low_below(bits, size)
    k = member(w.pool, w.groups, g, at)
    if w.people[k, VALUE] != w.people[j, VALUE]:
        if not may_join(w, j, g, size):
            k = namesake(boxes(w), g, w.people[j, VALUE], at)
            if w.people[k, VALUE] != w.people[j, VALUE]:
                return
        elif not may_swap(w, j, k):
            return
    if k == i:
        return
    if swap_cost(w, k, j, allowed) <= allowed:
        exchange(w, k, j)
        w.log[-1] = 0


@inner
def try_move(w: Any, r: Any, g: Any, allowed: Any) -> None:
    """Move a record to another group."""
    w = borrowed(w)
    h = home(w.people, r)
    if g != h and may_join(w, r, g, w.groups[g, SIZE] + 1) and move_cost(w, r, g, allowed) <= allowed and may_leave(w, r):
        shift(w, r, g)
        release_slot(w, h)
        w.log[-1] = 0


@inner
def push_out(w: Any, r: Any, j: Any, most: Any) -> Any:
    """Get a record out of its group by its best move or swap and return the cost, `NEVER` if none costs less than `most`.

    Nobody with the same code in column j may come in its place.
    """
    w = borrowed(w)
    g, code = home(w.people, r), code_of(w.people, r, j)
    best, target, partner = np.int64(most), np.int64(-1), np.int64(-1)
    leave = may_leave(w, r)
    inside = member(w.pool, w.groups, g, random_below(w.word, w.groups[g, SIZE]))
    seen = np.int64(-1)
    for t in range(w.near.shape[1]):
        there = w.near[r, t]
        h = home(w.people, there) if there >= 0 else g
        draws = DRAWS if h != g and h != seen else 0
        if draws > 0 and leave and may_join(w, r, h, w.groups[h, SIZE] + 1):
            cost = move_cost(w, r, h, best)
            if cost < best:
                best, target, partner = cost, h, np.int64(-1)
        bits = random_word(w.word)
        for draw in range(draws + 1):
            k = np.int64(w.near[inside, t])
            if draw < draws:
                size = w.groups[h, SIZE]
                k = member(w.pool, w.groups, h, low_below(bits, size) if draw == 0 else high_below(bits, size))
            if k < 0 or home(w.people, k) == g or code_of(w.people, k, j) == code:
                continue
            if may_swap(w, r, k) and may_swap(w, k, r):
                cost = swap_cost(w, r, k, best)
                if cost < best:
                    best, target, partner = cost, home(w.people, k), k
        seen = h
    if target < 0:
        return np.int64(NEVER)
    if partner >= 0:
        exchange(w, r, partner)
    else:
        shift(w, r, target)
    return best


@inlined
def costly_column(w: Any, g: Any) -> Any:
    """Return a column of a group, drawn with the chance of its part in what the box costs."""
    left = np.int64(w.groups[g, NCP] * (random_below(w.word, 1 << 20) / (1 << 20)))
    j = -1
    while left >= 0 and j < len(w.kind) - 1:
        j += 1
        low, high = w.groups[g, ends(w.groups, w.kind, j)], w.groups[g, ends(w.groups, w.kind, j) + 1]
        if w.kind[j] == CATEGORIES:
            left -= (low - 1) * w.place[high]
        elif low >= 0:
            left -= w.place[high] - w.place[low]
    return j


@inlined
def rare_code(w: Any, g: Any, j: Any) -> Any:
    """Return a code of column j that only a few members of a group have and that its box would be smaller without, else −1."""
    size = w.groups[g, SIZE]
    few = min(FEW, max(size // 2, 1))
    low, high = w.groups[g, ends(w.groups, w.kind, j)], w.groups[g, ends(w.groups, w.kind, j) + 1]
    code = np.int64(-1)
    if w.kind[j] == CATEGORIES:
        at = random_below(w.word, size)
        for _ in range(min(size, 32) if low > 1 else 0):
            drawn = code_of(w.people, member(w.pool, w.groups, g, at), j)
            if w.counts[g, drawn] <= few:
                code = drawn
                break
            at = at + 1 if at + 1 < size else 0
    elif 0 <= low < high:
        drawn = low if random_below(w.word, 2) == 0 else high
        code = drawn if w.counts[g, drawn] <= few else code
    return code


@inner
def try_evict(w: Any, g: Any, allowed: Any) -> None:
    """Push everybody with a rare code or at an end of a range out of a group; keep all or nothing."""
    w = borrowed(w)
    j = costly_column(w, g)
    code = rare_code(w, g, j)
    if code < 0 or w.counts[g, code] == w.groups[g, SIZE]:
        return
    total = np.int64(0)
    hoped = w.groups[g, SIZE] * w.groups[g, NCP]  # what later ones of them may save
    at = 0
    while w.counts[g, code] > 0:
        r = member(w.pool, w.groups, g, at)
        if code_of(w.people, r, j) != code:
            at += 1
            continue
        hope = hoped if w.counts[g, code] > 1 else 0
        total += push_out(w, r, j, allowed + hope - total + 1)
        if total > allowed + hope:
            undo(w)
            return
    w.log[-1] = 0


@inlined
def take_in(w: Any, r: Any, g: Any, size: Any) -> Any:
    """Move a record into a group that will have `size` people, if its own can spare it, and return the cost, else `NEVER`."""
    if home(w.people, r) == g or w.groups[home(w.people, r), SIZE] < 2 or not may_join(w, r, g, size) or not may_leave(w, r):
        return np.int64(NEVER)
    cost = move_cost(w, r, g, NEVER)
    shift(w, r, g)
    return cost


@inner
def try_carve(w: Any, i: Any, allowed: Any) -> None:
    """Make a new group of a record, its neighbours and people nearby in the order whom their groups can spare."""
    w = borrowed(w)
    if w.spare[-1] == 0:
        return
    largest = w.sizes[1]
    least = min(max(FEW, w.sizes[0]), largest)
    size = int(least * (largest / least) ** (random_below(w.word, 1 << 20) / (1 << 20)))
    g = w.spare[w.spare[-1] - 1]
    w.spare[-1] -= 1
    total = np.int64(0)
    t, away = -1, 1
    while w.groups[g, SIZE] < size and away <= 4 * size:
        r = i
        if t >= w.near.shape[1]:
            r += (away >> 1) * (1 if away & 1 else -1)
            away += 1
        elif t >= 0:
            r = np.int64(w.near[i, t])
        t += 1
        if 0 <= r < len(w.people):
            cost = take_in(w, r, g, size)
            total += cost if cost < NEVER else 0
        if t == 0 and w.groups[g, SIZE] == 0:
            break
    if w.groups[g, SIZE] < size or total > allowed:
        undo(w)
        release_slot(w, g)
    w.log[-1] = 0


@inner
def try_dissolve(w: Any, g: Any, allowed: Any) -> None:
    """Send every member of a group to the cheapest neighbouring group with room; keep all or nothing."""
    w = borrowed(w)
    if w.groups[g, SIZE] > w.sizes[1]:
        return
    total = -w.groups[g, SIZE] * w.groups[g, NCP]
    while w.groups[g, SIZE] > 0:
        r = member(w.pool, w.groups, g, w.groups[g, SIZE] - 1)
        best, target = np.int64(NEVER), np.int64(-1)
        for t in range(w.near.shape[1]):
            there = w.near[r, t]
            h = home(w.people, there) if there >= 0 else g
            if h != g and h != target and may_join(w, r, h, w.groups[h, SIZE] + 1):
                cost = join_cost(w, r, h)
                if cost < best:
                    best, target = cost, h
        if target < 0 or total + best > allowed:
            undo(w)
            return
        total += best
        shift(w, r, target)
    release_slot(w, g)
    w.log[-1] = 0


@njit(cache=True, nogil=True)
def anneal(owned: Any, pace: Any) -> None:
    """Put the records into their homes, then try so many steps while the temperature falls; `w.groups` must be zeros."""
    w = borrowed(owned)
    open_groups(w)
    chances, minus_logs = pace.chances, pace.minus_logs
    steps = int(pace.steps * len(w.people))
    reach = min(len(w.people), STRETCH)
    begin = 0
    temperature = pace.warm
    fall = (pace.cold / pace.warm) ** (256.0 / steps) if steps > 0 else 1.0
    for step in range(steps):
        if step & 255 == 255:
            temperature *= fall
        if step & 32767 == 0:
            begin = random_below(w.word, len(w.people))
        bits = random_word(w.word)
        i = begin + high_below(bits, reach)
        i = i if i < len(w.people) else i - len(w.people)
        chance = np.int64(bits & np.uint64((1 << 20) - 1))
        allowed = np.int64(temperature * minus_logs[np.int64(bits >> np.uint64(20)) & (len(minus_logs) - 1)])
        if chance >= chances[4]:
            try_swap(w, i, allowed)
            continue
        allowed = np.int64(0.3 * allowed)
        g = home(w.people, i)
        if chance < chances[1]:
            r = np.int64(-1)
            if chance < chances[0]:
                r = np.int64(w.near[i, random_below(w.word, w.near.shape[1])])
            elif len(w.rare) > 0:
                r = np.int64(w.rare[random_below(w.word, len(w.rare))])
                other = r + random_below(w.word, 2 * REACH + 1) - REACH
                g = home(w.people, min(max(other, 0), len(w.people) - 1))
            if r >= 0:
                try_move(w, r, g, allowed)
        elif chance < chances[2]:
            try_evict(w, g, allowed)
        elif chance < chances[3]:
            try_carve(w, i, allowed)
        else:
            try_dissolve(w, g, allowed)
