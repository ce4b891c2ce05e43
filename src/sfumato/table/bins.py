"""Bins of a numeric sensitive column: a bound on belief needs few values, so the policy says which numbers count as one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import Number, exact, plain, typed

MOST_UNBINNED = 50
"""A numeric sensitive column with more distinct values than this must be binned, or declared categorical."""

Edge = Fraction | float
"""An exact number, or ±∞ (the only floats that occur)."""


@dataclass(frozen=True)
class Bins:
    """The bins between consecutive edges, written "[0, 10)"; the last one holds its upper edge too: "[90, 100]".

    The first edge may be −∞ and the last +∞, written "(-inf, 0)" and "[100, inf)". An edge that stands twice is a bin of that
    number alone, written "0", and the next one begins after it: "(0, 10)". Bins may have names of their own. With `clip` numbers
    beyond the first and last edge count as these edges, so that every bin has two ends and numbers an average; with "above" only
    those beyond the last.
    """

    edges: tuple[Edge, ...]
    names: tuple[str, ...] = ()
    clip: bool | Literal["above"] = False

    def alone(self, place: int) -> bool:
        """Return whether a bin is a single number."""
        return self.edges[place] == self.edges[place + 1]

    def starts_after(self, place: int) -> bool:
        """Return whether a bin begins after its lower edge, which is a bin of its own."""
        return place > 0 and self.alone(place - 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """The text of each bin, in ascending order."""
        if self.names:
            return self.names
        texts = [_text(edge) for edge in self.edges]
        last = len(texts) - 2
        return tuple(
            texts[i]
            if self.alone(i)
            else ("(" if texts[i] == "-inf" or self.starts_after(i) else "[")
            + f"{texts[i]}, {texts[i + 1]}"
            + ("]" if i == last and texts[i + 1] != "inf" else ")")
            for i in range(len(texts) - 1)
        )

    def place(self, numbers: Array) -> Integers:
        """Return the bin of each number, −1 where it lies outside all of them."""
        edges = np.array([float(edge) for edge in self.edges])
        if self.clip:
            numbers = np.clip(numbers, None if self.clip == "above" else edges[0], edges[-1])
        first, after = (np.searchsorted(edges, numbers, side=side).astype(np.int64) for side in ("left", "right"))
        bins: Integers = np.where(after - first == 2, first, after - 1)  # the number is an edge that stands twice
        bins[numbers == edges[-1]] = len(edges) - 2
        bins[bins > len(edges) - 2] = -1
        return bins

    def to_plain(self) -> list[int | float | str] | dict[str, Any]:
        """Return the edges, and the names if there are any, as JSON can hold them."""
        edges = [_text(edge) if isinstance(edge, float) else plain(edge) for edge in self.edges]
        more = ({"labels": list(self.names)} if self.names else {}) | ({"clip": self.clip} if self.clip else {})
        return {"edges": edges, **more} if more else edges


@dataclass(frozen=True)
class EqualPeople:
    """So many bins of about equally many people. Edges are quantiles of the table, rounded to two figures.

    An exact quantile is somebody's number. A rounded one follows from all numbers together, regardless of who has which.
    """

    number: int

    def over(self, numbers: Array, counts: Array, column: str) -> Bins:
        """Return the bins for these numbers, ascending, each of which so many people have; the first and last have no end."""
        people = np.cumsum(counts)
        asked = [-(-int(people[-1]) * part // self.number) for part in range(1, self.number)]
        quantiles = numbers[np.searchsorted(people, asked)] if len(numbers) else numbers
        inner = sorted({Fraction(f"{float(quantile):.2g}") for quantile in quantiles if np.isfinite(quantile)})
        inner = [edge for edge in inner if numbers[0] < edge <= numbers[-1]]
        if not inner:
            raise PolicyError(
                f"bins of {column!r}: too many people have the same number for {self.number} bins of equally many",
                hint="give edges: [0, 1000, 5000, inf]",
            )
        return Bins((-math.inf, *inner, math.inf))

    def to_plain(self) -> dict[str, Any]:
        """Return the rule as a policy writes it."""
        return {"people": self.number}


_WAYS = (("people",), ("width", "from", "to"), ("edges", "labels", "clip"), ("edges", "labels"), ("edges", "clip"), ("edges",))
_MOST = 1000


def bins(edges: Bins | EqualPeople | Mapping[str, Any] | Sequence[Number], column: str) -> Bins | EqualPeople:
    """Return the bins that a policy describes: by edges, which must ascend, by equal widths, or by equal numbers of people.

    `{ people = 10 }`; `{ width = 1000, from = 0, to = 5000 }`, with all below and all above in bins of their own;
    `{ edges = […], labels = […] }`; `{ edges = [0, 100, 200], clip = true }`, with numbers beyond in the bins at the ends, or
    `clip = "above"`, with those beyond the last edge only.
    """
    if isinstance(edges, (Bins, EqualPeople)):
        return edges
    if isinstance(edges, Mapping):
        return _described(edges, column)
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Sequence) or len(edges) < 2:
        raise PolicyError(
            f"bins of {column!r}: expected a list of at least two ascending edges, got {edges!r}", hint="[0, 1000, 5000, inf]"
        )
    numbers = tuple(_edge(edge, column) for edge in edges)
    for place, (low, high) in enumerate(pairwise(numbers)):
        twice = low == high and isinstance(low, Fraction) and len(set(numbers)) > 1 and low not in numbers[:place]
        if not (low < high or twice):
            raise PolicyError(
                f"bins of {column!r}: edges must ascend, but {_text(low)} is followed by {_text(high)}",
                hint="sort the edges; one that stands twice is a bin of that number alone",
            )
    return Bins(numbers)


def _described(spec: Mapping[str, Any], column: str) -> Bins | EqualPeople:
    where, example = (
        f"bins of {column!r}",
        "{ people = 10 }, { width = 1000, from = 0, to = 5000 }, or { edges = […], clip = true }",
    )
    known = ("people", "width", "from", "to", "edges", "labels", "clip")
    for key in spec:
        if key not in known:
            raise PolicyError(f"{where}: unknown key {typed(key)}", hint=did_you_mean(str(key), known))
    if not any(set(way) == set(spec) for way in _WAYS):
        raise PolicyError(f"{where}: these keys cannot be combined: {', '.join(spec) or 'none'}", hint=example)
    if "people" in spec:
        number = spec["people"]
        if isinstance(number, bool) or not isinstance(number, int) or not 2 <= number <= MOST_UNBINNED:
            raise PolicyError(f"{where}: people: expected a number of bins from 2 to {MOST_UNBINNED}, got {typed(number)}")
        return EqualPeople(number)
    if "width" in spec:
        width, low, high = (exact(spec[key], f"{where} {key}") for key in ("width", "from", "to"))
        if width <= 0 or low >= high or (high - low) % width or (high - low) / width > _MOST:
            raise PolicyError(f"{where}: to lies a whole number of widths above from, at most {_MOST}", hint=example)
        steps = int((high - low) / width)
        return Bins((-math.inf, *(low + width * step for step in range(steps + 1)), math.inf))
    parsed = bins(spec["edges"], column)
    assert isinstance(parsed, Bins)
    names = spec.get("labels", ())
    texts = isinstance(names, (list, tuple)) and all(isinstance(name, str) and name and name.isprintable() for name in names)
    if "labels" in spec and (not texts or len(names) != len(parsed.edges) - 1 or len(set(names)) < len(names)):
        raise PolicyError(f"{where}: labels are {len(parsed.edges) - 1} different texts, one for each bin", hint=example)
    clip = spec.get("clip", False)
    known_clip = isinstance(clip, bool) or clip == "above"
    if not known_clip or (clip and any(isinstance(edge, float) for edge in parsed.edges)):
        raise PolicyError(f'{where}: clip is true, false or "above", and needs two finite ends, got {typed(clip)}', hint=example)
    return Bins(parsed.edges, tuple(names), clip)


def _edge(edge: Number, column: str) -> Edge:
    if isinstance(edge, (str, float)) and str(edge).strip().lower() in ("inf", "+inf", "-inf"):
        return float(edge)
    return exact(edge, f"bins of {column!r}")


def _text(edge: Edge) -> str:
    if isinstance(edge, float):
        return "-inf" if math.copysign(1, edge) < 0 else "inf"
    return str(plain(edge))
