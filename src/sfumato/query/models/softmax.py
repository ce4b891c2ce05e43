"""The multiplicative model: how quasi values multiply the chances of sensitive ones, learned from the counts of boxes.

**The model.** Person i has value v with chance π_iv = softmax_v(Σ_k φ_ik·w_kv): φ are directions in which the levels of
single columns may differ (`sfumato.query.models.cells`). A box shows c_bv people where E_bv = Σ_{i∈b} π_iv are expected,
with the likelihood Σ c·log E; with noise of variance s² in a count, that of a normal one with variance E + s². Unlike a sum
of effects this never makes a chance negative, and a column that triples a value's odds does so for everybody.

**The prior** of a weight is normal with a variance τ² of its own, between its own expected square w² + [H⁻¹]_kk and what is
typical of its block (Student's t with ν = 2): most weights are small, and one that the boxes speak for may be large. What
is typical of a block is learned from all values, by the squares that the boxes speak for (MacKay's fixed point).

**The search** is scoring with one information matrix H_v = Σ_b X Xᵀ / Var(c_bv) a value, X = Σ_{i∈b} π(1 − π)φ, where a
count above what was expected weighs as much as it shows: its logarithm moves by one a round, no more. A step that loses
likelihood is cut to a third. Of more than `_BOXES` boxes H is taken from some, and of more than `_OWN` values the rarer
ones share one.

**Raking** scales the chances of a box's people until they add up to what the box shows. With noise, what it holds is not
known: a count is then taken as Poisson around what the model expects, and as normal around what is shown; the goal is its
posterior mean, never negative without being cut off, and its posterior variance is what noise leaves open. The model's
expectations are first raked themselves, to the boxes' people and the values' sums over all boxes (`likely_totals`): these
have the least noise of all that a release shows, and a model that is off in them would draw every box its way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.query.models import _softmax_kernels as kernels
from sfumato.query.models.cells import Cells, Directions

MAX_VALUES = 600
"""With more sensitive values the model would cost more than it tells."""

ROUNDS = 10
"""Of scoring."""

_REFRESH = (0, 1, 2, 3, 5, 7)  # rounds in which information and prior are renewed
_TAILS = 2.0  # ν, degrees of freedom of the prior
START, FREE = 0.1, 1e6  # τ² before anything is known, and of what everybody shares
_TYPICAL, _WEIGHT = 0.02, 4.0  # prior guess of a block's typical square, and how many weights' worth it counts
_LEAP = 1.0  # most that a weight moves in a round
_OWN = 64  # values with an information matrix of their own
_BOXES = 600  # boxes that information is taken from
_CHUNK = 4_000_000  # numbers held at a time
_FEW = 1e-9


@dataclass(frozen=True, eq=False)
class Fit:
    """The weights, and how well they are known."""

    weights: Floats  # [directions × values]
    tau2: Floats  # [directions × values]: prior variances
    precision: Array  # [matrices × directions × directions], float32: information of the boxes
    which: Integers  # per value, its matrix
    scale: Floats  # per value, its part of that matrix
    chi2: Floats  # per value, the mean squared distance of counts from those expected, in units of chance
    expected: Floats  # [boxes × values]: how many people the weights expect, before raking

    def information(self, values: Integers) -> Floats:
        """Return what the boxes tell about the weights of some values, added up."""
        parts = np.bincount(self.which[values], weights=self.scale[values], minlength=len(self.precision))
        used = np.flatnonzero(parts)
        return np.tensordot(parts[used], self.precision[used].astype(np.float64), axes=1).astype(np.float64)


class FurtherGroups(Protocol):
    """Other groups of the same people whose noisy counts are learned from too (`sfumato.query.models.margins`)."""

    def expected(self, cells: Cells, tables: Floats, /) -> Floats:
        """Return [groups × values]: how many people the model expects."""

    def pull(self, cells: Cells, tables: Floats, expected: Floats, gradient: Floats, /) -> None:
        """Add to the gradient of the log-likelihood by level and value."""

    def likelihood(self, expected: Floats, /) -> float:
        """Return the log-likelihood of what the groups show, up to a constant."""

    def slopes(self, cells: Cells, tables: Floats, /) -> Array:
        """Return [groups × levels × values]: how expected counts grow with the weights of levels."""

    def sums(self) -> tuple[Floats, Floats]:
        """Return [times × values] how many people have each value, as often as groups say it, and the noise in each."""

    @property
    def noise(self) -> float:
        """The variance of the noise in a count."""


def learn_weights(
    cells: Cells,
    directions: Directions,
    shown: Floats,
    noise: Floats,
    rounds: int = ROUNDS,
    further: FurtherGroups | None = None,
) -> Fit:
    """Return the weights that make what boxes show [boxes × values] most likely; `noise` is the variance in each box's counts."""
    matrix, totals = directions.matrix, known_totals(shown, noise, further)
    share = np.maximum(totals, 0.5) / max(totals.sum(), 1.0)
    which, scale = matrices_of(totals)
    weights = np.zeros((matrix.shape[1], shown.shape[1]))
    weights[0] = np.log(share)
    tau2 = np.full_like(weights, START)
    tau2[0] = FREE
    curvature: Curvature | None = None
    bold, before, step = 1.0, (-np.inf, weights), np.zeros_like(weights)
    for turn in range(rounds):
        tables = tables_of(matrix, weights)
        expected, gradient = kernels.score(cells, tables, shown, noise)
        likely = _likelihood(shown, expected, noise)
        if further is not None:
            beside = further.expected(cells, tables)
            further.pull(cells, tables, beside, gradient)
            likely += further.likelihood(beside)
        if likely - _penalty(weights, tau2) < before[0] - 1e-6 * abs(before[0]):
            bold /= 3.0
            weights = before[1] + bold * step
            continue
        bold = min(1.0, 1.5 * bold)
        if curvature is None or turn in _REFRESH:
            counts = _BoxCounts(expected, np.maximum(shown, expected), noise)
            precision = _information(cells, matrix, tables, counts, which, further)
            curvature = Curvature.of(precision, which, scale, tau2)
            if turn:
                tau2 = heavy_tails(weights, curvature.unknown, tau2, directions)
        pull = matrix.T @ gradient - weights / tau2
        # Every value's step is taken as if the others stood still: (1 − share) keeps two of them from overshooting together.
        step = np.clip(curvature.solve(pull) * (1.0 - share), -_LEAP, _LEAP)
        before = likely - _penalty(weights, tau2), weights
        weights = weights + bold * step
    tables = tables_of(matrix, weights)
    expected, _ = kernels.score(cells, tables, shown, noise)
    if noise.any():  # a sum that noise has made 0 or less would leave nothing that could be unknown
        weights[0] += np.log(totals / np.maximum(expected.sum(axis=0), _FEW))
        tables = tables_of(matrix, weights)
        expected, _ = kernels.score(cells, tables, shown, noise)
    precision = _information(cells, matrix, tables, _BoxCounts(expected, expected, noise), which, further)
    size = np.maximum(expected.sum(axis=1, keepdims=True), _FEW)
    chance = np.maximum(expected * (1.0 - expected / size) + noise[:, None], _FEW)
    chi2 = ((shown - expected) ** 2 / chance * expected).sum(axis=0) / np.maximum(expected.sum(axis=0), _FEW)
    return Fit(weights, tau2, precision, which, scale, chi2, expected)


