"""Step 2 of 004's algorithm as printed: one person from each of the largest buckets, by the greedy pick of its Fig. 7."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers, Small
from sfumato.papers.overlapping._scatter_kernels import FREE, RESIDUE, enough, enter, smallest_with


class Hashed(NamedTuple):
    """The buckets people are picked from: `rows[begin[k]:begin[k + 1]]` are those of bucket k, who all have `value[k]`."""

    rows: Small
    begin: Integers
    value: Integers


@njit(cache=True)
def pick(rows: Any, codes: Any, first: Any, stamp: Any, mark: int) -> int:
    """Return which of these people adds the most values to the marked group, the first of equal ones (Fig. 7).

    The figure keeps the minimum; its caption and the text want the tuple with which the group covers the most buckets.
    """
    columns = codes.shape[1]
    best, most = 0, -1
    for k in range(len(rows)):
        added = 0
        for j in range(columns):
            added += int(stamp[first[j] + codes[rows[k], j]] != mark)
        if added > most:
            best, most = k, added
        if most == columns:
            break
    return best


@njit(cache=True)
def from_buckets(crowd: Any, hashed: Any) -> tuple[Any, int]:
    """Return the group of everybody, −1 for a residue, and the number of groups.

    A group takes one person from each bucket in turn, the bucket with the most people left first, where its value has room;
    all buckets have had their turn before one has another. It is complete with enough people who cover enough. A group that
    cannot be completed leaves its people as residues; if it was too small for the value that needs most room, also everybody
    else with that value.
    """
    rows, free = hashed.rows.copy(), np.diff(hashed.begin)
    people, buckets = len(rows), len(free)
    group = np.full(people, FREE, np.int32)
    counts = np.zeros(len(crowd.weight), np.int64)
    left = np.zeros(len(crowd.weight), np.int64)
    for k in range(buckets):
        left[hashed.value[k]] += free[k]
    heap = [(-free[k] * crowd.weight[hashed.value[k]], k) for k in range(buckets)]  # those with the most people left first
    heapq.heapify(heap)
    groups, mark, neediest, alive = 0, 0, 0, people
    stamp = np.full(crowd.first[-1], -1, np.int32)
    distinct = np.zeros(crowd.codes.shape[1], np.int64)
    mine = np.empty(people, np.int32)
    while alive > 0:
        while left[crowd.urgent[neediest]] == 0:
            neediest += 1
        stuck = crowd.urgent[neediest]
        target = max(smallest_with(crowd, stuck, 1), 1)
        size, turn = 0, 0
        aside = heap[:0]
        distinct[:] = 0
        while not (size >= target and enough(crowd, size, distinct)):
            if not heap:
                if turn == size:  # nobody was found in a whole turn
                    break
                turn = size
                heap, aside = aside, heap
                heapq.heapify(heap)
                continue
            first = heapq.heappop(heap)
            one = first[1]
            if free[one] == 0:
                continue
            value = hashed.value[one]
            if smallest_with(crowd, value, counts[value] + 1) > max(target, size + 1):
                aside.append(first)
                continue
            top = hashed.begin[one + 1] - free[one]
            at = top + pick(rows[top : top + free[one]], crowd.codes, crowd.first, stamp, mark)
            row = rows[at]
            rows[at] = rows[top]
            mine[size] = row
            size += 1
            counts[value] += 1
            left[value] -= 1
            free[one] -= 1
            aside.append((-free[one] * crowd.weight[value], one))
            enter(row, crowd.codes, crowd.first, stamp, mark, distinct)
        complete = size >= target and enough(crowd, size, distinct)
        for k in range(size):
            group[mine[k]] = groups if complete else RESIDUE
        alive -= size
        counts[:] = 0
        if size < target:
            for one in range(buckets):
                if hashed.value[one] == stuck:
                    for at in range(hashed.begin[one + 1] - free[one], hashed.begin[one + 1]):
                        group[rows[at]] = RESIDUE
                    free[one] = 0
            alive -= left[stuck]
            left[stuck] = 0
        groups += int(complete)
        mark += 1
        for entry in aside:
            heapq.heappush(heap, entry)
    return group, groups
