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
_STEEP: Floats = np.logspace(-5, 1.5, 261)


def unlike_noise(noise: Integers, ratio: Fraction, draws: int) -> bool:
    """Return whether these numbers hardly are independent sums of so many two-sided geometric draws of this ratio."""
    number, chance = law_of_noise(float(ratio), draws, int(np.abs(noise).max(initial=0)))
    allowed = math.log(FALSE_ALARM / _TESTS)
    spread = math.sqrt(draws * 2 * float(ratio)) / (1 - float(ratio))
    beyond = float(chance[np.abs(number) >= np.abs(noise).max(initial=0)].sum())
    if len(noise) * beyond < FALSE_ALARM / _TESTS:
        return True
    for law, seen in (
        (np.minimum(np.abs(number) / spread, _CUT) ** 2, np.minimum(np.abs(noise) / spread, _CUT) ** 2),
        (np.clip(number / spread, -_CUT, _CUT), np.clip(noise / spread, -_CUT, _CUT)),
    ):
        for side in (1.0, -1.0):
            if _log_chance(side * law, chance, float(side * seen.sum()), len(noise)) < allowed:
                return True
    return False


def _log_chance(law: Floats, chance: Floats, total: float, count: int) -> float:
    """Return a bound on the logarithm of the chance that so many numbers of a law reach this total."""
    top = float(law.max())
    grown = np.log((chance * np.exp(np.outer(_STEEP, law - top))).sum(axis=1)) + _STEEP * top
    return float(min(0.0, (count * grown - _STEEP * total).min()))


def law_of_noise(ratio: float, draws: int, reach: int) -> tuple[Floats, Floats]:
    """Return whole numbers around 0 and the chance of each under a sum of draws, from its characteristic function."""
    spread = math.sqrt(draws * 2 * ratio) / (1 - ratio)
    room = 2 * (reach + 1) + int(40 * spread + 60 * spread / math.sqrt(draws)) + 64
    size = 1 << room.bit_length()
    angle = 2 * np.pi * np.arange(size // 2 + 1) / size
    wave = ((1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(angle) + ratio**2)) ** draws
    chance = np.maximum(np.fft.irfft(wave, size), 0.0)
    number = np.arange(size, dtype=np.float64)
    number[size // 2 :] -= size
    return number, chance / chance.sum()
