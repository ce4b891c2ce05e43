"""What tells the same people in two tables, for a register with a key of its own: sorted hashes that only the key explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Unsigned
from sfumato.table.fingerprint import Fingerprint

KEY = 16
"""Bytes of a key."""

_AT_ONCE = 1 << 15
"""So many hashes are keyed at once: what the rounds work on then stays in the processor's cache."""

_STARTS = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_LENGTH = np.uint64(8 << 56)


@dataclass(frozen=True, eq=False)
class Marks:
    """A fingerprint of who is in a table, the columns that tell people apart, and hashes without a key, some rows at a time.

    Of each row: of whom it is about, None where no column tells; and of its quasi values. Where rows are not people, somebody
    with several rows is in a draw several times.
    """

    fingerprint: Fingerprint
    identified_by: tuple[str, ...]
    one_row_per_person: bool
    rows: Iterable[tuple[Unsigned | None, Unsigned]]

    def people(self) -> Iterator[Unsigned]:
        """Give the hashes of whom rows are about, in one order; none where no column tells."""
        return (who for who, _ in self.rows if who is not None)

    def quasi(self) -> Iterator[Unsigned]:
        """Give the hashes of quasi values, in the same order."""
        return (row for _, row in self.rows)


def keyed(words: Unsigned, key: bytes) -> Unsigned:
    """Return SipHash-2-4 (Aumasson, Bernstein, 2012) of each word, taken as eight bytes, under a key of sixteen.

    Without the key nobody tells which word a hash is of, nor whether two hashes under different keys are of one.
    """
    hashes = np.empty(len(words), np.uint64)
    for begin in range(0, len(words), _AT_ONCE):
        hashes[begin : begin + _AT_ONCE] = _keyed(words[begin : begin + _AT_ONCE], key)
    return hashes


def _keyed(words: Unsigned, key: bytes) -> Unsigned:
    halves = [np.uint64(int.from_bytes(key[begin : begin + 8], "little")) for begin in (0, 8)]
    v0, v1, v2, v3 = (np.full(len(words), np.uint64(start) ^ halves[k % 2]) for k, start in enumerate(_STARTS))
    for word in (words, np.full(len(words), _LENGTH)):
        v3 ^= word
        _rounds(2, v0, v1, v2, v3)
        v0 ^= word
    v2 ^= np.uint64(0xFF)
    _rounds(4, v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


def _rounds(number: int, v0: Unsigned, v1: Unsigned, v2: Unsigned, v3: Unsigned) -> None:
    for _ in range(number):
        _half(v0, v1, 13)
        _turn(v0, 32)
        _half(v2, v3, 16)
        _half(v0, v3, 21)
        _half(v2, v1, 17)
        _turn(v2, 32)


def _half(left: Unsigned, other: Unsigned, bits: int) -> None:
    left += other
    _turn(other, bits)
    other ^= left


def _turn(word: Unsigned, bits: int) -> None:
    low = word >> np.uint64(64 - bits)
    word <<= np.uint64(bits)
    word |= low
