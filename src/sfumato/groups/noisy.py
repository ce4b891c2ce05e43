"""Boxes by quasi values alone, and which of them are shown together: decided on counts with noise, so on nothing about a person.

A box whose noisy share of a value lies over its bound is joined, on the way up the tree of cuts, with the smallest box there with
which both keep the bounds together, else with whatever is joined further up. Noisy counts are added up as they are: fresh noise
would tell more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small, put_back
from sfumato.exact import floor_times
from sfumato.groups._cut_kernels import Secret, cut_level
from sfumato.groups._rule_kernels import Even
from sfumato.groups.cuts import Space, column_weights, cut_levels, tree_of
from sfumato.privacy.bounds import Bounds
from sfumato.table.column import Column


def usual_floor(gamma: Fraction, values: int, people: int, *, counted: int = 1) -> int:
    """Return the floor where none is given: a public rule in how much odds may grow, and in numbers of values and people.

    33·√values/ε, and less than that beyond 100,000 people, by the root of their number. Smaller boxes tell more of who is where,
    but every box has its own noise. Found on the bundled census, on a real one of 333,000 people and on Adult; a floor of half or
    twice as many changes errors by some per cent (benchmarks/noisy_boxes.py). Where a person is `counted` of several values, of
    one or several columns, each has so much less of ε.
    """
    usual = 33 * counted * math.sqrt(values) / math.log(gamma)
    return max(2, round(usual * min(1.0, math.sqrt(100_000 / people))))


@dataclass(frozen=True, eq=False)
class Tree:
    """The cuts: `sides[node]` are the two nodes that a node was cut into, −1 for a box; `box[node]` numbers the boxes."""

    group: Small
    sides: Integers
    box: Integers

    @property
    def boxes(self) -> int:
        """Number of boxes."""
        return int(self.box.max()) + 1

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each box."""
        return np.bincount(self.group, minlength=self.boxes).astype(np.int64)

    def counts(self, codes: Array, values: int) -> Integers:
        """Return how often each value occurs in each box."""
        return counts_by(self.group, self.boxes, codes, values)


def counts_by(group: Array, groups: int, codes: Array, values: int) -> Integers:
    """Return [groups × values]: how often each value occurs in each group."""
    key = group.astype(np.int64) * values + codes
    return np.bincount(key, minlength=groups * values).reshape(groups, values).astype(np.int64)


def cut_evenly(columns: Sequence[Column], floor: int, weights: Mapping[str, float] | None) -> Tree:
    """Return boxes of at least `floor` people, the most even cut of the widest column first: quasi values decide alone."""
    return even_tree(Space.of(columns, narrow=True), column_weights(columns, weights), floor)


def even_tree(space: Space, weight: Floats, floor: int) -> Tree:
    """Return the same for people in a space, wherever that lies in the whole one."""
    people = space.codes.shape[1]
    none = np.zeros(1, np.int64)
    nothing, rows = Secret(np.zeros((1, people), np.int32), 1, none, none), np.arange(people, dtype=np.int32)
    codes, axes = space.narrow, space.axes(weight)
    levels = cut_levels(people, lambda low, high: cut_level(codes, axes, nothing, rows, low, high, Even(floor)))
    low, high, sides = tree_of(levels)
    final = np.flatnonzero(sides[:, 0] < 0)
    final = final[np.argsort(low[final])]
    box = np.full(len(sides), -1, np.int64)
    box[final] = np.arange(len(final))
    return Tree(put_back(np.repeat(np.arange(len(final), dtype=np.int32), (high - low)[final]), rows), sides, box)


@dataclass(frozen=True, eq=False)
class Joined:
    """Which boxes are shown together: a number per box, from 0 on, and whether what is shown keeps the bounds."""

    of: Integers
    kept: bool


def with_sets(counts: Integers, bounds: Bounds) -> Integers:
    """Return the counts of values followed by those of sets, which are their sums."""
    return np.concatenate([counts, *(counts[:, list(places)].sum(axis=1, keepdims=True) for places in bounds.members)], axis=1)


