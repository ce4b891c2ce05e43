"""Counting people in boxes, in one pass over coded blocks for all boxes of a level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.groups._counted_kernels import add_histograms, add_lefts, add_pairs, tree_nodes
from sfumato.groups._cut_kernels import add_by_code
from sfumato.groups.category_order import doubled_ranks, is_unordered, places_by_sums
from sfumato.groups.counted import Axes
from sfumato.groups.cuts import axes as axes_of
from sfumato.groups.cuts import narrow_type
from sfumato.scale.outline import Outline

Add = Callable[[Sequence[Array], Any], None]
Sum = Callable[[Callable[[], Any], Add], Any]
"""Given how to make an empty total and how to add a block's columns to it, return the sum over all blocks."""


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

    def nodes(self, columns: Sequence[Array], tree: Integers) -> Integers:
        """Return the leaf of a tree that each row lies in."""
        found = np.empty(len(columns[0]), np.int64)
        tree_nodes(self.codes(columns), tree, self.axes.first, self.axes.published, found)
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
    first, missing, position = axes_of(columns)
    published = np.concatenate([np.argsort(place) for place in places]).astype(np.int64)
    stack = outline.stack
    return Frame(Axes(first, missing, position, published, weights), tuple(places), int(stack.max(initial=-1)) + 1, stack)


@dataclass(frozen=True, eq=False)
class Counter:
    """A `Tally` over blocks of published codes, the sensitive value in the last column."""

    frame: Frame
    total: Sum

    def histograms(self, tree: Integers, box: Integers) -> tuple[Integers, Integers]:
        """Return [boxes × codes of all columns] and [boxes × values]."""
        frame = self.frame  # alone: what is added up elsewhere must not carry along how sums are made
        first, published, boxes = frame.axes.first, frame.axes.published, int(box.max()) + 1

        def empty() -> tuple[Integers, Integers]:
            return np.zeros((boxes, int(first[-1])), np.int64), np.zeros((boxes, frame.values), np.int64)

        def add(rows: Sequence[Array], to: tuple[Integers, Integers]) -> None:
            histogram, counts = to
            for secret in frame.secrets(rows):
                add_histograms(frame.codes(rows), secret, tree, box, first, published, histogram, counts)
                histogram = np.zeros_like(histogram)  # of quasi values once

        found: tuple[Integers, Integers] = self.total(empty, add)
        return found

    def lefts(self, tree: Integers, box: Integers, boundary: Integers, joins: Integers) -> Integers:
        """Return [boxes × columns × values] on the left of these cuts."""
        frame = self.frame
        first, published = frame.axes.first, frame.axes.published
        shape = (int(box.max()) + 1, len(frame.places), frame.values)

        def add(rows: Sequence[Array], to: tuple[Integers]) -> None:
            codes = frame.codes(rows)
            for secret in frame.secrets(rows):
                add_lefts(codes, secret, tree, box, first, published, boundary, joins, to[0])

        found: Integers = self.total(lambda: (np.zeros(shape, np.int64),), add)[0]
        return found

    def pairs(self, tree: Integers, box: Integers) -> Integers:
        """Return [boxes × codes of all columns × values]."""
        frame = self.frame
        first, published = frame.axes.first, frame.axes.published
        shape = (int(box.max()) + 1, int(first[-1]), frame.values)

        def add(rows: Sequence[Array], to: tuple[Integers]) -> None:
            codes = frame.codes(rows)
            for secret in frame.secrets(rows):
                add_pairs(codes, secret, tree, box, first, published, to[0])

        found: Integers = self.total(lambda: (np.zeros(shape, np.int64),), add)[0]
        return found

    def left_codes(self, tree: Integers, box: Integers, boundary: Integers, joins: Integers) -> Integers:
        """Return [boxes × columns × codes of all columns] on the left of these cuts."""
        frame = self.frame
        first, published = frame.axes.first, frame.axes.published
        sizes, boxes = np.diff(first).tolist(), int(box.max()) + 1

        def empty() -> list[Integers]:
            return [np.zeros((boxes, len(sizes), size), np.int64) for size in sizes]

        def add(rows: Sequence[Array], to: list[Integers]) -> None:
            codes = frame.codes(rows)
            for one, total in zip(codes, to, strict=True):
                add_lefts(codes, one.astype(np.int32), tree, box, first, published, boundary, joins, total)

        return np.concatenate(self.total(empty, add), axis=2)
