"""Compiled kernels of randomization: plain loops over integer arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Floats, Integers, Unsigned

MARGIN = 1e-9
"""γ must exceed 1 by this much in floating point; whether it really does is decided in rationals afterwards."""


@njit(cache=True)
def lower_and_sort(values: Integers, counts: Integers, top: int, by: int) -> tuple[Integers, Integers]:
    """Return values and falling counts after the first `top` counts were lowered `by`, without empty ones; ties by value."""
    size = len(values)
    sorted_values = np.empty(size, np.int64)
    sorted_counts = np.empty(size, np.int64)
    i, j, k = 0, top, 0
    while i < top or j < size:
        lowered = counts[i] - by if i < top else np.int64(-1)
        other = counts[j] if j < size else np.int64(-1)
        if lowered > other or (lowered == other and values[i] < values[j]):
            sorted_values[k], sorted_counts[k] = values[i], lowered
            i += 1
        else:
            sorted_values[k], sorted_counts[k] = values[j], other
            j += 1
        if sorted_counts[k] == 0:
            break
        k += 1
    return sorted_values[:k], sorted_counts[:k]


class GroupCounts(NamedTuple):
    """Entries start[g] … start[g + 1] − 1 are the values of group g, and how often it has each."""

    start: Integers
    value: Integers
    count: Any


@njit(cache=True)
def merge_along(
    order: Integers, shown: GroupCounts, which: Integers, odds: Floats, total: int, cap: float
) -> tuple[float, Integers]:
    """Return the least Σ √(|T_i|/|T|)·(m_i/(γ_i−1)+1) of merging neighbours in this order, and where each part begins.

    Dynamic programming over the last boundary ([SDR §5.3], equation 14). `which` is the class of each value's bound (−1: none),
    `odds` is bound/(1−bound) of each class. An infinite result means that no merging keeps the bounds.
    """
    start, value, count = shown
    groups = len(order)
    best = np.full(groups + 1, np.inf)
    best[0] = 0.0
    before = np.zeros(groups + 1, np.int64)
    tally = np.zeros(len(which), np.int64)
    most = np.zeros(len(odds), np.int64)
    for first in range(groups):
        if best[first] == np.inf:
            continue
        size, distinct = 0, 0
        most[:] = 0
        for last in range(first, groups):
            g = order[last]
            for entry in range(start[g], start[g + 1]):
                v = value[entry]
                if tally[v] == 0:
                    distinct += 1
                tally[v] += count[entry]
                size += count[entry]
                c = which[v]
                if c >= 0 and tally[v] > most[c]:
                    most[c] = tally[v]
            gamma = cap
            for c in range(len(odds)):
                if most[c] > 0:
                    gamma = min(gamma, odds[c] * (size - most[c]) / most[c])
            if gamma > 1.0 + MARGIN:
                cost = best[first] + np.sqrt(size / total) * (distinct / (gamma - 1.0) + 1.0)
                if cost < best[last + 1]:
                    best[last + 1] = cost
                    before[last + 1] = first
        for last in range(first, groups):
            g = order[last]
            for entry in range(start[g], start[g + 1]):
                tally[value[entry]] = 0
    return best[groups], before


@njit(cache=True)
def first_above(words: Unsigned, row: Integers, start: Integers, limits: Unsigned) -> Integers:
    """Return for each word the first entry k of its row with word < limits[k], or −1−k where the word equals that limit.

    Row r has the ascending entries `start[r]` … `start[r+1]`−1 and, after them, one that no word reaches.
    """
    first = np.empty(len(words), np.int64)
    for i in range(len(words)):
        low, high = start[row[i]], start[row[i] + 1]
        while low < high:
            middle = (low + high) // 2
            if words[i] < limits[middle]:
                high = middle
            else:
                low = middle + 1
        inside = low - start[row[i]]
        first[i] = inside
        if inside > 0 and words[i] == limits[low - 1]:
            first[i] = -1 - inside
    return first
