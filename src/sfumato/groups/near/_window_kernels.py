"""The first groups, and annealing one window of whole groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.groups.near._anneal_kernels import (
    CATEGORIES,
    CODES,
    HOME,
    MARKS,
    NCP,
    NEED,
    NUMBERS,
    ONE,
    ROOM,
    SIZE,
    START,
    VALUE,
    allocating,
    ends,
    put,
    release_slot,
)
from sfumato.groups.near._step_kernels import anneal

RARE = 25  # a value that only groups of so many people may hold takes long moves


@njit(cache=True)
def groups_in(values: Any, need: Any, start: Any, times: Any) -> int:
    """Return into how many groups people with these values can be dealt round robin, 0 for none; `times` is left zero."""
    people, largest = len(values), 1
    for v in values:
        times[v] += 1
        largest = max(largest, need[start[v] + 1])
    groups = people // largest
    while groups > 0:
        fits = True
        for v in values:
            if need[start[v] + -(-times[v] // groups)] > people // groups:
                fits = False
                break
        if fits:
            break
        groups -= max(1, groups // 16)
    for v in values:
        times[v] = 0
    return groups


@njit(cache=True)
def first_groups(value: Any, need: Any, start: Any, people: int) -> Any:
    """Return a group for each record of a kd order: stretches of the order, cut while both sides hold groups, then dealt.

    Records of a stretch are dealt by value, so that a group of S = ⌊people / groups⌋ gets at most ⌈count / groups⌉ of each.
    """
    home = np.empty(people, np.int64)
    times = np.zeros(len(start), np.int64)
    made = 0
    stack = [(0, people, groups_in(value, need, start, times))]
    while len(stack) > 0:
        low, high, groups = stack.pop()
        cut = False
        for share in (0.5, 0.4, 0.6, 0.3, 0.7):
            middle = low + round(share * groups) * ((high - low) // groups) if groups > 1 else low
            if low < middle < high:
                left = groups_in(value[low:middle], need, start, times)
                right = groups_in(value[middle:high], need, start, times)
                if left > 0 and right > 0 and left + right >= groups:
                    stack.append((middle, high, right))
                    stack.append((low, middle, left))
                    cut = True
                    break
        if not cut:
            by_value = np.argsort(value[low:high], kind="mergesort")
            for k in range(high - low):
                home[low + by_value[k]] = made + k % groups
            made += groups
    return home


@allocating
def renumber(codes: Any, low: int, size: int) -> tuple[Any, Any]:
    """Return codes numbered from `low` on in their order, without gaps, and the old code of each new one."""
    if size <= 8 * len(codes):
        seen = np.zeros(size, np.int64)
        for code in codes:
            seen[code] = 1
        old = np.flatnonzero(seen)
        for k in range(len(old)):
            seen[old[k]] = k
        return seen[codes] + low, old
    old = np.unique(codes)
    return np.searchsorted(old, codes) + low, old


@allocating
def local_people(rows: Any, home: Any, codes: Any, first: Any, value: Any, start: Any) -> tuple[Any, Any, Any]:
    """Return the records of a window as `people` of the kernels, the old numbers of their codes, and where each column's begin.

    The values come after the last column.
    """
    columns = len(first) - 1
    people = np.empty((len(rows), CODES + columns), np.int32)
    people[:, HOME] = renumber(home[rows], 0, 1 << 60)[0]
    at = 0
    begins = np.empty(columns + 2, np.int64)
    known = np.zeros(0, np.int64)
    for j in range(columns + 1):
        begins[j] = at
        if j < columns:
            short, old = renumber(codes[rows, j].astype(np.int64), at, first[j + 1] - first[j])
        else:
            short, old = renumber(value[rows].astype(np.int64), at, len(start))
        people[:, CODES + j if j < columns else VALUE] = short
        known = np.concatenate((known, old))
        at += len(old)
    begins[columns + 1] = at
    for k in range(len(rows)):
        people[k, NEED] = start[value[rows[k]]]
    return people, known, begins


@allocating
def local_near(rows: Any, window: int, member_of: Any, where: Any, near: Any) -> Any:
    """Return `near` of the kernels: neighbours by their places in the window."""
    inside = np.empty((len(rows), near.shape[1]), np.int32)
    for k in range(len(rows)):
        for t in range(near.shape[1]):
            other = near[rows[k], t]
            inside[k, t] = where[other] if other >= 0 and member_of[other] == window else -1
    return inside


@allocating
def local_scale(known: Any, begins: Any, first: Any, place: Any, unit: Any, absent: Any) -> tuple[Any, Any]:
    """Return `place` and `kind` of the kernels for a window with these codes."""
    columns = len(unit)
    scale = np.zeros(begins[columns], np.int64)
    kind = np.empty(columns, np.int32)
    for j in range(columns):
        kind[j] = CATEGORIES if unit[j] > 0 else NUMBERS
        for at in range(begins[j], begins[j + 1]):
            code = known[at]
            scale[at] = round(ONE * (unit[j] if unit[j] > 0 else place[first[j] + code]))
            if code == absent[j]:
                kind[j] = at
    return scale, kind


@allocating
def open_groups(people: Any, count: Any, place: Any, kind: Any) -> tuple[Any, Any]:
    """Return `groups` and `pool` of the kernels with the records in them, and fill `count`."""
    slots = len(count)
    groups = np.zeros((slots, MARKS + 2 * ((len(place) + 63) // 64) + 2 * len(kind)), np.int64)
    for j in range(len(kind)):
        at = ends(groups, kind, j)
        if kind[j] == CATEGORIES:
            groups[:, at + 1] = people[0, CODES + j]
        else:
            groups[:, at : at + 2] = -1
    pool = np.empty(4 * len(people) + 8 * slots, np.int32)
    sizes = np.zeros(slots, np.int64)
    for k in range(len(people)):
        sizes[people[k, HOME]] += 1
    pool[-1] = 0
    for g in range(slots):
        groups[g, START], groups[g, ROOM] = pool[-1], sizes[g] + 2
        pool[-1] += sizes[g] + 2
    for k in range(len(people)):
        put(people, groups, count, pool, place, kind, k, people[k, HOME])
    return groups, pool


@allocating
def rare_records(people: Any, need: Any) -> Any:
    """Return the records whose value only larger groups may hold."""
    found = np.empty(len(people), np.int64)
    many = 0
    for k in range(len(people)):
        if need[people[k, NEED] + 1] >= RARE:
            found[many] = k
            many += 1
    return found[:many]


@njit(cache=True, nogil=True)
def anneal_window(
    mine: Any,
    window: int,
    member_of: Any,
    where: Any,
    home: Any,
    codes: Any,
    first: Any,
    place: Any,
    unit: Any,
    absent: Any,
    value: Any,
    need: Any,
    start: Any,
    near: Any,
    zero: Any,
    word: Any,
    chances: Any,
    minus_logs: Any,
    sizes: Any,
    steps: float,
    heat: Any,
    offset: int,
) -> float:
    """Anneal the groups of these rows, write them to `home`, numbered from `offset` on, and return their cost.

    `zero` is of the type that counts have, `sizes` are the smallest and the largest group that a single record can need, `heat`
    the temperatures at the beginning and at the end, `steps` are tried per record.
    """
    people, known, begins = local_people(mine, home, codes, first, value, start)
    inside = local_near(mine, window, member_of, where, near)
    scale, kind = local_scale(known, begins, first, place, unit, absent)
    starts = start[known[begins[-2] :]]
    used = 0
    for k in range(len(mine)):
        used = max(used, people[k, HOME] + 1)
    slots = used + len(mine) // sizes[0] + 2
    count = np.zeros((slots, begins[-1]), zero.dtype)
    groups, pool = open_groups(people, count, scale, kind)
    spare = np.zeros(slots + 1, np.int64)
    for g in range(slots):
        release_slot(groups, spare, g)
    log = np.zeros(4 * len(mine) + 64, np.int64)
    rare = rare_records(people, need)
    budget = int(steps * len(mine))
    warm, cold = heat[0] * ONE, heat[1] * ONE
    anneal(
        people,
        inside,
        groups,
        count,
        pool,
        scale,
        kind,
        log,
        need,
        starts,
        spare,
        word,
        rare,
        sizes,
        budget,
        warm,
        cold,
        chances,
        minus_logs,
    )
    total = 0.0
    for g in range(slots):
        total += groups[g, SIZE] * (groups[g, NCP] / ONE)
    for k in range(len(mine)):
        home[mine[k]] = offset + people[k, HOME]
    return total
