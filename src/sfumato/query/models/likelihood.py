"""The likelihood estimator for blind buckets: learn from all groups together how quasi and sensitive values are associated.

**The model.** Blind assignment deals the n_v people of value v at random to the slots of v. Let p_v be the share of them who meet
the quasi condition, p̄ the share among all n people (known exactly), y_v = √n_v·p_v, C the published counts, N the group sizes.
With A = D_n^-½ Cᵀ D_N⁻¹ C D_n^-½ the papers' estimate z_v of n_v·p_v has, after division by √n_v, mean A·y and covariance
σ²·A(I − A): which people of v fell into which group is drawing without replacement. y itself has the covariance
σ²·(I + r·√n√nᵀ∘R) around √n·p̄: I is chance, r ≥ 0 the *strength* of real association (1/r is a ridge prior), R_uv = ρ^|u−v| lets
neighbouring values behave alike, and σ²·(1 + r) = p̄(1 − p̄). At r = 0 the posterior mean *is* the papers' estimate and the
posterior variance the hypergeometric one; the larger r, the more is fitted from how group hits vary with group contents. r is
averaged over a grid by its marginal likelihood, query by query; ρ is chosen once per release, by the evidence of all single quasi
values.

**Conditions on several columns.** p_v(A and B) is expected near p̄·(p_v(A)/p̄(A))·(p_v(B)/p̄(B)): the single columns are
estimated first, where hits are many, and the model above then estimates only what this misses. The condition's residual 1_AB − Σ
β_j·1_Aj with β_j = p̄(AB)/p̄(A_j) is uncorrelated with the single columns, so no evidence is used twice, and the variances add.

**Links of their own.** r is common to all sensitive values, so that a link far stronger than the others (a cancer that only women
have) would be drawn toward them. So the asked values may have a link δ of their own beside it: all their shares are higher by
δ ~ N(0, λ²·σ²·r), λ half-Cauchy, six quantiles of it. What the groups say of δ, after all that the common r explains, is one
number with a known error. The variance has the mean square of what δ would change, so that an interval holds for a question that
was asked because of its answer, too. The estimate moves only as far as the groups insist: for it, one question in a hundred
has such a link. Without that caution it errs 5–18 % more on other questions; with it on none of the classes measured
(docs/answers.md), and less on strong links. Of a condition on several columns each single one may have such a link, and what
they miss together none.

**Where it may be used.** Only where people were assigned blindly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Floats
from sfumato.query import _kernels
from sfumato.query.language.compile import Piece, RowCondition
from sfumato.query.model_cache import fitting
from sfumato.query.models.protocol import Moments
from sfumato.query.rows import Asked, BucketIndex, Buckets
from sfumato.query.sums import AskedSum, by_score

MAX_VALUES = 600
"""Beyond so many sensitive values the matrices take too long; the papers' estimator is then the default."""

GRID: Floats = np.concatenate([[0.0], np.logspace(-5, 0.5, 23)])
"""Strengths of association r that are averaged over."""

_WIDER = 8.0  # strengths of association for sums of numbers, which many values share, in units of what is usual for single ones
QUANTILES = np.tan(np.pi / 2 * (np.arange(6) + 0.5) / 6)  # of a half-Cauchy distribution
RARE = 0.01  # how often the estimate expects a link of its own
_CORRELATIONS = (0.0, 0.3, 0.6, 0.8, 0.9)
_EVIDENCE_CODES = 400
_TABLE_ENTRIES = 20_000_000


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """The prior and the data in coordinates in which every direction is independent of the others, for any r."""

    correlation: float
    prior: Floats  # √n√nᵀ∘R
    mu: Floats
    to_t: Floats
    f: Floats
    pf: Floats
    ft: Floats
    pft: Floats
    total_gain: float

    def weigh(self, t: Floats, spread2: float) -> Floats:
        """Return the weight of each r in the grid."""
        weights: Floats = _kernels.weigh(t, spread2, GRID, self.mu, self.total_gain)
        return weights

    def evidence(self, t: Floats, spread2: float) -> float:
        """Return the log marginal likelihood, averaged over the grid."""
        logs = _kernels.log_weights(t, spread2, GRID, self.mu, self.total_gain)
        top = logs.max()
        return float(top + np.log(np.exp(logs - top).mean()))


class _Prior(NamedTuple):
    """What single columns say: the prior mean of each value's share and what of it was expected, and the data that are left.

    `variance` is that of the prior mean, `spread2` what is left of the people's own.
    """

    mean: Floats
    residual: Floats
    expected: Floats
    spread2: float
    variance: float


