"""Sorting many small numbers fast."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.table._sorting_kernels import deal, deal_digit

_AT_ONCE = 1 << 20
_MANY = 1 << 17
"""From so many numbers on, places are dealt out by counting, in 32 bits; fewer are sorted before compiled code is loaded."""
_DIGIT = 13
"""Bits of a number that are looked at in one pass: so many piles are written to at once as a processor keeps at hand."""


def sorted_with_places(key: Integers, *, used_up: bool = False) -> tuple[Integers, Integers]:
    """Return numbers from 0 on in ascending order, and the places they come from, equal ones as they stand.

    Number and place share a word where that fits: sorting words is several times faster than sorting places by number. An array
    of 64-bit words that is `used_up` is written over, which takes less memory.
    """
    bits = max(len(key) - 1, 1).bit_length()
    if int(key.max(initial=0)) >= 1 << (62 - bits):
        order = np.argsort(key, kind="stable").astype(np.int64, copy=False)
        return key[order], order
    packed: Integers = key if used_up and key.dtype == np.int64 else key.astype(np.int64)
    packed <<= bits
    for begin in range(0, len(packed), _AT_ONCE):
        some = packed[begin : begin + _AT_ONCE]
        some |= np.arange(begin, begin + len(some))
    packed.sort()
    ranked = packed >> bits
    packed &= (1 << bits) - 1
    return ranked, packed


def ascending(key: Integers, *, used_up: bool = False) -> Array:
    """Return the places of numbers from 0 on in ascending order, equal ones as they stand."""
    if not falls(key):
        return np.arange(len(key), dtype=place_type(len(key)))
    bits = int(key.max()).bit_length()
    if len(key) < _MANY or bits > 4 * _DIGIT:
        return sorted_with_places(key, used_up=used_up)[1]
    passes = -(-bits // _DIGIT)
    width = -(-bits // passes)
    places = np.empty(len(key), place_type(len(key)))
    if passes == 1:
        deal(key, 1 << width, places)
        return places
    before = np.arange(len(key), dtype=places.dtype)
    for one in range(passes):
        deal_digit(key, one * width, 1 << width, before, places)
        before, places = places, before
    return before


def dealt(key: Array, room: int) -> tuple[Array, Integers]:
    """Return the places of numbers below `room` in ascending order, equal ones as they stand, and where each number begins."""
    places = np.empty(len(key), place_type(len(key)))
    start: Integers = deal(key, room, places)
    return places, start


def falls(key: Array) -> bool:
    """Return whether a number comes after a larger one."""
    return any(
        bool((key[begin + 1 : begin + _AT_ONCE + 1] < key[begin : begin + _AT_ONCE][: len(key) - begin - 1]).any())
        for begin in range(0, len(key), _AT_ONCE)
    )


def place_type(rows: int) -> type[np.int32] | type[np.int64]:
    """Return the type for places of so many rows."""
    return np.int32 if rows < 1 << 31 else np.int64
