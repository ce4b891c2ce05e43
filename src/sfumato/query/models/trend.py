"""The likelihood estimator for boxes: learn from the differences between boxes what the inside of a box looks like.

The papers' estimate takes the people of a box as alike. But boxes with more women, or with more teachers' degrees, show other
values than boxes with fewer, and from many boxes together one learns how a value's share changes with each column.

**The model.** For a set S of sensitive values, person i with quasi values x_i has a value in S with chance
μ(x_i) = μ0 + φ(x_i)·w, and what a box shows is the sum over its people, with variance s² = p̄(1 − p̄) a person. φ are features of
single columns (every level for categories; for numbers smooth functions of rank, and a little for every level) and of pairs of
the five columns that matter most. w is normal around 0 (a ridge prior). Its variances, one per column and pair relative to s²,
are common to all sensitive values and are fitted to all of them by marginal likelihood, so columns that tell nothing count for
nothing; how strong the whole is for the asked set S is then averaged over a grid by its own marginal likelihood.

**The estimate** is the papers' Σ k·s/N over boxes, plus what the model says about how the people asked about differ from the
rest of their own box: Σ_asked φ − Σ_boxes (k/N)·Σ_box φ, times the posterior mean of w. What the model misses in a box stays
spread evenly over it. A box asked about as a whole is counted exactly.

**The error** has four parts: the exact one of a random placement inside boxes; the posterior variance of w; and two for what the
model misses: that people come in clusters whose likeness φ does not see, Σ (k(N − k)/N)²/N, and that the correction itself is
off by a share of it. Their weights were measured on generated tables at development time. Those for tight cuts are larger: a
tight cut is refused where values are concentrated, so the differences left inside boxes are larger than those between them.
See docs/answers.md for the coverage that results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from sfumato.arrays import Array, Bytes, Floats, Integers, Small
from sfumato.query.language.compile import Piece
from sfumato.query.model_cache import fitting
from sfumato.query.models import _trend_kernels as kernels
from sfumato.query.models.cells import Block, Joint, Levels, levels_of, sums_by_box
from sfumato.query.models.protocol import Moments
from sfumato.query.rows import Asked, BucketIndex, Buckets
from sfumato.table.column import Column

FEWEST_BOXES = 10
"""With fewer boxes there is too little to learn from, and the papers' estimator is used."""

GRID: Floats = np.logspace(-1.5, 1.5, 13)
"""Strengths of the trend, relative to the one common to all values, that are averaged over."""

_SINGLE, _PAIRED, _PAIRED_COLUMNS = 16, 6, 5  # features of a column alone, in a pair; columns that are paired
_FEATURES = 400  # of all single columns together
_TYPICAL, _WEIGHT = 1e-3, 1.0  # prior guess of a block's variance, and how many features' worth it counts
_NEGLIGIBLE = 3e-6
_ROUNDS, _CAREFUL = 20, 4
_FITTED_VALUES = 200


@dataclass(frozen=True)
class ModelError:
    """What the model does not see: the squared share by which the correction is off, and the size of clusters of like people.

    `cover` says whether intervals of answers from such groups hold the truth as often as they say. `drift` is by how much of what
    a random placement leaves open inside boxes the model errs alike in all of them.
    """

    share2: float
    cluster: float
    cover: bool = True
    drift: float = 0.0


