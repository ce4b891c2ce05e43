"""Counts of synthetic records, as if they were people.

`paper`
    The number of records that meet the condition. Its standard error is that of drawing so many records from what they were
    drawn from. There is **no interval**: how far noise, and links that were not measured, took that from the table is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sfumato.arrays import Small
from sfumato.query.answer import Estimator
from sfumato.query.buckets import RowQuestion
from sfumato.query.engine import CountEstimate, add_up
from sfumato.query.language.compile import Piece, Pieces
from sfumato.query.language.predicate import Query
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.protocol import Moments
from sfumato.query.rows import RowIndex
from sfumato.query.sums import Term, weigh_people
from sfumato.release.synthetic import SyntheticRelease

NO_INTERVAL = "no interval: records are synthetic, and how far noise took them from the table is not known"


@dataclass(frozen=True, eq=False)
class SyntheticEngine:
    """Synthetic records indexed for many questions."""

    vocabulary: Vocabulary
    table: RowIndex
    value: Small

    @classmethod
    def of(cls, release: SyntheticRelease) -> SyntheticEngine:
        """Return the engine of a release."""
        vocabulary = Vocabulary.of(release.quasi, release.domain, declared_in(release.manifest.schema))
        return cls(vocabulary, RowIndex.of(release.quasi, release.rows), release.value)

    @property
    def no_likelihood(self) -> str:
        """Why there is no other estimator than counting."""
        return "estimator: synthetic records have only 'paper', got 'likelihood'"

    def ask(self, asked: Query, estimator: Estimator) -> RowQuestion:
        """Return the question made ready."""
        return RowQuestion(self.vocabulary.for_terms(asked.terms), self.table, partial(self.guess), partial(self.add))

    def guess(self, pieces: Pieces) -> CountEstimate:
        """Return the number of records in disjoint pieces of a question."""
        return add_up([self._count(piece) for piece in pieces], self.table.rows)

    def add(self, terms: Sequence[Term], *, value_only: bool = False) -> Moments:
        """Return the sum over records, with the variance of drawing them; how far they are from the table is not known."""
        each = np.zeros(self.table.rows)
        for term in weigh_people(self.table, terms):
            np.add.at(each, term.rows, term.weight * term.scores[self.value[term.rows]])
        return Moments(float(each.sum()), float(len(each) * each.var()), NO_INTERVAL)

    def _count(self, piece: Piece) -> CountEstimate:
        people = self.table.rows
        if not piece.rows.tables and not piece.rows.rest and piece.values.all():
            return CountEstimate(float(people), 0.0, float(people), float(people))
        rows, many = self.table.find(piece.rows)
        count = float(piece.values[self.value[rows[:many]]].sum())
        return CountEstimate(count, math.sqrt(count * (1 - count / people)), 0.0, float(people), NO_INTERVAL)
