"""The only place randomness comes from.

`SecureRandomness` (the default) draws its key from the operating system. `SeededRandomness` is for experiments: a release made
with it says so, because whoever learns the seed can undo it. Both draw *exactly* uniform integers and permutations: no float is
compared with a probability anywhere, so no bias of rounding enters a proof. Coins are keyed: a task (a step, a box) has a stream
of its own, so that it can be done elsewhere with the same draws.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from fractions import Fraction
from itertools import count as attempts
from typing import Any

import numpy as np

from sfumato.arrays import Array, Flags, Integers, Unsigned
from sfumato.errors import PolicyError

_WORD = 1 << 64
PLACES = 1 << 16
"""Places whose coins are one stream."""
_PACKED = 20  # up to 2^20 positions leave keys of 44 bits or more, which are rarely equal


class Randomness(ABC):
    """A stream of independent uniform 64-bit words, and what is drawn from it."""

    reproducible: bool

    @abstractmethod
    def words(self, count: int) -> Unsigned:
        """Return `count` independent uniform 64-bit words."""

    @abstractmethod
    def spawn(self, *path: int) -> Randomness:
        """Return a stream of its own for a task, by its number or path of numbers, so that who draws first changes nothing."""

    def below(self, limit: int, count: int) -> Integers:
        """Return `count` independent integers, each exactly uniform on 0 … limit−1."""
        if not 0 < limit < 1 << 62:
            raise ValueError(f"limit must be between 1 and 2^62, got {limit}")
        usable = _WORD - _WORD % limit
        drawn: list[Unsigned] = []
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

    def at_places(self, begin: int, end: int) -> Unsigned:
        """Return a word for each of these places: every block of places has a stream, so that anybody may draw them."""
        words = []
        for block in range(begin // PLACES, -(-end // PLACES)):
            last = min(end - block * PLACES, PLACES)
            words.append(self.spawn(block).words(last)[max(begin - block * PLACES, 0) :])
        return np.concatenate(words) if words else np.zeros(0, np.uint64)

    def ranked(self, codes: Array) -> Integers:
        """Return the rows by their codes, those of one code in a uniformly random order: that of coins of their places.

        Where two rows of one code drew equal coins, all draw again.
        """
        for attempt in attempts():
            coins = self.spawn(attempt).at_places(0, len(codes))
            order = np.lexsort((coins, codes))
            coins, sorted_ = coins[order], codes[order]
            if not ((coins[1:] == coins[:-1]) & (sorted_[1:] == sorted_[:-1])).any():
                return order.astype(np.int64, copy=False)
        raise AssertionError

    def chance(self, probability: Fraction, count: int) -> Flags:
        """Return `count` independent coins, each true with exactly this rational probability."""
        if not 0 <= probability <= 1:
            raise ValueError(f"a probability lies between 0 and 1, got {probability}")
        return self.below(probability.denominator, count) < probability.numerator


def _started(key: bytes, path: tuple[int, ...]) -> Any:
    return hashlib.shake_256(key + b"".join(step.to_bytes(8, "little") for step in (len(path), *path)))


class KeyedRandomness(Randomness):
    """Words that follow from a key, the path of a task and their place in it: SHAKE-256 of the three.

    Whoever has the key draws the same words for the same task, on any machine and in any order of tasks. Whoever has not cannot
    tell them from coins.
    """

    def __init__(self, key: bytes, *path: int) -> None:
        self._key, self._path = key, path
        self._state = _started(key, path)
        self._calls = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._state = _started(self._key, self._path)

    def words(self, count: int) -> Unsigned:
        """Return the first `count` words of the task's next draw: word i is the same whatever the count."""
        state = self._state.copy()
        state.update(self._calls.to_bytes(8, "little"))
        self._calls += 1
        return np.frombuffer(state.digest(8 * count), dtype="<u8").astype(np.uint64, copy=False)


class SecureRandomness(KeyedRandomness):
    """Coins under a key of 256 bits that the operating system drew and nobody keeps."""

    reproducible = False

    def __init__(self, key: bytes | None = None, *path: int) -> None:
        super().__init__(os.urandom(32) if key is None else key, *path)

    def spawn(self, *path: int) -> Randomness:
        """Return the stream of a task under the same key."""
        return SecureRandomness(self._key, *self._path, *path)


class SeededRandomness(KeyedRandomness):
    """Coins that a seed determines: for experiments only."""

    reproducible = True

    def __init__(self, seed: int, *path: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise PolicyError(f"seed: expected a whole number from 0 on, got {seed!r}")
        self._seed = int(seed)
        super().__init__(hashlib.sha256(f"sfumato seed {self._seed}".encode()).digest(), *path)

    def spawn(self, *path: int) -> Randomness:
        """Return the stream of a task, which does not depend on what was drawn so far."""
        return SeededRandomness(self._seed, *self._path, *path)


def coins_of(seed: int | None, random: Any) -> Any:
    """Return which coins a verb was given: `seed` is an integer for experiments, `random` that, a source, or what it takes."""
    if seed is not None and random is not None:
        raise PolicyError("seed and random cannot be given together: each determines the coins", hint="give one of the two")
    return random if seed is None else SeededRandomness(seed)


def randomness(random: Randomness | int | None = None) -> Randomness:
    """Return a source: the secure one for None, a seeded one for an integer, a given one as it is."""
    if random is None:
        return SecureRandomness()
    if isinstance(random, Randomness):
        return random
    return SeededRandomness(random)
