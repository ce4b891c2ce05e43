"""The only place randomness comes from.

`SecureRandomness` (the default) reads the operating system's generator. `SeededRandomness` is for experiments: a release made
with it says so, because whoever learns the seed can undo it. Both draw *exactly* uniform integers and permutations: no float is
compared with a probability anywhere, so no bias of rounding enters a proof.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sfumato.errors import PolicyError

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

_WORD = 1 << 64
_PACKED = 20  # up to 2^20 positions leave keys of 44 bits or more, which are rarely equal


class Randomness(ABC):
    """A stream of independent uniform 64-bit words, and what is drawn from it."""

    reproducible: bool

    @abstractmethod
    def words(self, count: int) -> Words:
        """Return `count` independent uniform 64-bit words."""

    @abstractmethod
    def spawn(self, key: int) -> Randomness:
        """Return a stream of its own for task number `key`, so that the number of workers changes nothing."""

    def below(self, limit: int, count: int) -> Integers:
        """Return `count` independent integers, each exactly uniform on 0 … limit−1."""
        if not 0 < limit < 1 << 62:
            raise ValueError(f"limit must be between 1 and 2^62, got {limit}")
        usable = _WORD - _WORD % limit
        drawn: list[Words] = []
        missing = count
        while missing > 0:
            words = self.words(missing)
            if usable < _WORD:
                words = words[words < np.uint64(usable)]
            drawn.append(words % np.uint64(limit))
            missing -= len(words)
        joined = np.concatenate(drawn) if drawn else np.empty(0, np.uint64)
        return joined.astype(np.int64)

    def permutation(self, count: int) -> Integers:
        """Return a uniformly random order of 0 … count−1.

        Sorting independent keys gives every order the same chance, given that no two keys are equal; so equal keys mean a
        fresh draw, not a tie broken by position.
        """
        bits = max(count - 1, 1).bit_length()
        if count > 1 << _PACKED:
            return self._sorted_keys(count)
        # Key and position in one word: sorting words is several times faster than sorting positions by key.
        mask = np.uint64((1 << bits) - 1)
        while True:
            packed = self.words(count) & ~mask
            packed |= np.arange(count, dtype=np.uint64)
            packed.sort()
            if not ((packed[1:] ^ packed[:-1]) <= mask).any():
                packed &= mask
                return packed.view(np.int64)

    def _sorted_keys(self, count: int) -> Integers:
        while True:
            keys = self.words(count)
            order = np.argsort(keys)
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                return order.astype(np.int64, copy=False)

    def chance(self, probability: Fraction, count: int) -> npt.NDArray[np.bool_]:
        """Return `count` independent coins, each true with exactly this rational probability."""
        if not 0 <= probability <= 1:
            raise ValueError(f"a probability lies between 0 and 1, got {probability}")
        return self.below(probability.denominator, count) < probability.numerator


class SecureRandomness(Randomness):
    """The operating system's generator."""

    reproducible = False

    def words(self, count: int) -> Words:
        """Return `count` words read from the operating system."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def spawn(self, key: int) -> Randomness:
        """Return this stream itself: the operating system's words are independent whoever reads them."""
        return self


class SeededRandomness(Randomness):
    """A Philox stream that a seed determines: for experiments only."""

    reproducible = True

    def __init__(self, seed: int, *path: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise PolicyError(f"seed: expected a whole number from 0 on, got {seed!r}")
        self._seed, self._path = int(seed), path
        self._bits = np.random.Philox(np.random.SeedSequence(self._seed, spawn_key=path))

    def words(self, count: int) -> Words:
        """Return the next `count` words of the stream."""
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64)

    def spawn(self, key: int) -> Randomness:
        """Return the stream of task `key`, which does not depend on what was drawn so far."""
        return SeededRandomness(self._seed, *self._path, key)


def randomness(random: Randomness | int | None = None) -> Randomness:
    """Return a source: the secure one for None, a seeded one for an integer, a given one as it is."""
    if random is None:
        return SecureRandomness()
    if isinstance(random, Randomness):
        return random
    return SeededRandomness(random)