def known_totals(shown: Floats, noise: Floats, further: FurtherGroups | None) -> Floats:
    """Return how many people have each value, as boxes and other groups of the same people tell it together."""
    sums, variance = shown.sum(axis=0), float(noise.sum())
    if further is not None:
        others, unsure = further.sums()
        weight = np.concatenate(([1.0 / variance], 1.0 / unsure))
        sums, variance = (weight @ np.vstack([sums, others])) / weight.sum(), 1.0 / float(weight.sum())
    return likely_totals(sums, float(np.sqrt(variance)))


def likely_totals(sums: Floats, spread: float) -> Floats:
    """Return how many people have each value, as far as sums that have noise of this spread tell [values].

    With noise a sum is normal around the people there are, of whom there are no fewer than 0; all of them together are known. So
    each is the mean of a normal law cut off at 0, and all laws are moved down by as much as makes the means add up.
    """
    if spread == 0.0:
        known: Floats = np.maximum(sums, 0.0)
        return known
    low, high = 0.0, spread
    while _cut_off(sums - high, spread).sum() > sums.sum():
        low, high = high, 2.0 * high
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if _cut_off(sums - middle, spread).sum() > sums.sum() else (low, middle)
    return _cut_off(sums - high, spread)


def _cut_off(mean: Floats, spread: float) -> Floats:
    """Return the means of normal laws that are cut off at 0."""
    from scipy.special import log_ndtr

    away = mean / spread
    mean_above: Floats = mean + spread * np.exp(-0.5 * away**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(away))
    return mean_above


def rarer(wanted: Flags, share: Floats) -> tuple[Integers, Floats, float]:
    """Return the values of a set, or of the rest where that is rarer, the share of each, and of all of them.

    Of a set and the rest the odds are the same, and the weights of the rarer are looked at.
    """
    values = np.flatnonzero(wanted & (share > 0))
    if 2 * share[values].sum() > 1:
        values = np.flatnonzero(~wanted & (share > 0))
    own = share[values]
    return values, own, float(own.sum())


