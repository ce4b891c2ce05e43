"""The steps of annealing: each tries one change of the groups of a window and keeps it if its cost is accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.groups.near._anneal_kernels import (
    CATEGORIES,
    CODES,
    HOME,
    NCP,
    SIZE,
    START,
    VALUE,
    compiled,
    ends,
    exchange,
    high_below,
    inlined,
    join_cost,
    low_below,
    may_join,
    may_leave,
    may_swap,
    move_cost,
    random_below,
    random_word,
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


@compiled
def namesake(people: Any, groups: Any, pool: Any, g: Any, v: Any, at: Any) -> Any:
    """Return a member of a group with a value, looked for from a slot on."""
    begin, size = groups[g, START], groups[g, SIZE]
    for _ in range(size):
        if people[pool[begin + at], VALUE] == v:
            break
        at = at + 1 if at + 1 < size else 0
    return pool[begin + at]


@inlined
def try_swap(
    people: Any,
    near: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    word: Any,
    i: Any,
    allowed: Any,
) -> None:
    """Bring a neighbour of a record into its group and send a member away instead."""
    bits = random_word(word)
    j = near[i, high_below(bits, near.shape[1])]
    g = people[i, HOME]
    if j < 0 or people[j, HOME] == g:
        return
    size = groups[g, SIZE]
    at = low_below(bits, size)
    k = pool[groups[g, START] + at]
    if people[k, VALUE] != people[j, VALUE]:
        if not may_join(people, count, need, j, g, size):
            k = namesake(people, groups, pool, g, people[j, VALUE], at)
            if people[k, VALUE] != people[j, VALUE]:
                return
        elif not may_swap(people, groups, count, need, j, k):
            return
    if k == i:
        return
    if swap_cost(people, groups, pool, place, kind, k, j, allowed) <= allowed:
        exchange(people, groups, count, pool, place, kind, log, k, j)
        log[-1] = 0


@compiled
def try_move(
    people: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    starts: Any,
    spare: Any,
    r: Any,
    g: Any,
    allowed: Any,
) -> None:
    """Move a record to another group."""
    h = people[r, HOME]
    if (
        g != h
        and may_join(people, count, need, r, g, groups[g, SIZE] + 1)
        and move_cost(people, groups, pool, place, kind, r, g, allowed) <= allowed
        and may_leave(people, groups, count, pool, need, starts, r)
    ):
        shift(people, groups, count, pool, place, kind, log, r, g)
        release_slot(groups, spare, h)
        log[-1] = 0


@compiled
def push_out(
    people: Any,
    near: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    starts: Any,
    word: Any,
    r: Any,
    j: Any,
    most: Any,
) -> Any:
    """Get a record out of its group by its best move or swap and return the cost, `NEVER` if none costs less than `most`.

    Nobody with the same code in column j may come in its place.
    """
    g, code = people[r, HOME], people[r, CODES + j]
    best, target, partner = np.int64(most), np.int64(-1), np.int64(-1)
    leave = may_leave(people, groups, count, pool, need, starts, r)
    inside = pool[groups[g, START] + random_below(word, groups[g, SIZE])]
    seen = np.int64(-1)
    for t in range(near.shape[1]):
        there = near[r, t]
        h = np.int64(people[there, HOME]) if there >= 0 else g
        draws = DRAWS if h != g and h != seen else 0
        if draws > 0 and leave and may_join(people, count, need, r, h, groups[h, SIZE] + 1):
            cost = move_cost(people, groups, pool, place, kind, r, h, best)
            if cost < best:
                best, target, partner = cost, h, np.int64(-1)
        bits = random_word(word)
        for draw in range(draws + 1):
            k = np.int64(near[inside, t])
            if draw < draws:
                size = groups[h, SIZE]
                k = np.int64(pool[groups[h, START] + (low_below(bits, size) if draw == 0 else high_below(bits, size))])
            if k < 0 or people[k, HOME] == g or people[k, CODES + j] == code:
                continue
            if may_swap(people, groups, count, need, r, k) and may_swap(people, groups, count, need, k, r):
                cost = swap_cost(people, groups, pool, place, kind, r, k, best)
                if cost < best:
                    best, target, partner = cost, np.int64(people[k, HOME]), k
        seen = h
    if target < 0:
        return np.int64(NEVER)
    if partner >= 0:
        exchange(people, groups, count, pool, place, kind, log, r, partner)
    else:
        shift(people, groups, count, pool, place, kind, log, r, target)
    return best


@inlined
def costly_column(groups: Any, place: Any, kind: Any, word: Any, g: Any) -> Any:
    """Return a column of a group, drawn with the chance of its part in what the box costs."""
    left = np.int64(groups[g, NCP] * (random_below(word, 1 << 20) / (1 << 20)))
    for j in range(len(kind)):
        low, high = groups[g, ends(groups, kind, j)], groups[g, ends(groups, kind, j) + 1]
        if kind[j] == CATEGORIES:
            left -= (low - 1) * place[high]
        elif low >= 0:
            left -= place[high] - place[low]
        if left < 0:
            return j
    return len(kind) - 1


@inlined
def rare_code(people: Any, groups: Any, count: Any, pool: Any, kind: Any, word: Any, g: Any, j: Any) -> Any:
    """Return a code of column j that only a few members of a group have and that its box would be smaller without, else −1."""
    begin, size = groups[g, START], groups[g, SIZE]
    few = min(FEW, max(size // 2, 1))
    low, high = groups[g, ends(groups, kind, j)], groups[g, ends(groups, kind, j) + 1]
    code = np.int64(-1)
    if kind[j] == CATEGORIES:
        at = random_below(word, size)
        for _ in range(min(size, 32) if low > 1 else 0):
            drawn = people[pool[begin + at], CODES + j]
            if count[g, drawn] <= few:
                code = np.int64(drawn)
                break
            at = at + 1 if at + 1 < size else 0
    elif 0 <= low < high:
        drawn = low if random_below(word, 2) == 0 else high
        code = drawn if count[g, drawn] <= few else code
    return code


@compiled
def try_evict(
    people: Any,
    near: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    starts: Any,
    word: Any,
    g: Any,
    allowed: Any,
) -> None:
    """Push everybody with a rare code or at an end of a range out of a group; keep all or nothing."""
    j = costly_column(groups, place, kind, word, g)
    code = rare_code(people, groups, count, pool, kind, word, g, j)
    if code < 0 or count[g, code] == groups[g, SIZE]:
        return
    total = np.int64(0)
    hoped = groups[g, SIZE] * groups[g, NCP]  # what later ones of them may save
    at = 0
    while count[g, code] > 0:
        r = pool[groups[g, START] + at]
        if people[r, CODES + j] != code:
            at += 1
            continue
        hope = hoped if count[g, code] > 1 else 0
        total += push_out(
            people, near, groups, count, pool, place, kind, log, need, starts, word, r, j, allowed + hope - total + 1
        )
        if total > allowed + hope:
            undo(people, groups, count, pool, place, kind, log)
            return
    log[-1] = 0


@compiled
def take_in(
    people: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    starts: Any,
    r: Any,
    g: Any,
    size: Any,
) -> Any:
    """Move a record into a group that will have `size` people, if its own can spare it, and return the cost, else `NEVER`."""
    if (
        people[r, HOME] == g
        or groups[people[r, HOME], SIZE] < 2
        or not may_join(people, count, need, r, g, size)
        or not may_leave(people, groups, count, pool, need, starts, r)
    ):
        return np.int64(NEVER)
    cost = move_cost(people, groups, pool, place, kind, r, g, NEVER)
    shift(people, groups, count, pool, place, kind, log, r, g)
    return cost


@compiled
def try_carve(
    people: Any,
    near: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    starts: Any,
    spare: Any,
    word: Any,
    i: Any,
    sizes: Any,
    allowed: Any,
) -> None:
    """Make a new group of a record, its neighbours and people nearby in the order whom their groups can spare."""
    if spare[-1] == 0:
        return
    largest = sizes[1]
    least = min(max(FEW, sizes[0]), largest)
    size = int(least * (largest / least) ** (random_below(word, 1 << 20) / (1 << 20)))
    g = spare[spare[-1] - 1]
    spare[-1] -= 1
    total = np.int64(0)
    t, away = -1, 1
    while groups[g, SIZE] < size and away <= 4 * size:
        r = np.int64(i)
        if t >= near.shape[1]:
            r += (away >> 1) * (1 if away & 1 else -1)
            away += 1
        elif t >= 0:
            r = np.int64(near[i, t])
        t += 1
        if 0 <= r < len(people):
            cost = take_in(people, groups, count, pool, place, kind, log, need, starts, r, g, size)
            total += cost if cost < NEVER else 0
        if t == 0 and groups[g, SIZE] == 0:
            break
    if groups[g, SIZE] < size or total > allowed:
        undo(people, groups, count, pool, place, kind, log)
        release_slot(groups, spare, g)
    log[-1] = 0


@compiled
def try_dissolve(
    people: Any,
    near: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    spare: Any,
    g: Any,
    sizes: Any,
    allowed: Any,
) -> None:
    """Send every member of a group to the cheapest neighbouring group with room; keep all or nothing."""
    if groups[g, SIZE] > sizes[1]:
        return
    total = -groups[g, SIZE] * groups[g, NCP]
    while groups[g, SIZE] > 0:
        r = pool[groups[g, START] + groups[g, SIZE] - 1]
        best, target = np.int64(NEVER), np.int64(-1)
        for t in range(near.shape[1]):
            there = near[r, t]
            h = np.int64(people[there, HOME]) if there >= 0 else g
            if h != g and h != target and may_join(people, count, need, r, h, groups[h, SIZE] + 1):
                cost = join_cost(people, groups, place, kind, r, h)
                if cost < best:
                    best, target = cost, h
        if target < 0 or total + best > allowed:
            undo(people, groups, count, pool, place, kind, log)
            return
        total += best
        shift(people, groups, count, pool, place, kind, log, r, target)
    release_slot(groups, spare, g)
    log[-1] = 0


@compiled
def anneal(
    people: Any,
    near: Any,
    groups: Any,
    count: Any,
    pool: Any,
    place: Any,
    kind: Any,
    log: Any,
    need: Any,
    starts: Any,
    spare: Any,
    word: Any,
    rare: Any,
    sizes: Any,
    steps: Any,
    warm: float,
    cold: float,
    chances: Any,
    minus_logs: Any,
) -> None:
    """Try so many steps while the temperature falls; `chances` are those of move, long, evict, carve and dissolve, of 2²⁰."""
    reach = min(len(people), STRETCH)
    begin = 0
    temperature = warm
    fall = (cold / warm) ** (256.0 / steps) if steps > 0 else 1.0
    for step in range(steps):
        if step & 255 == 255:
            temperature *= fall
        if step & 32767 == 0:
            begin = random_below(word, len(people))
        bits = random_word(word)
        i = begin + high_below(bits, reach)
        i = i if i < len(people) else i - len(people)
        chance = np.int64(bits & np.uint64((1 << 20) - 1))
        allowed = np.int64(temperature * minus_logs[np.int64(bits >> np.uint64(20)) & (len(minus_logs) - 1)])
        if chance >= chances[4]:
            try_swap(people, near, groups, count, pool, place, kind, log, need, word, i, allowed)
            continue
        allowed = np.int64(0.3 * allowed)
        g = np.int64(people[i, HOME])
        if chance < chances[1]:
            r = np.int64(-1)
            if chance < chances[0]:
                r = np.int64(near[i, random_below(word, near.shape[1])])
            elif len(rare) > 0:
                r = np.int64(rare[random_below(word, len(rare))])
                other = r + random_below(word, 2 * REACH + 1) - REACH
                g = np.int64(people[min(max(other, 0), len(people) - 1), HOME])
            if r >= 0:
                try_move(people, groups, count, pool, place, kind, log, need, starts, spare, r, g, allowed)
        elif chance < chances[2]:
            try_evict(people, near, groups, count, pool, place, kind, log, need, starts, word, g, allowed)
        elif chance < chances[3]:
            try_carve(people, near, groups, count, pool, place, kind, log, need, starts, spare, word, i, sizes, allowed)
        else:
            try_dissolve(people, near, groups, count, pool, place, kind, log, need, spare, g, sizes, allowed)
