"""Count estimates from a buckets release.

Two estimators, for a piece of a query (people with a sensitive value in S who meet a quasi condition):

`paper`
    Σ over groups of k·s/N: k people meet the quasi condition, s of the N values shown are in S ([F' §7.2.2], Anatomy). Its
    standard error is the exact one of a random placement inside groups. It has **no interval**: where quasi and sensitive
    values are associated it is biased toward independence by more than its standard error (a nominal 95 % covers 10–50 %).
`likelihood`
    For boxes of near people the mean of two models of the inside of boxes, one in which columns add up and one in which they
    multiply. Where they disagree, that is part of the error: see `sfumato.query.models.average`. With fewer than ten groups
    there is too little to learn from: the papers' estimator
    answers, between what is certain. The default there, by measurement on real tables (benchmarks/estimators.py), and for near
    groups, where it halves the papers' error but has no interval that holds (benchmarks/near_groups.py). For blind buckets
    see `sfumato.query.models.likelihood`: the default for those of up to 600 sensitive values, by measurement: on a census of
    100,000 (benchmarks/query_error.py) its mean error is 0.2 to 0.92 times the papers' for optimal, top-down and unsuppressed
    Anatomy buckets, and only its intervals hold. Where all groups have one large size there is little to learn, and
    it can be slightly worse than `paper` (0.132 against 0.124 at worst). Preparing it takes 0.1 s for 50 values and about 3 s
    for 600, once a release.

With σ decoys in a group of N people, N + σ values are shown and every formula counts them all, which leaves the estimate
unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.errors import QueryError
from sfumato.query.answer import Estimator
from sfumato.query.engine import Cell, CountEstimate, GroupColumns, add_up, fits, fitted
from sfumato.query.group_by import occurring_cells
from sfumato.query.independence import FEW, MOST_GROUPS, ConditionPlace, Grouped, overlapping
from sfumato.query.language.compile import Piece, Pieces
from sfumato.query.language.predicate import Query
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.average import Average
from sfumato.query.models.inside import Inside
from sfumato.query.models.installed import fitted_by
from sfumato.query.models.likelihood import MAX_VALUES, Association
from sfumato.query.models.margins import ShownMargins
from sfumato.query.models.protocol import Adding, Estimating, Moments
from sfumato.query.models.softmax import MAX_VALUES as MOST_VALUES
from sfumato.query.models.trend import FEWEST_BOXES, MODEL_ERRORS, ModelError, Trend
from sfumato.query.rows import Asked, BucketIndex, RowIndex, Uniform
from sfumato.query.sums import AskedSum, Term, limits_of
from sfumato.release.buckets import BucketsRelease
from sfumato.table.column import Column

BIASED = "no interval: this estimator is biased toward independence by more than its standard error"
UNKNOWN = (-math.inf, math.inf)
CERTAIN = f"what is certain, no interval: fewer than {FEWEST_BOXES} groups tell too little about their inside"

_MOST_SHARES = 50_000_000  # shares of groups that a test of association looks at


def as_uniform(uniform: Uniform) -> CountEstimate:
    """Return the papers' estimate as a guess."""
    return CountEstimate(float(uniform.value), math.sqrt(uniform.variance), float(uniform.least), float(uniform.most), BIASED)


@dataclass(frozen=True, eq=False)
class RowQuestion:
    """A question to a release that shows every person's own quasi values."""

    vocabulary: Vocabulary
    table: RowIndex
    guess: partial[CountEstimate]
    add: partial[Moments]

    @classmethod
    def of(cls, engine: Any, asked: Query, estimator: Estimator) -> RowQuestion:
        """Return a question to an engine of buckets made ready."""
        guess, add = (partial(ask, estimator=estimator) for ask in (engine.guess, engine.add))
        return cls(engine.vocabulary.for_terms(asked.terms), engine.index.table, guess, add)

    def cells(self, columns: GroupColumns, pieces: Pieces) -> list[Cell]:
        """Return the combinations of values that can occur in these pieces."""
        return occurring_cells(self.table, self.vocabulary, columns, pieces)


