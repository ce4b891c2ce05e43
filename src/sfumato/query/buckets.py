"""Count estimates from a buckets release.

Two estimators, for a piece of a query (people with a sensitive value in S who meet a quasi condition):

`paper`
    Σ over buckets of k·s/N: k people meet the quasi condition, s of the N values shown are in S ([F' §7.2.2], Anatomy). Its
    standard error is the exact one of a random placement inside buckets. It has **no interval**: where quasi and sensitive
    values are associated it is biased toward independence by more than its standard error (a nominal 95 % covers 10–50 %).
`likelihood`
    For boxes of near people the mean of two models of the inside of boxes, one in which columns add up
    (`sfumato.query.models.trend`) and one in which they multiply (`sfumato.query.models.inside`). Where they disagree, that is
    part of the error: see `combine`. The default there, by measurement on real tables (benchmarks/estimators.py), and for near
    groups, where it halves the papers' error but has no interval that holds (benchmarks/near_groups.py). For blind buckets
    see `sfumato.query.models.likelihood`: the default for those of up to 600 sensitive values, by measurement: on a census of
    100,000 (benchmarks/query_error.py) its mean error is 0.2 to 0.92 times the papers' for optimal, top-down and unsuppressed
    Anatomy buckets, and only its intervals hold. Where all buckets have one large size there is little to learn, and
    it can be slightly worse than `paper` (0.132 against 0.124 at worst). Preparing it takes 0.1 s for 50 values and about 3 s
    for 600, once a release.

With σ decoys in a bucket of N people, N + σ values are shown and every formula counts them all, which leaves the estimate
unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers, Small
from sfumato.query.answer import Estimator
from sfumato.query.engine import Cell, GroupColumns, Guess, Total, add_up, learns
from sfumato.query.group_by import occurring_cells
from sfumato.query.language.compile import Piece, Pieces
from sfumato.query.language.predicate import Query
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.inside import Inner, Inside, learn_inside
from sfumato.query.models.likelihood import MAX_VALUES, Association, learn_association
from sfumato.query.models.scores import Weighed, sum_of
from sfumato.query.models.softmax import MAX_VALUES as MOST_VALUES
from sfumato.query.models.trend import ENOUGH_BOXES, FEWEST_BOXES, MISSES, Misses, Trend, learn_trend
from sfumato.query.rows import BucketIndex, RowIndex
from sfumato.query.sums import Term, add_as_papers, by_score, deviation_of, shift_of, weigh_people
from sfumato.release.buckets import BucketsRelease
from sfumato.table.column import Column

LEANS = "no interval: this estimator leans toward independence by more than its standard error"
NEAR = "no interval: in near groups the estimate is off by more than its standard error tells"
PRIOR = "no interval: mostly prior, since hardly any box tells these people from others"

_WIDER = 8.0  # strengths of association for sums of numbers, which many values share, in units of what is usual for single ones
TELLING = ENOUGH_BOXES
"""With fewer boxes answers are mostly prior, and have no interval."""

_FAR, _STEEP = 1.5, 4.0  # how much more, and by how much of it for each unit of the logarithm
_UNTOLD = 0.8  # an answer is mostly prior if so much of what was unknown before still is


def few_boxes(boxes: int) -> str:
    """Return why a release of so many boxes gives no interval; "" for enough of them."""
    return "" if boxes >= TELLING else f"no interval: mostly prior, since {boxes} boxes tell little about their inside"


def combine(
    value: float, shift: float, variance: float, inner: Inner | None, misses: Misses, *, deviation: float | None = None
) -> tuple[float, float, float, str]:
    """Return value and variance from both models of the inside, the weights' part of it, and why there is no interval, if so.

    `shift` is what the adding model makes of the papers' estimate `value`: of that at least the part that is trusted is made,
    and more as far as the multiplicative model says the same. A mean of both errs less than either. Its variance is that of
    the multiplicative model, which judges itself, and the squared distance between the two. Where that model finds a figure far
    from the papers', it speaks of strong links, and its prior with heavy tails tells less of a weight far out: what is unknown
    of the weights then counts up to `_FAR` times more. Far is measured in logarithms for a count. For a sum of numbers it is in
    units of a `deviation`, how much more the sum is if everybody's number lies one standard deviation higher: an average that
    moves by so much of it has odds that differ by as much in the logarithm between numbers one deviation apart. Where that is 0,
    nothing is far.
    """
    if inner is None:
        return value + shift, variance, 0.0, ""
    if deviation is None:
        far = abs(math.log(max(inner.value, 0.5) / max(value, 0.5)))
    else:
        far = abs(inner.value - value) / deviation if deviation > 0 else 0.0
    far = min(_STEEP * far, 1.0)
    agreed = (inner.value - value) / shift if shift else 1.0
    adding = value + min(max(agreed, misses.trust), 1.0) * shift
    return (
        adding + misses.inside * (inner.value - adding),
        inner.variance + _FAR * far * inner.unknown + (adding - inner.value) ** 2,
        (1.0 + _FAR * far) * inner.unknown,
        PRIOR if inner.prior > _UNTOLD else "",
    )


@dataclass(frozen=True, eq=False)
class RowQuestion:
    """A question to a release that shows every person's own quasi values."""

    vocabulary: Vocabulary
    table: RowIndex
    guess: partial[Guess]
    add: partial[Total]

    @classmethod
    def of(cls, engine: Any, asked: Query, estimator: Estimator) -> RowQuestion:
        """Return a question to an engine of buckets made ready."""
        guess, add = (partial(one, estimator=estimator) for one in (engine.guess, engine.add))
        return cls(engine.vocabulary.for_terms(asked.terms), engine.index.table, guess, add)

    def cells(self, columns: GroupColumns, pieces: Pieces) -> list[Cell]:
        """Return the combinations of values that can occur in these pieces."""
        return occurring_cells(self.table, self.vocabulary, columns, pieces)


