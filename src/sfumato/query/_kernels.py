"""Compiled loops of the query engine: finding rows, counting by group, and the sums of the estimators of buckets.

Before a kernel stands its twin in numpy, for a process that asks a question or two and never loads numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit


def _keep_rows(codes: Any, accepted: Any, rows: Any, count: int, start: bool) -> int:
    kept = np.flatnonzero(accepted[codes[:count]]) if start else rows[:count][accepted[codes[rows[:count]]] != 0]
    rows[: len(kept)] = kept
    return len(kept)


@njit(cache=True, nogil=True, plain=_keep_rows)
def keep_rows(codes: Any, accepted: Any, rows: Any, count: int, start: bool) -> int:
    """Keep in `rows` those of its first `count` entries whose code is accepted; with `start`, choose among rows 0 … count−1."""
    kept = 0
    if start:
        for i in range(count):
            rows[kept] = i
            kept += accepted[codes[i]]
    else:
        for j in range(count):
            i = rows[j]
            rows[kept] = i
            kept += accepted[codes[i]]
    return kept


def _count_by_group(group: Any, rows: Any, count: int, times: Any, hits: Any) -> None:
    many = times[rows[:count]] if len(times) else None
    hits += np.bincount(group[rows[:count]], many, len(hits)).astype(np.int64)


@njit(cache=True, nogil=True, plain=_count_by_group)
def count_by_group(group: Any, rows: Any, count: int, times: Any, hits: Any) -> None:
    """Add to `hits` the people of the given rows in each group: a row stands for times[row], for one if `times` is empty."""
    if len(times):
        for j in range(count):
            hits[group[rows[j]]] += times[rows[j]]
    else:
        for j in range(count):
            hits[group[rows[j]]] += 1


@njit(cache=True, nogil=True)
def count_wanted(codes: Any, wanted: Any, rows: Any, count: int) -> int:
    """Return how many of the given rows have a wanted code."""
    total = 0
    for j in range(count):
        total += wanted[codes[rows[j]]]
    return total


@njit(cache=True, nogil=True)
def spread_codes(codes: Any, group: Any, shown: Any, st_start: Any, st_value: Any, st_count: Any, out: Any) -> None:
    """Add to out[code, v] the papers' estimate of the people with each code of a column and each value."""
    for i in range(len(codes)):
        g = group[i]
        c = codes[i]
        for j in range(st_start[g], st_start[g + 1]):
            out[c, st_value[j]] += st_count[j] / shown[g]


@njit(cache=True, nogil=True)
def together(weight: Any, st_start: Any, st_value: Any, st_count: Any, out: Any) -> None:
    """Add to out[u, v] the sum over groups of weight · count(u) · count(v)."""
    for g in range(len(weight)):
        for i in range(st_start[g], st_start[g + 1]):
            scaled = weight[g] * st_count[i]
            for j in range(st_start[g], st_start[g + 1]):
                out[st_value[i], st_value[j]] += scaled * st_count[j]


def _wanted_by_bucket(wanted: Any, st_start: Any, st_value: Any, st_count: Any, out: Any) -> None:
    out[:] = _by_bucket(wanted[st_value].astype(np.int64) * st_count, st_start)


def _by_bucket(numbers: Any, st_start: Any) -> Any:
    before = np.concatenate((np.zeros(1, numbers.dtype), np.cumsum(numbers)))
    return before[st_start[1:]] - before[st_start[:-1]]


@njit(cache=True, nogil=True, plain=_wanted_by_bucket)
def wanted_by_bucket(wanted: Any, st_start: Any, st_value: Any, st_count: Any, out: Any) -> None:
    """Write to out[g] how many of the values shown in group g are wanted."""
    for g in range(len(out)):
        total = 0
        for j in range(st_start[g], st_start[g + 1]):
            total += wanted[st_value[j]] * st_count[j]
        out[g] = total


def _one_piece(
    hits: Any, wanted: Any, shown: Any, st_start: Any, st_value: Any, st_count: Any, out: Any
) -> tuple[float, float, int, int]:
    asked = hits > 0
    k, n = hits[asked].astype(np.int64), shown[asked].astype(np.int64)
    s = _by_bucket(wanted[st_value].astype(np.int64) * st_count, st_start)[asked]
    weight = np.repeat(np.where(asked, hits / np.maximum(shown, 1), 0.0), np.diff(st_start))
    out += np.bincount(st_value, weights=weight * st_count, minlength=len(out))
    mean = k * s / n
    variance = np.where(n > 1, mean * (n - k) / n * (n - s) / np.maximum(n - 1, 1), 0.0)
    some = s > 0
    low, high = np.maximum(0, k + s - n)[some].sum(), np.minimum(k, s).sum()
    return float(mean.sum()), float(variance[some].sum()), int(low), int(high)


