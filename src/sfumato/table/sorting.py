"""Sorting many small numbers fast."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Integers

_AT_ONCE = 1 << 20


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


def sorted_words(key: Integers) -> tuple[Integers, int]:
    """Return sorted words, each a number from 0 on and the place it comes from in the lowest bits, and how many bits those are.

    The array is used up. Equal numbers have equal upper bits; where both do not fit in a word, numbers are made small.
    """
    bits = max(len(key) - 1, 1).bit_length()
    if int(key.max(initial=0)) >= 1 << (62 - bits):
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    key <<= bits
    for begin in range(0, len(key), _AT_ONCE):
        some = key[begin : begin + _AT_ONCE]
        some |= np.arange(begin, begin + len(some))
    key.sort()
    return key, bits


def ascending(key: Integers, *, used_up: bool = False) -> Integers:
    """Return the places of numbers from 0 on in ascending order, equal ones as they stand."""
    if not (key[1:] < key[:-1]).any():
        return np.arange(len(key))
    return sorted_with_places(key, used_up=used_up)[1]
