"""Has noise the law that a release states? A test whose false alarms are bounded for any table.

Where counts of boxes were added up, which ones follows from the noise; then only sums over all boxes have a known law, that of so
many draws. Either way the numbers are independent and alike. Of their sizes and of their signs, both cut off at four
standard deviations, the sums are compared with what Chernoff's bound allows, and the largest number with its own chance. The five
tests share FALSE_ALARM.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.auditor.plausible import FALSE_ALARM

_TESTS = 5
_CUT = 4.0
_FINE = 1 << 8
"""Noise of a larger spread is looked at in steps."""
_STEEP: Floats = np.logspace(-5, 1.5, 261)


def unlike_noise(noise: Integers, ratio: Fraction, draws: int) -> bool:
    """Return whether these numbers hardly are independent sums of so many two-sided geometric draws of this ratio.

    Very large noise is looked at in steps, whose number has nearly such a law, of the same spread: a stranger's manifest may
    state any ratio below 1 and show any count, and the whole law of it must fit in memory.
    """
    law = float(ratio)
    step = max(1, int(_spread(law, draws) / _FINE))
    if step > 1:
        noise, law = np.rint(noise / step).astype(np.int64), _ratio_of(law / ((1 - law) * step) ** 2)
    spread, reach = _spread(law, draws), int(np.abs(noise).max(initial=0))
    if reach > _reached(spread, draws):
        return True
    number, chance = law_of_noise(law, draws, reach)
    allowed = math.log(FALSE_ALARM / _TESTS)
    beyond = float(chance[np.abs(number) >= reach].sum())
    if len(noise) * beyond < FALSE_ALARM / _TESTS:
        return True
    for expected, seen in (
        (np.minimum(np.abs(number) / spread, _CUT) ** 2, np.minimum(np.abs(noise) / spread, _CUT) ** 2),
        (np.clip(number / spread, -_CUT, _CUT), np.clip(noise / spread, -_CUT, _CUT)),
    ):
        for side in (1.0, -1.0):
            if _log_chance(side * expected, chance, float(side * seen.sum()), len(noise)) < allowed:
                return True
    return False


def _spread(ratio: float, draws: int) -> float:
    """Return the standard deviation of a sum of so many draws."""
    return math.sqrt(draws * 2 * ratio) / (1 - ratio)


def _ratio_of(half: float) -> float:
    """Return the ratio of which a draw has twice this variance: r / (1 − r)² = half."""
    return (2 * half + 1 - math.sqrt(4 * half + 1)) / (2 * half)


def _reached(spread: float, draws: int) -> int:
    """Return a number that hardly any sum reaches: the chance of a larger one is below e⁻⁵⁶."""
    return int(40 * spread + 60 * spread / math.sqrt(draws)) + 64


def _log_chance(law: Floats, chance: Floats, total: float, count: int) -> float:
    """Return a bound on the logarithm of the chance that so many numbers of a law reach this total."""
    top = float(law.max())
    grown = np.log((chance * np.exp(np.outer(_STEEP, law - top))).sum(axis=1)) + _STEEP * top
    return float(min(0.0, (count * grown - _STEEP * total).min()))


def law_of_noise(ratio: float, draws: int, reach: int) -> tuple[Floats, Floats]:
    """Return whole numbers around 0 and the chance of each under a sum of draws, from its characteristic function."""
    room = 2 * (reach + 1) + _reached(_spread(ratio, draws), draws)
    size = 1 << room.bit_length()
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    wave = ((1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(angle) + ratio**2)) ** draws
    chance = np.maximum(np.fft.irfft(wave, size), 0.0)
    number = np.arange(size, dtype=np.float64)
    number[size // 2 :] -= size
    return number, chance / chance.sum()