MODEL_ERRORS: dict[str | None, ModelError] = {
    "safe": ModelError(0.0, 0.5),
    "soft": ModelError(0.03, 1.5),
    "tight": ModelError(0.03, 1.5),
    "matched": ModelError(0.03, 1.5, cover=False),
    "annealed": ModelError(0.03, 1.5, cover=False),
    "noisy": ModelError(0.2, 1.5, drift=0.06),
}
"""By the basis of the groups, for those that put near people together. The drift of noisy ones was found on real tables, where it
counts once there are hundreds of thousands of people."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """The weights of the features given the boxes, in coordinates in which the data speak of each one alone (`turn`)."""

    scale: Floats  # standard deviation of each weight, relative to s
    turn: Floats  # [features × coordinates]
    score: Floats  # [values × coordinates]: how what the boxes show of each value goes with the coordinates
    gain: Floats  # [grid × coordinates]
    evidence: Floats  # [grid]


@dataclass(frozen=True, eq=False)
class Trend:
    """What is fitted once per release."""

    index: BucketIndex
    levels: Bytes  # [people × columns]: one person's lie together, because questions read all of them
    blocks: tuple[Block, ...]
    sums: Floats  # [boxes × features]
    posterior: Posterior
    model_error: ModelError
    noise: float = 0.0  # variance that noise adds to what boxes show of one value, a person

    version: ClassVar[int] = 1

    @classmethod
    def fit(cls, groups: Buckets) -> Trend:
        """Return what the differences between boxes teach about the inside of a box."""
        assert groups.model_error is not None
        return _learn(groups.index, groups.columns, groups.model_error, _noise(groups))

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        shapes = np.array([(block.left, block.right, block.width) for block in self.blocks], np.int64).reshape(-1, 3)
        features = {f"block {k}": block.features for k, block in enumerate(self.blocks)}
        return {"levels": self.levels, "sums": self.sums, "blocks": shapes, **features, **vars(self.posterior)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: Buckets) -> Trend:
        """Return the trend that has these arrays; `ValueError` if they are not of these groups."""
        assert groups.model_error is not None
        index, columns = groups.index, len(groups.columns)
        levels = fitting(arrays, "levels", (index.rows, columns), "|u1")
        blocks = []
        for k, (left, right, width) in enumerate(fitting(arrays, "blocks", (None, 3), "<i8").tolist()):
            block = Block(left, right, width, fitting(arrays, f"block {k}", (None, None)))
            if not (0 <= left < columns and -1 <= right < columns and 0 <= block.numbers(levels).max() < len(block.features)):
                raise ValueError("levels without features")
            blocks.append(block)
        features = sum(block.features.shape[1] for block in blocks)
        turn = fitting(arrays, "turn", (features, None))
        posterior = Posterior(
            fitting(arrays, "scale", (features,)),
            turn,
            fitting(arrays, "score", (index.values, turn.shape[1])),
            fitting(arrays, "gain", (len(GRID), turn.shape[1])),
            fitting(arrays, "evidence", (len(GRID),)),
        )
        sums = fitting(arrays, "sums", (index.groups, features))
        return cls(index, levels, tuple(blocks), sums, posterior, groups.model_error, _noise(groups))

    def estimate(self, question: Asked) -> Moments:
        """Return what the model makes of the papers' estimate."""
        uniform = question.uniform
        shift, more = self.shift(question.piece, question.rows, question.people, question.hits)
        drift = self.model_error.drift * uniform.placement
        return Moments(uniform.value + shift, uniform.variance + drift**2 + more)

    def shift(self, piece: Piece, rows: Small, people: int, hits: Integers) -> tuple[float, float]:
        """Return what to add to the papers' estimate, and to its variance."""
        share = float(self.index.totals[piece.values].sum()) / self.index.people
        if not 0.0 < share < 1.0:
            return 0.0, 0.0
        own, model = share * (1.0 - share), self.posterior
        many = int(piece.values.sum())
        s2 = own + self.noise * many * (1.0 - many / self.index.values)
        asked = self.features(rows, people, hits) * model.scale
        along = asked @ model.turn
        score = model.score[piece.values].sum(axis=0)
        weights = self.weigh(self.index.wanted(piece.values), score, s2)
        gain = weights @ model.gain
        shift = float(along @ (gain * score))
        unseen = max(0.0, float(asked @ asked - along @ along)) * float(weights @ GRID)
        sizes = self.index.sizes
        clustered = float(((hits * (sizes - hits) / sizes) ** 2 / sizes).sum())
        known = float((gain * along**2).sum()) + unseen
        return shift, s2 * known + own * self.model_error.cluster * clustered + self.model_error.share2 * shift**2

    @cached_property
    def block_start(self) -> Integers:
        """Where the rows of each block start among those of all."""
        return np.cumsum([0, *(len(block.features) for block in self.blocks)]).astype(np.int64)

    @cached_property
    def joint(self) -> Joint:
        """The levels of people, columns combined as blocks need them; one person's codes lie together."""
        starts = zip(self.blocks, self.block_start.tolist(), strict=False)
        blocks = [(block.left, block.right, block.width, start) for block, start in starts]
        joint = Joint.of(self.levels, blocks, int(self.block_start[-1]))
        return joint._replace(codes=np.ascontiguousarray(joint.codes.T))

    @cached_property
    def flat(self) -> tuple[Floats, Integers]:
        """The features of all blocks one behind the other, and where each block begins."""
        parts = [block.features.ravel() for block in self.blocks]
        ends = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        return np.concatenate([np.zeros(0), *parts]), ends

    def features(self, rows: Small, people: int, hits: Integers) -> Floats:
        """Return how the features of the people asked about differ from those of as many drawn from the same boxes."""
        index = self.index
        times = kernels.add_asked(rows, people, index.group, index.table.each, hits, index.sizes, self.joint)
        out: Floats = np.zeros(self.sums.shape[1])
        kernels.add_features(times, self.block_start, *self.flat, out)
        kernels.take_expected(hits, index.sizes, self.sums, out)
        return out

    def weigh(self, wanted: Integers | Floats, score: Floats, s2: float) -> Floats:
        """Return the posterior weight of each strength in the grid, for values of which boxes show so many, or such sums."""
        total = float((wanted**2 / self.index.sizes).sum() - wanted.sum() ** 2 / self.index.people)
        logs = self.posterior.evidence - 0.5 * (total - self.posterior.gain @ score**2) / s2
        weights: Floats = np.exp(logs - logs.max())
        weights /= weights.sum()
        return weights