def tables_of(matrix: Floats, weights: Floats) -> Floats:
    """Return by which factor each level multiplies the weight of each value, the largest of a level being 1."""
    logs = matrix @ weights
    tables: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
    return tables


def matrices_of(totals: Floats) -> tuple[Integers, Floats]:
    """Return which information matrix each value has, and its part of it: frequent values their own, the others one together."""
    which = np.full(len(totals), min(_OWN, len(totals)), np.int64)
    which[np.argsort(-totals, kind="stable")[:_OWN]] = np.arange(min(_OWN, len(totals)))
    rest = which == _OWN
    return which, np.where(rest, np.maximum(totals, 0.5) / max(float(np.maximum(totals[rest], 0.5).sum()), 0.5), 1.0)


def _likelihood(shown: Floats, expected: Floats, noise: Floats) -> float:
    """Return the log-likelihood of what boxes show, up to a constant."""
    if noise.any():
        return float(-0.5 * ((shown - expected) ** 2 / (expected + noise[:, None])).sum())
    return float((shown * np.log(np.maximum(expected, 1e-300))).sum())


def _penalty(weights: Floats, tau2: Floats) -> float:
    return 0.5 * float((weights**2 / tau2).sum())


def heavy_tails(weights: Floats, unknown: Floats, tau2: Floats, directions: Directions) -> Floats:
    """Return τ² of every weight: between its own expected square and what is typical of its block."""
    renewed = np.full_like(weights, FREE)
    for block in range(int(directions.block.max(initial=-1)) + 1):
        own = directions.block == block
        square = weights[own] ** 2 + unknown[own]
        typical = np.exp(np.log(tau2[own]).mean())
        light = (1.0 + _TAILS) * typical / (square + _TAILS * typical)  # a weight far out counts less
        spoken = np.maximum(1.0 - unknown[own] / tau2[own], 0.0).sum()
        typical = ((light * weights[own] ** 2).sum() + _WEIGHT * _TYPICAL) / (spoken + _WEIGHT)
        renewed[own] = (square + _TAILS * typical) / (1.0 + _TAILS)
    return renewed


@dataclass(frozen=True, eq=False)
class Curvature:
    """H + 1/τ² of every value as Cholesky factors, in single precision: each matrix is brought to a diagonal of ones first."""

    factors: Array
    root: Array  # [values × directions]
    unknown: Floats  # [directions × values]: the diagonals of the inverses

    @classmethod
    def of(cls, precision: Array, which: Integers, scale: Floats, tau2: Floats) -> Curvature:
        """Return the factors for the information of each value, scale · precision[which], and its prior variances."""
        from scipy.linalg.lapack import spotrf, spotri  # here and below: to ask what was learned before, scipy is not needed

        at = np.arange(len(tau2))
        factors = scale[:, None, None].astype(np.float32) * precision[which]
        factors[:, at, at] += (1.0 / tau2.T).astype(np.float32)
        root = 1.0 / np.sqrt(factors[:, at, at])
        factors *= root[:, :, None]
        factors *= root[:, None, :]
        unknown = np.empty(tau2.shape)
        for k, matrix in enumerate(factors):
            factor, failed = spotrf(matrix, lower=1)
            while failed:  # rounding made it indefinite: nearer to its diagonal it is not
                matrix[at, at] += np.float32(0.01)
                factor, failed = spotrf(matrix, lower=1)
            factors[k] = factor.T
            unknown[:, k] = np.diagonal(spotri(factor, lower=1)[0]) * root[k] ** 2
        return cls(factors, root, unknown)

    def solve(self, pull: Floats) -> Floats:
        """Return (H + 1/τ²)⁻¹ · pull [directions × values]."""
        from scipy.linalg.lapack import spotrs

        right = pull.astype(np.float32).T * self.root
        for k, factor in enumerate(self.factors):
            right[k] = spotrs(factor.T, right[k], lower=1)[0]
        return (right * self.root).T.astype(np.float64)


class _BoxCounts(NamedTuple):
    """Counts of boxes: [boxes × values] as the model expects them and as they are seen, and the variance of noise by box."""

    expected: Floats
    seen: Floats
    noise: Floats


