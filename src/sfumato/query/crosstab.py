"""Two columns against each other: counts, lift, and a test whether they are associated.

**The test** asks whether two columns could be independent in the population that the people were drawn from. It looks at what
groups show for certain, not at the estimates of cells: see `sfumato.query.independence`. Where a form shows no groups, or a
condition cuts through them, only the estimates are left. Were the columns independent, the mean of their X² would be at most f
+ e: f = (rows − 1)·(columns − 1) for the luck of who was drawn, and e = Σ std_error²/expected for what the release leaves open.
The covariance of the errors of cells is not known. But of all sums of squares of normal errors with the same mean, that of a
single one reaches far the most easily (Székely and Bakirov, Extremal probabilities for Gaussian quadratic forms, 2003: true
wherever it does so in less than 21 %). So p = P(χ²₁ > X²/(f + e)): false alarms are rarer than that as far as standard errors are
right, for levels up to .2, and most links are not found: such a test finds one, or the release cannot decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import notebook
from sfumato.charts.pictures import Library
from sfumato.errors import QueryError
from sfumato.query.answer import Estimate, Estimator, Framed, GroupedAnswer, free_names, text_table
from sfumato.query.count import count, engine_for, having
from sfumato.query.independence import AssociationTest, Grouped, ShowsGroups, judge_cells, judge_groups
from sfumato.query.language.predicate import Query
from sfumato.query.language.sql import parse_sql
from sfumato.release.base import Release
from sfumato.table.column import MISSING, as_text
from sfumato.table.frames import Native

SHOWN = 20
"""Rows and columns that the text of a crosstab shows."""

_LEGEND = "count ×lift; * where the interval of the lift leaves 1 out"
_ROUNDS = 50
LOOSE = "what is known of single cells allows both"
_TELLING = 0.5  # at least this part of the cells must have an interval for a test


@dataclass(frozen=True, repr=False)
class Crosstab(Framed):
    """Counts of two columns' values together, how many times as many as if unrelated (lift), and a test of association.

    `counts[i][j]` belongs to `rows[i]` and `columns[j]`; `lift` is None where nobody is expected.
    """

    names: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[Estimate, ...], ...]
    expected: tuple[tuple[float, ...], ...]
    lift: tuple[tuple[Estimate | None, ...], ...]
    test: AssociationTest
    native: Native = "pyarrow"

    @property
    def weighted(self) -> bool:
        """Whether counts are those of the population."""
        return any(estimate.sampling_error is not None for _, _, estimate, _ in self.named())

    @property
    def legend(self) -> str:
        """What the text of a cell means."""
        return _LEGEND

    def named(self) -> Iterator[tuple[str, str, Estimate, Estimate | None]]:
        """Yield every cell: row, column, count and lift."""
        for i, row in enumerate(self.rows):
            for j, column in enumerate(self.columns):
                yield row, column, self.counts[i][j], self.lift[i][j]

    def shown(self) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
        """Return headings and rows of its text, and what is left out."""
        headings = (f"{self.names[0]} ╲ {self.names[1]}", *self.columns[:SHOWN])
        rows = [
            (row, *(_cell(estimate, lift) for estimate, lift in zip(self.counts[i], self.lift[i], strict=True)))[: SHOWN + 1]
            for i, row in enumerate(self.rows[:SHOWN])
        ]
        more = max(0, len(self.rows) - SHOWN), max(0, len(self.columns) - SHOWN)
        left = f"… and {more[0]:,} more rows, {more[1]:,} more columns" if any(more) else ""
        return headings, rows, left

    def __str__(self) -> str:
        headings, rows, left = self.shown()
        return "\n".join([*text_table([headings, *rows]), *([left] if left else []), _LEGEND, str(self.test)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings, rows, left = self.shown()
        shown = notebook.table(headings, rows, right=range(1, len(headings)))
        return notebook.card(
            f"{self.names[0]} and {self.names[1]}", shown, notebook.paragraphs(filter(None, [left, self.test])), under=_LEGEND
        )

    def to_arrow(self) -> pa.Table:
        """Return a table of one row a cell: both columns, count, std_error, low, high, expected, lift, lift_low, lift_high."""
        figures = (*_FIGURES, "sampling_error") if self.weighted else _FIGURES
        columns: dict[str, list[Any]] = {name: [] for name in (*self.names, *free_names(self.names, figures))}
        for i, row in enumerate(self.rows):
            for j, column in enumerate(self.columns):
                estimate, lift = self.counts[i][j], self.lift[i][j]
                ends = (None, None, None) if lift is None else (lift.value, lift.low, lift.high)
                values = (row, column, estimate.value, estimate.error, estimate.low, estimate.high, self.expected[i][j], *ends)
                values += (estimate.sampling_error,) if self.weighted else ()
                for name, value in zip(columns, values, strict=True):
                    columns[name].append(value)
        kinds = [pa.string()] * 2 + [pa.float64()] * len(figures)
        return pa.table({name: pa.array(values, kind) for (name, values), kind in zip(columns.items(), kinds, strict=True)})

    def plot(self, library: Library | None = None) -> Any:
        """Return a heat map of lift, drawn by altair (the extra `report`) or matplotlib."""
        from sfumato.query.plots import plot_crosstab

        return plot_crosstab(self, library)


_FIGURES = ("count", "std_error", "low", "high", "expected", "lift", "lift_low", "lift_high")


def _cell(estimate: Estimate, lift: Estimate | None) -> str:
    if lift is None:
        return "–"
    clear = lift.low is not None and lift.high is not None and not lift.low <= 1.0 <= lift.high
    return f"{estimate.value:,.0f} ×{lift.value:.2f}{'*' if clear else ' '}"


def crosstab(
    release: Release,
    a: str,
    b: str,
    *,
    where: str | Query | None = None,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    weighted: bool = False,
) -> Crosstab:
    """Return how the values of two columns occur together, from the release alone, among all people or those who meet `where`.

    `weighted` counts are those of the population; what the sample leaves open is then in the errors of cells, which the test
    goes by.
    """
    if a == b:
        raise QueryError("a crosstab needs two different columns", hint="GROUP BY counts one column")
    asked = Query() if where is None else where if isinstance(where, Query) else parse_sql(where)

    def ask(*names: str) -> GroupedAnswer:
        question = Query(asked.condition, names, asked.terms)
        answer = count(release, question, estimator=estimator, confidence=confidence, weighted=weighted)
        assert isinstance(answer, GroupedAnswer)
        return answer

    overlapping = [name for name in (a, b) if release.manifest.bundled and name in release.secrets]
    both, sides = ask(a, b), [ask(a), ask(b)]
    margins = [
        {key[name]: estimate for key, estimate in side if estimate.value > 0} for name, side in zip((a, b), sides, strict=True)
    ]
    cells = {(key[a], key[b]): estimate for key, estimate in both}
    people = both.total.value
    nobody = Estimate(0.0, 0.0, 0.0, 0.0, confidence, both.total.estimator)
    counts, expected, lifts = [], [], []
    # A person is in the row of each of her values: over these, cells add up to more than the people of the other column's value.
    axes = [axis for axis, name in ((1, b), (0, a)) if name not in overlapping]
    fitted = _fitted([[cells.get((row, column), nobody) for column in margins[1]] for row in margins[0]], margins, axes)
    for of_row, of_cells in zip(margins[0].values(), fitted, strict=True):
        own = list(zip(of_cells, margins[1].values(), strict=True))
        counts.append(tuple(estimate for estimate, _ in own))
        expected.append(tuple(of_row.value * of_column.value / people for _, of_column in own))
        lifts.append(tuple(_lift(estimate, of_row, of_column, people) for estimate, of_column in own))
    texts = [tuple(MISSING if value is None else as_text(value) for value in margin) for margin in margins]
    if weighted:
        test = _by_cells(np.array([[one.value for one in row] for row in counts]), np.array(expected), counts, drawn=False)
    elif overlapping:
        test = _test_of_each(release, asked, *(name for name in (a, b) if name not in overlapping), secret=overlapping[0])
    else:
        test = _test(release, both, Query(asked.condition, (a, b), asked.terms), np.array(expected), counts)
    return Crosstab((a, b), texts[0], texts[1], tuple(counts), tuple(expected), tuple(lifts), test, release.native)


def _fitted(cells: list[list[Estimate]], margins: list[dict[Any, Estimate]], axes: list[int]) -> list[list[Estimate]]:
    """Return the counts scaled until sums along these axes are their margins, which the release tells better."""
    values = np.array([[estimate.value for estimate in row] for row in cells])
    goals = [np.array([estimate.value for estimate in margin.values()]) for margin in margins]
    for _ in range(_ROUNDS if values.size else 0):
        for axis in axes:
            goal = goals[1 - axis]
            total = values.sum(axis=axis)
            part = np.divide(goal, total, out=np.ones_like(goal), where=total > 0)
            values = values * (part[:, None] if axis == 1 else part)
    return [
        [_moved(estimate, float(value)) for estimate, value in zip(*pair, strict=True)]
        for pair in zip(cells, values, strict=True)
    ]


def _moved(estimate: Estimate, value: float) -> Estimate:
    if estimate.low is None or estimate.high is None:
        return replace(estimate, value=value)
    return replace(estimate, value=value, low=min(estimate.low, value), high=max(estimate.high, value))


def _lift(estimate: Estimate, row: Estimate, column: Estimate, people: float) -> Estimate | None:
    """Return count ÷ expected; what is unknown of the margins is added to its error."""
    expected = row.value * column.value / people
    if expected <= 0:
        return None
    value = estimate.value / expected
    margin = math.hypot(row.std_error / row.value, column.std_error / column.value)
    error = math.hypot(estimate.std_error / expected, value * margin)
    low, high = (None if end is None else end / expected for end in (estimate.low, estimate.high))
    if low is not None and high is not None and margin:
        wider = error / (estimate.std_error / expected) if estimate.std_error else 1.0
        low, high = max(0.0, value - (value - low) * wider), value + (high - value) * wider
    return replace(estimate, value=value, std_error=error, low=low, high=high, raw=None, measure="lift")


def _test(
    release: Release, both: GroupedAnswer, asked: Query, expected: Any, counts: list[tuple[Estimate, ...]]
) -> AssociationTest:
    """Return the test of association; see above."""
    values = np.array([[estimate.value for estimate in row] for row in counts])
    if all(estimate.std_error == 0.0 for _, estimate in both):
        return judge_cells(values)
    shown = between_groups(release, *asked.group_by) if asked.condition == Query().condition else None
    return _by_cells(values, expected, counts) if shown is None else shown


def _test_of_each(release: Any, asked: Query, name: str, *, secret: str) -> AssociationTest:
    """Return the clearest of the tests of each value, having it or not, with as many times its p as there are values.

    Holds under any dependence (Bonferroni).
    """
    if asked.condition != Query().condition:
        return AssociationTest(0.0, 0.0, None, "values overlap, and a condition cuts through what groups show")
    known, place, tests = having(release), release.secrets.index(secret), []
    for value in range(known.secrets[place].values):
        engine, _ = known.engine(((known.value(place, value), True),))
        words = engine.vocabulary
        shown = engine.shown_together(words.find(name), words.find(secret)) if isinstance(engine, ShowsGroups) else None
        if isinstance(shown, Grouped):
            tests.append(judge_groups(shown))
    tested = [test for test in tests if test.p is not None]
    if not tested:
        return tests[0] if tests else AssociationTest(0.0, 0.0, None, "groups do not show both columns, or are no boxes")
    clearest = min(tested, key=lambda test: (test.p, -test.statistic / max(test.mean, 1e-12)))
    assert clearest.p is not None
    note = f"the clearest of {len(tested)} values"
    return replace(clearest, p=min(1.0, len(tested) * clearest.p), note=note, retained=min(test.retained for test in tested))


def between_groups(release: Release, a: str, b: str) -> AssociationTest | None:
    """Return the test of two columns by what groups show of them; None for a form that shows no such groups."""
    engine = engine_for(release, Query(group_by=(a, b)))
    if not isinstance(engine, ShowsGroups):
        return None
    shown = engine.shown_together(engine.vocabulary.find(a), engine.vocabulary.find(b))
    if shown is None:
        return None
    return judge_groups(shown) if isinstance(shown, Grouped) else judge_cells(shown)


def _by_cells(values: Any, expected: Any, counts: list[tuple[Estimate, ...]], *, drawn: bool = True) -> AssociationTest:
    """Return the test from the errors of single cells, to which the luck of who was `drawn` is added where they lack it."""
    from scipy.special import chdtrc

    if expected.size == 0 or min(expected.shape) < 2:
        return AssociationTest(0.0, 0.0, None, "one of the columns has one value only")
    error = np.array([[estimate.std_error for estimate in row] for row in counts])
    telling = np.array([[estimate.low is not None for estimate in row] for row in counts])
    statistic = float(((values - expected) ** 2 / expected).sum())
    luck = (expected.shape[0] - 1) * (expected.shape[1] - 1) if drawn else 0
    mean = float(luck + (error**2 / expected).sum())
    if telling.mean() < _TELLING:
        notes = dict.fromkeys(estimate.note for row in counts for estimate in row if estimate.low is None)
        return AssociationTest(statistic, mean, None, next(iter(notes), ""))
    return AssociationTest(statistic, mean, float(chdtrc(1.0, statistic / mean)), LOOSE, retained=0.0)
