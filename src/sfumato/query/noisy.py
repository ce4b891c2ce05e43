"""Count estimates from groups with noisy counts.

The people of every group are known, so its counts are first moved by equal amounts to add up to them: that takes a share of the
noise away, and all of it where every value is asked for. Two estimators, for people with a value in S who meet a quasi condition:

`paper`
    Σ over groups of k·s/N, as for groups without noise. Unbiased but for what people inside a group have in common, and so
    without an interval.
`likelihood`
    The models of boxes (`sfumato.query.buckets`), with the noise in the likelihood of what boxes show: the default.

The standard error of either has the noise: σ²·|S|·(1 − |S|/m)·draws·(k/N)² for each group, with m values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.query.answer import Estimator
from sfumato.query.buckets import UNKNOWN, BucketsEngine, as_uniform
from sfumato.query.engine import CountEstimate, add_up
from sfumato.query.independence import ConditionPlace, Grouped
from sfumato.query.language.compile import Piece, Pieces
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.inside import Inside
from sfumato.query.models.margins import ShownMargins
from sfumato.query.models.protocol import Adding, Moments
from sfumato.query.models.scores import sum_of
from sfumato.query.models.softmax import MAX_VALUES as MOST_VALUES
from sfumato.query.models.trend import FEWEST_BOXES, MODEL_ERRORS
from sfumato.query.rows import Asked, BucketIndex, Uniform
from sfumato.query.sums import AskedSum, Term
from sfumato.release.accounts import noise_variance
from sfumato.release.buckets import BucketsRelease
from sfumato.release.margins import margin_variance, numbered_bands


@dataclass(frozen=True, eq=False)
class NoisyEngine(BucketsEngine):
    """A buckets release with noise indexed for many questions: the variance of one draw, and how many are in each group."""

    noise: float
    draws: Integers
    margins: ShownMargins | None = None

    @classmethod
    def of(cls, release: BucketsRelease) -> NoisyEngine:
        """Return the engine of a release."""
        columns = release.runs().quasi
        vocabulary = Vocabulary.of(columns, release.domain, declared_in(release.manifest.schema))
        draws = np.ones(len(release.sizes), np.int64) if release.draws is None else release.draws
        noise = noise_variance(release.manifest)
        index = noisy_index(release)
        known: dict[str, Any] = {
            "model_error": MODEL_ERRORS["noisy"],
            "noise": noise,
            "draws": draws,
            "margins": shown_margins(release, index),
        }
        return cls(index, vocabulary, columns, blind=False, **known)

    @cached_property
    def model(self) -> Adding[Asked, AskedSum]:
        """What the estimator `likelihood` asks: with margins only the model that learns from them."""
        return JointModel(self.inside) if self.margins is not None else super().model

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used, if so."""
        if self.index.groups >= FEWEST_BOXES:
            return ""
        return f"the likelihood estimator needs at least {FEWEST_BOXES} groups; this release has {self.index.groups}"

    @property
    def noise_variance(self) -> Floats:
        """The variance of noise in the counts of each group."""
        return (self.noise * self.draws).astype(np.float64)

    def shown_together(self, a: ConditionPlace, b: ConditionPlace) -> Grouped | None:
        """Return how often groups have the values of a quasi column and of a sensitive one, and the noise in these counts."""
        grouped = super().shown_together(a, b)
        if grouped is None:
            return None
        _, part, _ = max(a, b, key=lambda place: place[0])
        many = np.bincount(self.vocabulary.part_codes[part]).max()  # combinations that one value of the column is in
        return grouped._replace(noise=(self.noise * float(many) * self.draws).astype(np.float64))

    def asked_sum(self, terms: Sequence[Term], *, value_only: bool) -> AskedSum:
        """Return a sum over people as models are asked it."""
        index, asked = self.index, super().asked_sum(terms, value_only=value_only)
        levers = np.zeros((index.groups, index.values))
        for term in asked.people:
            every = term.weight * index.table.heads(term.rows)
            part = np.bincount(index.group[term.rows], every, index.groups) / index.sizes
            levers += part[:, None] * (term.scores - term.scores.mean())  # the noise of a group adds up to nothing
        return replace(asked, variance=asked.variance + self.noise * float(self.draws @ (levers**2).sum(axis=1)))

    def sum_limits(self, asked: AskedSum) -> tuple[float, float]:
        """Return that no limits are known: noise has none."""
        return UNKNOWN

    def asked(self, piece: Piece) -> Asked:
        """Return a piece of a question as models are asked it."""
        rows, people = self.index.table.find(piece.rows)
        hits = self.index.count(rows, people)
        return Asked(piece, rows, people, hits, self._uniform(hits, piece.values))

    def _uniform(self, hits: Integers, values: Flags) -> Uniform:
        """Return the papers' estimate, with the variance of noise: what is certain is how many people were asked about."""
        index, asked, people = self.index, int(values.sum()), float(hits.sum())
        if asked in (0, index.values):
            known = people if asked else 0.0
            return Uniform(known, 0.0, known, known, np.zeros(0))
        part, wanted = hits / index.sizes, index.wanted(values)
        share = np.clip(wanted / index.sizes, 0.0, 1.0)
        mixed = hits * share * (1 - share) * (index.sizes - hits) / np.maximum(index.sizes - 1, 1)
        noise = self.noise * asked * (1 - asked / index.values) * float((part**2 * self.draws).sum())
        return Uniform(float(part @ wanted), float(mixed.sum()), 0.0, people, np.zeros(0), noise)

    def guess(self, pieces: Pieces, *, estimator: Estimator) -> CountEstimate:
        """Return the estimated number of people in disjoint pieces of a question: within what is certain, and as it was found."""
        estimate = super().guess(pieces, estimator=estimator)
        return replace(estimate, raw=estimate.value)

    def as_papers(self, pieces: Pieces) -> CountEstimate:
        """Return the papers' estimate; the covariance of several pieces is not computed."""
        estimates = [(piece.values, as_uniform(self.asked(piece).uniform)) for piece in pieces]
        whole = [estimate if values.all() or not values.any() else self.limited(estimate) for values, estimate in estimates]
        return add_up(whole, self.index.people)


@dataclass(frozen=True, eq=False)
class JointModel:
    """The multiplying model alone, where it has learned from boxes and tables together."""

    inside: Inside

    def estimate(self, question: Asked) -> Moments:
        """Return the number of people in a piece of a question."""
        return self.inside.estimate(question)

    def add(self, question: AskedSum) -> Moments:
        """Return a sum over people."""
        return sum_of(self.inside, question.people, value_only=question.value_only)


def shown_margins(release: BucketsRelease, index: BucketIndex) -> ShownMargins | None:
    """Return the margins of a release, if answers learn from them."""
    margins = release.margins
    if margins is None or index.values > MOST_VALUES:
        return None
    banded = numbered_bands(release.runs().quasi, index.table.counts, margins.columns)
    return ShownMargins(banded, margins.counts.astype(np.float64), margin_variance(release.manifest))


def noisy_index(release: BucketsRelease) -> BucketIndex:
    """Return the index of a release whose counts are moved, all of a group's by as much, to add up to its people."""
    counts = release.st_count.reshape(len(release.sizes), -1).astype(np.float64)
    counts += (release.sizes - counts.sum(axis=1))[:, None] / counts.shape[1]
    return BucketIndex.of(release, counts.ravel())
