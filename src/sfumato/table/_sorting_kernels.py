"""Sorting by counting: passes over long arrays instead of comparisons, several times as fast for small numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Array, Integers


def _deal(key: Array, room: int, places: Array) -> Integers:
    places[:] = np.argsort(key, kind="stable")
    start = np.zeros(room + 1, np.int64)
    np.cumsum(np.bincount(key, minlength=room), out=start[1:])
    return start


@njit(cache=True, nogil=True, plain=_deal, same=True)
def deal(key: Any, room: int, places: Any) -> Any:
    """Put the places of numbers below `room` in ascending order, equal ones as they stand; return where each number begins."""
    start = np.zeros(room + 1, np.int64)
    for number in key:
        start[number + 1] += 1
    for number in range(room):
        start[number + 1] += start[number]
    at = start.copy()
    for place in range(len(key)):
        number = key[place]
        places[at[number]] = place
        at[number] += 1
    return start


@njit(cache=True, nogil=True)
def deal_digit(key: Any, shift: int, digits: int, before: Any, after: Any) -> None:
    """Put places, in the order `before`, in the order of one digit of their numbers, equal ones as they stand."""
    mask = digits - 1
    at = np.zeros(digits + 1, np.int64)
    for number in key:
        at[((number >> shift) & mask) + 1] += 1
    for digit in range(digits):
        at[digit + 1] += at[digit]
    for place in before:
        digit = (key[place] >> shift) & mask
        after[at[digit]] = place
        at[digit] += 1
