"""What a draw may spend, exactly: e^ε below γ, the noise of so many tables, and a choice by the exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.errors import PolicyError
from sfumato.privacy.differential import power_below, within_power
from sfumato.randomize.coins import Choices
from sfumato.randomize.noise import noise_ratio
from sfumato.randomness import Randomness

GRID = 10**12
STATED = 10**9

_ONE = np.zeros(1, np.int64)


@dataclass(frozen=True)
class Spending:
    """How much odds may grow: γ, and a rational ε with e^ε ≤ γ that the steps of a draw share."""

    gamma: Fraction

    @property
    def epsilon(self) -> Fraction:
        """The largest multiple of 10⁻¹² whose power e^ε is at most γ."""
        found = Fraction(math.floor(Fraction(math.log(self.gamma)) * GRID) + 2, GRID)
        while found > 0 and within_power(self.gamma, found):  # e^ε is irrational, so it never equals γ
            found -= Fraction(1, GRID)
        return found

    @property
    def stated(self) -> Fraction:
        """The smallest multiple of 10⁻⁹ with γ ≤ e^ε: the ε that a release states."""
        found = max(Fraction(math.floor(Fraction(math.log(self.gamma)) * STATED) - 1, STATED), Fraction(0))
        while not within_power(self.gamma, found):
            found += Fraction(1, STATED)
        return found


def table_ratio(epsilon: Fraction, tables: int) -> Fraction:
    """Return the ratio r of the noise with which so many tables together spend at most ε.

    Another record in the place of one moves two cells of each table by one: r^(−2·tables) ≤ e^ε.
    """
    ratio = noise_ratio(power_below(epsilon / tables))
    if ratio >= 1:
        raise PolicyError(f"epsilon: too little for {tables} tables, whose noise would have no end", hint="a larger epsilon")
    return ratio


def choose(scores: Sequence[int], sensitivity: int, epsilon: Fraction, random: Randomness) -> int:
    """Return a place, drawn with chances in proportion to exp(ε·score/(2·sensitivity)), exactly.

    A place is drawn evenly and kept with the chance exp(ε·(score − best)/(2·sensitivity)), until one is kept.
    """
    best = max(scores)
    while True:
        place = int(random.below(len(scores), 1)[0])
        if falls_with_exp(epsilon * (best - scores[place]) / (2 * sensitivity), random):
            return place


def falls_with_exp(x: Fraction, random: Randomness) -> bool:
    """Return true with the chance e^(−x), exactly, for a rational x from 0 on (Canonne, Kamath, Steinke, 2020)."""
    while x > 1:
        if not _unit(Fraction(1), random):
            return False
        x -= 1
    return _unit(x, random)


def _unit(x: Fraction, random: Randomness) -> bool:
    """Return true with the chance e^(−x) for x up to 1: in a row of coins of chance x/1, x/2, …, the first miss is an odd one."""
    k = 1
    while _coin(x / k, random):
        k += 1
    return k % 2 == 1


def _coin(chance: Fraction, random: Randomness) -> bool:
    if chance == 1:
        return True
    return bool(Choices([[chance, 1 - chance]]).draw(_ONE, random)[0] == 0)
