"""Count estimates from a randomized release.

`paper`
    Reconstruction on the records that meet the quasi condition, part by part and summed ([SDR §3.3, §10.10]). It is a sum over
    records, each weighing w_y by its published value: w_y = [y ∈ S]/p_y − (1/p_y − 1)·Σ_S(1/p)/Σ(1/p), which has the mean 1 for a
    person with a value in S and 0 for others. So it is unbiased, whatever the table, and Σ w_y² minus the estimate is an
    unbiased estimate of its variance: records are randomized by coins of their own. It may be negative (`Estimate.raw`);
    `Estimate.value` lies within what is certain.
`likelihood`
    See `sfumato.query.rates`. The default up to 600 values, by measurement (benchmarks/small_domain.py): on a census of 100,000
    its mean error is 0.2 to 0.85 times the papers' for answers below 1,000 and 0.4 to 0.9 times for others. With the paper's own
    queries on 300,000 people it is 0.5 to 1 times for Occupation, and up to 1.06 times (worse) for Education.

95 % intervals of `paper` follow from the coins alone and cover 93–97 % of each query's outcomes in tests; those of
`likelihood` tell about queries at large, and how well is said in `sfumato.query.rates`. What is certain: nobody has a value
in S who is in a part without such values, and everybody has who is in a part without others.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Flags, Floats, Small
from sfumato.errors import QueryError
from sfumato.query import _kernels
from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer
from sfumato.query.buckets import Guess
from sfumato.query.cells import cut_to_cell, find_places, occurring_cells, reconcile
from sfumato.query.compile import Compiled, Piece, Rows, compile_condition
from sfumato.query.index import RowIndex
from sfumato.query.predicate import Query
from sfumato.query.rates import MAX_VALUES, MAX_WORK, Rates, Slots
from sfumato.query.vocabulary import Vocabulary, declared_in
from sfumato.release.randomized import RandomizedRelease

NO_INTERVAL = "no interval: the release tells too little of how many people have each value; estimator='paper' has one"

_EVIDENCE_CODES = 400
_EVIDENCE_WORK = 100_000_000


@dataclass(frozen=True, eq=False)
class RandomizedIndex:
    """A release laid out for many queries: every row by its slot, the pair of its part and its published value."""

    vocabulary: Vocabulary
    table: RowIndex
    slot: Small
    slots: Slots

    @cached_property
    def inverse(self) -> Floats:
        """1/p of every slot."""
        found: Floats = 1 / self.slots.kept
        return found

    @cached_property
    def inverse_sums(self) -> Floats:
        """Σ 1/p of every part."""
        return self.slots.by_part(self.inverse)

    @cached_property
    def published(self) -> Floats:
        """How many people there are in every slot."""
        return self.shown(np.arange(self.table.rows), self.table.rows)

    @cached_property
    def fits_likelihood(self) -> bool:
        """Whether the release has few enough parts and values for the likelihood estimator."""
        return self.slots.values <= MAX_VALUES and self.slots.values * (2 * self.slots.parts) ** 2 <= MAX_WORK

    def shown(self, rows: npt.NDArray[np.integer], found: int) -> Floats:
        """Return how many of the first `found` of these rows are in every slot."""
        hits = np.zeros(len(self.slots.value), np.int64)
        _kernels.count_by_bucket(self.slot, rows, found, hits)
        return hits.astype(np.float64)

    def find(self, wanted: Rows) -> Floats:
        """Return how many people who meet the condition are in every slot."""
        return self.shown(*self.table.find(wanted))

    def weights(self, values: Flags) -> Floats:
        """Return w, per slot: what a published value adds to the estimated number of people with a value in `values`."""
        inside = self.inverse * values[self.slots.value]
        spread = self.slots.by_part(inside) / self.inverse_sums
        found: Floats = inside - (self.inverse - 1) * spread[self.slots.part]
        return found

    def reconstruct(self, shown: Floats) -> Floats:
        """Return the unbiased estimate of the people behind every slot."""
        added = (self.slots.by_part(shown * self.inverse) - self.slots.by_part(shown)) / self.inverse_sums
        found: Floats = (shown - added[self.slots.part]) * self.inverse
        return found

    @cached_property
    def rates(self) -> Rates:
        """What the likelihood estimator needs."""
        with _lock:
            return Rates.of(self.slots, self.published, self.reconstruct(self.published), self._sample())

    def _sample(self) -> list[tuple[float, Floats]]:
        """Return share and published counts of the most frequent single quasi values."""
        rows = self.table.rows
        listed = [
            (min(int(people), rows - int(people)), column, code)
            for column, counts in enumerate(self.table.counts)
            for code, people in enumerate(counts)
            if 0 < people < rows
        ]
        most = max(20, min(_EVIDENCE_CODES, _EVIDENCE_WORK // (self.slots.values * self.slots.parts)))
        sample = []
        for _, column, code in sorted(listed, key=lambda one: (-one[0], *one[1:]))[:most]:
            accepted = np.arange(len(self.table.counts[column])) == code
            shown = self.find(Rows({column: accepted}))
            sample.append((float(shown.sum()) / rows, shown))
        return sample


_known: weakref.WeakKeyDictionary[RandomizedRelease, RandomizedIndex] = weakref.WeakKeyDictionary()
_lock = threading.RLock()


def count_randomized(
    release: RandomizedRelease, asked: Query, *, estimator: Estimator | None = None, confidence: float = 0.95
) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY."""
    index = _index_of(release)
    chosen = _choose(index, estimator)
    vocabulary = index.vocabulary if asked.terms == "original" else index.vocabulary.published
    compiled = compile_condition(asked.condition, vocabulary)
    total = _find(index, compiled, chosen)
    if not asked.group_by:
        return total.dressed(chosen, confidence, compiled.notes)
    places = find_places(vocabulary, asked.group_by)
    keys, found = [], []
    for cell in occurring_cells(index.table, vocabulary, places, compiled.pieces):
        pieces = cut_to_cell(vocabulary, places, cell, compiled.pieces)
        partly = (
            None
            if compiled.partly is None
            else compiled.partly.cut(
                lambda whole, cell=cell: cut_to_cell(vocabulary, places, cell, whole)  # type: ignore[misc]
            )
        )
        part = _find(index, Compiled(pieces, (), partly), chosen)
        if part.guess.most > 0:
            keys.append(
                {name: words.decode(code) for name, (_, _, words), code in zip(asked.group_by, places, cell, strict=True)}
            )
            found.append(part)
    moved = reconcile([part.guess for part in found], total.guess)
    cells = tuple(
        (key, part.dressed(chosen, confidence, value=one.value)) for key, part, one in zip(keys, found, moved, strict=True)
    )
    types = tuple(words.type for _, _, words in places)
    return GroupedAnswer(asked.group_by, cells, types, total.dressed(chosen, confidence, compiled.notes), release.native)


