"""The likelihood estimator for boxes: learn from the differences between boxes what the inside of a box looks like.

The papers' estimate takes the people of a box as alike. But boxes with more women, or with more teachers' degrees, show other
values than boxes with fewer, and from many boxes together one learns how a value's share changes with each column.

**The model.** For a set S of sensitive values, person i with quasi values x_i has a value in S with chance
μ(x_i) = μ0 + φ(x_i)·w, and what a box shows is the sum over its people, with variance s² = p̄(1 − p̄) a person. φ are features of
single columns (every level for categories; for numbers smooth functions of rank, and a little for every level) and of pairs of
the five columns that matter most. w is normal around 0. Its variances, one per column and pair relative to s², are common to all
sensitive values and are fitted to all of them by marginal likelihood, so columns that tell nothing count for nothing; how
strong the whole is for the asked set S is then averaged over a grid by its own marginal likelihood.

**The estimate** is the papers' Σ k·s/N over boxes, plus what the model says about how the people asked about differ from the
rest of their own box: Σ_asked φ − Σ_boxes (k/N)·Σ_box φ, times the posterior mean of w. What the model misses in a box stays
spread evenly over it. A box asked about as a whole is counted exactly.

**The error** has four parts: the exact one of a random placement inside boxes; the posterior variance of w; and two for what the
model misses: that people come in clusters whose likeness φ does not see, Σ (k(N − k)/N)²/N, and that the correction itself is
off by a share of it. Their weights were measured on generated tables at development time. Those for tight cuts are larger: a
tight cut is refused where values are concentrated, so the differences left inside boxes are larger than those between them.
See docs/methods/boxes.md for the coverage that results.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from sfumato.arrays import Bytes, Floats, Integers, Small
from sfumato.query import _trend_kernels
from sfumato.query._one_thread import one_thread
from sfumato.query.compile import Piece
from sfumato.query.index import BucketIndex, index_of
from sfumato.release.buckets import BucketsRelease
from sfumato.table.column import Column

FEWEST_BOXES = 10
"""With fewer boxes there is too little to learn from, and the papers' estimator is used."""

LEVELS = 32
"""Levels of a column that are told apart; neighbouring numbers and rare categories share one."""

GRID: Floats = np.logspace(-1.5, 1.5, 13)
"""Strengths of the trend, relative to the one common to all values, that are averaged over."""

_SINGLE, _PAIRED, _PAIRED_COLUMNS = 16, 6, 5  # features of a column alone, in a pair; columns that are paired
_FEATURES = 400  # of all single columns together
_REACH, _OWN = 0.3, 0.1  # how far, in rank, levels of a number resemble each other; what every level has of its own
_TYPICAL, _WEIGHT = 1e-3, 1.0  # prior guess of a block's variance, and how many features' worth it counts
_NEGLIGIBLE = 3e-6
_ROUNDS, _CAREFUL = 20, 4
_FITTED_VALUES = 200


@dataclass(frozen=True)
class Misses:
    """What the model does not see: the squared share by which the correction is off, and the size of clusters of like people."""

    share2: float
    cluster: float


Locality = Literal["safe", "tight", "matched", "annealed"]

MISSES: dict[Locality, Misses] = {
    "safe": Misses(0.0, 0.5),
    "tight": Misses(0.03, 1.5),
    "matched": Misses(0.03, 1.5),
    "annealed": Misses(0.03, 1.5),
}
"""By how near people came together. For near groups they are too small, so that no interval is given."""


@dataclass(frozen=True, eq=False)
class Block:
    """Features of one column, or of a pair of columns: a row of them for every level, or pair of levels."""

    left: int
    right: int  # −1 for a single column
    width: int
    features: Floats


