"""Bins of a numeric sensitive column: a bound on belief needs few values, so the policy says which numbers count as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import PolicyError
from sfumato.exact import Number, exact
from sfumato.table.edges import between, plain

MOST_UNBINNED = 50
"""A numeric sensitive column with more distinct values than this must be binned, or declared categorical."""

Edge = Fraction | float
"""An exact number, or ±∞ (the only floats that occur)."""


@dataclass(frozen=True)
class Bins:
    """The bins between consecutive edges, written "[0, 10)"; the last one holds its upper edge too: "[90, 100]".

    The first edge may be −∞ and the last +∞, written "(-inf, 0)" and "[100, inf)".
    """

    edges: tuple[Edge, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The text of each bin, in ascending order."""
        texts = [_text(edge) for edge in self.edges]
        last = len(texts) - 2
        return tuple(
            ("(" if texts[i] == "-inf" else "[")
            + f"{texts[i]}, {texts[i + 1]}"
            + ("]" if i == last and texts[i + 1] != "inf" else ")")
            for i in range(len(texts) - 1)
        )

    def place(self, numbers: Array) -> Integers:
        """Return the bin of each number, −1 where it lies outside all of them."""
        edges = np.array([float(edge) for edge in self.edges])
        bins = between(edges, numbers)
        bins[numbers == edges[-1]] = len(edges) - 2
        bins[bins > len(edges) - 2] = -1
        return bins

    def to_list(self) -> list[int | float | str]:
        """Return the edges as JSON can hold them."""
        return [_text(edge) if isinstance(edge, float) else plain(edge) for edge in self.edges]


def bins(edges: Bins | Sequence[Number], column: str) -> Bins:
    """Return the bins that a policy's list of edges describes; they must ascend."""
    if isinstance(edges, Bins):
        return edges
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Sequence) or len(edges) < 2:
        raise PolicyError(
            f"bins of {column!r}: expected a list of at least two ascending edges, got {edges!r}", hint="[0, 1000, 5000, inf]"
        )
    numbers = tuple(_edge(edge, column) for edge in edges)
    for low, high in pairwise(numbers):
        if not low < high:
            raise PolicyError(
                f"bins of {column!r}: edges must ascend, but {_text(low)} is followed by {_text(high)}",
                hint="sort the edges and name each once",
            )
    return Bins(numbers)


def _edge(edge: Number, column: str) -> Edge:
    if isinstance(edge, (str, float)) and str(edge).strip().lower() in ("inf", "+inf", "-inf"):
        return float(edge)
    return exact(edge, f"bins of {column!r}")


def _text(edge: Edge) -> str:
    if isinstance(edge, float):
        return "-inf" if math.copysign(1, edge) < 0 else "inf"
    return str(plain(edge))
