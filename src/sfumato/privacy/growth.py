"""Beliefs that grow with the share of people who have a value: by a factor, by an offset, or by the odds."""

from __future__ import annotations

from fractions import Fraction

HALF, ONE = Fraction(1, 2), Fraction(1)


def grown(belief: Fraction, times: Fraction) -> Fraction:
    """Return the belief whose odds are `times` those of `belief`."""
    return times * belief / (1 + (times - 1) * belief)


def allowed(share: Fraction, theta: Fraction, offset: Fraction, odds: Fraction | None) -> Fraction:
    """Return min(1, theta·f + offset, max(1/2, f at `odds` times its odds)) for a share f; without `odds`, the first two.

    Odds bound what frequent things may become: theta·f alone leaves what every eighth person has without any bound at theta = 8.
    With theta and odds from 1 on no bound lies below its share.
    """
    linear = min(ONE, theta * share + offset)
    return linear if odds is None else min(linear, max(HALF, grown(share, odds)))