@dataclass(frozen=True, eq=False)
class Trend:
    """What is learned once per release. `turn` brings features into coordinates in which the data speak of each one alone."""

    index: BucketIndex
    levels: Bytes  # [people × columns]: one person's lie together, because questions read all of them
    blocks: tuple[Block, ...]
    sums: Floats  # [boxes × features]
    scale: Floats  # standard deviation of each weight, relative to s
    turn: Floats
    strength: Floats
    told: Floats  # [values × coordinates]: what the boxes say of each value
    gain: Floats  # [grid × coordinates]
    evidence: Floats  # [grid]
    misses: Misses

    def estimate(self, piece: Piece, rows: Small, people: int, hits: Integers) -> tuple[float, float]:
        """Return what to add to the papers' estimate, and to its variance."""
        share = float(self.index.totals[piece.values].sum()) / self.index.rows
        s2 = share * (1.0 - share)
        if not 0.0 < share < 1.0:
            return 0.0, 0.0
        asked = self._features(rows, people, hits) * self.scale
        along = asked @ self.turn
        told = self.told[piece.values].sum(axis=0)
        weights = self._weigh(piece, told, s2)
        gain = weights @ self.gain
        shift = float(along @ (gain * told))
        unseen = max(0.0, float(asked @ asked - along @ along)) * float(weights @ GRID)
        sizes = self.index.sizes
        clustered = float(((hits * (sizes - hits) / sizes) ** 2 / sizes).sum())
        known = float((gain * along**2).sum()) + unseen
        return shift, s2 * (known + self.misses.cluster * clustered) + self.misses.share2 * shift**2

    def _features(self, rows: Small, people: int, hits: Integers) -> Floats:
        """Return how the features of the people asked about differ from those of as many drawn from the same boxes."""
        cells = np.array([len(block.features) for block in self.blocks])
        start = np.concatenate(([0], np.cumsum(cells)))
        found = _trend_kernels.add_asked(
            rows,
            people,
            self.index.bucket,
            hits,
            self.index.sizes,
            self.levels,
            np.array([block.left for block in self.blocks]),
            np.array([block.right for block in self.blocks]),
            np.array([block.width for block in self.blocks]),
            start,
        )
        parts = [found[a : a + n] @ block.features for a, n, block in zip(start, cells, self.blocks, strict=False)]
        out: Floats = np.concatenate([np.zeros(0), *parts])
        _trend_kernels.take_expected(hits, self.index.sizes, self.sums, out)
        return out

    def _weigh(self, piece: Piece, told: Floats, s2: float) -> Floats:
        """Return the posterior weight of each strength in the grid, for the asked set of values."""
        wanted = self.index.wanted(piece.values)
        total = float((wanted**2 / self.index.sizes).sum() - wanted.sum() ** 2 / self.index.rows)
        logs = self.evidence - 0.5 * (total - self.gain @ told**2) / s2
        weights: Floats = np.exp(logs - logs.max())
        weights /= weights.sum()
        return weights


def boxes_by(release: BucketsRelease) -> Locality | None:
    """Return how near people came together; None where the manifest does not say that they did, or in few buckets only.

    Buckets of near people are boxes by safe or tight cuts, or near groups, matched or annealed, which may touch.
    """
    basis = release.manifest.basis
    return basis if basis in MISSES and len(release.sizes) >= FEWEST_BOXES else None


_known: weakref.WeakKeyDictionary[BucketsRelease, Trend] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def trend_of(release: BucketsRelease) -> Trend:
    """Return what the boxes of a release teach, made on first use and kept as long as the release."""
    with _lock:
        known = _known.get(release)
        if known is None:
            with one_thread():
                known = _known[release] = _learn(release)
        return known


