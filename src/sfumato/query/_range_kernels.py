"""Compiled loops of count queries on ranges: shares of groups inside a condition, and how people lie in ranges and sets."""

from __future__ import annotations

import math
from typing import Any

from sfumato._jit import njit


@njit(cache=True, nogil=True)
def range_share(
    low: Any,
    high: Any,
    missing: Any,
    before: Any,
    share: Any,
    inner: Any,
    at_low: Any,
    at_high: Any,
    at_missing: Any,
    some: Any,
    whole: Any,
    out: Any,
    possible: Any,
    sure: Any,
) -> None:
    """Multiply `out` by the share of each group whose value in one column is inside, and keep what is possible and sure.

    `share[c]` is the share of cell c that is inside, its last entry that of missing values; `before[c]` adds up weight · share,
    `some` and `whole` the cells that are inside in part and entirely, all over the cells below c.
    """
    absent = len(share) - 1
    for g in range(len(low)):
        if low[g] < 0:
            found = at_missing[g] * share[absent]
            may, must = share[absent] > 0, share[absent] == 1
        else:
            found = at_low[g] * share[low[g]] + at_missing[g] * share[absent]
            if high[g] > low[g]:
                found += inner[g] * (before[high[g]] - before[low[g] + 1]) + at_high[g] * share[high[g]]
            may = some[high[g] + 1] > some[low[g]]
            must = whole[high[g] + 1] - whole[low[g]] == high[g] + 1 - low[g]
            if missing[g]:
                may = may or share[absent] > 0
                must = must and share[absent] == 1
        out[g] *= min(1.0, max(0.0, found))
        possible[g] = possible[g] and may
        sure[g] = sure[g] and must


@njit(cache=True, nogil=True)
def set_share(start: Any, codes: Any, part: Any, accepted: Any, out: Any, possible: Any, sure: Any) -> None:
    """Multiply `out` by the share of each group whose category is accepted; `part` is the share of each entry of a set."""
    for g in range(len(start) - 1):
        found, inside = 0.0, 0
        for e in range(start[g], start[g + 1]):
            if accepted[codes[e]]:
                found += part[e]
                inside += 1
        out[g] *= min(1.0, found)
        possible[g] = possible[g] and inside > 0
        sure[g] = sure[g] and inside == start[g + 1] - start[g]


@njit(cache=True, nogil=True)
def weigh_groups(
    share: Any, possible: Any, sure: Any, wanted: Any, start: Any, value: Any, count: Any
) -> tuple[float, float, int, int]:
    """Return the estimate Σ share · wanted people, its binomial variance, and the least and most that is certain."""
    total, variance = 0.0, 0.0
    least, most = 0, 0
    for g in range(len(share)):
        if possible[g]:
            people = 0
            for e in range(start[g], start[g + 1]):
                if wanted[value[e]]:
                    people += count[e]
            most += people
            if sure[g]:
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
def spread_ranges(
    sizes: Any,
    low: Any,
    high: Any,
    missing: Any,
    weight: Any,
    seen: Any,
    inner: Any,
    at_low: Any,
    at_high: Any,
    at_missing: Any,
    expected: Any,
    steps: Any,
) -> None:
    """Spread the people of every group over its cells in proportion to `weight`, at least one person at each end.

    Filled in: per group the share of people per unit of weight between the ends, at both ends and without a value; in
    `expected` the people per cell. `seen` and `steps` are working room of 3 numbers and of as many as there are cells.
    """
    absent = len(weight) - 1
    expected[:] = 0.0
    steps[:] = 0.0
    before = weight.copy()
    total = 0.0
    for c in range(absent):
        before[c] = total
        total += weight[c]
    before[absent] = total
    for g in range(len(sizes)):
        size = float(sizes[g])
        inner[g], at_low[g], at_high[g], at_missing[g] = 0.0, 0.0, 0.0, 0.0
        if low[g] < 0:
            at_missing[g] = 1.0
            expected[absent] += size
            continue
        many, between = 1, 0.0
        seen[0] = weight[low[g]]
        if high[g] > low[g]:
            seen[1] = weight[high[g]]
            many = 2
            between = max(0.0, before[high[g]] - before[low[g] + 1])
        if missing[g]:
            seen[many] = weight[absent]
            many += 1
        t = solve_rate(size, between, seen, many)
        total = t * between
        for k in range(many):
            seen[k] = at_least_once(t * seen[k])
            total += seen[k]
        scale = 1.0 / total
        inner[g] = t * scale
        at_low[g] = seen[0] * scale
        if high[g] > low[g]:
            at_high[g] = seen[1] * scale
            expected[high[g]] += size * at_high[g]
            steps[low[g] + 1] += size * inner[g]
            steps[high[g]] -= size * inner[g]
        expected[low[g]] += size * at_low[g]
        if missing[g]:
            at_missing[g] = seen[many - 1] * scale
            expected[absent] += size * at_missing[g]
    rate = 0.0
    for c in range(absent):
        rate += steps[c]
        expected[c] += max(0.0, rate) * weight[c]


@njit(cache=True, nogil=True)
def spread_sets(sizes: Any, start: Any, codes: Any, weight: Any, seen: Any, part: Any, expected: Any) -> None:
    """Spread the people of every group over its set in proportion to `weight`, at least one person for each value.

    Filled in: the share of each entry of a set, and in `expected` the people per code. `seen` is working room for one set.
    """
    expected[:] = 0.0
    for g in range(len(sizes)):
        many = start[g + 1] - start[g]
        for k in range(many):
            seen[k] = weight[codes[start[g] + k]]
        t = solve_rate(float(sizes[g]), 0.0, seen, many)
        total = 0.0
        for k in range(many):
            seen[k] = at_least_once(t * seen[k])
            total += seen[k]
        for k in range(many):
            part[start[g] + k] = seen[k] / total
            expected[codes[start[g] + k]] += sizes[g] * seen[k] / total
