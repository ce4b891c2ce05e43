"""Count estimates from a randomized release.

`paper`
    Reconstruction on the records that meet the quasi condition, part by part and summed ([SDR §3.3, §10.10]). It is a sum over
    records, each weighing w_y by its published value: w_y = [y ∈ S]/p_y − (1/p_y − 1)·Σ_S(1/p)/Σ(1/p), which has the mean 1 for a
    person with a value in S and 0 for others. So it is unbiased, whatever the table, and Σ w_y² minus the estimate is an
    unbiased estimate of its variance: records are randomized by coins of their own. It may be negative (`Estimate.raw`);
    `Estimate.value` lies within what is certain.
`likelihood`
    One likelihood of all columns: `sfumato.query.models.records`, on which `docs/answers.md` has the figures of real tables. The
    default up to 600 values. A release too large for it (everybody's chances would take more than a gigabyte) is answered by
    `sfumato.query.models.rates`, which knows single questions only.

95 % intervals of `paper` follow from the coins alone and cover 93–97 % of each query's outcomes in tests; those of
`likelihood` tell about queries at large. What is certain: nobody has a
value in S who is in a part without such values, and everybody has who is in a part without others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sfumato.arrays import Flags, Floats, Small
from sfumato.errors import QueryError
from sfumato.query import _kernels
from sfumato.query.answer import Estimator
from sfumato.query.buckets import RowQuestion
from sfumato.query.engine import CountEstimate, add_up, fits
from sfumato.query.independence import ConditionPlace
from sfumato.query.language.compile import Piece, Pieces, RowCondition
from sfumato.query.language.predicate import Query
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.models.protocol import Estimating, Moments
from sfumato.query.models.rates import MAX_VALUES, MAX_WORK, AskedRecords, PairIndex, Rates
from sfumato.query.models.records import RecordModel, learnable
from sfumato.query.rows import RowIndex
from sfumato.query.sums import Term, weigh_people
from sfumato.release.randomized import RandomizedRelease
from sfumato.table.column import Column


@dataclass(frozen=True, eq=False)
class RandomizedEngine:
    """A release indexed for many questions: every row by its slot, the pair of its part and its published value."""

    vocabulary: Vocabulary
    table: RowIndex
    columns: tuple[Column, ...]
    slot: Small
    slots: PairIndex
    drawn: Floats | None

    @classmethod
    def of(cls, release: RandomizedRelease) -> RandomizedEngine:
        """Return the engine of a release."""
        parts, values = release.parts, len(release.domain)
        sizes = np.array([len(part) for part in parts])
        number, value = np.repeat(np.arange(len(parts)), sizes), np.concatenate([part.values for part in parts])
        slots = PairIndex(
            start=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            part=number,
            value=value,
            kept=np.concatenate([part.kept for part in parts]),
            size=sizes.astype(np.float64),
            values=values,
        )
        key = number * values + value
        order = np.argsort(key)
        wanted = release.part.astype(np.int64) * values + release.value
        place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
        if not np.array_equal(key[order][place], wanted):
            raise QueryError("records show values that their part does not have", hint="audit it, and get it again")
        vocabulary = Vocabulary.of(release.quasi, release.domain, declared_in(release.manifest.schema))
        table = RowIndex.of(release.quasi, release.rows)
        return cls(vocabulary, table, release.quasi, order[place].astype(np.int32), slots, _drawn(release, slots))

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used, if so."""
        slots = self.slots
        if slots.values <= MAX_VALUES and slots.values * (2 * slots.parts) ** 2 <= MAX_WORK:
            return ""
        return (
            f"the likelihood estimator works up to {MAX_VALUES} values in a moderate number of parts; this release has "
            f"{slots.values} values in {slots.parts} parts"
        )

    def ask(self, asked: Query, estimator: Estimator) -> RowQuestion:
        """Return the question made ready."""
        return RowQuestion(
            self.vocabulary.for_terms(asked.terms), self.table, partial(self.guess, estimator=estimator), partial(self.add)
        )

    def shown_together(self, a: ConditionPlace, b: ConditionPlace) -> Floats | None:
        """Return how many people of each value of a quasi column have each published value: coins look at no quasi column."""
        (sensitive, quasi, words), (other, _, _) = sorted((a, b), key=lambda place: place[0])
        if sensitive or not other or len(self.vocabulary.parts) > 1:
            return None
        people = np.zeros((words.size, len(self.slots.value)))
        np.add.at(people, (self.table.codes[quasi], self.slot), self.table.heads())
        return people

    def add(self, terms: Sequence[Term], *, value_only: bool = False) -> Moments:
        """Return the estimated sum over people: always the papers' reconstruction, whose error the coins tell."""
        people = weigh_people(self.table, terms)
        adds, known = np.zeros(self.table.rows), 0.0
        full = np.zeros((len(people), self.table.rows))
        for t, term in enumerate(people):
            full[t, term.rows] = term.weight
            adds += full[t] * self.weights(term.scores)[self.slot]
            for u, other in enumerate(people[: t + 1]):
                both = self.weights(term.scores * other.scores)[self.slot]
                known += (1.0 if t == u else 2.0) * float((full[t] * full[u]) @ both)
        return Moments(float(adds.sum()), max(0.0, float(adds @ adds) - known))

    def guess(self, pieces: Pieces, *, estimator: Estimator) -> CountEstimate:
        """Return the estimated number of people in disjoint pieces of a question."""
        if len(pieces) > 1 and estimator == "paper":
            return self._reconstruct_many(pieces)
        return add_up([self._guess_one(piece, estimator) for piece in pieces], self.table.rows)

    def _guess_one(self, piece: Piece, estimator: Estimator) -> CountEstimate:
        rows, people = self.table.find(piece.rows)
        shown = self.shown(rows, people)
        least, most = self._certain(shown, piece.values)
        weights = self.weights(piece.values)
        raw = float(shown @ weights)
        if estimator == "paper":
            if least == most:
                return CountEstimate(least, 0.0, least, most, raw=least)
            return CountEstimate(raw, math.sqrt(self._variance(shown, weights, piece.values)), least, most, raw=raw)
        asked = AskedRecords(piece.values, rows, people, shown)
        moments = Moments(least, 0.0) if least == most else self.model.estimate(asked)
        return CountEstimate(moments.value, math.sqrt(moments.variance), least, most, moments.note, raw, loose=moments.loose)

    def _certain(self, shown: Floats, values: Flags) -> tuple[float, float]:
        """Return how many people surely and possibly have one of the values: whole parts have them all, or none."""
        slots = self.slots
        people, inside = slots.by_part(shown), slots.by_part(values[slots.value].astype(np.float64))
        return float(people[inside == slots.size].sum()), float(people[inside > 0].sum())

    def _variance(self, shown: Floats, weights: Floats, values: Flags) -> float:
        """Return the variance of a reconstruction: per part the unbiased estimate, within what people of one value would give."""
        slots = self.slots
        squares = weights**2
        # The variance that a person of each value adds: E[w²] − E[w]².
        mean = (slots.by_part(squares) / slots.size)[slots.part]
        each = slots.kept * squares + (1 - slots.kept) * mean - values[slots.value]
        people = slots.by_part(shown)
        lowest, highest = (reduce.reduceat(each, slots.start[:-1]) for reduce in (np.minimum, np.maximum))
        unbiased = slots.by_part(shown * (squares - weights))
        return max(0.0, float(np.clip(unbiased, people * lowest, people * highest).sum()))

    def _reconstruct_many(self, pieces: Pieces) -> CountEstimate:
        """Add up pieces for `paper`: a person who meets several weighs the sum of their weights, and people are independent."""
        weight = np.zeros(self.table.rows)
        least = most = 0.0
        for piece in pieces:
            buffer, people = self.table.find(piece.rows)
            rows = buffer[:people]
            weight[rows] += self.weights(piece.values)[self.slot[rows]]
            sure, possible = self._certain(self.shown(buffer, people), piece.values)
            least, most = least + sure, most + possible
        value = float(weight.sum())
        error = math.sqrt(max(0.0, float(weight @ weight) - value))
        return CountEstimate(value, error, least, min(most, float(self.table.rows)), raw=value)

    @cached_property
    def inverse(self) -> Floats:
        """1/p of every slot."""
        return 1 / self.slots.kept

    @cached_property
    def inverse_sums(self) -> Floats:
        """Σ 1/p of every part."""
        return self.slots.by_part(self.inverse)

    @cached_property
    def published(self) -> Floats:
        """How many people there are in every slot."""
        return self.shown(np.arange(self.table.rows, dtype=np.int32), self.table.rows)

    def shown(self, rows: Small, people: int) -> Floats:
        """Return how many of the first `people` of these rows are in every slot."""
        hits = np.zeros(len(self.slots.value), np.int64)
        _kernels.count_by_group(self.slot, rows, people, self.table.each, hits)
        return hits.astype(np.float64)

    def find(self, wanted: RowCondition) -> Floats:
        """Return how many people who meet the condition are in every slot."""
        return self.shown(*self.table.find(wanted))

    def weights(self, values: Flags | Floats) -> Floats:
        """Return w, per slot: what a published value adds to the estimated number of people with a value in `values`.

        With numbers in place of flags, to the estimated sum of their numbers.
        """
        inside = self.inverse * values[self.slots.value]
        spread = self.slots.by_part(inside) / self.inverse_sums
        return inside - (self.inverse - 1) * spread[self.slots.part]

    def reconstruct(self, shown: Floats) -> Floats:
        """Return the unbiased estimate of the people behind every slot."""
        added = (self.slots.by_part(shown * self.inverse) - self.slots.by_part(shown)) / self.inverse_sums
        return (shown - added[self.slots.part]) * self.inverse

    rates = fits(Rates)
    records = fits(RecordModel)

    @cached_property
    def model(self) -> Estimating[AskedRecords]:
        """What the estimator `likelihood` asks."""
        return self.records if learnable(self) else self.rates


def _drawn(release: RandomizedRelease, slots: PairIndex) -> Floats | None:
    """Return the chance of each slot's value to come into its part, where parts were declared and drawn person by person."""
    if any(part.shares is None or part.weight is None for part in release.parts):
        return None
    own = np.array([float(part.weight * share) for part in release.parts for share in part.shares])  # type: ignore[operator, union-attr]
    return own / slots.by_value(own)[slots.value]
