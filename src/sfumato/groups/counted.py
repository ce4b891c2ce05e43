"""The first cuts of a table that nobody holds in memory: decided by what was counted of each box, the tree kept by the caller.

Boxes are cut level by level, as `cut_space` cuts them, by the same acceptances and with the same coins, down to boxes of at most
`shard` people; those are then cut by `cut_space` wherever they lie. A box that cannot be cut any more and is still larger is
divided once more, by its values in their published order, only so that its rows can be sorted piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, Protocol

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.groups._counted_kernels import cut_counted
from sfumato.groups._cut_kernels import Secret, add_sets
from sfumato.groups._mondrian_kernels import Classical
from sfumato.groups._rule_kernels import ORDERED, Axes, Even, TightCut, cut_of
from sfumato.groups.soft import Accounts
from sfumato.privacy.bounds import Bounds

COLUMN, BOUNDARY, ALSO, PUBLISHED, LEFT, RIGHT = range(6)
"""What a row of a tree says of a node; COLUMN is −1 for a leaf."""

CountedCut = tuple[int, int, int, int]
"""Column, boundary, code that goes left too or −1, size of the left side; size 0: none."""

_CELLS = 1 << 25
"""So many counts are asked for at once."""


class Tally(Protocol):
    """Whoever counts people in the boxes of a tree: `box` numbers its nodes, −1 for those that are not asked for."""

    def histograms(self, tree: Integers, box: Integers) -> tuple[Integers, Integers]:
        """Return [boxes × codes of all columns] and [boxes × values]."""

    def lefts(self, tree: Integers, box: Integers, boundary: Integers, also: Integers) -> Integers:
        """Return [boxes × columns × values] on the left of these cuts, given for every box and column."""

    def pairs(self, tree: Integers, box: Integers) -> Integers:
        """Return [boxes × codes of all columns × values]."""

    def left_codes(self, tree: Integers, box: Integers, boundary: Integers, also: Integers) -> Integers:
        """Return [boxes × columns × codes of all columns] on the left of these cuts."""


@dataclass(frozen=True)
class Leaf:
    """A box of people, or a piece of one: its node, where it begins along the cuts, how many people, its box's account.

    The account is in billionths, for a final box in thousandths rounded down. `final`: it is cut no further. Pieces of one final
    box have its `begin` and follow one another in the order of their rows.
    """

    node: int
    begin: int
    people: int
    account: int | None
    final: bool


@dataclass(frozen=True, eq=False)
class TopCuts:
    """The tree of first cuts and its leaves, from left to right."""

    tree: Integers
    leaves: tuple[Leaf, ...]


class _Growing:
    """A tree that gets nodes, and what is asked of a tally about some of them."""

    def __init__(self, tally: Tally, axes: Axes, secret: Secret, people: int) -> None:
        self.tally, self.axes, self.secret = tally, axes, secret
        self.rows = [[-1, -1, -1, 0, -1, -1]]
        self.people = {0: people}

    @property
    def tree(self) -> Integers:
        return np.array(self.rows, dtype=np.int64)

    def cut(self, node: int, column: int, boundary: int, also: int, left: int, *, published: bool = False) -> tuple[int, int]:
        """Cut a node in two and return the numbers of its sides."""
        sides = len(self.rows), len(self.rows) + 1
        self.rows[node] = [column, boundary, also, int(published), *sides]
        for side, size in zip(sides, (left, self.people[node] - left), strict=True):
            self.rows.append([-1, -1, -1, 0, -1, -1])
            self.people[side] = size
        return sides

    def histograms(self, nodes: list[int]) -> tuple[Integers, Integers]:
        """Return the histograms of codes, and the counts of events, of each of these nodes."""
        each = [self.tally.histograms(self.tree, box) for box in self._boxes(nodes, int(self.axes.first[-1]))]
        histogram, counts = (np.concatenate(parts) for parts in zip(*each, strict=True))
        return histogram, self.with_sets(counts)

    def pairs(self, nodes: list[int]) -> Iterator[Integers]:
        """Yield the counts of events by code of each of these nodes."""
        cells = int(self.axes.first[-1]) * self.secret.values
        for box in self._boxes(nodes, cells):
            for part in self.tally.pairs(self.tree, box):
                yield self.with_sets(part)

    def lefts(self, nodes: list[int], boundary: Integers, also: Integers) -> Integers:
        """Return the counts of events left of a cut in every column."""
        cells, at, lefts = len(self.axes.kind) * self.secret.values, 0, []
        for box in self._boxes(nodes, cells):
            here = slice(at, at + int(box.max()) + 1)
            lefts.append(self.tally.lefts(self.tree, box, boundary[here], also[here]))
            at = here.stop
        return self.with_sets(np.concatenate(lefts))

    def covered(self, nodes: list[int], histogram: Integers, boundary: Integers, also: Integers, alpha: Fraction) -> Flags:
        """Return [boxes × columns]: whether both sides of these cuts cover enough combinations of values for α."""
        axes, at, is_covered = self.axes, 0, np.zeros(boundary.shape, bool)
        for box in self._boxes(nodes, len(axes.kind) * int(axes.first[-1])):
            here = slice(at, at + int(box.max()) + 1)
            left = self.tally.left_codes(self.tree, box, boundary[here], also[here])
            both = np.stack([left, histogram[here, None, :] - left])
            sizes = both[..., : axes.first[1]].sum(axis=-1)
            values = np.add.reduceat(both > 0, axes.first[:-1], axis=-1)
            for k, j in np.ndindex(left.shape[:2]):
                sides = zip(values[:, k, j].tolist(), sizes[:, k, j].tolist(), strict=True)
                is_covered[at + k, j] = all(people and _covers(prod(many), people, alpha) for many, people in sides)
            at = here.stop
        return is_covered

    def _boxes(self, nodes: list[int], cells: int) -> list[Integers]:
        """Return numberings of the nodes, so many of them at once that what is counted stays small."""
        step = max(1, _CELLS // max(cells, 1))
        boxes = []
        for at in range(0, len(nodes), step):
            some = nodes[at : at + step]
            box = np.full(len(self.rows), -1, np.int64)
            box[some] = np.arange(len(some))
            boxes.append(box)
        return boxes

    def with_sets(self, counts: Integers) -> Integers:
        """Return counts of events, from those of values in the last axis."""
        sets = len(self.secret.start) - 1
        whole = np.concatenate([counts, np.zeros((*counts.shape[:-1], sets), np.int64)], axis=-1)
        if sets:
            for row in whole.reshape(-1, whole.shape[-1]):
                add_sets(row, self.secret)
        return whole


def _covers(combinations: int, people: int, alpha: Fraction) -> bool:
    """Return whether so many combinations are enough for so many people, as `covering_table` has it."""
    needed = 0 if alpha == 1 else -(-people * alpha.denominator // alpha.numerator)
    return needed <= combinations and needed < 1 << 62


def top_cuts(
    tally: Tally,
    axes: Axes,
    secret: Secret,
    acceptance: tuple[Any, ...] | Accounts,
    *,
    people: int,
    shard: int,
    alpha: Fraction | None = None,
    whole: bool = False,
) -> TopCuts:
    """Return the first cuts of a table of so many people, and the boxes that are left for somebody to go on with.

    With `alpha` both sides of a cut must cover enough combinations of values to keep this bound on presence. `whole` boxes are
    never divided, however large they are in the end.
    """
    growing = _Growing(tally, axes, secret, people)
    leaves: list[Leaf] = []
    nodes, low = [0], np.zeros(1, np.int64)
    while nodes:
        sizes = np.array([growing.people[node] for node in nodes], dtype=np.int64)
        small = sizes <= shard
        account = acceptance.leave(small) if isinstance(acceptance, Accounts) else None
        for k, place in enumerate(np.flatnonzero(small).tolist()):
            left = None if account is None else int(account[k])
            leaves.append(Leaf(nodes[place], int(low[place]), int(sizes[place]), left, False))
        nodes, low = [node for node, few in zip(nodes, small.tolist(), strict=True) if not few], low[~small]
        if nodes:
            nodes, low = _level(growing, nodes, low, acceptance, leaves, people if whole else shard, alpha)
    return TopCuts(growing.tree, tuple(sorted(_settled(leaves, acceptance), key=lambda leaf: leaf.begin)))


def _settled(leaves: list[Leaf], acceptance: tuple[Any, ...] | Accounts) -> list[Leaf]:
    """Return the leaves, final ones with their account in the end."""
    if not isinstance(acceptance, Accounts):
        return leaves
    begins = sorted({leaf.begin for leaf in leaves if leaf.final})
    account = dict(zip(begins, acceptance.account.tolist(), strict=True))
    return [replace(leaf, account=account[leaf.begin]) if leaf.final else leaf for leaf in leaves]


def _level(
    growing: _Growing,
    nodes: list[int],
    low: Integers,
    acceptance: tuple[Any, ...] | Accounts,
    leaves: list[Leaf],
    shard: int,
    alpha: Fraction | None,
) -> tuple[list[int], Integers]:
    """Cut the boxes of a level; final ones become leaves. Return the boxes of the next level and where they begin."""
    sizes = np.array([growing.people[node] for node in nodes], dtype=np.int64)
    high = low + sizes
    histogram, counts = growing.histograms(nodes)
    axes = growing.axes
    nothing = np.zeros((0, counts.shape[1]), np.int64)
    none_at = np.zeros(len(axes.kind) + 1, np.int64)

    weights = np.tile(axes.weights, (len(nodes), 1))  # 0 for columns that a box must not be cut across
    every = list(range(len(nodes)))

    def cut(box: int, rule: tuple[Any, ...], known: Integers = nothing, at: Integers = none_at) -> CountedCut:
        mine = axes._replace(weights=weights[box])
        made: CountedCut = cut_counted(histogram[box], counts[box], int(sizes[box]), known, at, mine, rule)
        return made

    def proposed(boxes: list[int], rule: tuple[Any, ...], known: list[Integers]) -> tuple[Integers, Integers]:
        """Return the cut of every column of these boxes: boundary and code that goes left too, −1 where there is none."""
        boundary = np.full((len(boxes), len(axes.kind)), -1, np.int64)
        also = boundary.copy()
        for k, box in enumerate(boxes):
            kept = weights[box].copy()
            for j in np.flatnonzero(kept).tolist():
                weights[box] = np.where(np.arange(len(kept)) == j, kept, 0.0)
                _, *cut_made, left = cut(box, rule, known[k], axes.first) if known else cut(box, rule)
                if left:
                    boundary[k, j], also[k, j] = cut_made
            weights[box] = kept
        return boundary, also

    if isinstance(acceptance, Accounts):
        even = Even(max(acceptance.floor, 1))
        if alpha is not None:
            weights *= growing.covered(nodes, histogram, *proposed(every, even, []), alpha)
        open_ = acceptance.level(low, high)
        made = [cut(box, _of_box(open_, box)) for box in every]
        late = acceptance.waiting
        tossed = acceptance.tossed(late, low[late], high[late])
        if len(late):
            lefts = growing.lefts([nodes[box] for box in late.tolist()], *proposed(late.tolist(), even, []))
            each = np.arange(len(axes.kind) + 1)
            for k, box in enumerate(late.tolist()):
                made[box] = cut(box, _of_box(tossed, k), lefts[k], each)
        acceptance.settle(low, np.array([cut[3] == 0 for cut in made]))
    elif isinstance(acceptance, (TightCut, Classical)):
        pairs: Iterable[Integers] = growing.pairs(nodes)
        if alpha is not None:
            pairs = list(pairs)
            weights *= growing.covered(nodes, histogram, *proposed(every, acceptance, pairs), alpha)
        made = [cut(box, acceptance, known, axes.first) for box, known in zip(every, pairs, strict=True)]
    else:
        if alpha is not None:
            weights *= growing.covered(nodes, histogram, *proposed(every, acceptance, []), alpha)
        made = [cut(box, acceptance) for box in every]
    fresh: list[int] = []
    begins: list[int] = []
    for box, (column, last, beside, left) in enumerate(made):
        begin = int(low[box])
        if left == 0:
            for piece in _pieces(growing, nodes[box], shard):
                leaves.append(Leaf(piece, begin, growing.people[piece], None, True))
            continue
        fresh += growing.cut(nodes[box], column, last, beside, left)
        begins += [begin, begin + left]
    return fresh, np.array(begins, dtype=np.int64)


def _of_box(acceptance: tuple[Any, ...], box: int) -> tuple[Any, ...]:
    """Return the acceptance of one box: the same, with the box's own account."""
    return acceptance._replace(ledger=acceptance.ledger[box : box + 1])  # type: ignore[attr-defined, no-any-return]


def _pieces(growing: _Growing, node: int, shard: int) -> list[int]:
    """Return a final box divided by its rows in their published order, in pieces of at most `shard` people where rows differ."""
    if growing.people[node] <= shard:
        return [node]
    histogram, _ = growing.histograms([node])
    first, published = growing.axes.first, growing.axes.published
    for j in range(len(first) - 1):
        here = slice(int(first[j]), int(first[j + 1]))
        ordered = np.zeros(here.stop - here.start, np.int64)
        ordered[published[here]] = histogram[0, here]
        boundary, _, left = cut_of(ordered, ORDERED, growing.people[node], 1)
        if left > 0:
            low, other = growing.cut(node, j, int(boundary), -1, int(left), published=True)
            return _pieces(growing, low, shard) + _pieces(growing, other, shard)
    return [node]


def secret_shape(bounds: Bounds) -> Secret:
    """Return what kernels need of the sensitive values where nobody's own value is at hand."""
    return Secret(np.zeros((1, 0), np.int32), bounds.valued, *bounds.incidence)