@dataclass(frozen=True, eq=False)
class Association:
    """What is prepared once per release: the axes, and the papers' estimates for every single quasi value."""

    index: BucketIndex
    totals: Floats
    root: Floats
    g0: Floats
    axes: PrincipalAxes
    tables: tuple[Floats | None, ...]

    version: ClassVar[int] = 1

    @classmethod
    def fit(cls, groups: Buckets) -> Association:
        """Return the association of quasi and sensitive values that blind buckets show."""
        from scipy.linalg import eigh  # here and below: to ask what was fitted before, scipy is not needed

        index = groups.index
        totals = index.totals
        root = np.sqrt(totals)
        g0 = np.zeros((index.values, index.values))
        _kernels.together(1.0 / np.maximum(index.sizes, 1), index.st_start, index.st_value, index.st_real, g0)
        tables = tuple(_code_table(index, column) for column in range(len(index.table.codes)))
        eigenvalues, vectors = eigh(g0 / np.outer(root, root))
        kept = eigenvalues > 1e-7
        best: tuple[float, PrincipalAxes] | None = None
        sample = _evidence_sample(index, tables)
        for correlation in _CORRELATIONS:
            axes = _axes(correlation, root, eigenvalues[kept], vectors[:, kept])
            total = 0.0
            for people, z in sample:
                own = people / index.rows
                total += axes.evidence(axes.to_t @ ((z - own * totals) / root), own * (1 - own))
            if best is None or total > best[0]:
                best = (total, axes)
        assert best is not None
        return cls(index, totals, root, g0, best[1], tables)

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        tables = {f"table {j}": table for j, table in enumerate(self.tables) if table is not None}
        return {"g0": self.g0, **{name: np.asarray(value) for name, value in vars(self.axes).items()}, **tables}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: Buckets) -> Association:
        """Return the association that has these arrays; `ValueError` if they are not of these groups."""
        index, n = groups.index, groups.index.values
        mu = fitting(arrays, "mu", (None,))
        back, there = (n, len(mu)), (len(mu), n)
        shapes = {"prior": (n, n), "to_t": there, "f": back, "pf": back, "ft": there, "pft": there}
        axes = PrincipalAxes(
            correlation=float(fitting(arrays, "correlation", ())),
            mu=mu,
            **{name: fitting(arrays, name, shape) for name, shape in shapes.items()},
            total_gain=float(fitting(arrays, "total_gain", ())),
        )
        tables = tuple(
            fitting(arrays, f"table {j}", (len(times), n)) if f"table {j}" in arrays else None
            for j, times in enumerate(index.table.counts)
        )
        return cls(index, index.totals, np.sqrt(index.totals), fitting(arrays, "g0", (n, n)), axes, tables)

    def column(self, column: int, accepted: Flags) -> Floats:
        """Return the papers' estimate, value by value, of the people with an accepted code in one column."""
        table = self.tables[column]
        if table is None:
            return self.index.spread(self.index.hits(RowCondition({column: accepted})))
        chances: Floats = table[accepted].sum(0)
        return chances

    def coordinates(self, z: Floats, mean: Floats) -> Floats:
        """Return the data's deviation from what the shares `mean` would give, in the coordinates of the axes."""
        t: Floats = _kernels.times(self.axes.to_t, (z - _kernels.times(self.g0, mean)) / self.root)
        return t

    def estimate(self, question: Asked) -> Moments:
        """Return the number of people in a piece of a question."""
        index, people, values = self.index, int(question.hits.sum()), question.piece.values
        value, variance = self.count(question.piece, people, question.uniform.each)
        if index.has_decoys:
            variance += max(0.0, question.uniform.placement - self.chance_variance(values, people / index.people))
            # Only a share N/(N+σ) of the slots speaks of people; which ones is not known, so the rest counts as lost data.
            variance *= float(index.shown.sum()) / index.people
        return Moments(value, variance)

    def add(self, question: AskedSum) -> Moments:
        """Return a sum over people: terms of one score are one covariate of them, errors of several scores add up."""
        index, terms = self.index, question.terms
        if (
            len(terms) == 1
            and terms[0].numbers is None
            and terms[0].weight is None
            and len(ends := np.unique(terms[0].scores)) == 2
        ):
            low, span = float(ends[0]), terms[0].times * float(ends[1] - ends[0])
            asked = Asked.of(index, Piece(terms[0].scores == ends[1], terms[0].rows))
            known = asked.uniform
            moments = Moments(known.value, known.variance) if known.certain else self.estimate(asked)
            count = min(max(moments.value, known.least), known.most)
            return Moments(low * float(question.people[0].weight.sum()) + span * count, span**2 * moments.variance)
        value = error = 0.0
        for like, weight in by_score(index, question.people):
            by_group = np.bincount(index.group, weight, index.groups) / np.maximum(index.shown, 1)
            shown = index.st_count * np.repeat(by_group, np.diff(index.st_start))
            each: Floats = np.bincount(index.st_value, shown, index.values).astype(np.float64)
            wider = _WIDER if any(weighed.unit is None for weighed in like) else 1.0
            mean, square = float(weight.mean()), float((weight**2).mean())
            part, variance = self.covariate(mean, square - mean**2, each, like[0].scores, wider=wider)
            if index.has_decoys:
                variance *= float(index.shown.sum()) / index.people
            value, error = value + part, error + math.sqrt(variance)
        return Moments(value, error**2)

    def count(self, piece: Piece, people: int, z: Floats) -> tuple[float, float]:
        """Return mean and variance of the number of people in a piece, from the papers' estimates `z` for every value."""
        n = self.index.rows
        if people == 0 or not piece.values.any():
            return 0.0, 0.0
        if piece.values.all():
            return float(people), 0.0
        if people == n:
            return float(self.totals[piece.values].sum()), 0.0
        share = people / n
        spread2 = share * (1 - share)
        mean = np.full(self.index.values, share)
        expected, variance = np.zeros_like(mean), 0.0
        parts = self._columns(piece.rows, people)
        if parts:
            mean, z, expected, spread2, variance = self._fitted_columns(parts, piece.values, z, share)
        t = self.coordinates(z, mean - expected)
        weights = self.axes.weigh(t, spread2)
        shift, more = self._functional(t, self.root * piece.values, spread2, weights)
        own, open_ = (0.0, 0.0) if parts else self._own_link(t, self.root * piece.values, spread2, weights)
        return float((self.totals * mean)[piece.values].sum() + shift + own), variance + more + open_

    def covariate(self, mean: float, spread2: float, z: Floats, scores: Floats, *, wider: float) -> tuple[float, float]:
        """Return mean and variance of Σ over people of weight · score, from the papers' estimates `z` of Σ weights by value.

        `mean` and `spread2` are those of the weights of all people: the model holds for any numbers, not only 0 and 1.
        Strengths are taken `wider` times as large as the data of all values suggest.
        """
        if spread2 <= 0.0:
            return mean * float(self.totals @ scores), 0.0
        t = self.coordinates(z, np.full(self.index.values, mean))
        axes, x, weights = self.axes, self.root * scores, self.axes.weigh(t, spread2)
        strength = wider * GRID[:, None]
        lever, scale = axes.ft @ x + strength * (axes.pft @ x), 1.0 + strength * axes.mu
        means, taken = (lever * t / scale).sum(axis=1), (lever**2 / scale).sum(axis=1)
        open_ = spread2 / (1.0 + GRID) * np.maximum(0.0, x @ x + strength[:, 0] * float(x @ axes.prior @ x) - taken)
        shift = float(weights @ means)
        return mean * float(self.totals @ scores) + shift, float(weights @ open_ + weights @ (means - shift) ** 2)

    def _columns(self, rows: RowCondition, people: int) -> list[tuple[int, Flags, int]]:
        """Return the single columns to learn from first; none where the condition is one column's anyway."""
        parts = [(column, accepted, self.index.table.people(column, accepted)) for column, accepted in rows.tables.items()]
        parts = [part for part in parts if part[2] < self.index.rows]
        if (len(parts) == 1 and not rows.rest) or any(part[2] == people for part in parts):
            return []
        return parts

    def _fitted_columns(self, parts: list[tuple[int, Flags, int]], values: Flags, z: Floats, share: float) -> _Prior:
        """Return what single columns say of people who have accepted codes in all of them."""
        n, axes = self.index.rows, self.axes
        ratio = np.ones(self.index.values)
        residual, expected, spread2 = z.copy(), np.zeros(self.index.values), share * (1 - share)
        fitted = []
        for column, accepted, people in parts:
            own = people / n
            column_z = self.column(column, accepted)
            t = self.coordinates(column_z, np.full(self.index.values, own))
            weights = axes.weigh(t, own * (1 - own))
            chance = own + _kernels.deviations(t, weights, GRID, axes.mu, axes.f, axes.pf, self.root)
            chance = np.clip(chance, 0.02 * own, 1.0)
            slope = share / own
            ratio *= chance / own
            residual -= slope * column_z
            expected += slope * chance
            spread2 -= slope**2 * own * (1 - own)
            fitted.append((own, t, weights, chance))
        mean = np.clip(share * ratio, 0.0, 1.0)
        mean *= share * n / (mean @ self.totals)
        variance = 0.0
        for own, t, weights, chance in fitted:
            lever = self.root * np.where(values, np.minimum(mean / chance, 1.0), 0.0)
            variance += self._functional(t, lever, own * (1 - own), weights)[1]
            shift, open_ = self._own_link(t, lever, own * (1 - own), weights)
            variance += open_ + shift**2  # these means are not moved
        return _Prior(mean, residual, expected, max(spread2, 0.1 * share * (1 - share)), variance)

    def _functional(self, t: Floats, x: Floats, spread2: float, weights: Floats) -> tuple[float, float]:
        axes = _kernels.StrengthAxes(GRID, self.axes.mu, self.axes.ft, self.axes.pft, self.axes.prior)
        mean, variance = _kernels.functional(t, x, spread2, weights, axes)
        return float(mean), float(variance)

    def _own_link(self, t: Floats, x: Floats, spread2: float, weights: Floats) -> tuple[float, float]:
        """Return how far a link δ of the values' own moves Σ x·y, and the mean square of what else it may change.

        The data t have the variance σ²(1 + rμ) without it, and mean h·δ with it: so δ is estimated by least squares. Of a change
        by δ the estimate without it sees all but `unseen`.
        """
        axes, used = self.axes, weights > 1e-6
        r, weight = GRID[used][:, None], weights[used]
        noise = spread2 / (1.0 + r)
        h, scale = axes.ft @ x, 1.0 + r * axes.mu
        information = (h**2 / scale).sum(axis=1, keepdims=True) / noise
        delta = (h * t / scale).sum(axis=1, keepdims=True) / noise / np.maximum(information, 1e-300)
        error = 1.0 / np.maximum(information, 1e-300)
        unseen = float(x @ x) - ((h + r * (axes.pft @ x)) * h / scale).sum(axis=1)
        prior = noise * r * QUANTILES**2
        kept = prior / (prior + error)
        likely = np.exp(-0.5 * delta**2 * (1.0 / (prior + error) - 1.0 / error)) * np.sqrt(error / (prior + error))
        total = likely.sum(axis=1, keepdims=True)
        some = likely / total
        rare = RARE * likely / (RARE * total + (1.0 - RARE) * len(QUANTILES))
        move = float(weight @ (unseen * (rare * kept * delta).sum(axis=1)))
        off = unseen[:, None] * kept * delta - move
        return move, float(weight @ (some * (off**2 + unseen[:, None] ** 2 * kept * error)).sum(axis=1))

    def chance_variance(self, values: Flags, share: float) -> float:
        """Return the variance of the papers' estimate if quasi and sensitive values were unrelated."""
        x = self.totals * values
        return share * (1 - share) * float(x.sum() - (values * (self.g0 @ values)).sum())


