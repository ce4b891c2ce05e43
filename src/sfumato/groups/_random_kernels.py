"""The random stream of kernels: SplitMix64, one word of state that `sfumato.randomness` has drawn.

A stream is an array of one uint64. It decides which of many equally good orders and groups is found, never what a bound allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


@njit(cache=True, forceinline=True)
def random_word(word: Any) -> Any:
    """Return 64 random bits and step the stream."""
    word[0] += np.uint64(0x9E3779B97F4A7C15)
    z = word[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, forceinline=True)
def high_below(bits: Any, limit: Any) -> Any:
    """Return a number from 0 to limit − 1 from the upper half of 64 random bits."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, forceinline=True)
def low_below(bits: Any, limit: Any) -> Any:
    """Return a number from 0 to limit − 1 from the lower half of 64 random bits."""
    return np.int64(((bits & np.uint64(0xFFFFFFFF)) * np.uint64(limit)) >> np.uint64(32))


@njit(cache=True, forceinline=True)
def random_below(word: Any, limit: Any) -> Any:
    """Return a number from 0 to limit − 1 and step the stream."""
    return high_below(random_word(word), limit)


@njit(cache=True, forceinline=True)
def random_fraction(word: Any) -> Any:
    """Return a number from 0 to below 1 and step the stream."""
    return np.float64(random_word(word) >> np.uint64(11)) / 9007199254740992.0
