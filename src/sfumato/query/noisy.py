"""Count estimates from buckets with noisy counts.

The people of every bucket are known, so its counts are first moved by equal amounts to add up to them: that takes a share of the
noise away, and all of it where every value is asked for. Two estimators, for people with a value in S who meet a quasi condition:

`paper`
    Σ over buckets of k·s/N, as for buckets without noise. Unbiased but for what people inside a bucket have in common, and so
    without an interval.
`likelihood`
    The models of boxes (`sfumato.query.buckets`), with the noise in the likelihood of what boxes show: the default.

The standard error of either has the noise: σ²·|S|·(1 − |S|/m)·draws·(k/N)² for each bucket, with m values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Integers
from sfumato.query.answer import Estimator
from sfumato.query.buckets import LEANS, BucketsEngine
from sfumato.query.engine import Guess, Total, add_up, learned, learns
from sfumato.query.language.compile import Piece, Pieces
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.inside import Inside, learn_inside
from sfumato.query.models.trend import FEWEST_BOXES, MISSES, Trend, learn_trend
from sfumato.query.rows import BucketIndex
from sfumato.query.sums import Term, add_as_papers, weigh_people
from sfumato.release.accounts import noise_variance
from sfumato.release.buckets import BucketsRelease

DRIFT = 0.06
"""By how much of what is left open inside boxes the model errs alike in all of them: found on real tables, where it counts once
there are hundreds of thousands of people."""

FEWEST = 50
FEW = f"no interval: with fewer than {FEWEST} buckets too little is known of columns that were hardly cut"


@dataclass(frozen=True, eq=False)
class NoisyEngine(BucketsEngine):
    """A buckets release with noise laid out for many questions: the variance of one draw, and how many are in each bucket."""

    noise: float
    draws: Integers

    @classmethod
    def of(cls, release: BucketsRelease) -> NoisyEngine:
        """Return the engine of a release."""
        columns = release.runs().quasi
        vocabulary = Vocabulary.of(columns, release.domain, declared_in(release.manifest.schema))
        draws = np.ones(len(release.sizes), np.int64) if release.draws is None else release.draws
        noise = noise_variance(release.manifest)
        return cls(noisy_index(release), vocabulary, columns, blind=False, misses=MISSES["noisy"], noise=noise, draws=draws)

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used, if so."""
        if self.index.buckets >= FEWEST_BOXES:
            return ""
        return f"the likelihood estimator needs at least {FEWEST_BOXES} buckets; this release has {self.index.buckets}"

    @learned
    def trend(self) -> Trend:
        """What the differences between boxes teach about the inside of a box."""
        noise = self.noise * float(self.draws.sum()) / self.index.people
        return learn_trend(self.index, self.columns, MISSES["noisy"], noise=noise)

    @learns(Inside)
    def inside(self) -> Inside:
        """What the boxes teach about the chances of each person."""
        return learn_inside(self.index, self.columns, (self.noise * self.draws).astype(np.float64))

    @property
    def no_interval(self) -> str:
        """Why no answer of the models has an interval, if so."""
        return FEW if self.index.buckets < FEWEST else ""

    def add(self, terms: Sequence[Term], *, estimator: Estimator, value_only: bool = False) -> Total:
        """Return the estimated sum over people; its value alone takes less time."""
        index, people = self.index, weigh_people(self.index.table, terms)
        value, placement_variance = add_as_papers(index, people)
        levers = np.zeros((index.buckets, index.values))
        for term in people:
            every = term.weight * index.table.heads(term.rows)
            part = np.bincount(index.bucket[term.rows], every, index.buckets) / index.sizes
            levers += part[:, None] * (term.scores - term.scores.mean())  # the noise of a bucket adds up to nothing
        noise = self.noise * float(self.draws @ (levers**2).sum(axis=1))
        if noise + placement_variance == 0.0:
            return Total(value, 0.0)
        if estimator == "paper":
            return Total(value, noise + placement_variance, LEANS)
        return self.add_by_models(people, value, noise + placement_variance, value_only=value_only)

    def guess(self, pieces: Pieces, *, estimator: Estimator) -> Guess:
        """Return the estimated number of people in disjoint pieces of a question."""
        return add_up([self._piece(piece, estimator) for piece in pieces], self.index.people)

    def _piece(self, piece: Piece, estimator: Estimator) -> Guess:
        index, asked = self.index, int(piece.values.sum())
        rows, found = index.table.find(piece.rows)
        hits = index.count(rows, found)
        people = int(hits.sum())
        if asked in (0, index.values):
            known = float(people if asked else 0)
            return Guess(known, 0.0, known, known, raw=known)
        part = hits / index.sizes
        wanted = index.wanted(piece.values)
        share = np.clip(wanted / index.sizes, 0.0, 1.0)
        mixed = hits * share * (1 - share) * (index.sizes - hits) / np.maximum(index.sizes - 1, 1)
        noise = self.noise * asked * (1 - asked / index.values) * float((part**2 * self.draws).sum())
        value, variance = float(part @ wanted), float(mixed.sum()) + noise
        why, loose = LEANS, 0.0
        if estimator == "likelihood":
            variance += (DRIFT * float(mixed.sum())) ** 2
            value, variance, loose, why = self.guess_by_models(piece, rows, found, hits, value, variance)
        return Guess(value, math.sqrt(variance), 0.0, float(people), why, raw=value, loose=loose)


def noisy_index(release: BucketsRelease) -> BucketIndex:
    """Return the index of a release whose counts are moved, all of a bucket's by as much, to add up to its people."""
    counts = release.st_count.reshape(len(release.sizes), -1).astype(np.float64)
    counts += (release.sizes - counts.sum(axis=1))[:, None] / counts.shape[1]
    return BucketIndex.of(release, counts.ravel())