def _choose(index: RandomizedIndex, estimator: Estimator | None) -> Estimator:
    if estimator is None:
        return "likelihood" if index.fits_likelihood else "paper"
    if estimator not in ("paper", "likelihood"):
        raise QueryError(f"estimator: expected 'paper' or 'likelihood' for a randomized release, got {estimator!r}")
    if estimator == "likelihood" and not index.fits_likelihood:
        raise QueryError(
            f"the likelihood estimator works up to {MAX_VALUES} values in a moderate number of parts; this release has "
            f"{index.slots.values} values in {index.slots.parts} parts",
            hint="use estimator='paper'",
        )
    return estimator


@dataclass(frozen=True)
class _Found:
    """A guess, its raw value, and where published values meet the condition only partly those for its two extremes, and why."""

    guess: Guess
    raw: float
    ends: tuple[Guess, Guess] | None = None
    note: str = ""
    vague: bool = False

    def dressed(
        self, estimator: Estimator, confidence: float, notes: Sequence[str] = (), *, value: float | None = None
    ) -> Estimate:
        """Return the answer, with this value where cells were made to add up."""
        low, high = (self.guess, self.guess) if self.ends is None else self.ends
        best = self.guess.inside if value is None else value
        told = "; ".join([*([self.note] if self.note else []), *notes])
        if low.least == high.most:
            return Estimate(best, 0.0, best, best, confidence, estimator, told, self.raw)
        if self.vague:
            told = "; ".join([NO_INTERVAL, *([told] if told else [])])
            return Estimate(best, self.guess.std_error, None, None, confidence, estimator, told, self.raw)
        reach = NormalDist().inv_cdf(0.5 + confidence / 2)
        bottom = min(best, max(low.least, low.value - reach * low.std_error))
        top = max(best, min(high.most, high.value + reach * high.std_error))
        return Estimate(best, self.guess.std_error, bottom, top, confidence, estimator, told, self.raw)


def _find(index: RandomizedIndex, compiled: Compiled, estimator: Estimator) -> _Found:
    """Return the guess for a condition; where published values meet it only partly, the mean over the mixtures."""
    partly = compiled.partly
    vague = estimator == "likelihood" and index.rates.vague
    if partly is None:
        whole = _guess(index, compiled.pieces, estimator)
        return _Found(whole, _raw(index, compiled.pieces, whole, estimator), vague=vague)
    sure, possible = _guess(index, partly.sure, estimator), _guess(index, partly.possible, estimator)
    value = error = raw = 0.0
    for weight, pieces in partly.worlds:
        found = _guess(index, pieces, estimator)
        value += weight * found.inside
        error += weight * found.std_error
        raw += weight * _raw(index, pieces, found, estimator)
    spread = max(0.0, possible.inside - sure.inside)
    middle = Guess(value, math.hypot(error, spread / math.sqrt(12)), sure.least, possible.most)
    return _Found(middle, raw, (sure, possible), partly.note, vague)


