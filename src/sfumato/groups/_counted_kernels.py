"""Boxes of which only counts are known, as the one rule of cuts sees them; and counting people in the boxes of a tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers
from sfumato.groups._rule_kernels import (
    absent_code,
    both_cover,
    column_of,
    cut_across,
    ends_of,
    entries_of,
    events_by_code,
    events_left,
    histogram_of,
    implement,
)


class Counts(NamedTuple):
    """What was counted of a box: its codes, those of all columns one after another, and what else an acceptance looks at.

    Rows at[j] … at[j + 1] of `known` are counts of events for column j: of every code, of the left side of a cut, or none.
    """

    histogram: Integers
    known: Integers
    at: Integers


class CountsAcross(NamedTuple):
    """The same along one column."""

    histogram: Integers
    known: Integers
    width: int
    kind: int


def _column_of_counts(box: Any, axes: Any, j: int) -> Any:
    mine = box.histogram[axes.first[j] : axes.first[j + 1]]
    return CountsAcross(mine, box.known[box.at[j] : box.at[j + 1]], len(mine), axes.kind[j])


def _ends_of_counts(column: Any) -> Any:
    absent = absent_code(column.width, column.kind)
    low, high = column.width, -1
    for code in range(column.width if absent < 0 else absent):
        if column.histogram[code] > 0:
            low, high = min(low, code), code
    return low, high, absent >= 0 and column.histogram[absent] > 0


def _histogram_of_counts(column: Any) -> Any:
    return column.histogram


def _known(column: Any) -> Any:
    return column.known


def _entries_of_counts(column: Any, values: int) -> Any:
    every = column.known.ravel()
    keys = np.flatnonzero(every)
    return keys, every[keys]


def _known_left(column: Any, boundary: int, also: int) -> Any:
    return column.known[0]


def _seen_before(column: Any, boundary: int, also: int, left: int, cover: Any) -> Any:
    return True  # columns across which no cut covers enough weigh nothing


implement(column_of, Counts, _column_of_counts)
implement(ends_of, CountsAcross, _ends_of_counts)
implement(histogram_of, CountsAcross, _histogram_of_counts)
implement(events_by_code, CountsAcross, _known)
implement(entries_of, CountsAcross, _entries_of_counts)
implement(events_left, CountsAcross, _known_left)
implement(both_cover, CountsAcross, _seen_before)


@njit(cache=True)
def cut_counted(histogram: Any, counts: Any, size: int, known: Any, at: Any, axes: Any, acceptance: Any) -> Any:
    """Return the cut of a box of which this is known (see `Counts`), as `cut_across` does; `counts` are those of events."""
    return cut_across(acceptance, Counts(histogram, known, at), counts, size, axes, np.zeros(len(axes.kind)))


@njit(cache=True, nogil=True)
def tree_nodes(codes: Any, tree: Any, first: Any, published: Any, out: Any) -> None:
    """Set the leaf of a tree of cuts that each person lies in.

    `tree` has a row a node: column (−1 for a leaf), boundary, code that goes left too (−1: none), whether codes are compared in
    their published order, left and right node.
    """
    for row in range(codes.shape[1]):
        node = 0
        while tree[node, 0] >= 0:
            column = tree[node, 0]
            code = codes[column, row]
            if tree[node, 3] == 1:
                code = published[first[column] + code]
            node = tree[node, 4] if code <= tree[node, 1] or code == tree[node, 2] else tree[node, 5]
        out[row] = node


@njit(cache=True, nogil=True)
def add_codes(codes: Any, box: Any, first: Any, histogram: Any) -> None:
    """Count the codes of the people of every box, whose numbers `box` has, −1 for those that are not asked for."""
    for row in range(codes.shape[1]):
        if box[row] >= 0:
            for j in range(codes.shape[0]):
                histogram[box[row], first[j] + codes[j, row]] += 1


@njit(cache=True, nogil=True)
def add_values(secret: Any, box: Any, counts: Any) -> None:
    """Count the values of the people of every box."""
    for row in range(len(box)):
        if box[row] >= 0:
            counts[box[row], secret[row]] += 1


@njit(cache=True, nogil=True)
def add_lefts(codes: Any, secret: Any, box: Any, boundary: Any, also: Any, lefts: Any) -> None:
    """Count the values on the left of a cut in every column: boundary and code that goes left too, [boxes × columns]."""
    for row in range(codes.shape[1]):
        mine = box[row]
        if mine >= 0:
            for j in range(codes.shape[0]):
                if codes[j, row] <= boundary[mine, j] or codes[j, row] == also[mine, j]:
                    lefts[mine, j, secret[row]] += 1


@njit(cache=True, nogil=True)
def add_pairs(codes: Any, secret: Any, box: Any, first: Any, pairs: Any) -> None:
    """Count the values of the people with every code of every column, [boxes × codes × values]."""
    for row in range(codes.shape[1]):
        if box[row] >= 0:
            for j in range(codes.shape[0]):
                pairs[box[row], first[j] + codes[j, row], secret[row]] += 1
