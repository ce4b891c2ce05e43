"""Compiled loops that find the groups covering a combination of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit


class Holders(NamedTuple):
    """Which groups have a value: bit g of its row of `bits`, or for a value that few have the ascending groups of its list.

    List r is `groups[start[r]:start[r + 1]]`.
    """

    bits: Any
    start: Any
    groups: Any


@njit(cache=True)
def set_bits(bits: Any, row: Any, group: Any) -> None:
    """Set bit `group[e]` of the row `row[e]`, for every entry e."""
    for e in range(len(row)):
        bits[row[e], group[e] >> 6] |= np.uint64(1) << np.uint64(group[e] & 63)


@njit(cache=True)
def lowest_bit(x: Any) -> Any:
    """Return the place of the lowest bit that is set in a 64-bit word."""
    x = (x & (~x + np.uint64(1))) - np.uint64(1)
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def entry_of(codes: Any, low: int, high: int, code: int) -> int:
    """Return the place of a code among the ascending `codes[low:high]`, −1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < end and codes[low] == code else -1


@njit(cache=True)
def _from_bits(dense: Any, bits: Any, out: Any, used: int) -> int:
    """Write the groups that all these rows of bits have in common to `out[used:]`, and return how many."""
    many = 0
    for w in range(bits.shape[1]):
        common = bits[dense[0], w]
        for j in range(1, len(dense)):
            if common == 0:
                break
            common &= bits[dense[j], w]
        while common != 0:
            out[used + many] = 64 * w + lowest_bit(common)
            many += 1
            common &= common - np.uint64(1)
    return many


@njit(cache=True)
def _from_lists(dense: Any, sparse: Any, holders: Holders, out: Any, used: int) -> int:
    """Write the groups of the shortest list that all other lists and rows of bits have too, and return how many."""
    bits, start, groups = holders
    best = 0
    for j in range(1, len(sparse)):
        if start[sparse[j] + 1] - start[sparse[j]] < start[sparse[best] + 1] - start[sparse[best]]:
            best = j
    many = 0
    for place in range(start[sparse[best]], start[sparse[best] + 1]):
        group = groups[place]
        fits = True
        for row in dense:
            if (bits[row, group >> 6] >> np.uint64(group & 63)) & np.uint64(1) == 0:
                fits = False
                break
        for j in range(len(sparse)):
            if fits and j != best:
                fits = entry_of(groups, start[sparse[j]], start[sparse[j] + 1], group) >= 0
        if fits:
            out[used + many] = group
            many += 1
    return many


@njit(cache=True)
def covering_groups(dense: Any, sparse: Any, holders: Holders, begin: int, most: int, buffer: Any, many: Any) -> int:
    """Write the groups that cover each person from `begin` on, until `buffer` could overflow; return the first person left out.

    `dense[p]` are person p's rows of bits, `sparse[p]` her lists of groups; a value that no group has is −1. No person has more
    than `most` groups.
    """
    used = 0
    for p in range(begin, len(many)):
        if used + most > len(buffer):
            return p
        many[p] = 0
        if (dense[p] < 0).any() or (sparse[p] < 0).any():
            continue
        if sparse.shape[1]:
            many[p] = _from_lists(dense[p], sparse[p], holders, buffer, used)
        else:
            many[p] = _from_bits(dense[p], holders.bits, buffer, used)
        used += many[p]
    return len(many)
