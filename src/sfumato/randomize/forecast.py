"""How closely analysts can count under a plan, computed before anything is drawn: for the publisher, who knows the shares."""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Floats
from sfumato.randomize.plan import Part, RandomizationPlan


def retention_per_part(plan: RandomizationPlan) -> list[dict[str, float]]:
    """Return for each part its share of the records, number of values, and least, mean and largest retention."""
    return [
        {
            "weight": float(part.weight),
            "values": len(part.values),
            "least": float(min(part.retention)),
            "mean": float(part.expected_retention),
            "largest": float(max(part.retention)),
        }
        for part in plan.parts
    ]


def expected_relative_error(plan: RandomizationPlan, size: float) -> float:
    """Return the mean |estimate − truth| / truth of a count that `size` people satisfy, by reconstruction in each part.

    The count asks for one sensitive value, drawn as often as people have it, and for a quasi condition unrelated to the value, so
    that size/f(x) people satisfy the condition. The error is that of the coins: normal, with the standard error of the
    reconstruction.
    """
    if not size > 0:
        raise ValueError(f"a count has a size above 0, got {size}")
    domain = 1 + max(max(part.values) for part in plan.parts)
    share = np.zeros(domain)
    variance = np.zeros(domain)  # of the estimate of a value, for one person who satisfies the quasi condition
    for part in plan.parts:
        codes = np.array(part.values)
        own = np.array([float(value) for value in part.shares])
        share[codes] += float(part.weight) * own
        variance[codes] += float(part.weight) * _variances(part, own)
    present = share > 0
    error = np.sqrt(variance[present] * (size / share[present])) / size
    return float(math.sqrt(2 / math.pi) * (share[present] @ error) / share[present].sum())


def _variances(part: Part, share: Floats) -> Floats:
    """Return the variance that the coins give to the reconstructed count of each value, per record of the part.

    The reconstruction of x is Σ_y a_y·o_y, a_y = ([x=y] − w_y)/p_x with w_y proportional to 1/p_y; a record with value z adds
    [x=z] − W/p_x to it on average, W = 1/Σ(1/p).
    """
    kept = np.array([float(p) for p in part.retention])
    inverse = 1 / kept
    whole = 1 / inverse.sum()
    weight = inverse * whole
    published = share * kept + (share * (1 - kept)).sum() / len(kept)
    spread = weight**2 * published
    second = (published * (1 - weight) ** 2 + spread.sum() - spread) / kept**2
    first = share * (1 - whole * inverse) ** 2 + (1 - share) * (whole * inverse) ** 2
    result: Floats = np.maximum(second - first, 0.0)
    return result
