"""The steps of annealing: each tries one change of the groups of a window and keeps it if its cost is accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.groups.near._anneal_kernels import (
    CATEGORIES,
    CODES,
    ENDS,
    HOME,
    SIZE,
    START,
    VALUE,
    compiled,
    exchange,
    inlined,
    may_join,
    may_leave,
    may_swap,
    move_cost,
    ncp_after,
    random_below,
    release_slot,
    shift,
    swap_cost,
    undo,
)

FEW = 8  # at most so many people, and at most half of the group, are pushed out of it at once
STRETCH = 2000  # steps stay in so long a stretch of the order for a while, so that its groups stay in the cache
REACH = 400  # a long move goes at most so far in the order
DRAWS = 2  # members of a neighbouring group that are tried as partners of a swap


@inlined
def neighbour(people: Any, kind: Any, word: Any, i: int) -> Any:  # pragma: no cover - compiled
    """Return a random neighbour of a record in another group of the window, −1 if the drawn one is not."""
    many = people.shape[1] - CODES - len(kind)
    j = people[i, CODES + len(kind) + random_below(word, many)]
    return j if j >= 0 and people[j, HOME] != people[i, HOME] else -1


@compiled
def namesake(people: Any, groups: Any, pool: Any, word: Any, g: int, v: int, but: int) -> Any:  # pragma: no cover - compiled
    """Return a member of a group with a value, other than one, −1 if there is none."""
    begin, size = groups[g, START], groups[g, SIZE]
    at = random_below(word, size)
    for _ in range(size):
        k = pool[begin + at]
        if people[k, VALUE] == v and k != but:
            return k
        at = at + 1 if at + 1 < size else 0
    return -1


@compiled
def try_swap(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    word: Any,
    i: int,
    allowed: float,
) -> None:  # pragma: no cover - compiled
    """Bring a neighbour of a record into its group and send a member away instead."""
    j = neighbour(people, kind, word, i)
    g = people[i, HOME]
    if j < 0 or groups[g, SIZE] < 2:
        return
    if may_join(people, groups, count, need, j, g, groups[g, SIZE]):
        k = pool[groups[g, START] + random_below(word, groups[g, SIZE])]
    else:
        k = namesake(people, groups, pool, word, g, people[j, VALUE], i)
    if k < 0 or k == i or not may_swap(people, groups, count, need, j, k):
        return
    if swap_cost(people, groups, count, pool, place, kind, k, j) <= allowed:
        exchange(people, groups, count, ncp, pool, place, kind, unit, log, k, j)
    log[-1] = 0


@compiled
def try_move(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    spare: Any,
    r: int,
    g: int,
    allowed: float,
) -> None:  # pragma: no cover - compiled
    """Move a record to another group."""
    h = people[r, HOME]
    if g == h or not may_join(people, groups, count, need, r, g, groups[g, SIZE] + 1):
        return
    if move_cost(people, groups, count, ncp, pool, place, kind, r, g) <= allowed and may_leave(
        people, groups, count, pool, need, r
    ):
        shift(people, groups, count, ncp, pool, place, kind, unit, log, r, g)
        release_slot(groups, spare, h)
    log[-1] = 0


@compiled
def try_long(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    spare: Any,
    word: Any,
    rare: Any,
    allowed: float,
) -> None:  # pragma: no cover - compiled
    """Move a record with a rare value to the group of somebody not too far in the order."""
    if len(rare) == 0:
        return
    r = rare[random_below(word, len(rare))]
    other = r + random_below(word, 2 * REACH + 1) - REACH
    if 0 <= other < len(people):
        try_move(people, groups, count, ncp, pool, place, kind, unit, log, need, spare, r, people[other, HOME], allowed)


@compiled
def push_out(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    word: Any,
    r: int,
    code: int,
    j: int,
) -> tuple[bool, float]:  # pragma: no cover - compiled
    """Get a record out of its group by its best move or swap and return whether one was found, and its cost.

    Nobody with the same code in column j may come in its place.
    """
    g = people[r, HOME]
    begin, size = groups[g, START], groups[g, SIZE]
    best, target, partner = np.inf, -1, -1
    leave = may_leave(people, groups, count, pool, need, r)
    inside = pool[begin + random_below(word, size)]
    seen = -1
    for t in range(people.shape[1] - CODES - len(kind)):
        there = people[r, CODES + len(kind) + t]
        if there >= 0 and people[there, HOME] != g and people[there, HOME] != seen:
            h = people[there, HOME]
            seen = h
            if leave and may_join(people, groups, count, need, r, h, groups[h, SIZE] + 1):
                cost = move_cost(people, groups, count, ncp, pool, place, kind, r, h)
                if cost < best:
                    best, target, partner = cost, h, -1
            for _ in range(DRAWS):
                k = pool[groups[h, START] + random_below(word, groups[h, SIZE])]
                if (
                    people[k, CODES + j] != code
                    and may_swap(people, groups, count, need, r, k)
                    and may_swap(people, groups, count, need, k, r)
                ):
                    cost = swap_cost(people, groups, count, pool, place, kind, r, k)
                    if cost < best:
                        best, target, partner = cost, h, k
        k = people[inside, CODES + len(kind) + t]
        if (
            k >= 0
            and people[k, HOME] != g
            and people[k, CODES + j] != code
            and may_swap(people, groups, count, need, r, k)
            and may_swap(people, groups, count, need, k, r)
        ):
            cost = swap_cost(people, groups, count, pool, place, kind, r, k)
            if cost < best:
                best, target, partner = cost, people[k, HOME], k
    if target < 0:
        return False, best
    if partner >= 0:
        exchange(people, groups, count, ncp, pool, place, kind, unit, log, r, partner)
    else:
        shift(people, groups, count, ncp, pool, place, kind, unit, log, r, target)
    return True, best


@compiled
def costly_column(
    groups: Any, place: Any, kind: Any, unit: Any, ncp: Any, word: Any, g: int
) -> Any:  # pragma: no cover - compiled
    """Return a column of a group, drawn with the chance of its part in what the box costs."""
    left = ncp[g] * random_below(word, 1 << 20) / (1 << 20)
    for j in range(len(kind)):
        low, high = groups[g, ENDS + 2 * j], groups[g, ENDS + 2 * j + 1]
        if kind[j] == CATEGORIES:
            left -= (low - 1) * unit[j]
        elif low >= 0:
            left -= place[high] - place[low]
        if left < 0:
            return j
    return random_below(word, len(kind))


@compiled
def rare_code(
    people: Any, groups: Any, count: Any, pool: Any, kind: Any, word: Any, g: int, j: int
) -> Any:  # pragma: no cover - compiled
    """Return a code of column j that only a few members of a group have and that its box would be smaller without, else −1."""
    begin, size = groups[g, START], groups[g, SIZE]
    few = min(FEW, max(size // 2, 1))
    low, high = groups[g, ENDS + 2 * j], groups[g, ENDS + 2 * j + 1]
    if kind[j] == CATEGORIES:
        if low < 2:
            return -1
        at = random_below(word, size)
        for _ in range(min(size, 32)):
            code = people[pool[begin + at], CODES + j]
            if count[g, code] <= few:
                return code
            at = at + 1 if at + 1 < size else 0
        return -1
    if low < 0 or low == high:
        return -1
    code = low if random_below(word, 2) == 0 else high
    return code if count[g, code] <= few else -1


@compiled
def try_evict(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    word: Any,
    i: int,
    allowed: float,
) -> None:  # pragma: no cover - compiled
    """Push everybody with a rare code or at an end of a range out of a group; keep all or nothing."""
    g = people[i, HOME]
    j = costly_column(groups, place, kind, unit, ncp, word, g)
    code = rare_code(people, groups, count, pool, kind, word, g, j)
    if code < 0 or count[g, code] == groups[g, SIZE]:
        return
    total = 0.0
    at = 0
    while count[g, code] > 0:
        r = pool[groups[g, START] + at]
        if people[r, CODES + j] != code:
            at += 1
            continue
        found, cost = push_out(people, groups, count, ncp, pool, place, kind, unit, log, need, word, r, code, j)
        total += cost
        if not found:
            undo(people, groups, count, ncp, pool, place, kind, unit, log)
            return
    if total > allowed:
        undo(people, groups, count, ncp, pool, place, kind, unit, log)
    log[-1] = 0


@compiled
def take_in(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    r: int,
    g: int,
    size: int,
) -> Any:  # pragma: no cover - compiled
    """Move a record into a group that will have `size` people, if its own can spare it, and return the cost, else infinity."""
    if (
        people[r, HOME] == g
        or groups[people[r, HOME], SIZE] < 2
        or not may_join(people, groups, count, need, r, g, size)
        or not may_leave(people, groups, count, pool, need, r)
    ):
        return np.inf
    cost = move_cost(people, groups, count, ncp, pool, place, kind, r, g)
    shift(people, groups, count, ncp, pool, place, kind, unit, log, r, g)
    return cost


@compiled
def try_carve(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    spare: Any,
    word: Any,
    i: int,
    sizes: Any,
    allowed: float,
) -> None:  # pragma: no cover - compiled
    """Make a new group of a record, its neighbours and people nearby in the order whom their groups can spare."""
    if spare[-1] == 0:
        return
    largest = sizes[1]
    least = min(max(FEW, sizes[0]), largest)
    size = int(least * (largest / least) ** (random_below(word, 1 << 20) / (1 << 20)))
    g = spare[spare[-1] - 1]
    spare[-1] -= 1
    total = take_in(people, groups, count, ncp, pool, place, kind, unit, log, need, i, g, size)
    if total < np.inf:
        t, away = 0, 1
        while groups[g, SIZE] < size and away <= 4 * size:
            if t < people.shape[1] - CODES - len(kind):
                r = people[i, CODES + len(kind) + t]
                t += 1
            else:
                r = i + (away >> 1) * (1 if away & 1 else -1)
                away += 1
            if 0 <= r < len(people):
                cost = take_in(people, groups, count, ncp, pool, place, kind, unit, log, need, r, g, size)
                total += cost if cost < np.inf else 0.0
    if groups[g, SIZE] < size or total > allowed:
        undo(people, groups, count, ncp, pool, place, kind, unit, log)
        release_slot(groups, spare, g)
    log[-1] = 0


@compiled
def try_dissolve(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    spare: Any,
    i: int,
    sizes: Any,
    allowed: float,
) -> None:  # pragma: no cover - compiled
    """Send every member of a group to the cheapest neighbouring group with room; keep all or nothing."""
    g = people[i, HOME]
    if groups[g, SIZE] > sizes[1]:
        return
    total = -groups[g, SIZE] * ncp[g]
    while groups[g, SIZE] > 0:
        r = pool[groups[g, START] + groups[g, SIZE] - 1]
        best, target = np.inf, -1
        for t in range(people.shape[1] - CODES - len(kind)):
            there = people[r, CODES + len(kind) + t]
            if there < 0 or people[there, HOME] == g:
                continue
            h = people[there, HOME]
            size = groups[h, SIZE]
            if may_join(people, groups, count, need, r, h, size + 1):
                cost = (size + 1) * ncp_after(people, groups, count, ncp, pool, place, kind, h, -1, r) - size * ncp[h]
                if cost < best:
                    best, target = cost, h
        if target < 0 or total + best > allowed:
            undo(people, groups, count, ncp, pool, place, kind, unit, log)
            return
        total += best
        shift(people, groups, count, ncp, pool, place, kind, unit, log, r, target)
    release_slot(groups, spare, g)
    log[-1] = 0


@compiled
def anneal(
    people: Any,
    groups: Any,
    count: Any,
    ncp: Any,
    pool: Any,
    place: Any,
    kind: Any,
    unit: Any,
    log: Any,
    need: Any,
    spare: Any,
    word: Any,
    rare: Any,
    sizes: Any,
    steps: int,
    warm: float,
    cold: float,
    chances: Any,
    minus_logs: Any,
) -> None:  # pragma: no cover - compiled
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
        i = begin + random_below(word, reach)
        i = i if i < len(people) else i - len(people)
        allowed = temperature * minus_logs[random_below(word, len(minus_logs))]
        step_kind = random_below(word, 1 << 20)
        if step_kind >= chances[4]:
            try_swap(people, groups, count, ncp, pool, place, kind, unit, log, need, word, i, allowed)
        elif step_kind < chances[0]:
            j = neighbour(people, kind, word, i)
            if j >= 0:
                try_move(people, groups, count, ncp, pool, place, kind, unit, log, need, spare, j, people[i, HOME], 0.3 * allowed)
        elif step_kind < chances[1]:
            try_long(people, groups, count, ncp, pool, place, kind, unit, log, need, spare, word, rare, 0.3 * allowed)
        elif step_kind < chances[2]:
            try_evict(people, groups, count, ncp, pool, place, kind, unit, log, need, word, i, 0.3 * allowed)
        elif step_kind < chances[3]:
            try_carve(people, groups, count, ncp, pool, place, kind, unit, log, need, spare, word, i, sizes, 0.3 * allowed)
        else:
            try_dissolve(people, groups, count, ncp, pool, place, kind, unit, log, need, spare, i, sizes, 0.3 * allowed)
