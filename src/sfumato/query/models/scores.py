"""Sums of scores by the multiplicative model: averages, shares, differences, with what is known of them.

A sum is Σ over people of weight · score(value): terms of people, each person with a weight, each sensitive value with a score.
A count is one term of weights 1 and scores 0 and 1. An average, a ratio or a difference is such a sum once it is made linear
around its estimate; what its terms have in common is then in its variance, and no covariance has to be looked up.

**The variance** is that of `sfumato.query.models.inside`, for scores. Person i's w_i is what each value would add. In a box with
chances p_i the sums of all scores are known, so w_i is first made r_i, what is left of it beside a combination λ of the scores
that explains most of the box:

- Σ Cov_i(w_i, r_i), for the placement. With one set of values it is A·(1 − A/Q);
- Σ_v (1 − f_v)·D_vᵀ S_v D_v, for the weights: D_v = Σ_i φ_i·p_iv·(r_iv − r̄_i) is how the sum grows with those of v, S_v
  what is unknown of them, f_v the share of v. Matrices are those of single values, as if others stood still; 1 − f_v takes out
  what is then counted twice (in an independence model this is exact);
- what the model misses in every box anew: each term's placement variance in units of log-odds, as for counts; groups of people
  err each for itself, different scores of the same people alike. In all boxes alike: b²·|½·Σ_v |D_v||², as if
  values with the same sign erred together, which for a set of values is b²·|D|²;
- with noise, what it leaves open of λ's combination, which also moves with the weights as far as counts follow the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats, Integers, Small
from sfumato.query.models import _score_kernels as kernels
from sfumato.query.models.inside import WIDER, Inside, Unknown
from sfumato.query.models.protocol import Moments

_EXACT = 3  # values whose weights are looked up one by one; the others have those of a typical value


@dataclass(frozen=True, eq=False)
class Weighed:
    """A term of a sum: people by row number, the weight of each, the score of every sensitive value.

    What the model misses is known in logarithms of odds: by how much of them for each unit of weight and score is `unit`. It is 1
    for counts and shares. None stands for two standard deviations, as wide as 0 and 1 are apart when both are as frequent.
    """

    rows: Small
    weight: Floats
    scores: Floats
    unit: float | None = None

    def unit_for(self, share: Floats, heads: Integers | int = 1) -> float:
        """Return the unit, where values have these shares, and rows stand for so many people."""
        if self.unit is not None:
            return max(self.unit, 1e-300)
        used = self.scores != 0
        scores = _width(self.scores[used], share[used], apart=not used.all())
        return max(scores * _width(self.weight, np.ones(len(self.weight)) * heads, apart=True), 1e-300)


def _width(numbers: Floats, times: Floats, *, apart: bool) -> float:
    """Return two standard deviations; where others have 0, at least as much as the mean is away from it."""
    total = float(times.sum())
    if total <= 0:
        return 1.0
    mean = float(times @ numbers) / total
    wide = 2 * float(np.sqrt(times @ (numbers - mean) ** 2 / total))
    return max(wide, abs(mean)) if apart or wide == 0 else wide


def _laid_out(inside: Inside, terms: Sequence[Weighed]) -> tuple[Integers, Floats, Floats]:
    """Return which score each term has, the distinct scores, and the weights of each term by cell."""
    scores: list[Floats] = []
    of = []
    for term in terms:
        number = next((d for d, known in enumerate(scores) if np.array_equal(known, term.scores)), len(scores))
        scores += [term.scores] if number == len(scores) else []
        of.append(number)
    cells, heads = len(inside.cells.weight), inside.index.table.heads
    weight = np.stack([np.bincount(inside.cells.cell[term.rows], term.weight * heads(term.rows), cells) for term in terms])
    return np.array(of, np.int64), np.stack(scores).astype(np.float64), weight.astype(np.float64)


def mean_of(inside: Inside, terms: Sequence[Weighed]) -> float:
    """Return what the model says of a sum."""
    of, scores, weight = _laid_out(inside, terms)
    return float(kernels.means(_raked(inside), of, scores, weight))


def _raked(inside: Inside) -> kernels.Raked:
    return kernels.Raked(inside.cells, inside.goals, inside.place, inside.chances)


def sum_of(inside: Inside, terms: Sequence[Weighed], *, value_only: bool = False) -> Moments:
    """Return what is known of a sum."""
    if value_only:
        return Moments(mean_of(inside, terms), 0.0)
    of, scores, weight = _laid_out(inside, terms)
    cells = inside.cells
    both = np.zeros((len(terms), len(terms), len(cells.weight)))
    full, every = np.zeros((len(terms), len(cells.cell))), inside.index.table.heads()
    for t, term in enumerate(terms):
        full[t, term.rows] = term.weight
    for t in range(len(terms)):
        for u in range(t + 1):
            product = full[t] * full[u] * every
            if product.any():
                both[t, u] = both[u, t] = np.bincount(cells.cell, product, len(cells.weight))
    differ = np.zeros((len(inside.directions.matrix), scores.shape[1]))
    unit = np.array([term.unit_for(inside.share, inside.index.table.heads(term.rows)) for term in terms])
    laid_out = kernels.Terms(of, scores, unit, weight, both)
    spread = kernels.spread(_raked(inside), laid_out, differ)
    along = inside.directions.matrix.T @ differ
    unknown = _unknown(inside, along)
    a2, b2 = inside.model_error.tolist()
    loose = unknown.variance + b2 * float(((np.abs(along[1:]).sum(axis=1) / 2) ** 2).sum())
    variance = spread.placement + loose + spread.noise + a2 * spread.own
    note = unknown.note(variance, inside.mostly)
    return Moments(mean_of(inside, terms), variance, note, loose, placed=spread.placement)


def _unknown(inside: Inside, along: Floats) -> Unknown:
    """Return what `Inside` has of one direction for [directions × values]."""
    from scipy.linalg import cho_factor, cho_solve

    share, fit = inside.share, inside.softmax
    used: Flags = (share > 0) & (share < 1) & (along != 0).any(axis=0)
    if not used.any():
        return Unknown(0.0, 0.0, 0.0)
    turn, strength, typical = inside.typical
    times = np.where(used, (1 - share) * np.maximum(1.0, fit.chi2), 0.0)
    apart = inside.apart(along)
    turned = np.einsum("dk,dvt->kvt", turn, apart)
    known = times[:, None] * (turned**2 / (np.outer(strength, share * (1 - share)) + 1.0)[:, :, None]).sum(axis=0)
    before = times * (apart[1:, :, 1] ** 2 * typical[1:, None]).sum(axis=0)
    for v in np.argsort(-known[:, 0], kind="stable")[:_EXACT]:
        if not used[v]:
            continue
        tau2 = WIDER * fit.tau2[:, v]
        precision = fit.information(np.array([v]))
        precision[np.diag_indices_from(precision)] += 1.0 / tau2
        solved = cho_solve(cho_factor(precision, check_finite=False), apart[:, v], check_finite=False)
        known[v] = times[v] * (apart[:, v] * solved).sum(axis=0)
        before[v] = times[v] * float(apart[1:, v, 1] ** 2 @ tau2[1:])
    return Unknown(float(known[:, 0].sum()), float(known[:, 1].sum()), float(before.sum()))
