"""Published rows indexed for many questions, one array of codes per column: who meets a condition, and in which group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.query import _kernels
from sfumato.query.language.compile import Piece, RowCondition, row_mask
from sfumato.release.buckets import BucketsRelease
from sfumato.table.column import Column

if TYPE_CHECKING:
    from sfumato.query.models.margins import ShownMargins
    from sfumato.query.models.trend import ModelError

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Columns of codes, and how to find the rows that meet a condition. `times` says how many people each row stands for.

    Without it every row is one person.
    """

    codes: tuple[Array, ...]
    counts: tuple[Integers, ...]
    rows: int
    times: Integers | None = None

    @classmethod
    def of(cls, columns: Sequence[Column], rows: int, order: Integers | None = None, times: Integers | None = None) -> RowIndex:
        """Return the index of these columns, their rows in another order where one is given."""
        codes = tuple(np.ascontiguousarray(c.codes if order is None else c.codes[order]) for c in columns)
        each = None if times is None else times if order is None else times[order]
        counts = (np.bincount(own, each, c.size).astype(np.int64) for own, c in zip(codes, columns, strict=True))
        return cls(codes, tuple(counts), rows, each)

    @cached_property
    def everybody(self) -> int:
        """Number of people."""
        return self.rows if self.times is None else int(self.times.sum())

    @property
    def each(self) -> Integers:
        """How many people each row stands for, for kernels; empty where that is one."""
        return _NONE if self.times is None else self.times

    def heads(self, rows: Array | slice = slice(None)) -> Integers | int:
        """Return how many people each of these rows stands for, or each row of all."""
        return 1 if self.times is None else self.times[rows]

    def find(self, wanted: RowCondition) -> tuple[Small, int]:
        """Return a buffer and how many of its first entries are row numbers that meet the condition."""
        buffer = np.empty(self.rows + 1, np.int32)
        tables = sorted(wanted.tables.items(), key=lambda item: self.people(*item))
        many, start = self.rows, True
        for column, accepted in tables:
            many = _kernels.keep_rows(self.codes[column], accepted.view(np.uint8), buffer, many, start)
            start = False
        if start:
            buffer[:many] = np.arange(many, dtype=np.int32)
        if wanted.rest:
            rows = buffer[:many]
            kept = rows[row_mask(RowCondition({}, wanted.rest), [column[rows] for column in self.codes], many)]
            many = len(kept)
            buffer[:many] = kept
        return buffer, many

    def people(self, column: int, accepted: Flags) -> int:
        """Return how many rows have an accepted code in a column."""
        return int(self.counts[column][accepted].sum())


@dataclass(frozen=True, eq=False)
class BucketIndex:
    """What the estimators need of a release, in the order that suits them."""

    table: RowIndex
    group: Small
    sizes: Integers
    shown: Integers
    st_start: Integers
    st_value: Small
    st_count: Small | Floats  # floats where counts have noise: they may be negative then
    values: int

    @classmethod
    def of(cls, release: BucketsRelease, counts: Floats | None = None) -> BucketIndex:
        """Return the index of a release, its rows sorted by group; with `counts` in place of those that it shows."""
        rows = release.runs()
        order = np.argsort(rows.group, kind="stable")
        return cls(
            RowIndex.of(rows.quasi, len(order), order, rows.times),
            np.ascontiguousarray(rows.group[order], dtype=np.int32),
            release.sizes,
            release.shown,
            release.st_start,
            np.ascontiguousarray(release.st_value, dtype=np.int32),
            np.ascontiguousarray(release.st_count, dtype=np.int32) if counts is None else counts,
            len(release.domain),
        )

    @property
    def rows(self) -> int:
        """Number of rows, of which each is one person or, where people are counted, several."""
        return self.table.rows

    @property
    def people(self) -> int:
        """Number of people."""
        return self.table.everybody

    @property
    def groups(self) -> int:
        """Number of buckets."""
        return len(self.sizes)

    @cached_property
    def has_decoys(self) -> bool:
        """Whether some group shows more values than it has people."""
        return bool((self.shown != self.sizes).any())

    @cached_property
    def st_real(self) -> Floats:
        """Expected number of people behind each row of `st`: the count itself, less the decoys' part."""
        length = np.diff(self.st_start)
        return self.st_count.astype(np.float64) * np.repeat(self.sizes / np.maximum(self.shown, 1), length)

    @cached_property
    def totals(self) -> Floats:
        """Expected number of people with each value."""
        return np.bincount(self.st_value, weights=self.st_real, minlength=self.values).astype(np.float64)

    def hits(self, wanted: RowCondition) -> Integers:
        """Return how many people of each group meet the condition."""
        return self.count(*self.table.find(wanted))

    def count(self, rows: Small, many: int) -> Integers:
        """Return how many people of the first `found` rows are in each group."""
        hits = np.zeros(self.groups, np.int64)
        _kernels.count_by_group(self.group, rows, many, self.table.each, hits)
        return hits

    def wanted(self, values: Flags) -> Integers | Floats:
        """Return how many of the values shown in each group are among `values`."""
        noisy = self.st_count.dtype.kind == "f"
        out: Integers | Floats = np.empty(self.groups, np.float64) if noisy else np.empty(self.groups, np.int64)
        _kernels.wanted_by_bucket(values.view(np.uint8), self.st_start, self.st_value, self.st_count, out)
        return out

    def weigh(self, hits: Integers, values: Flags) -> Uniform:
        """Return the papers' estimate for a set of values."""
        out = np.zeros(self.values)
        moments = _kernels.one_piece(hits, values.view(np.uint8), self.shown, self.st_start, self.st_value, self.st_count, out)
        return Uniform(*moments, out)

    def spread(self, hits: Integers) -> Floats:
        """Return the papers' estimate for every single value."""
        return self.weigh(hits, np.zeros(self.values, bool)).each


class Uniform(NamedTuple):
    """The papers' estimate: every placement of a group's values on its people is as likely as any other.

    `placement` is the variance of that, `least` and `most` are what is certain, `each` is the estimate of every single value
    (none of noisy counts), and `noise` the variance that noise in the counts adds.
    """

    value: float
    placement: float
    least: float
    most: float
    each: Floats
    noise: float = 0.0

    @property
    def variance(self) -> float:
        """The variance in all."""
        return self.placement + self.noise

    @property
    def certain(self) -> bool:
        """Whether the tables leave one possible count."""
        return self.least == self.most


@dataclass(frozen=True, eq=False)
class Asked:
    """A piece of a question to groups whose people have rows: who meets its condition, so many of each group, for which values.

    They are the first `people` of `rows`. `uniform` is the papers' estimate, from which models start.
    """

    piece: Piece
    rows: Small
    people: int
    hits: Integers
    uniform: Uniform

    @classmethod
    def of(cls, index: BucketIndex, piece: Piece) -> Asked:
        """Return a piece of a question to groups without noise."""
        rows, people = index.table.find(piece.rows)
        hits = index.count(rows, people)
        return cls(piece, rows, people, hits, index.weigh(hits, piece.values))


class Buckets(Protocol):
    """Groups whose people have rows, as models are fitted to them: also the variance of noise in the counts of each group."""

    @property
    def index(self) -> BucketIndex:
        """The people of the groups, and what is shown of them."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The quasi columns."""

    @property
    def model_error(self) -> ModelError | None:
        """What a model of boxes does not see of such groups; None where they are no boxes of near people."""

    @property
    def noise_variance(self) -> Floats:
        """The variance of noise in the counts of each group."""

    @property
    def margins(self) -> ShownMargins | None:
        """Margins of the same people, if there are any."""