@dataclass(frozen=True, eq=False)
class BucketsEngine:
    """A buckets release indexed for many questions. `model_error` is None unless its groups are boxes of near people."""

    index: BucketIndex
    vocabulary: Vocabulary
    columns: tuple[Column, ...]
    blind: bool
    model_error: ModelError | None

    @classmethod
    def of(cls, release: BucketsRelease) -> BucketsEngine:
        """Return the engine of a release: what it can learn follows from the basis of its groups."""
        basis = release.manifest.rests_on
        index = BucketIndex.of(release)
        near = index.groups >= FEWEST_BOXES and not index.has_decoys
        columns = release.runs().quasi
        vocabulary = Vocabulary.of(columns, release.domain, declared_in(release.manifest.schema))
        return cls(index, vocabulary, columns, basis.by_counts_alone, MODEL_ERRORS.get(basis.name) if near else None)

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used, if so."""
        if self.model_error is not None or (self.blind and self.index.values <= MAX_VALUES):
            return ""
        if self.blind:
            return f"the likelihood estimator works up to {MAX_VALUES} sensitive values; this release has {self.index.values}"
        return (
            "the likelihood estimator needs people assigned to groups regardless of their quasi values, or at least "
            f"{FEWEST_BOXES} groups that are boxes of near people; the manifest of this release does not say that"
        )

    association = fits(Association)
    trend = fits(Trend)
    inside = fits(Inside)

    @cached_property
    def model(self) -> Adding[Asked, AskedSum]:
        """What the estimator `likelihood` asks."""
        if self.model_error is None:
            return self.association
        return Average(self.trend, self.inside if self.index.values <= MOST_VALUES else None)

    @property
    def noise_variance(self) -> Floats:
        """The variance of noise in the counts of each group."""
        return np.zeros(self.index.groups)

    @property
    def margins(self) -> ShownMargins | None:
        """Margins of the same people: there are none."""
        return None

    def ask(self, asked: Query, estimator: Estimator) -> RowQuestion:
        """Return the question made ready."""
        return RowQuestion.of(self, asked, estimator)

    @fitted
    def boxes(self) -> bool:
        """Whether groups are boxes that do not overlap, but for a few that were joined."""
        index = self.index
        return index.groups <= MOST_GROUPS and overlapping(index.group, index.table.codes, index.groups) <= FEW

    def shown_together(self, a: ConditionPlace, b: ConditionPlace) -> Grouped | None:
        """Return how often groups have the values of a quasi column and of a sensitive one."""
        (sensitive, quasi, words), (other, part, parts) = sorted((a, b), key=lambda place: place[0])
        index = self.index
        if sensitive or not other or index.groups * (words.size + parts.size) > _MOST_SHARES:
            return None
        if not self.blind and (index.has_decoys or not self.boxes):
            return None
        of_quasi, of_part = np.zeros((index.groups, words.size)), np.zeros((index.groups, parts.size))
        np.add.at(of_quasi, (index.group, index.table.codes[quasi]), index.table.heads())
        group = np.repeat(np.arange(index.groups), np.diff(index.st_start))
        np.add.at(of_part, (group, self.vocabulary.part_codes[part][index.st_value]), index.st_real)
        return Grouped(of_quasi, of_part, dealt=self.blind)

    def asked(self, piece: Piece) -> Asked:
        """Return a piece of a question as models are asked it."""
        return Asked.of(self.index, piece)

    def asked_sum(self, terms: Sequence[Term], *, value_only: bool) -> AskedSum:
        """Return a sum over people as models are asked it."""
        return AskedSum.of(self.index, terms, value_only=value_only)

    def add(self, terms: Sequence[Term], *, estimator: Estimator, value_only: bool = False) -> Moments:
        """Return the estimated sum over people; its value alone takes less time."""
        asked = self.asked_sum(terms, value_only=value_only)
        if asked.variance == 0.0:
            return Moments(asked.value, 0.0)
        if estimator != "paper":
            return self._adding(estimator).add(asked)
        least, most = self.sum_limits(asked) if self.few and not value_only else UNKNOWN
        return Moments(asked.value, asked.variance, BIASED, least=least, most=most)

    def sum_limits(self, asked: AskedSum) -> tuple[float, float]:
        """Return the least and the largest that a sum can be, if that is known."""
        return UNKNOWN if self.index.has_decoys else limits_of(self.index, asked.people)

    @property
    def few(self) -> bool:
        """Whether the groups are too few to learn from: then what is certain is said, and no interval."""
        return not self.blind and self.index.groups < FEWEST_BOXES

    def guess(self, pieces: Pieces, *, estimator: Estimator) -> CountEstimate:
        """Return the estimated number of people in disjoint pieces of a question."""
        if estimator == "paper":
            return self.as_papers(pieces)
        return add_up([self._guess(self.asked(piece), estimator) for piece in pieces], self.index.people)

    def _guess(self, asked: Asked, estimator: Estimator) -> CountEstimate:
        """Return what the model says, or what the tables alone leave no doubt of."""
        known = asked.uniform
        moments = Moments(known.value, known.variance) if known.certain else self._asks(estimator).estimate(asked)
        least, most, error = float(known.least), float(known.most), math.sqrt(moments.variance)
        return CountEstimate(float(moments.value), error, least, most, moments.note, loose=moments.loose, further=moments.further)

    def _asks(self, estimator: Estimator) -> Estimating[Asked]:
        """Return the model that an estimator asks."""
        return self.model if estimator == "likelihood" else fitted_by(estimator, self)

    def _adding(self, estimator: Estimator) -> Adding[Asked, AskedSum]:
        """Return the same for sums over people, which an installed estimator may not answer."""
        model: Any = self._asks(estimator)
        if not hasattr(model, "add"):
            raise QueryError(f"the estimator {estimator!r} answers counts only", hint="use estimator='paper' or 'likelihood'")
        return model  # type: ignore[no-any-return]

    def as_papers(self, pieces: Pieces) -> CountEstimate:
        """Return the papers' estimate, of too few groups with what is certain in place of an interval."""
        return self.limited(self._placed(pieces))

    def limited(self, estimate: CountEstimate) -> CountEstimate:
        """Return a guess with what is certain, where groups are too few."""
        return replace(estimate, no_interval=CERTAIN, limits=True) if self.few else estimate

    def _placed(self, pieces: Pieces) -> CountEstimate:
        """Return the papers' estimate, with the exact variance of a random placement.

        Row i of a group with M slots fits r_i of them and slot j fits c_j rows; a placement of several pieces then has the
        variance (Σ r_i − Σ r_i²/M − Σ c_j²/M + (Σ r_i)²/M²) / (M − 1).
        """
        index = self.index
        if len(pieces) == 1:
            return as_uniform(self.asked(pieces[0]).uniform)
        fits, columns = np.zeros(index.rows), np.zeros(index.groups)
        value = least = most = 0.0
        for piece in pieces:
            buffer, people = index.table.find(piece.rows)
            hits = index.count(buffer, people)
            wanted = index.wanted(piece.values)
            fits[buffer[:people]] += wanted[index.group[buffer[:people]]]
            columns += wanted * hits.astype(float) ** 2
            part = index.weigh(hits, piece.values)
            value, least, most = value + part.value, least + part.least, most + part.most
        every = index.table.heads()
        total = np.bincount(index.group, weights=fits * every, minlength=index.groups)
        squares = np.bincount(index.group, weights=fits**2 * every, minlength=index.groups)
        slots = np.maximum(index.shown, 1)
        variance = (total - squares / slots - columns / slots + total**2 / slots**2) / np.maximum(slots - 1, 1)
        error = math.sqrt(max(0.0, float(variance[slots > 1].sum())))
        return CountEstimate(value, error, float(least), float(min(most, index.people)), BIASED)