@njit(cache=True, nogil=True, plain=_one_piece)
def one_piece(
    hits: Any, wanted: Any, shown: Any, st_start: Any, st_value: Any, st_count: Any, out: Any
) -> tuple[float, float, int, int]:
    """Return estimate, variance and the certain bounds of one piece, per group a hypergeometric count.

    Added to out[v]: the sum over groups of hits · count(v) / values shown, the papers' estimate of every single value.
    """
    value, variance, low, high = 0.0, 0.0, 0, 0
    for g in range(len(hits)):
        k, s, n = hits[g], 0, shown[g]
        if k:
            weight = k / n
            for j in range(st_start[g], st_start[g + 1]):
                v = st_value[j]
                s += wanted[v] * st_count[j]
                out[v] += weight * st_count[j]
        if k and s:
            value += k * s / n
            if n > 1:
                variance += k * s / n * (n - k) / n * (n - s) / (n - 1)
            low += max(0, k + s - n)
            high += min(k, s)
    return value, variance, low, high


def _times(matrix: Any, vector: Any) -> Any:
    return matrix @ vector


@njit(cache=True, nogil=True, plain=_times)
def times(matrix: Any, vector: Any) -> Any:
    """Return matrix · vector."""
    rows, columns = matrix.shape
    out = np.zeros(rows)
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += matrix[i, j] * vector[j]
        out[i] = total
    return out


def log_weights(t: Any, spread2: float, grid: Any, mu: Any, total_gain: float) -> Any:
    """Return the log marginal likelihood of each association strength in `grid`, up to a constant."""
    s2 = spread2 / (1.0 + grid)
    scale = s2[:, None] * (1.0 + grid[:, None] * mu)
    return 0.5 * np.log(s2 * (1.0 + grid * total_gain)) - 0.5 * (np.log(scale) + t * t / scale).sum(axis=1)


def _weigh(t: Any, spread2: float, grid: Any, mu: Any, total_gain: float) -> Any:
    logs = log_weights(t, spread2, grid, mu, total_gain)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


@njit(cache=True, nogil=True, plain=_weigh)
def weigh(t: Any, spread2: float, grid: Any, mu: Any, total_gain: float) -> Any:
    """Return the posterior weight of each association strength in `grid`, all equally likely before."""
    logs = np.empty(len(grid))
    for i in range(len(grid)):
        r = grid[i]
        s2 = spread2 / (1.0 + r)
        likelihood = 0.5 * np.log(s2 * (1.0 + r * total_gain))
        for j in range(len(t)):
            v = s2 * (1.0 + r * mu[j])
            likelihood -= 0.5 * (np.log(v) + t[j] * t[j] / v)
        logs[i] = likelihood
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def _deviations(t: Any, weights: Any, grid: Any, mu: Any, f: Any, pf: Any, root: Any) -> Any:
    each = weights[:, None] / (1.0 + grid[:, None] * mu)
    return (f @ (each.sum(axis=0) * t) + pf @ ((grid[:, None] * each).sum(axis=0) * t)) / root


@njit(cache=True, nogil=True, plain=_deviations)
def deviations(t: Any, weights: Any, grid: Any, mu: Any, f: Any, pf: Any, root: Any) -> Any:
    """Return the posterior mean of each value's share minus its prior mean."""
    a = np.zeros(len(t))
    b = np.zeros(len(t))
    for j in range(len(t)):
        for i in range(len(grid)):
            w = weights[i] / (1.0 + grid[i] * mu[j])
            a[j] += w * t[j]
            b[j] += w * grid[i] * t[j]
    return (times(f, a) + times(pf, b)) / root


class StrengthAxes(NamedTuple):
    """The association strengths that are averaged over, and the axes in which deviations are independent for each of them."""

    grid: Any
    mu: Any
    ft: Any
    pft: Any
    prior: Any


def _functional(t: Any, x: Any, spread2: float, weights: Any, axes: StrengthAxes) -> tuple[float, float]:
    grid, mu, ft, pft, prior = axes
    both = ft @ x + grid[:, None] * (pft @ x)
    scale = 1.0 + grid[:, None] * mu
    means, taken = (both * t / scale).sum(axis=1), (both * both / scale).sum(axis=1)
    mean = float(weights @ means)
    rest = spread2 / (1.0 + grid) * (x @ x + grid * ((prior @ x) @ x) - taken)
    return mean, float(weights @ np.maximum(0.0, rest) + weights @ (means - mean) ** 2)


@njit(cache=True, nogil=True, plain=_functional)
def functional(t: Any, x: Any, spread2: float, weights: Any, axes: StrengthAxes) -> tuple[float, float]:
    """Return posterior mean and variance of Σ x·(deviation of y), averaged over the association strengths."""
    grid, mu, ft, pft, prior = axes
    a = times(ft, x)
    b = times(pft, x)
    square = 0.0
    for v in range(len(x)):
        square += x[v] * x[v]
    px = times(prior, x)
    prior_square = 0.0
    for v in range(len(x)):
        prior_square += px[v] * x[v]
    means = np.zeros(len(grid))
    mean = 0.0
    variance = 0.0
    for i in range(len(grid)):
        r = grid[i]
        taken = 0.0
        for j in range(len(t)):
            ab = a[j] + r * b[j]
            means[i] += ab * t[j] / (1.0 + r * mu[j])
            taken += ab * ab / (1.0 + r * mu[j])
        mean += weights[i] * means[i]
        variance += weights[i] * max(0.0, spread2 / (1.0 + r) * (square + r * prior_square - taken))
    for i in range(len(grid)):
        variance += weights[i] * (means[i] - mean) ** 2
    return mean, variance
