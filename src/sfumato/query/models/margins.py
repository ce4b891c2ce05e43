"""Margins in the one likelihood of boxes and margins: their bands are further groups of the same people.

**Learning.** A band of a table shows c_gv people where Σ_{i∈g} π_iv are expected, with noise of a variance of its own: to the
multiplicative model (`sfumato.query.models.softmax`) it is a box among others. All counts of a band are first moved by as much as
makes them add up to its people, who are known.

**Raking.** Boxes' chances are first raked to what boxes show, then by iterative proportional fitting to every table: not to its
noisy counts, but to m + k·(c − m) with k = V/(V + s²), where m is what the chances of the boxes come to, s² the noise, and V how
far m is off: half a share of m², half one of m, both by the mean square of c − m over the table, and a ninth of what c − m
itself says, so that a link that the model misses is believed. Then counts are moved, in proportion to k, until bands have their
people and values their sums over all tables and boxes: else one table would pull against another. What is unknown of a count is
taken as s²: on average that is as much as noise and the part of c − m that was not believed make.

**A question** that is a union of bands has the error of these counts. In general, with the shares α_g of the people of each band
who are asked about, a table explains the part ρ = Σ α²m / Σ αm of what a question is off by, and leaves (1 − ρ)·variance +
Σ α²·(what is unknown of the band): the best table of the columns asked about is taken, if it is better than none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Bytes, Flags, Floats, Small
from sfumato.query.model_cache import fitting
from sfumato.query.models import _margin_kernels as kernels
from sfumato.query.models.cells import Cells
from sfumato.query.models.softmax import Goals, places
from sfumato.query.rows import Asked, BucketIndex
from sfumato.release.margins import Banded

_ROUNDS = 5  # of fitting to all tables
_SETTLING = 20  # of bringing a table's counts to known sums
_TAILS = 8.0  # degrees of freedom of how far the model may be off
_LEAP = 8.0  # most that a chance changes by in one step
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class ShownMargins:
    """The tables of a release: their bands, [bands × values] what they show, and the variance of the noise in it."""

    banded: tuple[Banded, ...]
    counts: Floats
    noise: float

    @property
    def bands(self) -> dict[int, Bytes]:
        """The bands of the codes of each column."""
        return {own.columns[0]: own.of_codes[0] for own in self.banded if len(own.columns) == 1}

    def of_cells(self, index: BucketIndex, cells: Cells) -> MarginGroups:
        """Return the bands as groups of cells of people."""
        first = np.concatenate(([0], np.cumsum([own.many for own in self.banded]))).astype(np.int64)
        member = np.zeros((len(cells.weight), len(self.banded)), np.int32)
        for t, own in enumerate(self.banded):
            member[cells.cell, t] = own.of(index.table.codes) + first[t]
        sizes = np.zeros(int(first[-1]))
        for t in range(len(self.banded)):
            sizes += np.bincount(member[:, t], cells.weight, len(sizes))
        shown = self.counts + ((sizes - self.counts.sum(axis=1)) / self.counts.shape[1])[:, None]
        there = sizes > 0
        return MarginGroups(member, first, sizes, np.where(there[:, None], shown, 0.0), self.noise)


class MarginGroups(NamedTuple):
    """Bands as groups of cells: which each cell is in, where each table's begin, their people, what they show, and its noise."""

    member: Small
    first: Array
    sizes: Floats
    shown: Floats
    noise: float

    def expected(self, cells: Cells, tables: Floats) -> Floats:
        """Return [bands × values]: how many people the model expects."""
        counts = np.zeros(self.shown.shape)
        kernels.expected(cells, tables, self.member, counts)
        return counts

    def pull(self, cells: Cells, tables: Floats, expected: Floats, gradient: Floats) -> None:
        """Add to the gradient of the log-likelihood by level and value."""
        off = (self.shown - expected) / np.maximum(expected + self.noise, _LEAST)
        kernels.pull(cells, tables, self.member, np.where(self.sizes[:, None] > 0, off, 0.0), gradient)

    def likelihood(self, expected: Floats) -> float:
        """Return the log-likelihood of what bands show, up to a constant."""
        there = self.sizes > 0
        return float(-0.5 * ((self.shown - expected)[there] ** 2 / (expected[there] + self.noise)).sum())

    def slopes(self, cells: Cells, tables: Floats) -> Array:
        """Return [bands × levels × values]: how expected counts grow with the weights of levels."""
        slopes = np.zeros((len(self.sizes), *tables.shape), np.float32)
        kernels.slopes(cells, tables, self.member, slopes)
        return slopes

    def sums(self) -> tuple[Floats, Floats]:
        """Return [tables × values] the sums over all bands of each table, and the variance of the noise in each table's."""
        bands = np.diff(self.first)
        return np.add.reduceat(self.shown, self.first[:-1], axis=0), self.noise * bands.astype(np.float64)


