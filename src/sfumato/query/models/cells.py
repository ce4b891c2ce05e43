"""People of a box who have the same levels in every column, as one cell: what the multiplicative model works on.

Cells and the trend estimator know people by `Levels`: the directions in which levels of a column, or of two, may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Bytes, Floats, Integers, Small
from sfumato.query.models import _trend_kernels as kernels
from sfumato.query.rows import BucketIndex, RowIndex
from sfumato.table.column import Column

SMOOTH = 8
"""Smooth functions of rank for a number, beside what every level has of its own."""


class Cells(NamedTuple):
    """The distinct rows of levels of every box. Levels of all columns are numbered together, column by column."""

    levels: Small  # [cells × columns]
    weight: Integers  # people of a cell
    start: Integers  # first cell of each box, and one more
    varies: Array  # [boxes × columns]: whether the people of the box differ in the column
    cell: Small  # of each person

    @property
    def sizes(self) -> Floats:
        """People of each box."""
        box = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        return np.bincount(box, self.weight, len(self.start) - 1).astype(np.float64)

    @classmethod
    def of(cls, index: BucketIndex, numbered: Small) -> Cells:
        """Return the cells of people whose levels are `numbered` [people × columns]."""
        first, cell = distinct_rows(np.lexsort((*numbered.T, index.group)), numbered, index.group[:, None])
        levels = np.ascontiguousarray(numbered[first])
        start = np.searchsorted(index.group[first], np.arange(index.groups + 1)).astype(np.int64)
        weight = np.bincount(cell, index.table.times, len(levels)).astype(np.int64)
        return cls(levels, weight, start, _varies(levels, start), cell)

    def merged(self, whole: Integers) -> tuple[Cells, Integers]:
        """Return the cells of larger boxes, box b being part of whole[b], and the old cells in their new order."""
        box = np.repeat(whole, np.diff(self.start))
        order = np.argsort(box, kind="stable")
        levels = np.ascontiguousarray(self.levels[order])
        start = np.searchsorted(box[order], np.arange(int(whole.max()) + 2)).astype(np.int64)
        return Cells(levels, self.weight[order], start, _varies(levels, start), np.zeros(0, np.int32)), order


def distinct_rows(order: Integers, *parts: Array) -> tuple[Integers, Small]:
    """Return the first of each kind of rows, which `order` sorts, and the number of the kind that each row is of."""
    new = np.zeros(len(order), bool)
    new[:1] = True
    for part in parts:
        rows = part[order]
        new[1:] |= (rows[1:] != rows[:-1]).any(axis=1)
    cell = np.empty(len(order), np.int32)
    cell[order] = np.cumsum(new) - 1
    return order[new], cell


def _varies(levels: Small, start: Integers) -> Array:
    """Return per box and column whether the cells differ."""
    full = np.diff(start) > 0
    varies = np.zeros((len(start) - 1, levels.shape[1]), bool)
    if full.any():
        first = start[:-1][full]
        varies[full] = np.maximum.reduceat(levels, first) != np.minimum.reduceat(levels, first)
    return varies


class Joint(NamedTuple):
    """Columns combined in few groups: people are added up once a group, and its sums then line by line.

    sums[source[f]] is a part of what line[f] has.
    """

    codes: Array  # [groups × cells]: whole numbers below 2¹⁶
    first: Integers  # where the sums of each group begin, and one more
    source: Small
    line: Small
    lines: int

    @classmethod
    def of(cls, levels: Array, blocks: Sequence[tuple[int, int, int, int]], lines: int) -> Joint:
        """Return the groups of levels [cells × columns] that give the sums of blocks, each of one column or of two.

        A block is (left, right or −1, width, start): the line of its people is start + left level · width + right level. Columns
        that no pair has are put together, as many as a nearby memory holds sums of.
        """
        sizes = levels.max(axis=0, initial=0).astype(np.int64) + 1
        groups = [[left, right] for left, right, _, _ in blocks if right >= 0]
        alone = {left for left, _, _, _ in blocks}.difference(*groups)
        packed: list[list[int]] = []
        for j in sorted(alone, key=lambda j: (-sizes[j], j)):
            pack = next((group for group in packed if sizes[group].prod() * sizes[j] <= MOST_TOGETHER), None)
            if pack is None:
                packed.append(pack := [])
            pack.append(j)
        groups += packed
        codes, first = np.zeros((len(groups), len(levels)), np.uint16), [0]
        level: list[dict[int, Integers]] = []
        for own, group in zip(codes, groups, strict=True):
            every, step = np.arange(sizes[group].prod()), 1
            level.append({})
            for j in group:
                own += levels[:, j].astype(np.uint16) * np.uint16(step)
                level[-1][j] = every // step % sizes[j]
                step *= int(sizes[j])
            first.append(first[-1] + len(every))
        source, line = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for left, right, width, start in blocks:
            g = next(g for g, group in enumerate(groups) if left in group and (right < 0 or right in group))
            own_line = start + level[g][left] * width + (level[g][right] if right >= 0 else 0)
            source.append(np.arange(first[g], first[g + 1]))
            line.append(own_line)
        sources, lines_of = (np.concatenate(part).astype(np.int32) for part in (source, line))
        return cls(codes, np.array(first, np.int64), sources, lines_of, lines)


MOST_TOGETHER = 4096
"""Sums of one group of columns: 32 KB."""


@dataclass(frozen=True, eq=False)
class Directions:
    """What the weights of the levels are made of: [levels × directions], the first being the same for everybody.

    A category has one direction a level. A number has smooth functions of its rank, and one direction for every level that
    is a single number, in two blocks: the release decides how much of each there is.
    """

    matrix: Floats
    block: Integers  # of each direction; −1 for the first


def number_levels(
    table: RowIndex, columns: Sequence[Column], bands: Mapping[int, Bytes] | None = None
) -> tuple[Small, Directions]:
    """Return every person's levels, numbered column by column, and the directions in which they may differ.

    Where noisy tables show a column by `bands` of its codes, these are its levels.
    """
    parts, blocks, shapes, numbered = [], [], [], []
    first = 0
    for j, (column, times, codes) in enumerate(zip(columns, table.counts, table.codes, strict=True)):
        of = levels_of(column, times) if bands is None else bands[j]
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
    sums = np.zeros((index.groups, sum(widths)))
    start = np.searchsorted(index.group, np.arange(index.groups + 1))
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
        directions = axes[:, chosen] * np.sqrt(variances[chosen]) / np.maximum(root, 1e-12)[:, None]
        directions[share == 0] = 0.0
        total = float((share[:, None] * directions**2).sum())
        scaled: Floats = directions / np.sqrt(total) if total > 1e-9 else directions[:, :0]
        return scaled
