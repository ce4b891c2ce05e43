"""How well a release can tell: per column and for typical questions the error to expect, from the release alone.

Typical questions are drawn the same way every time: single values of a column with one sensitive value where at least `FEWEST`
people would be expected if they were unrelated, pairs of such values of two columns, random sets of values on several columns,
and averages of a numeric secret among people of one value. The expected error is Σ|error| over Σ answers: √(2/π) standard errors
for a normal error, or the mean of |error| in units of the secret's standard deviation for averages. It is as good as the
standard errors are, so there is none where the release has no honest interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import notebook
from sfumato.errors import QueryError
from sfumato.query._one_thread import one_thread
from sfumato.query.answer import Estimate
from sfumato.query.answering import answer
from sfumato.query.count import choose_estimator, engine_of
from sfumato.query.engine import Engine
from sfumato.query.language.compile import Rows
from sfumato.query.language.numbers import scale_of
from sfumato.query.language.predicate import Aggregate, And, Condition, In, Missing, Query
from sfumato.query.language.vocabulary import Words
from sfumato.query.measuring import measure
from sfumato.query.models.inside import Inside
from sfumato.randomness import Randomness, randomness
from sfumato.release.base import Release

FEWEST = 10
"""People who would be expected in a typical cell if columns were unrelated."""

_CELLS, _QUESTIONS, _LEVELS = 30, 60, 12  # cells of a column, questions of a class, groups whose average is asked
_OFF = math.sqrt(2 / math.pi)  # the mean of |error| in standard errors


@dataclass(frozen=True)
class ColumnQuality:
    """What can be told about one quasi column.

    `told` is the part of what was unknown of the column's links with the secret before that the release tells; `settled` the part
    of people whose group is alike in it, so that nothing has to be guessed; `error` the expected error of its cells; `interval`
    the part of them that has one. None where it cannot be known.
    """

    name: str
    told: float | None
    settled: float | None
    error: float | None
    interval: float


@dataclass(frozen=True)
class QuestionQuality:
    """The expected error of a class of questions, and the part of them that has an interval."""

    name: str
    questions: int
    error: float | None
    interval: float


@dataclass(frozen=True, repr=False)
class Quality:
    """How well a release can tell about each column, and the expected error of typical questions."""

    people: int
    groups: int | None
    columns: tuple[ColumnQuality, ...]
    questions: tuple[QuestionQuality, ...]
    note: str = ""

    def __str__(self) -> str:
        groups = "" if self.groups is None else f" in {self.groups:,} groups"
        lines = [f"{self.people:,} people{groups}", *_text(_COLUMNS, self.column_rows()), ""]
        lines += _text(_QUESTION, self.question_rows())
        return "\n".join([*lines, *([self.note] if self.note else [])])

    __repr__ = __str__

    def column_rows(self) -> list[tuple[str, ...]]:
        """Return what is shown of the columns."""
        return [(one.name, _part(one.told), _part(one.settled), _part(one.error), _part(one.interval)) for one in self.columns]

    def question_rows(self) -> list[tuple[str, ...]]:
        """Return what is shown of the classes of questions."""
        return [(one.name, f"{one.questions}", _part(one.error), _part(one.interval)) for one in self.questions]

    def _repr_html_(self) -> str:
        columns = notebook.table(_COLUMNS, self.column_rows(), right=(1, 2, 3, 4))
        questions = notebook.table(_QUESTION, self.question_rows(), right=(1, 2, 3))
        return notebook.card(f"{self.people:,} people", columns, questions, notebook.paragraphs([self.note] if self.note else []))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "people": self.people,
            "groups": self.groups,
            "columns": [vars(one) for one in self.columns],
            "questions": [vars(one) for one in self.questions],
            "note": self.note,
        }

    def to_arrow(self) -> pa.Table:
        """Return a table of one row a column: column, told, settled, error, interval."""
        return pa.Table.from_pylist([vars(one) for one in self.columns])


_COLUMNS = ("column", "told", "settled", "expected error", "with interval")
_QUESTION = ("typical questions", "asked", "expected error", "with interval")


def _part(number: float | None) -> str:
    return "–" if number is None else f"{100 * number:.0f} %" if number >= 0.1 else f"{100 * number:.1f} %"


def _text(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    wide = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(w) if j == 0 else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, wide, strict=True)))
        for row in (headings, *rows)
    ]


def quality(release: Release) -> Quality:
    """Return how well a release can tell, from the release alone; the same for the same release."""
    engine = engine_of(release)
    with one_thread():
        asking = _Asking(release, engine)
        columns = tuple(asking.column(j) for j in range(len(engine.vocabulary.quasi)))
        classes = [
            asking.judge(
                "one quasi value with one secret value", [cell for cells in asking.asked for cell in cells][:: _every(asking)]
            ),
            asking.judge("two quasi values with one secret value", asking.pairs()),
            asking.judge("sets of values", asking.sets()),
        ]
        averages = asking.averages()
        classes += [averages] if averages is not None else []
    kept = tuple(one for one in classes if one.questions)
    return Quality(release.rows, asking.groups, columns, kept, asking.note)


def _every(asking: _Asking) -> int:
    return max(1, sum(map(len, asking.asked)) // _QUESTIONS)


class _Asking:
    """Typical questions to one release, and what comes back."""

    def __init__(self, release: Release, engine: Engine) -> None:
        self.engine, self.native = engine, release.native
        self.estimator = choose_estimator(engine, None, release.form)
        self.coins: Randomness = randomness(0)
        self.people = float(release.rows)
        self.words = engine.vocabulary.published
        self.note = ""
        self.asked: list[list[Query]] = []
        self.shares = [self._shares(words) for words in self.words.quasi]
        self.secret = self.words.parts[0]
        self.secret_shares = self._shares(self.secret)
        index = getattr(engine, "index", None)
        self.groups: int | None = None if index is None else int(index.buckets)

    def _shares(self, words: Words) -> dict[int, float]:
        """Return the part of people with each code of a column; of none where the column has no single values."""
        try:
            found = answer(self.engine, Query(group_by=(words.name,), terms="published"), self.estimator, 0.95, self.native)
        except QueryError:
            return {}
        assert not isinstance(found, Estimate)
        code = {words.decode(c): c for c in range(words.size)}
        return {code[key[words.name]]: one.value / self.people for key, one in found if one.value > 0}

    def count(self, query: Query) -> Estimate:
        """Return the answer to one question."""
        found = answer(self.engine, query, self.estimator, 0.95, self.native)
        assert isinstance(found, Estimate)
        if found.low is None and not self.note:
            self.note = found.note
        return found

    def judge(self, name: str, queries: Sequence[Query]) -> QuestionQuality:
        """Return the expected error of questions together, and how many of them have an interval."""
        found = [self.count(query) for query in queries]
        told = [one for one in found if one.low is not None]
        total = sum(one.value for one in told)
        error = _OFF * sum(one.std_error for one in told) / total if total > 0 else None
        return QuestionQuality(name, len(found), error, len(told) / len(found) if found else 0.0)

    def column(self, j: int) -> ColumnQuality:
        """Return what can be told about one column; its cells are kept."""
        words = self.words.quasi[j]
        cells = [
            (code, value)
            for code, own in self.shares[j].items()
            for value, share in self.secret_shares.items()
            if own * share * self.people >= FEWEST
        ]
        chosen = [cells[int(place)] for place in self.coins.permutation(len(cells))[:_CELLS]] if cells else []
        queries = [self._cell([(words, code)], value) for code, value in chosen]
        self.asked.append(queries)
        judged = self.judge(words.name, queries)
        return ColumnQuality(words.name, self._told(j, chosen), self._settled(j), judged.error, judged.interval)

    def _cell(self, quasi: Sequence[tuple[Words, int]], value: int) -> Query:
        return Query(And(tuple(_is(words, code) for words, code in (*quasi, (self.secret, value)))), terms="published")

    def _told(self, j: int, cells: Sequence[tuple[int, int]]) -> float | None:
        """Return which part of the variance of the weights before the boxes tell, where the model of boxes answers."""
        if getattr(self.engine, "misses", True) is None or not hasattr(type(self.engine), "inside") or not cells:
            return None
        inside: Inside = getattr(self.engine, "inside")  # noqa: B009  (boxes have it, other forms do not)
        left = before = 0.0
        for code, value in cells:
            rows, people = inside.index.table.find(Rows({j: np.arange(self.words.quasi[j].size) == code}))
            open_, known = inside.unknown(self.words.part_codes[0] == value, rows, people)
            left, before = left + open_, before + known
        return 1 - left / before if before > 0 else 1.0

    def _settled(self, j: int) -> float | None:
        """Return the part of people whose bucket is alike in a column."""
        index = getattr(self.engine, "index", None)
        if index is None:
            return None
        codes, bucket = index.table.codes[j].astype(np.int64), index.bucket
        first = np.full(index.buckets, -1, np.int64)
        first[bucket] = codes
        alike = np.ones(index.buckets, bool)
        alike[bucket[codes != first[bucket]]] = False
        return float(index.sizes[alike].sum() / max(index.rows, 1))

    def pairs(self) -> list[Query]:
        """Return questions about two quasi values and one secret value."""
        found = []
        usable = [j for j, shares in enumerate(self.shares) if shares]
        for _ in range(20 * _QUESTIONS if len(usable) > 1 else 0):
            picked = [usable[int(place)] for place in self.coins.permutation(len(usable))[:2]]
            values = [self._pick(self.shares[j]) for j in picked]
            value = self._pick(self.secret_shares)
            expected = (
                self.people
                * self.secret_shares[value]
                * math.prod(self.shares[j][code] for j, code in zip(picked, values, strict=True))
            )
            if expected >= FEWEST:
                found.append(self._cell([(self.words.quasi[j], code) for j, code in zip(picked, values, strict=True)], value))
            if len(found) == _QUESTIONS:
                break
        return found

    def _pick(self, shares: dict[int, float]) -> int:
        codes = list(shares)
        return codes[int(self.coins.below(len(codes), 1)[0])]

    def sets(self) -> list[Query]:
        """Return questions about sets of half the values of two columns, and of a third of the secret's."""
        found = []
        usable = [self.words.quasi[j] for j, shares in enumerate(self.shares) if len(shares) > 1]
        for _ in range(_QUESTIONS if usable else 0):
            picked = [usable[int(place)] for place in self.coins.permutation(len(usable))[:2]]
            parts = [self._set(words, (words.size + 1) // 2) for words in picked]
            parts.append(self._set(self.secret, (self.secret.size + 2) // 3))
            found.append(Query(And(tuple(parts)), terms="published"))
        return found

    def _set(self, words: Words, many: int) -> Condition:
        chosen = sorted(int(code) for code in self.coins.permutation(words.size)[:many])
        known = tuple(words.values[code] for code in chosen if code < len(words.values))
        return In(words.name, known) if known else Missing(words.name)

    def averages(self) -> QuestionQuality | None:
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
        levels = [(j, code) for j, shares in enumerate(self.shares) for code, own in shares.items() if own * self.people >= 50]
        if not levels or spread <= 0:
            return None
        found = []
        for place in self.coins.permutation(len(levels))[: 2 * _LEVELS]:
            j, code = levels[int(place)]
            query = Query(_is(self.words.quasi[j], code), terms="published", select=(figure,))
            one = measure(self.engine, query, self.estimator, 0.95, self.native)
            assert isinstance(one, Estimate)
            found.append(one)
        told = [one for one in found if one.low is not None]
        error = _OFF * float(np.mean([one.std_error for one in told])) / spread if told else None
        return QuestionQuality("averages of the secret, in its standard deviations", len(found), error, len(told) / len(found))


def _is(words: Words, code: int) -> Condition:
    value = words.decode(code)
    return Missing(words.name) if value is None else In(words.name, (value,))
