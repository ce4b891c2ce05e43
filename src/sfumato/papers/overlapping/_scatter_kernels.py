"""The paper's groups, as plain loops over people in random order: picks, extensions, residues and merges."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.groups.fragments._box_kernels import reaches

FREE, RESIDUE = -2, -1
_LOOKS = 4  # how many people are looked at for one candidate
_TRIES = 4  # how many times no candidate may help before a group is given up
_OFFERS = 8  # how many residues of a value are offered to a group
_ROUNDS = 8  # how many times all groups are asked


@njit(cache=True)
def sift_down(heap: Any, length: int, place: int, key: Any) -> None:
    """Let the entry at `place` sink until no child comes before it: larger keys first, equal ones by number."""
    while True:
        child = 2 * place + 1
        if child >= length:
            return
        if child + 1 < length and before(heap[child + 1], heap[child], key):
            child += 1
        if not before(heap[child], heap[place], key):
            return
        heap[child], heap[place] = heap[place], heap[child]
        place = child


@njit(cache=True)
def before(one: int, other: int, key: Any) -> bool:
    """Return whether a value is picked before another: more people for its bound, or the lower number."""
    return bool(key[one] > key[other] or (key[one] == key[other] and one < other))


@njit(cache=True)
def push(heap: Any, length: int, value: int, key: Any) -> int:
    """Add a value and return the new length."""
    heap[length] = value
    place = length
    while place > 0 and before(heap[place], heap[(place - 1) // 2], key):
        above = (place - 1) // 2
        heap[place], heap[above] = heap[above], heap[place]
        place = above
    return length + 1


@njit(cache=True)
def enter(row: int, codes: Any, first: Any, stamp: Any, mark: int, distinct: Any) -> None:
    """Add a person to the group whose mark is on its values' stamps."""
    for j in range(codes.shape[1]):
        place = first[j] + codes[row, j]
        if stamp[place] != mark:
            stamp[place] = mark
            distinct[j] += 1


@njit(cache=True)
def gain(row: int, codes: Any, first: Any, stamp: Any, mark: int, distinct: Any) -> float:
    """Return by how much a person would multiply the combinations that the marked group covers."""
    times = 1.0
    for j in range(codes.shape[1]):
        if stamp[first[j] + codes[row, j]] != mark:
            times *= (distinct[j] + 1) / distinct[j]
    return times


@njit(cache=True)
def best_of(
    cursor: int,
    after: Any,
    alive: int,
    group: Any,
    value: Any,
    counts: Any,
    size: int,
    need: Any,
    start: Any,
    codes: Any,
    first: Any,
    stamp: Any,
    mark: int,
    distinct: Any,
    picks: int,
) -> tuple[int, float, int]:
    """Return who of the next `picks` free people multiplies the combinations most (−1: nobody), by how much, and where to go on.

    People stand in random order and are looked at in turn. Only values count that the group has room for.
    """
    best, most, found = -1, 0.0, 0
    for _ in range(min(_LOOKS * picks, alive)):
        row = cursor
        cursor = after[cursor]
        if group[row] != FREE or need[start[value[row]] + counts[value[row]] + 1] > size + 1:
            continue
        times = gain(row, codes, first, stamp, mark, distinct)
        if times > most:
            best, most = row, times
        found += 1
        if found == picks:
            break
    return best, most, cursor