def _axes(correlation: float, root: Floats, eigenvalues: Floats, vectors: Floats) -> PrincipalAxes:
    from scipy.linalg import eigh

    place = np.arange(len(root))
    near = correlation ** np.abs(place[:, None] - place) if correlation else np.eye(len(root))
    prior = near * np.outer(root, root)
    half = np.sqrt(eigenvalues)
    mu, turn = eigh(half[:, None] * (vectors.T @ prior @ vectors) * half)
    f = np.ascontiguousarray((vectors * half) @ turn)
    pf = np.ascontiguousarray(prior @ f)
    return PrincipalAxes(
        correlation,
        prior,
        np.maximum(mu, 0.0),
        np.ascontiguousarray(turn.T @ (vectors / half).T),
        f,
        pf,
        np.ascontiguousarray(f.T),
        np.ascontiguousarray(pf.T),
        float(root @ prior @ root / (root @ root)),
    )


def _code_table(index: BucketIndex, column: int) -> Floats | None:
    codes = len(index.table.counts[column])
    if codes * index.values > _TABLE_ENTRIES:
        return None
    out = np.zeros((codes, index.values))
    _kernels.spread_codes(
        index.table.codes[column], index.group, index.shown, index.st_start, index.st_value, index.st_count, out
    )
    return out


def _evidence_sample(index: BucketIndex, tables: tuple[Floats | None, ...]) -> list[tuple[int, Floats]]:
    """Return the most frequent single quasi values: how many people, and the papers' estimate per sensitive value."""
    codes = []
    for counts, table in zip(index.table.counts, tables, strict=True):
        if table is not None:
            codes += [(int(people), table[code]) for code, people in enumerate(counts) if 0 < people < index.rows]
    return sorted(codes, key=lambda item: -min(item[0], index.rows - item[0]))[:_EVIDENCE_CODES]
