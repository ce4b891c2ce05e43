"""The paper's groups, as plain loops over people in random order: picks, extensions, residues and merges."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.groups._cover_kernels import reaches

FREE, RESIDUE = -2, -1
PICKS = 32  # of how many people the one is taken who extends a group best
_LOOKS = 4  # how many people are looked at for one candidate
_TRIES = 4  # how many times no candidate may help before a group is given up
_OFFERS = 8  # how many residues of a value are offered to a group
_ROUNDS = 8  # how many times all groups are asked


class Crowd(NamedTuple):
    """People in an order of coins, and what a group of them may hold and must cover.

    `urgent` lists the values by the size of the smallest group that may hold them, the largest first. A group with k people of
    value v has at least `need[start[v] + k]` people; one of n people covers at least `covering[n]` combinations.
    """

    value: Small
    codes: Array  # [people × columns]
    first: Integers  # where the stamps of each column start, one entry more than columns
    weight: Floats  # of each value, 1 / bound
    urgent: Integers
    need: Integers
    start: Integers
    covering: Integers
    least: int


class _Queue(NamedTuple):
    """The people who are not in a group yet, each followed by `after`, and everybody's group."""

    after: Small
    group: Small


class _Holding(NamedTuple):
    """What the group that is made holds: its people by value, the last mark on every quasi value, different ones by column."""

    counts: Integers
    stamp: Small
    distinct: Integers


@njit(cache=True)
def smallest_with(crowd: Any, value: int, count: int) -> int:
    """Return how many people a group has at least that holds a value so many times."""
    return int(crowd.need[crowd.start[value] + count])


@njit(cache=True)
def enough(crowd: Any, size: int, distinct: Any) -> bool:
    """Return whether so many people, with so many different values in every column, are a group."""
    return bool(size >= crowd.least and reaches(distinct, crowd.covering[size]))


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
    crowd: Any, queue: _Queue, cursor: int, alive: int, holding: _Holding, size: int, mark: int
) -> tuple[int, float, int]:
    """Return who of the next free people multiplies the combinations most (−1: nobody), by how much, and where to go on.

    People stand in random order and are looked at in turn. Only values count that the group has room for.
    """
    after, group = queue
    counts, stamp, distinct = holding
    best, most, seen = -1, 0.0, 0
    for _ in range(min(_LOOKS * PICKS, alive)):
        row = cursor
        cursor = after[cursor]
        if group[row] != FREE or smallest_with(crowd, crowd.value[row], counts[crowd.value[row]] + 1) > size + 1:
            continue
        times = gain(row, crowd.codes, crowd.first, stamp, mark, distinct)
        if times > most:
            best, most = row, times
        seen += 1
        if seen == PICKS:
            break
    return best, most, cursor


