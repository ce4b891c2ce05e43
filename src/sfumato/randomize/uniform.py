"""Uniform perturbation: one retention probability for every value, as large as the bounds allow ([SDR §3.1–3.2])."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def largest_gamma(counts: Sequence[int], limits: Sequence[Fraction], cap: Fraction | None = None) -> Fraction:
    """Return the largest γ, at most `cap`, with belief γf/(1+(γ−1)f) ≤ bound for every value; some value must be bounded.

    f is the share of a value among these counts. For equal bounds ρ2 this is equation 10, (ρ2/ρ1)(1−ρ1)/(1−ρ2) with ρ1 the
    largest share actually present. At most 1 means that no retention above 0 keeps the bounds.
    """
    total = sum(counts)
    most: dict[Fraction, int] = {}
    for count, limit in zip(counts, limits, strict=True):
        if limit < 1 and count > most.get(limit, 0):
            most[limit] = count
    gammas = [limit / (1 - limit) * Fraction(total - count, count) for limit, count in most.items()]
    if cap is not None:
        gammas.append(cap)
    return min(gammas)


def retention(gamma: Fraction, size: int) -> Fraction:
    """Return p = (γ−1)/(m−1+γ) for a domain of m = `size` values (equation 4)."""
    return (gamma - 1) / (size - 1 + gamma)


def confidence_factor(delta: Fraction) -> float:
    """Return a = 2·√ln(2/δ), the factor of every error bound."""
    return 2 * math.sqrt(math.log(2 / delta))
