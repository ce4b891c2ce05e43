"""Noise on counts that hides one person's value: two-sided geometric, drawn exactly.

P(k) = (1 − r)/(1 + r)·r^|k| for a rational r. A person who had another value would move two counts of her box by one each, so
that no outcome becomes more than r⁻² times as likely: r⁻² ≤ γ keeps anybody's odds within γ. Who is counted of up to k values
moves up to 2k counts: r^(−2k) ≤ γ. Several tables of the same people multiply what they tell. No float is compared with a chance.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import Infeasible
from sfumato.privacy.bounds import Bounds
from sfumato.randomize.coins import Choices
from sfumato.randomness import Randomness

BITS = 30
"""r is a multiple of 2⁻³⁰, rounded up."""

_STEPS = 64  # a geometric number is drawn by one word below this, and goes on from there: it has no memory


def largest_odds(bounds: Bounds) -> Fraction:
    """Return γ: how much odds may grow so that a belief of each share, of a value or of a set, stays within its bound.

    Of every table of noisy counts a value of the set is at most γ times as likely a cause as one outside of it, so γ bounds the
    odds of sets too. It follows from declared shares, so that refusing tells nothing about anybody.
    """
    shares = {event: Fraction(count, bounds.people) for event, count in zip(bounds.labels, bounds.counts, strict=True)}
    grown = {
        event: limit * (1 - shares[event]) / (shares[event] * (1 - limit))
        for event, limit in zip(bounds.labels, bounds.limits, strict=True)
        if limit < 1
    }
    gamma = min(grown.values())
    if _numerator(gamma) >= 1 << BITS:
        worst = sorted((value for value in grown if grown[value] == gamma), key=str)
        has = {event: shares[event] for event in worst}
        raise Infeasible(
            f"the bound of {worst[0]!r} equals its declared share, so that no belief may grow and nothing can be published",
            hint="a larger bound for it, or a smaller declared share",
            values=worst,
            has=has,
            needs=has,
            nearest={},
        )
    return gamma


def noise_ratio(gamma: Fraction, values: int = 1) -> Fraction:
    """Return r: the smallest multiple of 2⁻³⁰ with r^(−2·values) ≤ γ, where a person is counted of so many values at most.

    Those of several columns are added up: somebody may know how columns go together, so that what they tell multiplies.
    """
    if values == 1:
        return Fraction(_numerator(gamma), 1 << BITS)
    low, high = 0, 1 << BITS
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(middle, 1 << BITS) ** (2 * values) * gamma >= 1:
            high = middle
        else:
            low = middle
    return Fraction(high, 1 << BITS)


_FINE = 10**12


def split_odds(gamma: Fraction, share: Fraction) -> Fraction:
    """Return the part of γ that a share of ε is: the largest multiple of 10⁻¹² up to γ^share, and no less than 1.

    x ≤ γ^(p/q) is x^q ≤ γ^p, in whole numbers.
    """
    most = gamma**share.numerator
    low, high = _FINE, gamma.numerator * _FINE // gamma.denominator + 1
    while high - low > 1:
        middle = (low + high) // 2
        if middle**share.denominator * most.denominator <= most.numerator * _FINE**share.denominator:
            low = middle
        else:
            high = middle
    return Fraction(low, _FINE)


def _numerator(gamma: Fraction) -> int:
    least = -(-(gamma.denominator << 2 * BITS) // gamma.numerator)
    return isqrt(least - 1) + 1


def two_sided(ratio: Fraction, count: int, random: Randomness) -> Integers:
    """Return `count` independent draws: the difference of two geometric numbers."""
    both = _geometric(ratio, 2 * count, random)
    return both[:count] - both[count:]


def _geometric(ratio: Fraction, count: int, random: Randomness) -> Integers:
    """Return `count` independent numbers, each k with probability (1 − r)·r^k."""
    power = [ratio**k for k in range(_STEPS + 1)]
    coins = Choices([[*(power[k] - power[k + 1] for k in range(_STEPS)), power[_STEPS]]])
    drawn = np.zeros(count, np.int64)
    open_ = np.arange(count)
    while len(open_):
        more = coins.draw(np.zeros(len(open_), np.int64), random)
        drawn[open_] += more
        open_ = open_[more == _STEPS]
    return drawn