@njit(cache=True)
def scatter(
    value: Any,
    rows_of: Any,
    begin: Any,
    weight: Any,
    urgent: Any,
    need: Any,
    start: Any,
    codes: Any,
    first: Any,
    cells: Any,
    least: int,
    picks: int,
) -> tuple[Any, int]:
    """Return the group of everybody, −1 for a residue, and the number of groups.

    `rows_of[begin[v]:begin[v + 1]]` are the people with value v; `weight[v]` is 1/bound; `urgent` lists the values by the size of
    the smallest group that may hold them, the largest first. A group starts with as many people as that, one after the other
    from the value with the most free people for its bound and room in the group; then it is extended until it covers enough.
    """
    people, values = len(value), len(begin) - 1
    group = np.full(people, FREE, np.int32)
    after = np.roll(np.arange(people, dtype=np.int32), -1)
    ahead = np.roll(np.arange(people, dtype=np.int32), 1)
    stamp = np.full(first[-1], -1, np.int32)
    free = begin[1:] - begin[:-1]
    top = begin[:-1].copy()
    key = free * weight
    heap, aside = np.arange(values), np.empty(values, np.int64)
    for place in range(values // 2 - 1, -1, -1):
        sift_down(heap, values, place, key)
    length, cursor, alive, groups, mark, neediest = values, 0, people, 0, 0, 0
    counts = np.zeros(values, np.int64)
    mine = np.empty(people, np.int32)
    distinct = np.zeros(codes.shape[1], np.int64)
    while alive > 0:
        while free[urgent[neediest]] == 0:
            neediest += 1
        target = max(need[start[urgent[neediest]] + 1], 1)
        size, put = 0, 0
        distinct[:] = 0
        while size < target and length > 0:
            one = heap[0]
            length -= 1
            heap[0] = heap[length]
            sift_down(heap, length, 0, key)
            if free[one] == 0:
                continue
            if need[start[one] + counts[one] + 1] > target:
                aside[put] = one
                put += 1
                continue
            while group[rows_of[top[one]]] != FREE:
                top[one] += 1
            row = rows_of[top[one]]
            group[row] = groups
            mine[size] = row
            size += 1
            counts[one] += 1
            free[one] -= 1
            key[one] = free[one] * weight[one]
            length = push(heap, length, one, key)
            enter(row, codes, first, stamp, mark, distinct)
        complete = size == target
        tries = 0
        while complete and not (size >= least and reaches(distinct, cells[size])):
            best, times, cursor = best_of(
                cursor, after, alive, group, value, counts, size, need, start, codes, first, stamp, mark, distinct, picks
            )
            if best < 0 or (size >= least and times * size < size + 0.999):
                tries += 1
                complete = tries < _TRIES
                continue
            one = value[best]
            group[best] = groups
            mine[size] = best
            size += 1
            counts[one] += 1
            free[one] -= 1
            enter(best, codes, first, stamp, mark, distinct)
        if size < target:
            # The neediest value finds no group any more: its people are residues, with those who were picked for them.
            stuck = urgent[neediest]
            for k in range(begin[stuck], begin[stuck + 1]):
                if group[rows_of[k]] == FREE:
                    group[rows_of[k]] = groups
                    mine[size] = rows_of[k]
                    size += 1
            free[stuck] = 0
        for k in range(size):
            row = mine[k]
            counts[value[row]] = 0
            if not complete:
                group[row] = RESIDUE
            if cursor == row:
                cursor = after[row]
            after[ahead[row]] = after[row]
            ahead[after[row]] = ahead[row]
        alive -= size
        groups += int(complete)
        mark += 1
        for k in range(put):
            length = push(heap, length, aside[k], key)
        # An extension took people whose values still stand in the heap with their former keys: put it in order again.
        if size > target:
            for k in range(length):
                key[heap[k]] = free[heap[k]] * weight[heap[k]]
            for place in range(length // 2 - 1, -1, -1):
                sift_down(heap, length, place, key)
    return group, groups


@njit(cache=True)
def fits(row: int, head: int, link: Any, size: int, distinct: Any, codes: Any, cells: Any, after: Any) -> bool:
    """Return whether a group covers enough with one more person, and put into `after` what it then covers in every column."""
    after[:] = distinct + 1
    member = head
    while member >= 0:
        for j in range(codes.shape[1]):
            if codes[member, j] == codes[row, j]:
                after[j] = distinct[j]
        member = link[member]
    return reaches(after, cells[size + 1])


@njit(cache=True)
def insert_residues(
    group: Any,
    groups: int,
    value: Any,
    order: Any,
    begin: Any,
    need: Any,
    start: Any,
    codes: Any,
    first: Any,
    cells: Any,
) -> None:
    """Put residues, `order[begin[v]:begin[v + 1]]` for value v, into groups with room for them that still cover enough."""
    columns = codes.shape[1]
    size = np.zeros(groups, np.int64)
    head = np.full(groups, -1, np.int32)
    link = np.full(len(group), -1, np.int32)
    for row in range(len(group)):
        if group[row] >= 0:
            link[row] = head[group[row]]
            head[group[row]] = row
            size[group[row]] += 1
    distinct = np.zeros((groups, columns), np.int64)
    stamp = np.full(first[-1], -1, np.int32)
    for g in range(groups):
        row = head[g]
        while row >= 0:
            enter(row, codes, first, stamp, g, distinct[g])
            row = link[row]
    wider = np.empty(columns, np.int64)
    g = 0
    for v in range(len(begin) - 1):
        low, high = begin[v], begin[v + 1]
        for _ in range(_ROUNDS):
            former = high - low
            for _ in range(groups):
                if low == high:
                    break
                g = (g + 1) % groups
                had, row = 0, head[g]
                while row >= 0:
                    had += int(value[row] == v)
                    row = link[row]
                if need[start[v] + had + 1] > size[g] + 1:
                    continue
                for k in range(low, min(low + _OFFERS, high)):
                    row = order[k]
                    if fits(row, head[g], link, size[g], distinct[g], codes, cells, wider):
                        order[k] = order[low]
                        low += 1
                        group[row] = g
                        link[row] = head[g]
                        head[g] = row
                        size[g] += 1
                        distinct[g] = wider
                        break
            if low == high or high - low == former:
                break


@njit(cache=True)
def merge_until(
    order: Any,
    begin: Any,
    value: Any,
    values: int,
    need: Any,
    start: Any,
    codes: Any,
    first: Any,
    cells: Any,
    least: int,
) -> int:
    """Return after how many merges the first set of people keeps the bounds and covers enough, −1 for never.

    Set k is `order[begin[k]:begin[k + 1]]`; set 0 is merged with set 1, then with set 2, and so on.
    """
    counts = np.zeros(values, np.int64)
    distinct = np.zeros(codes.shape[1], np.int64)
    stamp = np.full(first[-1], -1, np.int32)
    for k in range(len(begin) - 1):
        for place in range(begin[k], begin[k + 1]):
            counts[value[order[place]]] += 1
            enter(order[place], codes, first, stamp, 0, distinct)
        size = begin[k + 1]
        good = size >= least and reaches(distinct, cells[size])
        for v in range(values):
            if not good:
                break
            good = counts[v] == 0 or need[start[v] + counts[v]] <= size
        if good:
            return k
    return -1