def _noise(groups: Buckets) -> float:
    """Return the variance that noise adds to a box's count of one value, divided by its people.

    Boxes are about equally large, so that it is taken as one more variance a person.
    """
    return float(groups.noise_variance.sum()) / groups.index.people


def _learn(index: BucketIndex, columns: Sequence[Column], model_error: ModelError, noise: float) -> Trend:
    """Return what the boxes of a release teach; `columns` are its quasi columns."""
    level_of = [levels_of(column, times) for column, times in zip(columns, index.table.counts, strict=True)]
    levels = np.stack([of[codes] for of, codes in zip(level_of, index.table.codes, strict=True)], axis=1)
    most = max(1, min(_SINGLE, _FEATURES // len(level_of)))
    known = zip(columns, level_of, index.table.counts, strict=True)
    single = [Levels.of(column, of, times) for column, of, times in known]
    blocks = [Block(j, -1, 1, own.features(most)) for j, own in enumerate(single)]
    variance = _Regression.of(index, levels, blocks, noise).fit()
    strongest = sorted(sorted(range(len(blocks)), key=lambda j: (-variance[j], j))[:_PAIRED_COLUMNS])
    for j, k in combinations(strongest, 2):
        left, right = single[j].features(_PAIRED), single[k].features(_PAIRED)
        both = (left[:, None, :, None] * right[None, :, None, :]).reshape(len(left) * len(right), -1)
        blocks.append(Block(j, k, len(right), both))
    data, variance = _Regression.of(index, levels, blocks, noise).without_the_negligible()
    return Trend(index, levels, data.blocks, data.sums, data.posterior(np.sqrt(variance[data.block])), model_error, noise)


@dataclass(frozen=True, eq=False)
class _Regression:
    """The regression of box shares on box means of features, as sums over boxes."""

    blocks: tuple[Block, ...]
    block: Integers  # which block a feature belongs to
    sums: Floats
    together: Floats  # [features × features]
    score: Floats  # [values × features]
    spread2: Floats  # s² of each value

    @classmethod
    def of(cls, index: BucketIndex, levels: Bytes, blocks: list[Block], noise: float) -> _Regression:
        from scipy.sparse import csr_array  # here and below: to ask what was learned before, scipy is not needed

        sums = sums_by_box(index, levels, blocks)
        away = sums / index.sizes[:, None] - sums.sum(axis=0) / index.people
        shown = csr_array((index.st_count.astype(float), index.st_value, index.st_start), shape=(index.groups, index.values))
        share = np.clip(index.totals / index.people, 0.0, 1.0)
        return cls(
            blocks=tuple(blocks),
            block=np.repeat(np.arange(len(blocks)), [block.features.shape[1] for block in blocks]),
            sums=sums,
            together=(away * index.sizes[:, None]).T @ away,
            score=shown.T @ away,
            spread2=share * (1.0 - share) + noise * (1.0 - 1.0 / index.values),
        )

    def fit(self) -> Floats:
        """Return the variance of each block that makes all values' box shares most likely.

        A few rounds of expectation maximisation, which are sure to improve, then MacKay's fixed point, which is fast.
        """
        used = np.argsort(-self.spread2, kind="stable")[:_FITTED_VALUES]
        used = used[self.spread2[used] > 0]
        score = self.score[used].T / np.sqrt(self.spread2[used])
        blocks = len(self.blocks)
        many = np.bincount(self.block, minlength=blocks)
        variance = np.full(blocks, 10 * _TYPICAL)
        for step in range(_ROUNDS if len(self.block) and len(used) else 0):
            scale = np.sqrt(variance[self.block])
            left = np.linalg.inv(self.together * np.outer(scale, scale) + np.eye(len(scale)))
            rotated = left @ (score * scale[:, None])
            square = np.bincount(self.block, weights=(rotated**2).sum(axis=1), minlength=blocks) * variance
            open_ = np.bincount(self.block, weights=np.diag(left), minlength=blocks)
            if step < _CAREFUL:
                variance = (square + len(used) * open_ * variance + _WEIGHT * _TYPICAL) / (len(used) * many + _WEIGHT)
            else:
                variance = (square + _WEIGHT * _TYPICAL) / (len(used) * np.maximum(many - open_, 0.0) + _WEIGHT)
        fitted: Floats = np.maximum(variance, 1e-12)
        return fitted

    def without_the_negligible(self) -> tuple[_Regression, Floats]:
        """Return the data without blocks that hardly tell anything, and the variances of the others: questions cost less."""
        variance = self.fit()
        kept = variance > _NEGLIGIBLE
        features = kept[self.block]
        data = _Regression(
            blocks=tuple(block for block, keep in zip(self.blocks, kept, strict=True) if keep),
            block=(np.cumsum(kept) - 1)[self.block[features]],
            sums=np.ascontiguousarray(self.sums[:, features]),
            together=self.together[np.ix_(features, features)],
            score=self.score[:, features],
            spread2=self.spread2,
        )
        return data, variance[kept]

    def posterior(self, scale: Floats) -> Posterior:
        """Return the posterior of weights with these standard deviations."""
        from scipy.linalg import eigh

        strength, turn = eigh(self.together * np.outer(scale, scale)) if len(scale) else (np.zeros(0), np.zeros((0, 0)))
        kept = strength > 1e-10 * max(strength.max(initial=0.0), 1e-300)
        strength, turn = strength[kept], np.ascontiguousarray(turn[:, kept])
        return Posterior(
            scale=scale,
            turn=turn,
            score=(self.score * scale) @ turn,
            gain=GRID[:, None] / (1.0 + GRID[:, None] * strength),
            evidence=-0.5 * np.log1p(GRID[:, None] * strength).sum(axis=1),
        )
