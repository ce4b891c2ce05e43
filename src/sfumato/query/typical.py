"""Typical questions to a release, drawn the same way every time, and how far from the truth their answers are expected to be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sfumato.arrays import Flags
from sfumato.errors import QueryError
from sfumato.query.answer import Estimate
from sfumato.query.answering import answer
from sfumato.query.buckets import BucketsEngine
from sfumato.query.count import choose_estimator, count, engine_of
from sfumato.query.engine import CountEngine
from sfumato.query.having import Having
from sfumato.query.language.compile import RowCondition
from sfumato.query.language.numbers import scale_of
from sfumato.query.language.predicate import Aggregate, And, Condition, In, Missing, Query
from sfumato.query.language.vocabulary import ColumnValues, Vocabulary, declared_in
from sfumato.query.measuring import measure
from sfumato.query.models.inside import Inside
from sfumato.randomness import Randomness, randomness
from sfumato.release.base import Release

FEWEST = 10
"""People who would be expected in a typical cell if columns were unrelated."""

_CELLS, QUESTIONS, _LEVELS = 30, 60, 24  # cells of a column, questions of a class, groups whose average is asked
_SINGLE, _STRETCHES = 12, 10  # a column of more numbers is asked about in so many stretches
_OFF = math.sqrt(2 / math.pi)  # the mean of |error| in standard errors


ColumnSet = tuple[int, ...]
"""Codes of a column that a question names together."""

T = TypeVar("T")


class Judged(NamedTuple):
    """How many questions were asked, their expected error, and the part of them that has an interval."""

    questions: int
    error: float | None
    interval: float | None
    sampling: float | None = None
    """Of figures of the population, the part of the error that is that of sampling, were it the only one."""


class Typical:
    """Typical questions to one release, and what comes back."""

    def __init__(self, release: Release, engine: CountEngine | None = None, *, weighted: bool = False) -> None:
        self.weighted = weighted
        self.engine = engine = engine_of(release) if engine is None else engine
        self.native = release.native
        self.estimator = choose_estimator(engine, None, release.form)
        self.coins: Randomness = randomness(0)
        self.people = float(release.rows)
        self.words = engine.vocabulary.published
        self.note = ""
        self.asked: list[list[Query]] = []
        self.levels = [_levels(words, self._shares(words)) for words in self.words.quasi]
        self.secret = self.words.parts[0]
        self.secret_shares = self._shares(self.secret)
        index = getattr(engine, "index", None)
        self.groups: int | None = None if index is None else int(index.groups)

    def _shares(self, words: ColumnValues) -> dict[int, float]:
        """Return the part of people with each code of a column; of none where the column has no single values."""
        try:
            by_value = answer(self.engine, Query(group_by=(words.name,), terms="published"), self.estimator, 0.95, self.native)
        except QueryError:
            return {}
        assert not isinstance(by_value, Estimate)
        code = {words.decode(c): c for c in range(words.size)}
        return {code[key[words.name]]: estimate.value / self.people for key, estimate in by_value if estimate.value > 0}

    def count(self, query: Query) -> Estimate:
        """Return the answer to one question."""
        asked = replace(query, weighted=self.weighted)
        tell = measure if self.weighted else answer
        estimate = tell(self.engine, asked, self.estimator, 0.95, self.native)
        assert isinstance(estimate, Estimate)
        if not _has_interval(estimate) and not self.note:
            self.note = estimate.note
        return estimate

    def judge(self, queries: Sequence[Query]) -> Judged:
        """Return the expected error of questions together, and how many of them have an interval."""
        estimates = [self.count(query) for query in queries]
        answered = [estimate for estimate in estimates if _has_interval(estimate)]
        total = sum(estimate.value for estimate in answered)
        error = sampling = None
        if total > 0 and 2 * len(answered) >= len(estimates):
            error = _OFF * sum(estimate.std_error for estimate in answered) / total
            sampling = _OFF * sum(estimate.sampling_error or 0.0 for estimate in answered) / total if self.weighted else None
        return Judged(len(estimates), error, len(answered) / len(estimates) if estimates else None, sampling)

    def column(self, j: int) -> tuple[float | None, float | None, Judged]:
        """Return which part of a column's links is learned, which part of people is settled, and how its cells are judged."""
        words = self.words.quasi[j]
        cells = [
            (level, value)
            for level, own in self.levels[j].items()
            for value, share in self.secret_shares.items()
            if own * share * self.people >= FEWEST
        ]
        chosen = [cells[int(place)] for place in self.coins.permutation(len(cells))[:_CELLS]] if cells else []
        queries = [self._cell([(words, level)], value) for level, value in chosen]
        self.asked.append(queries)
        return self._learned(j, chosen), self._settled(j), self.judge(queries)

    def _cell(self, quasi: Sequence[tuple[ColumnValues, ColumnSet]], value: int) -> Query:
        return Query(And(tuple(_is(words, level) for words, level in (*quasi, (self.secret, (value,))))), terms="published")

    def _learned(self, j: int, cells: Sequence[tuple[ColumnSet, int]]) -> float | None:
        """Return which part of the variance of the weights before the boxes tell, where the model of boxes answers."""
        if not isinstance(self.engine, BucketsEngine) or self.engine.model_error is None or not cells:
            return None
        left = before = 0.0
        for level, value in cells:
            inside, wanted = self._model(value)
            rows, people = inside.index.table.find(RowCondition({j: np.isin(np.arange(self.words.quasi[j].size), level)}))
            open_, known = inside.unknown(wanted, rows, people)
            left, before = left + open_, before + known
        return 1 - left / before if before > 0 else 1.0

    def _model(self, value: int) -> tuple[Inside, Flags]:
        """Return the model of the inside of boxes that knows a secret value, and which of its values that is."""
        assert isinstance(self.engine, BucketsEngine)
        return self.engine.inside, self.words.part_codes[0] == value

    def _settled(self, j: int) -> float | None:
        """Return the part of people whose group is alike in a column."""
        index = getattr(self.engine, "index", None)
        if index is None:
            return None
        codes, group = index.table.codes[j].astype(np.int64), index.group
        first = np.full(index.groups, -1, np.int64)
        first[group] = codes
        alike = np.ones(index.groups, bool)
        alike[group[codes != first[group]]] = False
        return float(index.sizes[alike].sum() / max(index.people, 1))

    def cells(self) -> list[Query]:
        """Return some of the cells of all columns."""
        every = [cell for cells in self.asked for cell in cells]
        return every[:: max(1, len(every) // QUESTIONS)]

    def pairs(self) -> list[Query]:
        """Return questions about two quasi values and one secret value."""
        queries = []
        usable = [j for j, levels in enumerate(self.levels) if levels]
        for _ in range(20 * QUESTIONS if len(usable) > 1 else 0):
            picked = [usable[int(place)] for place in self.coins.permutation(len(usable))[:2]]
            value = self._pick(self.secret_shares)
            levels = {j: self._pick(self.levels[j]) for j in picked}
            share = self.secret_shares[value] * math.prod(self.levels[j][level] for j, level in levels.items())
            if share * self.people >= FEWEST:
                queries.append(self._cell([(self.words.quasi[j], level) for j, level in levels.items()], value))
            if len(queries) == QUESTIONS:
                break
        return queries

    def _pick(self, shares: Mapping[T, float]) -> T:
        known = list(shares)
        return known[int(self.coins.below(len(known), 1)[0])]

    def sets(self) -> list[Query]:
        """Return questions about sets of half the values of two columns, and of a third of the secret's."""
        queries = []
        usable = [self.words.quasi[j] for j, levels in enumerate(self.levels) if len(levels) > 1]
        for _ in range(QUESTIONS if usable else 0):
            picked = [usable[int(place)] for place in self.coins.permutation(len(usable))[:2]]
            parts = [self._set(words, (words.size + 1) // 2) for words in picked]
            parts.append(self._some_values())
            queries.append(Query(And(tuple(parts)), terms="published"))
        return queries

    def _some_values(self) -> Condition:
        return self._set(self.secret, (self.secret.size + 2) // 3)

    def _set(self, words: ColumnValues, many: int) -> Condition:
        chosen = sorted(int(code) for code in self.coins.permutation(words.size)[:many])
        known = tuple(words.values[code] for code in chosen if code < len(words.values))
        return In(words.name, known) if known else Missing(words.name)

    def averages(self) -> Judged | None:
        """Return the expected error of averages of a numeric secret, in its standard deviations; None where it has none."""
        try:
            scale = scale_of(self.engine.vocabulary, self.engine.vocabulary.parts[0], "AVG")
        except QueryError:
            return None
        codes = [code for code in self.secret_shares if scale.known[code]]
        numbers = scale.middle[codes]
        if not codes or not np.isfinite(numbers).all():
            return None
        share = np.array([self.secret_shares[code] for code in codes])
        share = share / share.sum()
        spread = math.sqrt(float(share @ numbers**2 - (share @ numbers) ** 2))
        figure = Aggregate("avg", "avg", self.secret.name)
        levels = [(j, level) for j, own in enumerate(self.levels) for level, share in own.items() if share * self.people >= 50]
        if not levels or spread <= 0:
            return None
        estimates = []
        for place in self.coins.permutation(len(levels))[:_LEVELS]:
            j, level = levels[int(place)]
            query = Query(_is(self.words.quasi[j], level), terms="published", select=(figure,), weighted=self.weighted)
            estimate = measure(self.engine, query, self.estimator, 0.95, self.native)
            assert isinstance(estimate, Estimate)
            estimates.append(estimate)
        answered = [estimate for estimate in estimates if _has_interval(estimate)]
        error = sampling = None
        if answered and 2 * len(answered) >= len(estimates):
            error = _OFF * float(np.mean([estimate.std_error for estimate in answered])) / spread
            drawn = [estimate.sampling_error or 0.0 for estimate in answered]
            sampling = _OFF * float(np.mean(drawn)) / spread if self.weighted else None
        return Judged(len(estimates), error, len(answered) / len(estimates), sampling)


class TypicalOfHaving(Typical):
    """Typical questions about who has a value, of people who may have several of a secret."""

    def __init__(self, release: Any, secret: int, known: Having, *, weighted: bool = False) -> None:
        self.release, self.known, self.place = release, known, secret
        super().__init__(release, known.engine(())[0], weighted=weighted)
        part = release.each[secret]
        self.secret = Vocabulary.of((), part.domain, declared_in(part.manifest.schema)).published.parts[0]
        self.secret_shares = {v: float(many) / self.people for v, many in enumerate(known.secrets[secret].totals) if many > 0}

    def count(self, query: Query) -> Estimate:
        """Return the answer to one question."""
        estimate = count(self.release, query, weighted=self.weighted)
        assert isinstance(estimate, Estimate)
        if not _has_interval(estimate) and not self.note:
            self.note = estimate.note
        return estimate

    def _model(self, value: int) -> tuple[Inside, Flags]:
        return self.known.boxes(self.place, value).inside, np.array([True, False])

    def _some_values(self) -> Condition:
        """Return one value: sets that no policy names have no counts, and so no interval."""
        return _is(self.secret, (self._pick(self.secret_shares),))

    def averages(self) -> Judged | None:
        """Return nothing: people with several values have no average of them."""
        return None


def _has_interval(estimate: Estimate) -> bool:
    """Return whether an answer has an interval; limits that are certain are none."""
    return estimate.low is not None and estimate.confidence < 1.0


def _levels(words: ColumnValues, shares: Mapping[int, float]) -> dict[ColumnSet, float]:
    """Return what is asked of a column, with its part of people: single values, or stretches of many numbers or days."""
    if words.is_text or len(shares) <= _SINGLE:
        return {(code,): share for code, share in shares.items()}
    known = sorted(code for code in shares if code < len(words.values))
    place = np.cumsum([shares[code] for code in known])
    number = np.minimum((place * _STRETCHES / place[-1] - 1e-9).astype(int), _STRETCHES - 1)
    stretches = [tuple(known[i] for i in np.flatnonzero(number == k)) for k in range(_STRETCHES)]
    return {stretch: sum(shares[code] for code in stretch) for stretch in stretches if stretch}


def _is(words: ColumnValues, level: ColumnSet) -> Condition:
    if words.decode(level[0]) is None:
        return Missing(words.name)
    return In(words.name, tuple(words.values[code] for code in level))