@dataclass(frozen=True, eq=False)
class MarginFit:
    """What is believed of the counts of all tables [bands × values], and the variance of what is unknown of each."""

    banded: tuple[Banded, ...]
    groups: MarginGroups
    people: Floats
    variance: Floats

    def narrowed(self, question: Asked, index: BucketIndex, variance: float) -> tuple[float, float]:
        """Return the variance of an answer, given what it would be from boxes alone, and the part of that which is left."""
        best, left = variance, 1.0
        wanted, rows = question.piece.values, question.rows[: question.people]
        asked = set(question.piece.rows.tables)
        for t in self._telling(asked):
            own = self.banded[t]
            band = own.of([codes[rows] for codes in index.table.codes])
            hits = np.bincount(band, None if index.table.times is None else index.table.times[rows], own.many)
            mine = slice(int(self.groups.first[t]), int(self.groups.first[t + 1]))
            share = hits / np.maximum(self.groups.sizes[mine], 1.0)
            people = self.people[mine][:, wanted].sum(axis=1)
            explained = float(share**2 @ people) / max(float(share @ people), _LEAST)
            narrowed = (1.0 - explained) * variance + float(share**2 @ self._unknown(mine, wanted))
            if narrowed < best:
                best, left = narrowed, 1.0 - explained
        return best, left

    def _telling(self, asked: set[int]) -> Sequence[int]:
        """Return the tables of columns that are asked about; the one of fewest bands where none is."""
        telling = [t for t, own in enumerate(self.banded) if asked.issuperset(own.columns)]
        return telling or [min(range(len(self.banded)), key=lambda t: self.banded[t].many)]

    def _unknown(self, bands: slice, wanted: Flags) -> Floats:
        """Return what is unknown of the people of each band with a wanted value; of the rest it is as much."""
        own = self.variance[bands]
        unknown: Floats = np.minimum(own[:, wanted].sum(axis=1), own[:, ~wanted].sum(axis=1))
        return unknown

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        return {"margin_people": self.people, "margin_variance": self.variance}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], shown: ShownMargins, index: BucketIndex, cells: Cells) -> MarginFit:
        """Return the fit that has these arrays; `ValueError` if they are not of these tables."""
        shape = shown.counts.shape
        kept = (fitting(arrays, name, shape) for name in ("margin_people", "margin_variance"))
        return cls(shown.banded, shown.of_cells(index, cells), *kept)


def believed(groups: MarginGroups, expected: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Return what is believed of every count of every table where the boxes' chances come to `expected`, and its variance.

    `totals` is how many people have each value.
    """
    people = np.zeros_like(expected)
    for low, high in zip(groups.first[:-1], groups.first[1:], strict=True):
        m, away, sizes = expected[low:high], groups.shown[low:high] - expected[low:high], groups.sizes[low:high]
        many = np.count_nonzero(sizes) * m.shape[1]
        # A mean of so many squares of noise is known up to its own standard error: noise is Laplace's, nearly, of kurtosis 6.
        over = max(float((away**2).sum()) - groups.noise * many, 0.0) + groups.noise * math.sqrt(5.0 * many)
        typical = 0.5 * over * (m**2 / max(float((m**2).sum()), _LEAST) + m / max(float(m.sum()), _LEAST))
        off = (_TAILS * typical + np.maximum(away**2 - groups.noise, 0.0)) / (_TAILS + 1.0)
        part = off / (off + groups.noise)
        people[low:high] = _adding_up(m + part * away, 0.01 * m, part + _LEAST, sizes, totals)
    return people, np.full_like(people, groups.noise)


def _adding_up(counts: Floats, least: Floats, unknown: Floats, sizes: Floats, totals: Floats) -> Floats:
    """Return counts [bands × values] moved, most where most is unknown, until bands have their people and values their sums."""
    by_band, by_value = unknown / unknown.sum(axis=1, keepdims=True), unknown / unknown.sum(axis=0)
    counts = np.maximum(counts, least)
    for _ in range(_SETTLING):
        counts = np.maximum(counts + (totals - counts.sum(axis=0)) * by_value, least)
        counts = np.maximum(counts + (sizes - counts.sum(axis=1))[:, None] * by_band, least)
    return counts


def rake_tables(cells: Cells, goals: Goals, groups: MarginGroups, people: Floats, chances: Array) -> Goals:
    """Scale chances, in place, to these counts of all tables; return the goals with what boxes come to then."""
    place = places(cells, goals)
    for _ in range(_ROUNDS):
        for t, (low, high) in enumerate(zip(groups.first[:-1], groups.first[1:], strict=True)):
            band = groups.member[:, t] - np.int32(low)
            found = np.zeros((people.shape[1], high - low))
            kernels.add_up(cells, goals, place, chances, band, found)
            factor = np.clip(people[low:high].T / np.maximum(found, _LEAST), 1.0 / _LEAP, _LEAP)
            kernels.scale(cells, goals, place, chances, band, factor)
    sums = np.empty(len(goals.people))
    kernels.box_sums(cells, goals, place, chances, sums)
    return goals._replace(people=np.maximum(sums, _LEAST))


def table_sums(cells: Cells, goals: Goals, groups: MarginGroups, chances: Array) -> Floats:
    """Return [bands × values]: what chances come to in every band."""
    sums = np.zeros((groups.shown.shape[1], len(groups.sizes)))
    for t in range(groups.member.shape[1]):
        kernels.add_up(cells, goals, places(cells, goals), chances, np.ascontiguousarray(groups.member[:, t]), sums)
    return np.ascontiguousarray(sums.T)
