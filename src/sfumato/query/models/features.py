"""Features of people for the trend estimator: the directions in which the levels of a column, or of two columns, may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Bytes, Floats, Integers
from sfumato.query.models import _trend_kernels as kernels
from sfumato.query.rows import BucketIndex
from sfumato.table.column import Column

LEVELS = 32
"""Levels of a column that are kept apart; neighbouring numbers and rare categories share one."""

_REACH, _OWN = 0.3, 0.1  # how far, in rank, levels of a number resemble each other; what every level has of its own


@dataclass(frozen=True, eq=False)
class Block:
    """Features of one column, or of a pair of columns: a row of them for every level, or pair of levels."""

    left: int
    right: int  # −1 for a single column
    width: int
    features: Floats

    def numbers(self, levels: Bytes) -> Integers:
        """Return which row of the features each person has."""
        first: Integers = levels[:, self.left].astype(np.int32)
        return first if self.right < 0 else first * self.width + levels[:, self.right]


def sums_by_box(index: BucketIndex, levels: Bytes, blocks: Sequence[Block]) -> Floats:
    """Return [boxes × features]: the features of each box's people, added up."""
    widths = [block.features.shape[1] for block in blocks]
    sums = np.zeros((index.buckets, sum(widths)))
    start = np.searchsorted(index.bucket, np.arange(index.buckets + 1))
    for block, first in zip(blocks, np.cumsum([0, *widths]), strict=False):
        kernels.add_by_box(block.numbers(levels), np.ascontiguousarray(block.features), start, index.table.each, sums, first)
    return sums


def levels_of(column: Column, times: Integers) -> Bytes:
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
class Levels:
    """A column's levels: how many people have each, whether they are in order, and whether the last one means missing."""

    share: Floats
    ordered: bool
    missing: bool

    @classmethod
    def of(cls, column: Column, level: Bytes, times: Integers) -> Levels:
        """Return the levels of a column, where each code has one, and so many people."""
        many = np.bincount(level, times)
        return cls(many / times.sum(), column.kind != "categorical", column.has_missing)

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