def _raw(index: RandomizedIndex, pieces: Sequence[Piece], found: Guess, estimator: Estimator) -> float:
    if estimator == "paper":
        return found.value
    return float(sum(index.find(piece.rows) @ index.weights(piece.values) for piece in pieces))


def _guess(index: RandomizedIndex, pieces: Sequence[Piece], estimator: Estimator) -> Guess:
    """Return the estimated number of people in disjoint pieces of a query."""
    if len(pieces) > 1 and estimator == "paper":
        return _reconstruct_many(index, pieces)
    found = [_guess_one(index, piece, estimator) for piece in pieces]
    # How the errors of pieces go together is not known; adding standard errors covers the worst case.
    return Guess(
        sum(g.value for g in found),
        sum(g.std_error for g in found),
        sum(g.least for g in found),
        min(float(index.table.rows), sum(g.most for g in found)),
    )


def _guess_one(index: RandomizedIndex, piece: Piece, estimator: Estimator) -> Guess:
    shown = index.find(piece.rows)
    least, most = _certain(index, shown, piece.values)
    if least == most:
        return Guess(least, 0.0, least, most)
    if estimator == "likelihood":
        value, variance = index.rates.estimate(shown, piece.values)
        return Guess(value, math.sqrt(variance), least, most)
    weights = index.weights(piece.values)
    value = float(shown @ weights)
    return Guess(value, math.sqrt(_variance(index, shown, weights, piece.values)), least, most)


def _certain(index: RandomizedIndex, shown: Floats, values: Flags) -> tuple[float, float]:
    """Return how many people surely and possibly have one of the values: whole parts have them all, or none."""
    slots = index.slots
    people, inside = slots.by_part(shown), slots.by_part(values[slots.value].astype(np.float64))
    return float(people[inside == slots.size].sum()), float(people[inside > 0].sum())


def _variance(index: RandomizedIndex, shown: Floats, weights: Floats, values: Flags) -> float:
    """Return the variance of a reconstruction: per part the unbiased estimate, within what people of one value would give."""
    slots = index.slots
    squares = weights**2
    # The variance that a person of each value adds: E[w²] − E[w]².
    each = slots.kept * squares + ((1 - slots.kept) * (slots.by_part(squares) / slots.size)[slots.part]) - values[slots.value]
    people = slots.by_part(shown)
    lowest, highest = (reduce.reduceat(each, slots.start[:-1]) for reduce in (np.minimum, np.maximum))
    found = slots.by_part(shown * (squares - weights))
    return max(0.0, float(np.clip(found, people * lowest, people * highest).sum()))


def _reconstruct_many(index: RandomizedIndex, pieces: Sequence[Piece]) -> Guess:
    """Add up pieces for `paper`: a person who meets several weighs the sum of their weights, and people are independent."""
    weight = np.zeros(index.table.rows)
    least = most = 0.0
    for piece in pieces:
        buffer, found = index.table.find(piece.rows)
        rows = buffer[:found]
        weight[rows] += index.weights(piece.values)[index.slot[rows]]
        sure, possible = _certain(index, index.shown(buffer, found), piece.values)
        least, most = least + sure, most + possible
    value = float(weight.sum())
    return Guess(value, math.sqrt(max(0.0, float(weight @ weight) - value)), least, min(most, float(index.table.rows)))


def _index_of(release: RandomizedRelease) -> RandomizedIndex:
    """Return the index of a release, made on first use and kept as long as the release."""
    with _lock:
        index = _known.get(release)
        if index is None:
            index = _known[release] = _build(release)
        return index


def _build(release: RandomizedRelease) -> RandomizedIndex:
    parts = release.parts
    sizes = np.array([len(part) for part in parts])
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    value = np.concatenate([part.values for part in parts])
    number = np.repeat(np.arange(len(parts)), sizes)
    slots = Slots(
        start, number, value, np.concatenate([part.kept for part in parts]), sizes.astype(np.float64), len(release.domain)
    )
    key = number * len(release.domain) + value
    order = np.argsort(key)
    wanted = release.part.astype(np.int64) * len(release.domain) + release.value
    place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    if not np.array_equal(key[order][place], wanted):
        raise QueryError("the release shows values that their part does not have", hint="audit it, and get it again")
    return RandomizedIndex(
        Vocabulary.of(release.quasi, release.domain, declared_in(release.manifest.schema)),
        RowIndex.of(tuple(c.codes for c in release.quasi), tuple(c.size for c in release.quasi), release.rows),
        order[place].astype(np.int32),
        slots,
    )
