"""People of a box who have the same levels in every column, as one cell: what the multiplicative model works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.query.models.features import Levels, levels_of
from sfumato.query.rows import BucketIndex, RowIndex
from sfumato.table.column import Column

SMOOTH = 8
"""Smooth functions of rank for a number, beside what every level has of its own."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct rows of levels of every box. Levels of all columns are numbered together, column by column."""

    levels: Small  # [cells × columns]
    weight: Integers  # people of a cell
    start: Integers  # first cell of each box, and one more
    varies: Array  # [boxes × columns]: whether the people of the box differ in the column
    cell: Small  # of each person

    @property
    def arrays(self) -> tuple[Small, Integers, Integers, Array]:
        """What kernels take."""
        return self.levels, self.weight, self.start, self.varies

    @property
    def sizes(self) -> Floats:
        """People of each box."""
        box = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        people: Floats = np.bincount(box, self.weight, len(self.start) - 1).astype(np.float64)
        return people

    @classmethod
    def of(cls, index: BucketIndex, numbered: Small) -> Cells:
        """Return the cells of people whose levels are `numbered` [people × columns]."""
        order = np.lexsort((*numbered.T, index.bucket))
        rows, box = numbered[order], index.bucket[order]
        new = np.ones(len(rows), bool)
        new[1:] = (box[1:] != box[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
        number = np.cumsum(new) - 1
        cell = np.empty(len(rows), np.int32)
        cell[order] = number
        levels = np.ascontiguousarray(rows[new])
        start = np.searchsorted(box[new], np.arange(index.buckets + 1)).astype(np.int64)
        times = None if index.table.times is None else index.table.times[order]
        weight = np.bincount(number, times, len(levels)).astype(np.int64)
        return cls(levels, weight, start, _varies(levels, start), cell)

    def merged(self, whole: Integers) -> tuple[Cells, Integers]:
        """Return the cells of larger boxes, box b being part of whole[b], and the old cells in their new order."""
        box = np.repeat(whole, np.diff(self.start))
        order = np.argsort(box, kind="stable")
        levels = np.ascontiguousarray(self.levels[order])
        start = np.searchsorted(box[order], np.arange(int(whole.max()) + 2)).astype(np.int64)
        return Cells(levels, self.weight[order], start, _varies(levels, start), np.zeros(0, np.int32)), order


def _varies(levels: Small, start: Integers) -> Array:
    """Return per box and column whether the cells differ."""
    full = np.diff(start) > 0
    varies = np.zeros((len(start) - 1, levels.shape[1]), bool)
    if full.any():
        first = start[:-1][full]
        varies[full] = np.maximum.reduceat(levels, first) != np.minimum.reduceat(levels, first)
    return varies


@dataclass(frozen=True, eq=False)
class Directions:
    """What the weights of the levels are made of: [levels × directions], the first being the same for everybody.

    A category has one direction a level. A number has smooth functions of its rank, and one direction for every level that
    is a single number, in two blocks: the release decides how much of each there is.
    """

    matrix: Floats
    block: Integers  # of each direction; −1 for the first


def number_levels(table: RowIndex, columns: Sequence[Column]) -> tuple[Small, Directions]:
    """Return every person's levels, numbered column by column, and the directions in which they may differ."""
    parts, blocks, shapes, numbered = [], [], [], []
    first = 0
    for j, (column, times, codes) in enumerate(zip(columns, table.counts, table.codes, strict=True)):
        of = levels_of(column, times)
        numbered.append(of[codes].astype(np.int32) + np.int32(first))
        known = Levels.of(column, of, times)
        size = len(known.share)
        alone = np.bincount(of, minlength=size) == 1  # neighbouring numbers that share a level have only what is smooth
        own = [np.eye(size)[:, alone]] if size > 1 and alone.any() else []
        if known.ordered and size > 4:
            own.insert(0, known.features(SMOOTH))
        for features in own:
            parts.append((first, features))
            shapes.append(features.shape[1])
            blocks += [len(shapes) - 1] * features.shape[1]
        if j == 0:
            heads = size
        first += size
    matrix = np.zeros((first, 1 + sum(shapes)))
    matrix[:heads, 0] = 1.0
    at = 1
    for offset, features in parts:
        matrix[offset : offset + len(features), at : at + features.shape[1]] = features
        at += features.shape[1]
    return np.stack(numbered, axis=1), Directions(matrix, np.array([-1, *blocks], np.int64))