def _learn(release: BucketsRelease) -> Trend:
    index = index_of(release)
    level_of = [_levels(column, times) for column, times in zip(release.quasi, index.table.counts, strict=True)]
    levels = np.stack([of[codes] for of, codes in zip(level_of, index.table.codes, strict=True)], axis=1)
    most = max(1, min(_SINGLE, _FEATURES // len(level_of)))
    single = [_Levels.of(column, level, index.rows) for column, level in zip(release.quasi, levels.T, strict=True)]
    blocks = [Block(j, -1, 1, levels_of.features(most)) for j, levels_of in enumerate(single)]
    data = _Data.of(index, levels, blocks)
    variance = data.fit()
    strongest = sorted(sorted(range(len(blocks)), key=lambda j: (-variance[j], j))[:_PAIRED_COLUMNS])
    for j, k in combinations(strongest, 2):
        left, right = single[j].features(_PAIRED), single[k].features(_PAIRED)
        both = (left[:, None, :, None] * right[None, :, None, :]).reshape(len(left) * len(right), -1)
        blocks.append(Block(j, k, len(right), both))
    data, variance = _Data.of(index, levels, blocks).without_the_negligible()
    scale = np.sqrt(variance[data.block])
    strength, turn = eigh(data.together * np.outer(scale, scale)) if len(scale) else (np.zeros(0), np.zeros((0, 0)))
    kept = strength > 1e-10 * max(strength.max(initial=0.0), 1e-300)
    strength, turn = strength[kept], np.ascontiguousarray(turn[:, kept])
    return Trend(
        index,
        levels,
        data.blocks,
        data.sums,
        scale,
        turn,
        strength,
        (data.told * scale) @ turn,
        GRID[:, None] / (1.0 + GRID[:, None] * strength),
        -0.5 * np.log1p(GRID[:, None] * strength).sum(axis=1),
        MISSES[boxes_by(release) or "tight"],
    )


def _levels(column: Column, times: Integers) -> Bytes:
    """Return the level of each code: its own, or shared with neighbouring numbers or with the other rare categories."""
    if column.size <= LEVELS:
        return np.arange(column.size, dtype=np.uint8)
    if column.kind == "categorical":
        level = np.full(column.size, LEVELS - 1, np.uint8)
        level[np.argsort(-times, kind="stable")[: LEVELS - 1]] = np.arange(LEVELS - 1)
        return level
    many = len(column.values)
    middle = (np.cumsum(times[:many]) - times[:many] / 2) / max(int(times[:many].sum()), 1)
    shared = np.unique(np.minimum((middle * (LEVELS - 1)).astype(np.int64), LEVELS - 2), return_inverse=True)[1]
    return np.append(shared, shared.max(initial=-1) + 1)[: column.size].astype(np.uint8)


@dataclass(frozen=True, eq=False)
class _Levels:
    """A column's levels: how many people have each, whether they are in order, and whether the last one means missing."""

    share: Floats
    ordered: bool
    missing: bool

    @classmethod
    def of(cls, column: Column, level: Bytes, rows: int) -> _Levels:
        many = np.bincount(level)
        return cls(many / rows, column.kind != "categorical", column.has_missing)

    def features(self, most: int) -> Floats:
        """Return the leading directions in which the levels of a column may differ, of mean 0 and total variance 1."""
        size, share = len(self.share), self.share
        alike = np.eye(size)
        if self.ordered:
            rank = np.cumsum(share) - share / 2
            near = np.exp(-np.abs(rank[:, None] - rank) / _REACH)
            if self.missing:
                near[-1, :-1] = near[:-1, -1] = 0.0
            alike = near + _OWN * alike
        centred = np.eye(size) - share
        root = np.sqrt(share)
        variances, axes = np.linalg.eigh(root[:, None] * (centred @ alike @ centred.T) * root)
        chosen = np.argsort(-variances, kind="stable")[:most]
        chosen = chosen[variances[chosen] > 1e-6 * max(variances.max(initial=0.0), 1e-300)]
        found = axes[:, chosen] * np.sqrt(variances[chosen]) / np.maximum(root, 1e-12)[:, None]
        found[share == 0] = 0.0
        total = float((share[:, None] * found**2).sum())
        scaled: Floats = found / np.sqrt(total) if total > 1e-9 else found[:, :0]
        return scaled


@dataclass(frozen=True, eq=False)
class _Data:
    """The regression of box shares on box means of features, as sums over boxes."""

    blocks: tuple[Block, ...]
    block: Integers  # which block a feature belongs to
    sums: Floats
    together: Floats  # [features × features]
    told: Floats  # [values × features]
    spread2: Floats  # s² of each value

    @classmethod
    def of(cls, index: BucketIndex, levels: Bytes, blocks: list[Block]) -> _Data:
        widths = [block.features.shape[1] for block in blocks]
        sums = np.zeros((index.buckets, sum(widths)))
        start = np.concatenate(([0], np.cumsum(index.sizes)))
        for block, first in zip(blocks, np.cumsum([0, *widths]), strict=False):
            cells = levels[:, block.left].astype(np.int32)
            if block.right >= 0:
                cells = cells * block.width + levels[:, block.right]
            _trend_kernels.add_by_box(cells, block.features, start, sums, first)
        away = sums / index.sizes[:, None] - sums.sum(axis=0) / index.rows
        shown = csr_array((index.st_count.astype(float), index.st_value, index.st_start), shape=(index.buckets, index.values))
        share = index.totals / index.rows
        return cls(
            tuple(blocks),
            np.repeat(np.arange(len(blocks)), widths),
            sums,
            (away * index.sizes[:, None]).T @ away,
            shown.T @ away,
            share * (1.0 - share),
        )

    def fit(self) -> Floats:
        """Return the variance of each block that makes all values' box shares most likely.

        A few rounds of expectation maximisation, which are sure to improve, then MacKay's fixed point, which is fast.
        """
        used = np.argsort(-self.spread2, kind="stable")[:_FITTED_VALUES]
        used = used[self.spread2[used] > 0]
        told = self.told[used].T / np.sqrt(self.spread2[used])
        blocks = len(self.blocks)
        many = np.bincount(self.block, minlength=blocks)
        variance = np.full(blocks, 10 * _TYPICAL)
        for step in range(_ROUNDS if len(self.block) and len(used) else 0):
            scale = np.sqrt(variance[self.block])
            left = np.linalg.inv(self.together * np.outer(scale, scale) + np.eye(len(scale)))
            found = left @ (told * scale[:, None])
            square = np.bincount(self.block, weights=(found**2).sum(axis=1), minlength=blocks) * variance
            open_ = np.bincount(self.block, weights=np.diag(left), minlength=blocks)
            if step < _CAREFUL:
                variance = (square + len(used) * open_ * variance + _WEIGHT * _TYPICAL) / (len(used) * many + _WEIGHT)
            else:
                variance = (square + _WEIGHT * _TYPICAL) / (len(used) * np.maximum(many - open_, 0.0) + _WEIGHT)
        fitted: Floats = np.maximum(variance, 1e-12)
        return fitted

    def without_the_negligible(self) -> tuple[_Data, Floats]:
        """Return the data without blocks that hardly tell anything, and the variances of the others: questions cost less."""
        variance = self.fit()
        kept = variance > _NEGLIGIBLE
        features = kept[self.block]
        data = _Data(
            tuple(block for block, keep in zip(self.blocks, kept, strict=True) if keep),
            (np.cumsum(kept) - 1)[self.block[features]],
            np.ascontiguousarray(self.sums[:, features]),
            self.together[np.ix_(features, features)],
            self.told[:, features],
            self.spread2,
        )
        return data, variance[kept]
