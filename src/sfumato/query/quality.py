"""How well a release can tell: per column and for typical questions the error to expect, from the release alone.

Typical questions are drawn the same way every time: single values of a column, or stretches of many numbers, with one sensitive
value, where at least ten people would be expected if they were unrelated; pairs of these of two columns; random sets of values on
several columns; averages of a numeric secret among people of one value. The expected error is Σ|error| over Σ answers, √(2/π)
standard errors for a normal error; for averages it is in units of the secret's standard deviation. It is as good as the
standard errors are, so there is none where fewer than half of the
answers have an honest interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import pyarrow as pa

from sfumato import notebook
from sfumato.query.answer import text_table
from sfumato.query.count import having
from sfumato.query.engine import one_thread
from sfumato.query.typical import Typical, TypicalOfHaving
from sfumato.query.weighted import require_weights
from sfumato.release.base import Release


@dataclass(frozen=True)
class ColumnQuality:
    """What can be learned about one quasi column.

    `learned` is the part of what was unknown of the column's links with the secret before that the release tells; `settled` the
    part of people whose group is alike in it, so that nothing has to be guessed; `error` the expected error of its cells;
    `interval` the part of them that has one. None where it cannot be known. Of figures of the population `sampling` is the
    error that sampling alone would leave.
    """

    name: str
    learned: float | None
    settled: float | None
    error: float | None
    interval: float | None
    sampling: float | None = None


@dataclass(frozen=True)
class QuestionQuality:
    """The expected error of a class of questions, and the part of them that has an interval."""

    name: str
    questions: int
    error: float | None
    interval: float | None
    sampling: float | None = None


@dataclass(frozen=True, repr=False)
class Quality:
    """How well a release can tell about each column, and the expected error of typical questions."""

    people: int
    groups: int | None
    columns: tuple[ColumnQuality, ...]
    questions: tuple[QuestionQuality, ...]
    note: str = ""
    weighted: bool = False

    @property
    def headings(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The headings of what is shown of columns, and of questions."""
        more = ("by sampling",) if self.weighted else ()
        return (*_COLUMNS, *more), (*_QUESTION, *more)

    def __str__(self) -> str:
        groups = "" if self.groups is None else f" in {self.groups:,} groups"
        columns, questions = self.headings
        lines = [f"{self.people:,} people{groups}", *text_table([columns, *self.column_rows()]), ""]
        lines += text_table([questions, *self.question_rows()])
        return "\n".join([*lines, *([self.note] if self.note else [])])

    __repr__ = __str__

    def column_rows(self) -> list[tuple[str, ...]]:
        """Return what is shown of the columns."""
        return [
            (column.name, *map(_part, (column.learned, column.settled, column.error, column.interval)), *self._more(column))
            for column in self.columns
        ]

    def question_rows(self) -> list[tuple[str, ...]]:
        """Return what is shown of the classes of questions."""
        return [
            (question.name, f"{question.questions}", _part(question.error), _part(question.interval), *self._more(question))
            for question in self.questions
        ]

    def _more(self, one: ColumnQuality | QuestionQuality) -> tuple[str, ...]:
        return (_part(one.sampling),) if self.weighted else ()

    def _repr_html_(self) -> str:
        headings, asked = self.headings
        columns = notebook.table(headings, self.column_rows(), right=range(1, len(headings)))
        questions = notebook.table(asked, self.question_rows(), right=range(1, len(asked)))
        return notebook.card(f"{self.people:,} people", columns, questions, notebook.paragraphs([self.note] if self.note else []))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "people": self.people,
            "groups": self.groups,
            "columns": [self._plain(column) for column in self.columns],
            "questions": [self._plain(question) for question in self.questions],
            "note": self.note,
        }

    def to_arrow(self) -> pa.Table:
        """Return a table of one row a column: column, learned, settled, error, interval."""
        return pa.Table.from_pylist([self._plain(column) for column in self.columns])

    def _plain(self, one: ColumnQuality | QuestionQuality) -> dict[str, Any]:
        return {name: value for name, value in vars(one).items() if name != "sampling" or self.weighted}


@dataclass(frozen=True, repr=False)
class QualityOfEach:
    """How well a release that protects each of several sensitive columns by itself can tell of each: `found["income"]`."""

    each: Mapping[str, Quality]

    def __getitem__(self, secret: str) -> Quality:
        return self.each[secret]

    def __str__(self) -> str:
        return "\n\n".join(f"of {name}: {quality}" for name, quality in self.each.items())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(f"<h4>{escape(name)}</h4>{quality._repr_html_()}" for name, quality in self.each.items())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, by sensitive column."""
        return {"each": {name: quality.to_dict() for name, quality in self.each.items()}}

    def to_arrow(self) -> pa.Table:
        """Return a table of one row a sensitive and a quasi column: secret, column, learned, settled, error, interval."""
        return pa.Table.from_pylist(
            [{"secret": name, **quality._plain(row)} for name, quality in self.each.items() for row in quality.columns]
        )


_COLUMNS = ("column", "learned", "settled", "expected error", "with interval")
_QUESTION = ("typical questions", "asked", "expected error", "with interval")


def _part(number: float | None) -> str:
    return "–" if number is None else f"{100 * number:.0f} %" if number >= 0.1 else f"{100 * number:.1f} %"


def quality(release: Release, *, weighted: bool = False) -> Quality | QualityOfEach:
    """Return how well a release can tell, from the release alone; the same for the same release.

    Where each of several sensitive columns is protected by itself, of each of them. `weighted`: of figures of the population.
    """
    names = release.manifest.secrets
    if weighted:
        require_weights(release)
    if release.manifest.bundled:
        known = having(release)
        of_each = {
            name: _of_one(release, TypicalOfHaving(release, place, known, weighted=weighted)) for place, name in enumerate(names)
        }
        return QualityOfEach(of_each) if len(names) > 1 else of_each[names[0]]
    if len(release.each) > 1:
        return QualityOfEach(
            {name: _of_one(part, Typical(part, weighted=weighted)) for name, part in zip(names, release.each, strict=True)}
        )
    return _of_one(release, Typical(release, weighted=weighted))


def _of_one(release: Release, asking: Typical) -> Quality:
    with one_thread():
        columns = []
        for j, words in enumerate(asking.words.quasi):
            learned, settled, judged = asking.column(j)
            columns.append(ColumnQuality(words.name, learned, settled, judged.error, judged.interval, judged.sampling))
        classes = {
            "one quasi value with one secret value": asking.judge(asking.cells()),
            "two quasi values with one secret value": asking.judge(asking.pairs()),
            "sets of values": asking.judge(asking.sets()),
        }
        averages = asking.averages()
        if averages is not None:
            classes["averages of the secret, in its standard deviations"] = averages
    kept = tuple(QuestionQuality(name, *judged) for name, judged in classes.items() if judged.questions)
    return Quality(release.rows, asking.groups, tuple(columns), kept, asking.note, asking.weighted)
