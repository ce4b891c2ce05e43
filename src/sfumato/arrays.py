"""The types of arrays, one name each; and what numpy does with small integers only after making all of them wide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Unsigned = npt.NDArray[np.uint64]
Codes = npt.NDArray[Any]
"""Of one column: uint8, uint16 or uint32, the smallest that holds every code."""

KeyColumn = tuple[Codes | Integers, int]
"""Codes, and how many there may be."""

FITS = 1 << 62
"""Combinations are numbered below this."""

_AT_ONCE = 1 << 16


def taken(values: Array, places: Array) -> Array:
    """Return `values[places]`, a block at a time."""
    if places.dtype == np.intp or len(places) <= _AT_ONCE:
        taken: Array = values[places]
        return taken
    taken = np.empty(len(places), values.dtype)
    for begin in range(0, len(places), _AT_ONCE):
        taken[begin : begin + _AT_ONCE] = values[places[begin : begin + _AT_ONCE]]
    return taken


def put_back(values: Array, places: Array) -> Array:
    """Return an array that has `values` at these places, each of which is there once, a block at a time."""
    placed = np.empty(len(places), values.dtype)
    for begin in range(0, len(places), _AT_ONCE):
        placed[places[begin : begin + _AT_ONCE]] = values[begin : begin + _AT_ONCE]
    return placed


def counted(codes: Array, size: int) -> Integers:
    """Return how often each of the codes 0 … size−1 occurs, a block at a time."""
    counts = np.zeros(size, np.int64)
    step = max(_AT_ONCE, 4 * size)
    for begin in range(0, len(codes), step):
        counts += np.bincount(codes[begin : begin + step], minlength=size)
    return counts


def combine_codes(parts: Sequence[KeyColumn]) -> Integers:
    """Return mixed-radix numbers of codes; they are made dense on the way whenever they would not fit in 62 bits."""
    whole, size = parts[0][0].astype(np.int64), parts[0][1]
    for codes, radix in parts[1:]:
        if size * radix >= FITS:
            distinct, whole = np.unique(whole, return_inverse=True)
            size = len(distinct)
        whole *= radix
        whole += codes
        size *= radix
    return whole