def _information(
    cells: Cells, matrix: Floats, tables: Floats, counts: _BoxCounts, which: Integers, further: FurtherGroups | None
) -> Array:
    """Return Σ_b X Xᵀ / variance for every matrix of values; the variance is smaller where more is seen than expected."""
    expected, seen, noise = counts
    boxes, (lines, wide) = len(expected), matrix.shape
    chosen = np.unique(np.linspace(0, boxes - 1, min(boxes, _BOXES)).astype(np.int64))
    own = np.argsort(which, kind="stable")[: int((which < _OWN).sum())]
    rest = np.flatnonzero(which == _OWN)

    def by_matrix(array: Array) -> Array:
        parts = [array[..., own], array[..., rest].sum(axis=-1, keepdims=True)] if len(rest) else [array[..., own]]
        return np.concatenate(parts, axis=-1)

    precision = np.zeros((int(which.max()) + 1, wide, wide), np.float32)
    at_once = max(1, _CHUNK // (lines * expected.shape[1]))
    for first in range(0, len(chosen), at_once):
        part = chosen[first : first + at_once]
        slopes = np.empty((len(part), lines, expected.shape[1]), np.float32)
        kernels.slopes(cells, tables, part, slopes)
        mean, more = by_matrix(expected[part]), by_matrix(seen[part])
        size = np.maximum(expected[part].sum(axis=1, keepdims=True), _FEW)
        variance = np.maximum(mean * (1.0 - mean / size) + noise[part, None], 1e-6) * mean / np.maximum(more, _FEW)
        root = (1.0 / np.sqrt(np.maximum(variance, 1e-9))).astype(np.float32)
        along = np.matmul(matrix.T.astype(np.float32), by_matrix(slopes)) * root[:, None, :]
        along = np.ascontiguousarray(along.transpose(2, 0, 1))
        precision += along.transpose(0, 2, 1) @ along
    precision *= np.float32(boxes / len(chosen))
    if further is not None:
        mean = by_matrix(further.expected(cells, tables))
        root = (1.0 / np.sqrt(mean + further.noise)).astype(np.float32)
        along = np.matmul(matrix.T.astype(np.float32), by_matrix(further.slopes(cells, tables))) * root[:, None, :]
        along = np.ascontiguousarray(along.transpose(2, 0, 1))
        precision += along.transpose(0, 2, 1) @ along
    return precision


_ROUNDS = 40
_MARGIN_ROUNDS = 10
_LEAST = 1e-9


class Goals(NamedTuple):
    """What the chances of a box's people have to add up to: values and counts.

    `noise_variance` is what noise leaves of variance in each count, `shrinkage` how much of a relative change in what the model
    expects it follows: 0 without noise, 1 where noise says nothing. For a Poisson count that is its posterior variance by its
    mean.
    """

    entry: Integers  # first of each box, and one more
    value: Small
    people: Floats
    noise_variance: Floats
    shrinkage: Floats

    def by_box(self, values: int) -> Floats:
        """Return the counts [boxes × values]."""
        found = np.zeros((len(self.entry) - 1, values))
        found[np.repeat(np.arange(len(found)), np.diff(self.entry)), self.value] = self.people
        return found


def goals_of(cells: Cells, fit: Fit, shown: Floats, noise: Floats, further: FurtherGroups | None = None) -> Goals:
    """Return the goals of boxes that show these counts; noisy ones are moved to what model and noise make of them."""
    noise_variance, shrinkage = np.zeros_like(shown), np.zeros_like(shown)
    if noise.any():
        expected = _with_margins(np.maximum(fit.expected, _LEAST), cells.sizes, known_totals(shown, noise, further))
        shown, noise_variance = kernels.believed(shown, expected, np.maximum(noise, _LEAST))
        shrinkage = noise_variance / expected
        shown = np.maximum(shown * (cells.sizes / np.maximum(shown.sum(axis=1), _LEAST))[:, None], _LEAST)
    box, value = np.nonzero(shown)
    entry = np.searchsorted(box, np.arange(len(shown) + 1)).astype(np.int64)
    return Goals(entry, value.astype(np.int32), *(part[box, value] for part in (shown, noise_variance, shrinkage)))


def _with_margins(counts: Floats, sizes: Floats, totals: Floats) -> Floats:
    """Return counts [boxes × values] scaled to these sums of boxes and, where it can be, of values."""
    totals = totals * (sizes.sum() / totals.sum())
    for _ in range(_MARGIN_ROUNDS):
        counts = counts * (totals / counts.sum(axis=0))
        counts = counts * (sizes / counts.sum(axis=1))[:, None]
    return counts


def places(cells: Cells, goals: Goals) -> Integers:
    """Return where the chances of each box begin: a row for every value that it shows, an entry for every cell."""
    return np.concatenate(([0], np.cumsum(np.diff(goals.entry) * np.diff(cells.start)))).astype(np.int64)


def rake(cells: Cells, directions: Directions, fit: Fit, goals: Goals) -> Array:
    """Return the chances of all people, box by box."""
    return rake_with(cells, tables_of(directions.matrix, fit.weights), goals)


def rake_with(cells: Cells, tables: Floats, goals: Goals) -> Array:
    """Return the chances of all people for given factors of the levels."""
    place = places(cells, goals)
    chances = np.zeros(int(place[-1]), np.float32)
    kernels.rake(cells, tables, goals, place, _ROUNDS, chances)
    return chances
