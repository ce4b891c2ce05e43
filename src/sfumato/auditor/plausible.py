"""Could published counts come from the declared matrices? A test whose false alarms are bounded for any table.

A count of published values is a sum of independent coins, one a person. A sum of n coins with mean n·μ reaches n·k, k > μ, with a
probability of at most exp(−n·KL(k‖μ)), and likewise below: Hoeffding's bound, no approximation. FALSE_ALARM is divided among
all counts that a release has, so that an honest release is accused at most that often.
"""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Array, Flags, Floats

FALSE_ALARM = 1e-6


def surprising(count: Array, people: Array, low: Floats, high: Floats, *, tests: int) -> Flags:
    """Return which counts out of `people` fit no chance between `low` and `high`, when this many tests share the false alarms."""
    n = np.maximum(np.asarray(people, np.float64), 1.0)
    k = np.asarray(count, np.float64) / n
    nearest = np.clip(k, low, high)
    implausible: Flags = n * _divergence(k, nearest) > math.log(2 * max(1, tests) / FALSE_ALARM)
    return implausible


def _divergence(k: Floats, mean: Floats) -> Floats:
    """Return KL(k‖mean) of two coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(k > 0, k * np.log(k / mean), 0.0)
        outside = np.where(k < 1, (1 - k) * np.log((1 - k) / (1 - mean)), 0.0)
    divergence: Floats = inside + outside
    return divergence
