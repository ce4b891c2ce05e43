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
- what the model misses: each term's placement variance in units of log-odds, as for counts; groups of people err each for
  itself, different scores of the same people alike;
- with noise, what it leaves open of λ's combination, which also moves with the weights as far as counts follow the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats, Integers, Small
from sfumato.query.models import _score_kernels as kernels
from sfumato.query.models.inside import WIDER, Inner, Inside

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
        found = next((d for d, known in enumerate(scores) if np.array_equal(known, term.scores)), len(scores))
        scores += [term.scores] if found == len(scores) else []
        of.append(found)
    cells, heads = len(inside.cells.weight), inside.index.table.heads
    weight = np.stack([np.bincount(inside.cells.cell[term.rows], term.weight * heads(term.rows), cells) for term in terms])
    return np.array(of, np.int64), np.stack(scores).astype(np.float64), weight.astype(np.float64)


def mean_of(inside: Inside, terms: Sequence[Weighed]) -> float:
    """Return what the model says of a sum."""
    of, scores, weight = _laid_out(inside, terms)
    start, goals = inside.cells.start, inside.goals
    return float(kernels.means(start, goals.entry, goals.value, inside.place, inside.chances, of, scores, weight))


def sum_of(inside: Inside, terms: Sequence[Weighed], *, value_only: bool = False) -> Inner:
    """Return what is known of a sum: value, variance, and how much of it is prior."""
    if value_only:
        return Inner(mean_of(inside, terms), 0.0, 0.0, 0.0)
    of, scores, weight = _laid_out(inside, terms)
    cells, goals = inside.cells, inside.goals
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
    terms_of = of, scores, unit, weight, both
    placement_variance, alike, own, unsure = kernels.spread(cells, goals, inside.place, inside.chances, *terms_of, differ)
    open_, before = _unknown(inside, inside.directions.matrix.T @ differ)
    a2, b2 = inside.misses.tolist()
    variance = placement_variance + open_ + unsure + a2 * own + b2 * alike
    prior = open_ / before if before > 0 and 2 * open_ > variance else 0.0
    return Inner(mean_of(inside, terms), variance, open_, prior)


def _unknown(inside: Inside, along: Floats) -> tuple[float, float]:
    """Return the variance of the weights along [directions × values], and what it was before the boxes spoke."""
    from scipy.linalg import cho_factor, cho_solve

    share, fit = inside.share, inside.fit
    used: Flags = (share > 0) & (share < 1) & (along != 0).any(axis=0)
    if not used.any():
        return 0.0, 0.0
    turn, strength, typical = inside.typical
    times = np.where(used, (1 - share) * np.maximum(1.0, fit.chi2), 0.0)
    turned = turn.T @ along
    known = times * (turned**2 / (np.outer(strength, share * (1 - share)) + 1.0)).sum(axis=0)
    before = times * (along[1:] ** 2 * typical[1:, None]).sum(axis=0)
    for v in np.argsort(-known, kind="stable")[:_EXACT]:
        if not used[v]:
            continue
        tau2 = WIDER * fit.tau2[:, v]
        precision = fit.information(np.array([v]))
        precision[np.diag_indices_from(precision)] += 1.0 / tau2
        solved = cho_solve(cho_factor(precision, check_finite=False), along[:, v], check_finite=False)
        known[v] = times[v] * float(along[:, v] @ solved)
        before[v] = times[v] * float(along[1:, v] ** 2 @ tau2[1:])
    return float(known.sum()), float(before.sum())
