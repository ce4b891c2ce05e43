"""Compiled loops of count queries on ranges: shares of groups inside a condition, and how people lie in ranges and sets."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit


class UnitSums(NamedTuple):
    """`inside[c]` is the share of unit c that is inside, its last entry that of missing values.

    `before[c]` adds up weight · share, `some` and `whole` the units that are inside in part and entirely, all over the units
    below c.
    """

    inside: Any
    before: Any
    some: Any
    whole: Any


@njit(cache=True, nogil=True)
def range_share(ends: Any, shares: Any, sums: UnitSums, reach: Any) -> None:
    """Narrow the reach of a condition to the people of each group whose value in one column is inside."""
    low, high, missing = ends
    _, inner, at_low, at_high, at_missing = shares
    inside, before, some, whole = sums
    share, may, must = reach
    absent = len(inside) - 1
    for g in range(len(low)):
        if low[g] < 0:
            mass = at_missing[g] * inside[absent]
            any_, all_ = inside[absent] > 0, inside[absent] == 1
        else:
            mass = at_low[g] * inside[low[g]] + at_missing[g] * inside[absent]
            if high[g] > low[g]:
                mass += inner[g] * (before[high[g]] - before[low[g] + 1]) + at_high[g] * inside[high[g]]
            any_ = some[high[g] + 1] > some[low[g]]
            all_ = whole[high[g] + 1] - whole[low[g]] == high[g] + 1 - low[g]
            if missing[g]:
                any_ = any_ or inside[absent] > 0
                all_ = all_ and inside[absent] == 1
        share[g] *= min(1.0, max(0.0, mass))
        may[g] = may[g] and any_
        must[g] = must[g] and all_


@njit(cache=True, nogil=True)
def set_share(start: Any, codes: Any, part: Any, accepted: Any, share: Any, may: Any, must: Any) -> None:
    """Narrow to the people of each group whose category is accepted; `part` is the share of each entry of a set."""
    for g in range(len(start) - 1):
        mass, inside = 0.0, 0
        for e in range(start[g], start[g + 1]):
            if accepted[codes[e]]:
                mass += part[e]
                inside += 1
        share[g] *= min(1.0, mass)
        may[g] = may[g] and inside > 0
        must[g] = must[g] and inside == start[g + 1] - start[g]


@njit(cache=True, nogil=True)
def weigh_groups(
    share: Any, may: Any, must: Any, wanted: Any, start: Any, value: Any, times: Any
) -> tuple[float, float, int, int]:
    """Return the estimate Σ share · wanted people, its binomial variance, and the least and most that is certain."""
    total, variance = 0.0, 0.0
    least, most = 0, 0
    for g in range(len(share)):
        if may[g]:
            people = 0
            for e in range(start[g], start[g + 1]):
                if wanted[value[e]]:
                    people += times[e]
            most += people
            if must[g]:
                least += people
                total += people
            else:
                total += share[g] * people
                variance += share[g] * (1.0 - share[g]) * people
    return total, variance, least, most


@njit(cache=True, nogil=True)
def at_least_once(rate: float) -> float:
    """Return the mean of a Poisson number with this rate, given that it is not 0."""
    if rate < 1e-6:
        return 1.0 + rate / 2
    return -rate / math.expm1(-rate)


@njit(cache=True, nogil=True)
def solve_rate(size: float, inner: float, seen: Any, many: int) -> float:
    """Return the rate t for which t·inner + Σ E[Poisson(t·seen) | not 0] is the size of the group; 0 where all are spoken for.

    The sum is convex and grows with t, so that Newton's method comes down from above and cannot overshoot.
    """
    if size <= many:
        return 0.0
    weight = inner
    for k in range(many):
        weight += seen[k]
    if weight <= 0.0:
        return 0.0
    t = size / weight
    for _ in range(30):
        total, slope = t * inner, inner
        for k in range(many):
            rate = t * seen[k]
            mean = at_least_once(rate)
            total += mean
            slope += seen[k] * (0.5 if rate < 1e-6 else mean / rate * (1.0 + rate - mean))
        if slope <= 0.0 or total - size < 1e-9 * size:
            break
        t = max(0.0, t - (total - size) / slope)
    return t


@njit(cache=True, nogil=True)
def spread_ranges(behind: Any, ends: Any, weight: Any, shares: Any, expected: Any) -> None:
    """Spread the people behind every box over its units in proportion to `weight`, at least one person at each end.

    Filled in: in `shares` per group the share of people per unit of weight between the ends, at both ends and without a value; in
    `expected` the people per unit.
    """
    absent = len(weight) - 1
    expected[:] = 0.0
    seen = np.empty(3)
    steps = np.zeros(len(weight))
    before = weight.copy()
    total = 0.0
    for c in range(absent):
        before[c] = total
        total += weight[c]
    before[absent] = total
    for g in range(len(behind)):
        size = float(behind[g])
        low, high = ends.low[g], ends.high[g]
        shares.inner[g], shares.at_low[g], shares.at_high[g], shares.at_missing[g] = 0.0, 0.0, 0.0, 0.0
        if low < 0:
            shares.at_missing[g] = 1.0
            expected[absent] += size
            continue
        many, between = 1, 0.0
        seen[0] = weight[low]
        if high > low:
            seen[1] = weight[high]
            many = 2
            between = max(0.0, before[high] - before[low + 1])
        if ends.missing[g]:
            seen[many] = weight[absent]
            many += 1
        t = solve_rate(size, between, seen, many)
        total = t * between
        for k in range(many):
            seen[k] = at_least_once(t * seen[k])
            total += seen[k]
        scale = 1.0 / total
        shares.inner[g] = t * scale
        shares.at_low[g] = seen[0] * scale
        if high > low:
            shares.at_high[g] = seen[1] * scale
            expected[high] += size * shares.at_high[g]
            steps[low + 1] += size * shares.inner[g]
            steps[high] -= size * shares.inner[g]
        expected[low] += size * shares.at_low[g]
        if ends.missing[g]:
            shares.at_missing[g] = seen[many - 1] * scale
            expected[absent] += size * shares.at_missing[g]
    rate = 0.0
    for c in range(absent):
        rate += steps[c]
        expected[c] += max(0.0, rate) * weight[c]


@njit(cache=True, nogil=True)
def spread_sets(behind: Any, start: Any, codes: Any, weight: Any, seen: Any, part: Any, expected: Any) -> None:
    """Spread the people behind every box over its set in proportion to `weight`, at least one person for each value.

    Filled in: the share of each entry of a set, and in `expected` the people per code. `seen` is working room for one set.
    """
    expected[:] = 0.0
    for g in range(len(behind)):
        many = start[g + 1] - start[g]
        for k in range(many):
            seen[k] = weight[codes[start[g] + k]]
        t = solve_rate(float(behind[g]), 0.0, seen, many)
        total = 0.0
        for k in range(many):
            seen[k] = at_least_once(t * seen[k])
            total += seen[k]
        for k in range(many):
            part[start[g] + k] = seen[k] / total
            expected[codes[start[g] + k]] += behind[g] * seen[k] / total