@njit(cache=True)
def scatter(crowd: Any, rows_of: Any, begin: Any) -> tuple[Any, int]:
    """Return the group of everybody, −1 for a residue, and the number of groups.

    `rows_of[begin[v]:begin[v + 1]]` are the people with value v. A group starts with as many people as the most urgent value
    needs, one after the other from the value with the most free people for its bound and room in the group; then it is extended
    until it covers enough.
    """
    people, values = len(crowd.value), len(begin) - 1
    group = np.full(people, FREE, np.int32)
    after = np.roll(np.arange(people, dtype=np.int32), -1)
    ahead = np.roll(np.arange(people, dtype=np.int32), 1)
    stamp = np.full(crowd.first[-1], -1, np.int32)
    free = begin[1:] - begin[:-1]
    top = begin[:-1].copy()
    # The value with the most free people for its bound comes first, of equal ones that with the lower number.
    heap = [(-free[v] * crowd.weight[v], v) for v in range(values)]
    heapq.heapify(heap)
    cursor, alive, groups, mark, neediest = 0, people, 0, 0, 0
    counts = np.zeros(values, np.int64)
    mine = np.empty(people, np.int32)
    distinct = np.zeros(crowd.codes.shape[1], np.int64)
    queue, holding = _Queue(after, group), _Holding(counts, stamp, distinct)
    while alive > 0:
        while free[crowd.urgent[neediest]] == 0:
            neediest += 1
        target = max(smallest_with(crowd, crowd.urgent[neediest], 1), 1)
        size = 0
        aside = heap[:0]
        distinct[:] = 0
        while size < target and heap:
            first = heapq.heappop(heap)
            one = first[1]
            if free[one] == 0:
                continue
            if smallest_with(crowd, one, counts[one] + 1) > target:
                aside.append(first)
                continue
            while group[rows_of[top[one]]] != FREE:
                top[one] += 1
            row = rows_of[top[one]]
            group[row] = groups
            mine[size] = row
            size += 1
            counts[one] += 1
            free[one] -= 1
            heapq.heappush(heap, (-free[one] * crowd.weight[one], one))
            enter(row, crowd.codes, crowd.first, stamp, mark, distinct)
        complete = size == target
        tries = 0
        while complete and not enough(crowd, size, distinct):
            best, times, cursor = best_of(crowd, queue, cursor, alive, holding, size, mark)
            if best < 0 or (size >= crowd.least and times * size < size + 0.999):
                tries += 1
                complete = tries < _TRIES
                continue
            one = crowd.value[best]
            group[best] = groups
            mine[size] = best
            size += 1
            counts[one] += 1
            free[one] -= 1
            enter(best, crowd.codes, crowd.first, stamp, mark, distinct)
        if size < target:
            # The neediest value finds no group any more: its people are residues, with those who were picked for them.
            stuck = crowd.urgent[neediest]
            for k in range(begin[stuck], begin[stuck + 1]):
                if group[rows_of[k]] == FREE:
                    group[rows_of[k]] = groups
                    mine[size] = rows_of[k]
                    size += 1
            free[stuck] = 0
        for k in range(size):
            row = mine[k]
            counts[crowd.value[row]] = 0
            if not complete:
                group[row] = RESIDUE
            if cursor == row:
                cursor = after[row]
            after[ahead[row]] = after[row]
            ahead[after[row]] = ahead[row]
        alive -= size
        groups += int(complete)
        mark += 1
        for entry in aside:
            heapq.heappush(heap, entry)
        if size > target:  # an extension took people of values that stand in the heap as they were before
            for k in range(len(heap)):
                heap[k] = (-free[heap[k][1]] * crowd.weight[heap[k][1]], heap[k][1])
            heapq.heapify(heap)
    return group, groups


@njit(cache=True)
def fits(crowd: Any, row: int, head: int, link: Any, size: int, distinct: Any, wider: Any) -> bool:
    """Return whether a group covers enough with one more person, and put into `wider` what it then covers in every column."""
    wider[:] = distinct + 1
    member = head
    while member >= 0:
        for j in range(len(wider)):
            if crowd.codes[member, j] == crowd.codes[row, j]:
                wider[j] = distinct[j]
        member = link[member]
    return reaches(wider, crowd.covering[size + 1])


@njit(cache=True)
def insert_residues(crowd: Any, group: Any, groups: int, order: Any, begin: Any) -> None:
    """Put residues, `order[begin[v]:begin[v + 1]]` for value v, into groups with room for them that still cover enough."""
    columns = crowd.codes.shape[1]
    size = np.zeros(groups, np.int64)
    head = np.full(groups, -1, np.int32)
    link = np.full(len(group), -1, np.int32)
    for row in range(len(group)):
        if group[row] >= 0:
            link[row] = head[group[row]]
            head[group[row]] = row
            size[group[row]] += 1
    distinct = np.zeros((groups, columns), np.int64)
    stamp = np.full(crowd.first[-1], -1, np.int32)
    for g in range(groups):
        row = head[g]
        while row >= 0:
            enter(row, crowd.codes, crowd.first, stamp, g, distinct[g])
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
                    had += int(crowd.value[row] == v)
                    row = link[row]
                if smallest_with(crowd, v, had + 1) > size[g] + 1:
                    continue
                for k in range(low, min(low + _OFFERS, high)):
                    row = order[k]
                    if fits(crowd, row, head[g], link, size[g], distinct[g], wider):
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
def merge_until(crowd: Any, order: Any, begin: Any) -> int:
    """Return after how many merges the first set of people keeps the bounds and covers enough, −1 for never.

    Set k is `order[begin[k]:begin[k + 1]]`; set 0 is merged with set 1, then with set 2, and so on.
    """
    counts = np.zeros(len(crowd.weight), np.int64)
    distinct = np.zeros(crowd.codes.shape[1], np.int64)
    stamp = np.full(crowd.first[-1], -1, np.int32)
    for k in range(len(begin) - 1):
        for place in range(begin[k], begin[k + 1]):
            counts[crowd.value[order[place]]] += 1
            enter(order[place], crowd.codes, crowd.first, stamp, 0, distinct)
        size = begin[k + 1]
        good = enough(crowd, size, distinct)
        for v in range(len(counts)):
            if not good:
                break
            good = counts[v] == 0 or smallest_with(crowd, v, counts[v]) <= size
        if good:
            return k
    return -1
