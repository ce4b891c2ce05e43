"""Kernels of the canonical order: sequences of integers sorted, and compared with the next one.

Before a kernel that is called from outside stands its twin in Python, for a process that never loads numba.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers


@njit(cache=True)
def _after(start: Integers, keys: Integers, left: int, right: int) -> bool:
    """Return whether sequence `one` comes after sequence `two`; one that the other begins with comes first."""
    i, end = start[left], start[left + 1]
    j, stop = start[right], start[right + 1]
    while i < end and j < stop:
        if keys[i] != keys[j]:
            return bool(keys[i] > keys[j])
        i += 1
        j += 1
    return bool(i < end)


def _lists(start: Integers, keys: Integers) -> list[list[int]]:
    whole = keys.tolist()
    return [whole[a:b] for a, b in pairwise(start.tolist())]


def _first_fall(start: Integers, keys: Integers) -> int:
    return next((place for place, (left, right) in enumerate(pairwise(_lists(start, keys))) if left > right), -1)


@njit(cache=True, plain=_first_fall, same=True)
def first_fall(start: Integers, keys: Integers) -> int:
    """Return the first sequence that comes after the next one, −1 where there is none."""
    for g in range(len(start) - 2):
        if _after(start, keys, g, g + 1):
            return g
    return -1


def _sort_ties(start: Integers, keys: Integers, order: Integers) -> Integers:
    lists = _lists(start, keys)
    return np.array(sorted(order.tolist(), key=lists.__getitem__), order.dtype)


@njit(cache=True, plain=_sort_ties, same=True)
def sort_ties(start: Integers, keys: Integers, order: Integers) -> Integers:
    """Return the sequences in ascending order, from an `order` that is right but for those whose first numbers are equal."""
    here, there = order.copy(), np.empty_like(order)
    low = 0
    while low < len(here):
        high = low + 1
        while high < len(here) and not _first_differs(start, keys, here[low], here[high]):
            high += 1
        if high - low > 1:
            _merge_sort(start, keys, here, there, low, high)
        low = high
    return here


@njit(cache=True)
def _first_differs(start: Integers, keys: Integers, left: int, right: int) -> bool:
    if start[left] == start[left + 1] or start[right] == start[right + 1]:
        return bool((start[left] == start[left + 1]) != (start[right] == start[right + 1]))
    return bool(keys[start[left]] != keys[start[right]])


@njit(cache=True)
def _merge_sort(start: Integers, keys: Integers, here: Integers, there: Integers, first: int, end: int) -> None:
    """Sort the sequences here[first:end] in place, stably; `there` is room to work in."""
    width = 1
    while width < end - first:
        for low in range(first, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            i, j = low, middle
            for k in range(low, high):
                if j >= high or (i < middle and not _after(start, keys, here[i], here[j])):
                    there[k] = here[i]
                    i += 1
                else:
                    there[k] = here[j]
                    j += 1
        for k in range(first, end):  # assigning a slice would compile the words of an error too, for seconds
            here[k] = there[k]
        width *= 2


def _ranks(start: Integers, keys: Integers, order: Integers) -> Integers:
    lists = _lists(start, keys)
    rank = np.zeros(len(order), np.int64)
    rank[order[1:]] = np.cumsum([lists[right] > lists[left] for left, right in pairwise(order.tolist())], dtype=np.int64)
    return rank


@njit(cache=True, plain=_ranks, same=True)
def ranks(start: Integers, keys: Integers, order: Integers) -> Integers:
    """Return the rank of every sequence, given their ascending order; equal ones have the same."""
    rank = np.zeros(len(order), np.int64)
    for place in range(1, len(order)):
        rise = _after(start, keys, order[place], order[place - 1])
        rank[order[place]] = rank[order[place - 1]] + int(rise)
    return rank