@dataclass(frozen=True, eq=False)
class BucketsEngine:
    """A buckets release laid out for many questions. `misses` is None unless its buckets are boxes of near people."""

    index: BucketIndex
    vocabulary: Vocabulary
    columns: tuple[Column, ...]
    blind: bool
    misses: Misses | None

    @classmethod
    def of(cls, release: BucketsRelease) -> BucketsEngine:
        """Return the engine of a release: what it can learn follows from the basis of its groups."""
        basis = release.manifest.basis
        index = BucketIndex.of(release)
        near = index.buckets >= FEWEST_BOXES and not index.has_decoys
        columns = release.runs().quasi
        vocabulary = Vocabulary.of(columns, release.domain, declared_in(release.manifest.schema))
        misses = MISSES.get(basis) if near else None
        return cls(index, vocabulary, columns, basis == "blind", misses and misses.among(index.buckets))

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used, if so."""
        if self.misses is not None or (self.blind and self.index.values <= MAX_VALUES):
            return ""
        if self.blind:
            return f"the likelihood estimator works up to {MAX_VALUES} sensitive values; this release has {self.index.values}"
        return (
            "the likelihood estimator needs people assigned to buckets regardless of their quasi values, or at least "
            f"{FEWEST_BOXES} buckets that are boxes of near people; the manifest of this release does not say that"
        )

    @learns(Association)
    def association(self) -> Association:
        """What blind buckets teach about how quasi and sensitive values go together."""
        return learn_association(self.index)

    @learns(Trend)
    def trend(self) -> Trend:
        """What the differences between boxes teach about the inside of a box."""
        assert self.misses is not None
        return learn_trend(self.index, self.columns, self.misses)

    @learns(Inside)
    def inside(self) -> Inside:
        """What the boxes teach about the chances of each person."""
        return learn_inside(self.index, self.columns)

    def ask(self, asked: Query, estimator: Estimator) -> RowQuestion:
        """Return the question made ready."""
        return RowQuestion.of(self, asked, estimator)

    def add(self, terms: Sequence[Term], *, estimator: Estimator, value_only: bool = False) -> Total:
        """Return the estimated sum over people; its value alone takes less time."""
        people = weigh_people(self.index.table, terms)
        value, variance = add_as_papers(self.index, people)
        if variance == 0.0:
            return Total(value, 0.0)
        if estimator == "paper":
            return Total(value, variance, LEANS)
        if self.misses is None:
            return self._add_by_association(terms, people)
        return self.add_by_models(people, value, variance, value_only=value_only)

    def add_by_models(self, people: list[Weighed], value: float, variance: float, *, value_only: bool) -> Total:
        """Return what both models of the inside of boxes make of the papers' estimate of a sum."""
        assert self.misses is not None
        shift, more = shift_of(self.trend, people)
        inner = sum_of(self.inside, people, value_only=value_only) if self.index.values <= MOST_VALUES else None
        value, variance, _, prior = combine(
            value, shift, variance + more, inner, self.misses, deviation=deviation_of(self.index, people)
        )
        return Total(value, variance, self.no_interval or prior)

    @property
    def no_interval(self) -> str:
        """Why no answer of the models has an interval, if so."""
        assert self.misses is not None
        return few_boxes(self.index.buckets) if self.misses.cover else NEAR

    def _add_by_association(self, terms: Sequence[Term], people: list[Weighed]) -> Total:
        """Return a sum from blind buckets: terms of one score are one covariate of people, errors of several scores add up."""
        index = self.index
        if len(terms) == 1 and terms[0].numbers is None and len(ends := np.unique(terms[0].scores)) == 2:
            low, span = float(ends[0]), terms[0].times * float(ends[1] - ends[0])
            count = self._by_association(Piece(terms[0].scores == ends[1], terms[0].rows))
            return Total(low * float(people[0].weight.sum()) + span * count.inside, (span * count.std_error) ** 2)
        value = error = 0.0
        for like, weight in by_score(index, people):
            by_bucket = np.bincount(index.bucket, weight, index.buckets) / np.maximum(index.shown, 1)
            shown = index.st_count * np.repeat(by_bucket, np.diff(index.st_start))
            each: Floats = np.bincount(index.st_value, shown, index.values).astype(np.float64)
            wider = _WIDER if any(weighed.unit is None for weighed in like) else 1.0
            mean, square = float(weight.mean()), float((weight**2).mean())
            found, variance = self.association.covariate(mean, square - mean**2, each, like[0].scores, wider=wider)
            if index.has_decoys:
                variance *= float(index.shown.sum()) / index.people
            value, error = value + found, error + math.sqrt(variance)
        return Total(value, error**2)

    def guess(self, pieces: Pieces, *, estimator: Estimator) -> Guess:
        """Return the estimated number of people in disjoint pieces of a question."""
        if estimator == "paper":
            return self._as_papers(pieces)
        one = self._by_association if self.misses is None else self._by_boxes
        return add_up([one(piece) for piece in pieces], self.index.people)

    def _by_association(self, piece: Piece) -> Guess:
        index = self.index
        hits = index.hits(piece.rows)
        value, variance, least, most, each = index.weigh(hits, piece.values)
        if least != most:
            chance = variance
            value, variance = self.association.estimate(piece, int(hits.sum()), each)
            if index.has_decoys:
                share = float(hits.sum()) / index.people
                variance += max(0.0, chance - self.association.chance_variance(piece.values, share))
                # Only a share N/(N+σ) of the slots speaks of people; which ones is not known, so the rest counts as lost data.
                variance *= float(index.shown.sum()) / index.people
        return Guess(float(value), math.sqrt(variance), float(least), float(most))

    def _by_boxes(self, piece: Piece) -> Guess:
        rows, people = self.index.table.find(piece.rows)
        hits = self.index.count(rows, people)
        value, variance, least, most, _ = self.index.weigh(hits, piece.values)
        assert self.misses is not None
        why, loose = "" if self.misses.cover else NEAR, 0.0
        if least != most:
            value, variance, loose, why = self.guess_by_models(piece, rows, people, hits, value, variance)
        return Guess(float(value), math.sqrt(variance), float(least), float(most), why, loose=loose)

    def guess_by_models(
        self, piece: Piece, rows: Small, people: int, hits: Integers, value: float, variance: float
    ) -> tuple[float, float, float, str]:
        """Return what `combine` makes of the papers' estimate of a piece, who are the first `people` of `rows`."""
        assert self.misses is not None
        shift, more = self.trend.estimate(piece, rows, people, hits)
        inner = self.inside.estimate(piece.values, rows, people, hits) if self.index.values <= MOST_VALUES else None
        value, variance, loose, prior = combine(value, shift, variance + more, inner, self.misses)
        return value, variance, loose, self.no_interval or prior

    def _as_papers(self, pieces: Pieces) -> Guess:
        """Return the papers' estimate, with the exact variance of a random placement.

        Row i of a bucket with M slots fits r_i of them and slot j fits c_j rows; a placement of several pieces then has the
        variance (Σ r_i − Σ r_i²/M − Σ c_j²/M + (Σ r_i)²/M²) / (M − 1).
        """
        index = self.index
        if len(pieces) == 1:
            value, variance, least, most, _ = index.weigh(index.hits(pieces[0].rows), pieces[0].values)
            return Guess(float(value), math.sqrt(variance), float(least), float(most), LEANS)
        fits, columns = np.zeros(index.rows), np.zeros(index.buckets)
        value, least, most = 0.0, 0, 0
        for piece in pieces:
            buffer, people = index.table.find(piece.rows)
            hits = index.count(buffer, people)
            wanted = index.wanted(piece.values)
            fits[buffer[:people]] += wanted[index.bucket[buffer[:people]]]
            columns += wanted * hits.astype(float) ** 2
            part = index.weigh(hits, piece.values)
            value, least, most = value + part[0], least + part[2], most + part[3]
        every = index.table.heads()
        total = np.bincount(index.bucket, weights=fits * every, minlength=index.buckets)
        squares = np.bincount(index.bucket, weights=fits**2 * every, minlength=index.buckets)
        slots = np.maximum(index.shown, 1)
        variance = (total - squares / slots - columns / slots + total**2 / slots**2) / np.maximum(slots - 1, 1)
        error = math.sqrt(max(0.0, float(variance[slots > 1].sum())))
        return Guess(value, error, float(least), float(min(most, index.people)), LEANS)
