"""Counting people in boxes, in one pass over coded blocks for all boxes of a level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.groups._counted_kernels import add_codes, add_lefts, add_pairs, add_values, tree_nodes
from sfumato.groups._cut_kernels import add_by_code
from sfumato.groups._rule_kernels import Axes
from sfumato.groups.category_order import doubled_ranks, is_unordered, places_by_sums
from sfumato.groups.cuts import axes as axes_of
from sfumato.groups.cuts import narrow_type
from sfumato.scale.outline import Outline

Add = Callable[[Sequence[Array], Any], None]
Sum = Callable[[Callable[[], Any], Add], Any]
"""Given how to make an empty total and how to add a block's columns to it, return the sum over all blocks."""
_AddBoxes = Callable[[Sequence[Array], Small, Integers, Sequence[Integers]], None]


@dataclass(frozen=True, eq=False)
class Frame:
    """Quasi space without people: where codes lie, and the place of each published code along the cuts, column by column."""

    axes: Axes
    places: tuple[Small, ...]
    values: int
    stack: Small
    """[secrets × codes of the sensitive attribute]: the values that count; those of a second secret follow those of the first."""

    def secrets(self, rows: Sequence[Array]) -> list[Small]:
        """Return the value of each row, of every secret that is protected by itself."""
        return [one[rows[-1]] for one in self.stack]

    def codes(self, columns: Sequence[Array]) -> Small:
        """Return published codes as cuts see them, [columns × rows]."""
        found = np.empty((len(self.places), len(columns[0])), narrow_type([len(place) for place in self.places]))
        for row, (place, column) in enumerate(zip(self.places, columns, strict=False)):
            np.take(place.astype(found.dtype), column, out=found[row], mode="clip")
        return found

    def nodes(self, codes: Small, tree: Integers) -> Integers:
        """Return the leaf of a tree that each row lies in, given its codes as cuts see them."""
        found = np.empty(codes.shape[1], np.int64)
        tree_nodes(codes, tree, self.axes.first, self.axes.published, found)
        return found


def frame_of(outline: Outline, weights: Array, total: Sum) -> Frame:
    """Return the space of a table: categories in the order that their people's ranks in the other columns give, by sums."""
    columns = outline.table.quasi
    wanted = [j for j, one in enumerate(columns) if one.kind == "categorical" and not is_unordered(one.size, len(columns))]
    ranks = [doubled_ranks(counts) for counts in outline.counts]

    def empty() -> list[Integers]:
        return [np.zeros(columns[j].size, np.int64) for j in wanted for k in range(len(columns)) if k != j]

    def add(rows: Sequence[Array], sums: list[Integers]) -> None:
        pairs = [(j, k) for j in wanted for k in range(len(columns)) if k != j]
        codes = [column.astype(np.int32) for column in rows[: len(columns)]]
        for (j, k), sum_ in zip(pairs, sums, strict=True):
            sum_ += add_by_code(codes[j], codes[k], ranks[k], columns[j].size)

    sums = iter(total(empty, add) if wanted else ())
    places = []
    for j, column in enumerate(columns):
        if j in wanted:
            places.append(places_by_sums(outline.counts[j], [next(sums) for _ in range(len(columns) - 1)]))
        else:
            places.append(np.arange(column.size, dtype=np.int32))
    first, kind, position = axes_of(columns)
    published = np.concatenate([np.argsort(place) for place in places]).astype(np.int64)
    stack = outline.stack
    return Frame(Axes(first, kind, position, weights, published), tuple(places), int(stack.max(initial=-1)) + 1, stack)


@dataclass(frozen=True, eq=False)
class Counter:
    """A `Tally` over blocks of published codes, the sensitive value in the last column."""

    frame: Frame
    total: Sum

    def histograms(self, tree: Integers, box: Integers) -> tuple[Integers, Integers]:
        """Return [boxes × codes of all columns] and [boxes × values]."""
        frame = self.frame  # alone: what is added up elsewhere must not carry along how sums are made

        def add(rows: Sequence[Array], codes: Small, mine: Integers, to: Sequence[Integers]) -> None:
            add_codes(codes, mine, frame.axes.first, to[0])
            for secret in frame.secrets(rows):
                add_values(secret, mine, to[1])

        histogram, counts = self._summed(tree, box, [(int(frame.axes.first[-1]),), (frame.values,)], add)
        return histogram, counts

    def lefts(self, tree: Integers, box: Integers, boundary: Integers, also: Integers) -> Integers:
        """Return [boxes × columns × values] on the left of these cuts."""
        frame = self.frame

        def add(rows: Sequence[Array], codes: Small, mine: Integers, to: Sequence[Integers]) -> None:
            for secret in frame.secrets(rows):
                add_lefts(codes, secret, mine, boundary, also, to[0])

        return self._summed(tree, box, [(len(frame.places), frame.values)], add)[0]

    def pairs(self, tree: Integers, box: Integers) -> Integers:
        """Return [boxes × codes of all columns × values]."""
        frame = self.frame

        def add(rows: Sequence[Array], codes: Small, mine: Integers, to: Sequence[Integers]) -> None:
            for secret in frame.secrets(rows):
                add_pairs(codes, secret, mine, frame.axes.first, to[0])

        return self._summed(tree, box, [(int(frame.axes.first[-1]), frame.values)], add)[0]

    def left_codes(self, tree: Integers, box: Integers, boundary: Integers, also: Integers) -> Integers:
        """Return [boxes × columns × codes of all columns] on the left of these cuts."""
        sizes = np.diff(self.frame.axes.first).tolist()

        def add(rows: Sequence[Array], codes: Small, mine: Integers, to: Sequence[Integers]) -> None:
            for one, total in zip(codes, to, strict=True):
                add_lefts(codes, one.astype(np.int32), mine, boundary, also, total)

        return np.concatenate(self._summed(tree, box, [(len(sizes), size) for size in sizes], add), axis=2)

    def _summed(self, tree: Integers, box: Integers, shapes: Sequence[tuple[int, ...]], add: _AddBoxes) -> Sequence[Integers]:
        """Return sums, each with a row a box, of what `add` adds for rows, their codes as cuts see them, and their boxes."""
        frame, boxes = self.frame, int(box.max()) + 1

        def empty() -> list[Integers]:
            return [np.zeros((boxes, *shape), np.int64) for shape in shapes]

        def added(rows: Sequence[Array], to: Sequence[Integers]) -> None:
            codes = frame.codes(rows)
            add(rows, codes, box[frame.nodes(codes, tree)], to)

        found: Sequence[Integers] = self.total(empty, added)
        return found
