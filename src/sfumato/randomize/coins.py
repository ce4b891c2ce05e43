"""Exact draws for every record at once: rational chances of its own for each, no float compared with a probability.

A uniform number U in [0, 1) is read off 64 binary digits at a time. U < c is certain from the first word unless that word equals
the first 64 digits of c, which happens once in 2⁶⁴ draws; then more digits are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.randomize._kernels import first_above
from sfumato.randomness import Randomness

_WORD = 1 << 64


class Choices:
    """Rows of chances: row r draws outcome k with probability `chances[r][k]`; the last outcome takes what is left of 1."""

    def __init__(self, chances: Sequence[Sequence[Fraction]]) -> None:
        self._steps = [_steps(row) for row in chances]
        lengths = [len(steps) for steps in self._steps]
        self._start = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))
        limits = [step.numerator * _WORD // step.denominator for steps in self._steps for step in steps]
        self._limits = np.array(limits, dtype=np.uint64)

    def draw(self, row: Array, random: Randomness) -> Integers:
        """Return one outcome for each entry, drawn with the chances of its row, independently."""
        words = random.words(len(row))
        outcome = first_above(words, row.astype(np.int64), self._start, self._limits)
        for place in np.flatnonzero(outcome < 0):
            outcome[place] = _resolved(int(words[place]), self._steps[int(row[place])], random)
        return outcome


def _steps(chances: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the running sums of all chances but the last."""
    steps: list[Fraction] = []
    for chance in chances[:-1]:
        steps.append(chance + (steps[-1] if steps else 0))
    if any(chance < 0 for chance in chances) or (steps and steps[-1] >= 1):
        raise ValueError("chances must not be negative, and all but the last must add up to less than 1")
    return tuple(steps)


def _resolved(word: int, steps: Sequence[Fraction], random: Randomness) -> int:
    """Return the outcome whose interval holds U, reading digits of U until it is clear."""
    digits, scale = word, _WORD
    while True:
        least, below = Fraction(digits, scale), Fraction(digits + 1, scale)
        if not any(least < step < below for step in steps):
            return sum(step <= least for step in steps)
        digits, scale = digits * _WORD + int(random.words(1)[0]), scale * _WORD


def below_each(limits: Array, random: Randomness) -> Integers:
    """Return for every limit an integer exactly uniform on 0 … limit−1, all independent."""
    limits = limits.astype(np.uint64)
    # 2⁶⁴ mod limit words at the top would favour small results: they are drawn again.
    spare = (np.uint64(_WORD - 1) % limits + np.uint64(1)) % limits
    last = np.uint64(_WORD - 1) - spare
    result = np.empty(len(limits), np.int64)
    open_ = np.arange(len(limits))
    while len(open_):
        words = random.words(len(open_))
        fine = words <= last[open_]
        result[open_[fine]] = (words[fine] % limits[open_[fine]]).astype(np.int64)
        open_ = open_[~fine]
    return result
