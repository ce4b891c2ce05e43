"""Count estimates from a release of several secrets.

A question that names one sensitive column, or none, is answered by the release of that column alone. How two of them go together
is not published: a question that names several takes them as independent inside every group, Σ over groups of k·Π_j s_j/N for k
people who meet the quasi condition, and says so. Its standard error is that of people who meet it by coins of their own, so it
has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers
from sfumato.errors import QueryError
from sfumato.query.answer import Estimator
from sfumato.query.buckets import RowQuestion
from sfumato.query.engine import Cell, CountEngine, CountEstimate, GroupColumns
from sfumato.query.language.compile import Pieces, RowCondition
from sfumato.query.language.disjoint import disjoint
from sfumato.query.language.predicate import Query, atoms_of
from sfumato.query.language.vocabulary import Vocabulary, declared_in, no_column
from sfumato.query.models.protocol import Moments
from sfumato.query.sums import Term, add_by_values, weigh_people
from sfumato.release.buckets import nearest_shares
from sfumato.table.schema import Schema

INDEPENDENT = (
    "no interval: several sensitive columns are taken as independent inside groups, since how they go together is not published"
)
ONE_ESTIMATOR = (
    "for a question about several sensitive columns the only estimator is 'paper': how they go together is not published"
)

MOST = 200_000
"""So many combinations of values of the columns of one question are looked at."""


@dataclass(frozen=True, eq=False)
class SecretsEngine:
    """The engines of each of several secrets, and how often each group shows each value of each, as shares."""

    engines: tuple[Any, ...]
    names: tuple[str, ...]
    shares: tuple[Floats, ...]
    sizes: Integers
    declared: Schema | None

    @classmethod
    def of(cls, release: Any, engine_of: Callable[[Any], CountEngine]) -> SecretsEngine:
        """Return the engine of a release, given what makes those of its parts."""
        shares = tuple(_shares(part) for part in release.each)
        declared = declared_in(release.manifest.schema)
        return cls(tuple(engine_of(part) for part in release.each), release.secrets, shares, release.sizes, declared)

    @property
    def vocabulary(self) -> Vocabulary:
        """The columns of the release and their values; those of sensitive columns side by side, not as combinations."""
        first = self.engines[0].vocabulary
        every = [engine.vocabulary for engine in self.engines]
        parts, codes = tuple(words.parts[0] for words in every), tuple(words.part_codes[0] for words in every)
        return Vocabulary(first.quasi, parts, codes, self.declared)

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used for some column; "" where it can."""
        return next((engine.no_likelihood for engine in self.engines if engine.no_likelihood), "")

    def ask(self, asked: Query, estimator: Estimator) -> Any:
        """Return the question made ready, by the engine that it is for."""
        return self.asked(asked).ask(asked, estimator)

    def asked(self, asked: Query) -> CountEngine:
        """Return the engine for a question: of the one sensitive column that it names, or of several together."""
        conditions = [asked.condition, *(figure.condition for figure in asked.select if figure.condition is not None)]
        named = [atom.column for condition in conditions for atom in atoms_of(condition)]
        named += [*asked.group_by, *(figure.column for figure in asked.select if figure.column)]
        known = [*(words.name for words in self.engines[0].vocabulary.quasi), *self.names]
        for name in named:
            if name not in known:
                raise no_column(name, known)
        secrets = [k for k, name in enumerate(self.names) if name in named]
        if len(secrets) < 2:
            engine: CountEngine = self.engines[secrets[0] if secrets else 0]
            return engine
        return SeveralEngine(self, tuple(secrets))


@dataclass(frozen=True, eq=False)
class SeveralEngine:
    """Several sensitive columns of a release, taken as independent inside groups."""

    whole: SecretsEngine
    secrets: tuple[int, ...]

    no_likelihood = ONE_ESTIMATOR

    @property
    def vocabulary(self) -> Vocabulary:
        """The quasi columns, and combinations of the values of these sensitive columns."""
        return self._words(self.whole.engines[0].vocabulary)

    def _words(self, own: Vocabulary) -> Vocabulary:
        parts = [self.whole.engines[k].vocabulary for k in self.secrets]
        sizes = [len(words.part_codes[0]) for words in parts]
        if math.prod(sizes) > MOST:
            raise QueryError(
                f"the sensitive columns of this question have more than {MOST:,} combinations of values",
                hint="ask for fewer columns",
            )
        codes = [
            words.part_codes[0][place] for words, place in zip(parts, np.indices(sizes).reshape(len(sizes), -1), strict=True)
        ]
        return Vocabulary(own.quasi, tuple(words.parts[0] for words in parts), tuple(codes), self.whole.declared)

    def ask(self, asked: Query, estimator: Estimator) -> SeveralQuestion:
        """Return the question made ready."""
        first = self.whole.engines[0].ask(asked, "paper")
        return SeveralQuestion(self._words(first.vocabulary).for_terms(asked.terms), first, self)


