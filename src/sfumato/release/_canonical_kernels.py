"""Kernels of the canonical order: sequences of integers sorted, and compared with the next one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Integers = npt.NDArray[np.int64]


@njit(cache=True)
def _after(start: Integers, keys: Integers, one: int, two: int) -> bool:  # pragma: no cover
    """Return whether sequence `one` comes after sequence `two`; one that the other begins with comes first."""
    i, end = start[one], start[one + 1]
    j, stop = start[two], start[two + 1]
    while i < end and j < stop:
        if keys[i] != keys[j]:
            return bool(keys[i] > keys[j])
        i += 1
        j += 1
    return bool(i < end)


@njit(cache=True)
def first_fall(start: Integers, keys: Integers) -> int:  # pragma: no cover
    """Return the first sequence that comes after the next one, −1 where there is none."""
    for one in range(len(start) - 2):
        if _after(start, keys, one, one + 1):
            return one
    return -1


@njit(cache=True)
def merge_sorted(start: Integers, keys: Integers, order: Integers) -> Integers:  # pragma: no cover
    """Return the sequences in ascending order, from an `order` that may be nearly right: a stable merge sort."""
    here, there = order.copy(), np.empty_like(order)
    width = 1
    while width < len(here):
        for low in range(0, len(here), 2 * width):
            middle, high = min(low + width, len(here)), min(low + 2 * width, len(here))
            if middle >= high or not _after(start, keys, here[middle - 1], here[middle]):
                there[low:high] = here[low:high]
                continue
            i, j = low, middle
            for k in range(low, high):
                if j >= high or (i < middle and not _after(start, keys, here[i], here[j])):
                    there[k] = here[i]
                    i += 1
                else:
                    there[k] = here[j]
                    j += 1
        here, there = there, here
        width *= 2
    return here


@njit(cache=True)
def ranks(start: Integers, keys: Integers, order: Integers) -> Integers:  # pragma: no cover
    """Return the rank of every sequence, given their ascending order; equal ones have the same."""
    found = np.zeros(len(order), np.int64)
    for place in range(1, len(order)):
        rise = _after(start, keys, order[place], order[place - 1])
        found[order[place]] = found[order[place - 1]] + int(rise)
    return found
