"""Loops over the bytes of a table file: bit packing, and texts with their lengths. Every index is checked where it is used.

Before each kernel stands its twin in numpy, for a process that reads one release and never loads numba.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Array


def _pack(codes: Array, width: int, out: Array) -> None:
    bits = (codes.astype(np.int64)[:, None] >> np.arange(width)) & 1
    packed = np.packbits(bits.astype(np.uint8).ravel(), bitorder="little")[: len(out)]
    out[: len(packed)] = packed


@njit(cache=True, plain=_pack, same=True)
def pack(codes: Array, width: int, out: Array) -> None:
    """Write each code with `width` bits, lowest bits first, into `out`, which is zero and has room for them all."""
    waiting, bits, at = np.uint64(0), 0, 0
    for code in codes:
        waiting |= np.uint64(code) << np.uint64(bits)
        bits += width
        while bits >= 8 and at < len(out):
            out[at] = np.uint8(waiting & np.uint64(255))
            waiting >>= np.uint64(8)
            bits -= 8
            at += 1
    if bits > 0 and at < len(out):
        out[at] = np.uint8(waiting & np.uint64(255))


def _unpack(packed: Array, width: int, out: Array) -> None:
    bits = np.zeros(len(out) * width, np.uint8)
    unpacked = np.unpackbits(packed, bitorder="little")[: len(bits)]
    bits[: len(unpacked)] = unpacked
    out[:] = 0
    for place, column in enumerate(bits.reshape(len(out), width).T):
        out |= column.astype(np.int32) << np.int32(place)


@njit(cache=True, plain=_unpack, same=True)
def unpack(packed: Array, width: int, out: Array) -> None:
    """Read as many codes of `width` bits as `out` takes; bits that are not there are zero."""
    waiting, bits, at = np.uint64(0), 0, 0
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    for k in range(len(out)):
        while bits < width:
            if at < len(packed):
                waiting |= np.uint64(packed[at]) << np.uint64(bits)
            bits += 8
            at += 1
        out[k] = np.int32(waiting & mask)
        waiting >>= np.uint64(width)
        bits -= width


def _all_used(codes: Array, values: int) -> bool:
    if len(codes) and (codes.min() < 0 or codes.max() > values):
        return False
    return bool((np.bincount(codes, minlength=values + 1)[:values] > 0).all())


@njit(cache=True, plain=_all_used, same=True)
def all_used(codes: Array, values: int) -> bool:
    """Return whether every code is a place among the values or the one after them, and every place occurs."""
    seen = np.zeros(values + 1, np.bool_)
    for code in codes:
        if code < 0 or code > values:
            return False
        seen[code] = True
    missing = 0
    for code in range(values):
        missing += not seen[code]
    return missing == 0


def _write_texts(offsets: Array, letters: Array, out: Array) -> bool:
    ends = offsets.tolist()
    if any(a < 0 or b < a or b > len(letters) for a, b in pairwise(ends)):
        return False
    whole = letters.tobytes()
    texts = [whole[a:b] for a, b in pairwise(ends)]
    if any(a >= b for a, b in pairwise(texts)):
        return False
    written = b"".join(len(text).to_bytes(4, "little") + text for text in texts)
    if len(written) != len(out):
        return False
    out[:] = np.frombuffer(written, np.uint8)
    return True


@njit(cache=True, plain=_write_texts, same=True)
def write_texts(offsets: Array, letters: Array, out: Array) -> bool:
    """Write each text after its length in four bytes; False if the texts are not strictly ascending by their bytes, or don't fit.

    Text k is letters[offsets[k]:offsets[k + 1]].
    """
    at, before, length_before = 0, 0, -1
    for k in range(len(offsets) - 1):
        first, length = int(offsets[k]), int(offsets[k + 1]) - int(offsets[k])
        if first < 0 or length < 0 or first + length > len(letters) or at + 4 + length > len(out):
            return False
        same = 0
        while same < length and same < length_before and letters[first + same] == letters[before + same]:
            same += 1
        if same == length and length_before >= 0:
            return False
        if same < length and same < length_before and letters[first + same] < letters[before + same]:
            return False
        for byte in range(4):
            out[at + byte] = np.uint8(length >> (8 * byte) & 255)
        at += 4
        for byte in range(length):
            out[at + byte] = letters[first + byte]
        at += length
        before, length_before = first, length
    return at == len(out)


def _read_texts(page: Array, offsets: Array, letters: Array) -> bool:
    whole, at, total = page.tobytes(), 0, 0
    for k in range(len(offsets) - 1):
        length = int.from_bytes(whole[at : at + 4], "little")
        if len(whole) - at < 4 or length > len(whole) - at - 4 or length > len(letters) - total:
            return False
        letters[total : total + length] = np.frombuffer(whole, np.uint8, count=length, offset=at + 4)
        at, total = at + 4 + length, total + length
        offsets[k + 1] = total
    return at == len(whole) and total == len(letters)


@njit(cache=True, plain=_read_texts, same=True)
def read_texts(page: Array, offsets: Array, letters: Array) -> bool:
    """Undo write_texts: fill offsets and letters; False if the page does not hold exactly so many texts of so many letters."""
    at, total = 0, 0
    for k in range(len(offsets) - 1):
        if len(page) - at < 4:
            return False
        length = int(page[at])
        for byte in range(1, 4):
            length |= int(page[at + byte]) << (8 * byte)
        at += 4
        if length > len(page) - at or length > len(letters) - total:
            return False
        for byte in range(length):
            letters[total + byte] = page[at + byte]
        at += length
        total += length
        offsets[k + 1] = total
    return at == len(page) and total == len(letters)