def join_boxes(tree: Tree, counts: Integers, limits: Sequence[Fraction]) -> Joined:
    """Return the boxes joined until no noisy share lies over its bound; all in one where only that, or nothing, keeps it."""
    return _Joining(counts, tree.sizes.copy(), limits).up(tree)


_NEAR = 1e-6
"""So near to a bound floats do not decide: up to billions of people they are right to a tenth of that."""


class _Joining:
    """Boxes on the way up: the sums of each, and who joined whom."""

    def __init__(self, counts: Integers, sizes: Integers, limits: Sequence[Fraction]) -> None:
        bounded = [k for k, limit in enumerate(limits) if limit < 1]
        self.counts, self.sizes, self.limits = counts[:, bounded], sizes, [limits[k] for k in bounded]
        self.rough = np.array([float(limit) for limit in self.limits])
        self.home = np.arange(len(sizes))
        # Most boxes lie clearly below their bounds as they are.
        self.clear = (self.counts <= sizes[:, None] * self.rough - _NEAR).all(axis=1)

    def up(self, tree: Tree) -> Joined:
        kept: list[list[int]] = [[] for _ in tree.sides]
        over: list[int] = [-1] * len(tree.sides)
        for node in range(len(tree.sides) - 1, -1, -1):
            left, right = tree.sides[node].tolist()
            if left < 0:
                self._put(int(tree.box[node]), kept[node], over, node)
                continue
            kept[node] = kept[left] + kept[right]
            kept[left], kept[right] = [], []
            open_ = [box for box in (over[left], over[right]) if box >= 0]
            if len(open_) == 2:
                self._join(open_[0], open_[1])
            if open_:
                self._settle(open_[0], kept[node], over, node)
        within = True
        if over[0] >= 0:  # what nothing has taken in joins the nearest in size until it is kept, or everybody is together
            for box in sorted(kept[0], key=lambda b: (-int(self.sizes[b]), b)):
                if self._keeps(over[0]):
                    break
                kept[0].remove(box)
                self._join(over[0], box)
            kept[0].append(over[0])
            within = self._keeps(over[0])
        number = {box: k for k, box in enumerate(sorted(kept[0]))}
        of = np.array([number[self._end(box)] for box in range(len(self.home))], dtype=np.int64)
        return Joined(of, within)

    def _put(self, box: int, kept: list[int], over: list[int], node: int) -> None:
        if self.clear[box] or self._keeps(box):
            kept.append(box)
        else:
            over[node] = box

    def _settle(self, box: int, kept: list[int], over: list[int], node: int) -> None:
        """Keep a box, or join it with the smallest kept one with which it keeps the bounds; else leave it to the next cut up."""
        if self._keeps(box):
            kept.append(box)
            return
        around = np.array(kept, dtype=np.int64)
        size = self.sizes[around] + self.sizes[box]
        both = self.counts[around] + self.counts[box]
        fits = np.flatnonzero((both <= size[:, None] * self.rough + _NEAR).all(axis=1))
        for k in fits[np.argsort(size[fits], kind="stable")].tolist():
            if self._keep(both[k], int(size[k])):
                self._join(kept[k], box)
                return
        over[node] = box

    def _join(self, box: int, other: int) -> None:
        self.counts[box] += self.counts[other]
        self.sizes[box] += self.sizes[other]
        self.home[other] = box

    def _keeps(self, box: int) -> bool:
        return self._keep(self.counts[box], int(self.sizes[box]))

    def _keep(self, counts: Integers, size: int) -> bool:
        """Return whether counts of a box of this size are within ⌊bound·size⌋, exactly."""
        over = counts - size * self.rough
        if over.max(initial=-1.0) > _NEAR:
            return False
        near = np.flatnonzero(over > -_NEAR)
        return all(int(counts[k]) <= floor_times(self.limits[k], size) for k in near.tolist())

    def _end(self, box: int) -> int:
        while self.home[box] != box:
            box = int(self.home[box])
        return box