@dataclass(frozen=True, eq=False)
class SeveralQuestion:
    """A question about several sensitive columns; `first` is the same to the release of one of them, for its quasi columns."""

    vocabulary: Vocabulary
    first: Any
    engine: SeveralEngine

    def guess(self, pieces: Pieces) -> CountEstimate:
        """Return the estimated number of people in disjoint pieces: nobody knows how many of a group have both values."""
        value = variance = most = 0.0
        for piece in pieces:
            hits, at_most = self._hits(piece.rows)
            chance, reach = self._chances(piece.values)
            value += float(hits @ chance)
            variance += float((hits * chance * (1 - chance)).sum())
            most += float(np.minimum(at_most, reach).sum())
        return CountEstimate(value, math.sqrt(variance), 0.0, max(most, value), INDEPENDENT)

    def add(self, terms: Sequence[Term], *, value_only: bool = False) -> Moments:
        """Return the estimated sum over people, with the variance of people who have their values by coins of their own.

        Where people have no rows, it is made from the counts of combinations that have the same score.
        """
        if not isinstance(self.first, RowQuestion):
            return add_by_values(self.guess, terms)
        index = self.engine.whole.engines[0].index
        people = weigh_people(index.table, terms)
        means = [self._mean(term.scores) for term in people]
        full = np.zeros((len(people), index.rows))
        for t, term in enumerate(people):
            full[t, term.rows] = term.weight
        value = variance = 0.0
        for t, term in enumerate(people):
            value += float(np.bincount(index.group, full[t], index.groups) @ means[t])
            for u, other in enumerate(people[: t + 1]):
                shared = np.bincount(index.group, full[t] * full[u], index.groups)
                apart = self._mean(term.scores * other.scores) - means[t] * means[u]
                variance += (1.0 if t == u else 2.0) * float(shared @ apart)
        return Moments(value, max(variance, 0.0), INDEPENDENT if people else "")

    def cells(self, columns: GroupColumns, pieces: Pieces) -> Iterable[Cell]:
        """Return the combinations of values that can occur in these pieces."""
        cells: Iterable[Cell] = replace(self.first, vocabulary=self.vocabulary).cells(columns, pieces)
        return cells

    def _hits(self, rows: RowCondition) -> tuple[Floats, Floats]:
        """Return how many people of each group meet a quasi condition, as estimated and at most."""
        sizes = self.engine.whole.sizes.astype(np.float64)
        if isinstance(self.first, RowQuestion):
            hits = self.engine.whole.engines[0].index.hits(rows).astype(np.float64)
            return hits, hits
        reach = self.first.spreads.reach(disjoint(rows), self.first.cuts)
        return reach.share * sizes, np.where(reach.may, sizes, 0.0)

    def _chances(self, values: Flags) -> tuple[Floats, Floats]:
        """Return for each group the chance that somebody has one of these combinations, and how many can have one at most."""
        shares = self._shares
        mask = values.reshape([share.shape[1] for share in shares])
        axes = range(mask.ndim)
        reach = [share @ mask.any(axis=tuple(a for a in axes if a != k)) for k, share in enumerate(shares)]
        return np.clip(self._mean(values), 0.0, 1.0), np.rint(np.min(reach, axis=0) * self.engine.whole.sizes)

    @property
    def _shares(self) -> list[Floats]:
        return [self.engine.whole.shares[k] for k in self.engine.secrets]

    def _mean(self, scores: Array) -> Floats:
        """Return for each group the mean of a score of combinations, its columns being independent."""
        shares = self._shares
        left: Floats = np.tensordot(shares[0], scores.reshape([share.shape[1] for share in shares]).astype(np.float64), axes=1)
        for share in shares[1:]:
            left = np.einsum("gb...,gb->g...", left, share)
        return left


def _shares(part: Any) -> Floats:
    """Return [groups × values]: the share of each value in each group; noisy ones as the nearest that can be shares."""
    if part.shown_as.as_ranges:
        start, value, count = part.shown
    else:
        start, value, count = part.st_start, part.st_value, part.st_count
    table = np.zeros((len(part.sizes), len(part.domain)))
    table[np.repeat(np.arange(len(part.sizes)), np.diff(start)), value] = count
    table /= part.sizes[:, None]
    return nearest_shares(table) if getattr(part, "noisy", False) else table


__all__ = ["SecretsEngine"]
