"""What the release is good for: what can be asked and how well, and two-way tables beside the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.charts import altair, picture_svg
from sfumato.charts.svg import colour
from sfumato.errors import InputError, SfumatoError
from sfumato.exact import percent
from sfumato.explanation.study import random_workloads
from sfumato.query import Estimate, Workload, count_many, crosstab_workload, true_answers
from sfumato.query.quality import Quality, QualityOfEach
from sfumato.release import Release
from sfumato.reports.case import ReportCase
from sfumato.reports.parts import ChartFigure, Grid, PageBlock, Prose, Section
from sfumato.table import Table
from sfumato.utility import query_error

CELLS = 120
"""Cells of a column's two-way table that are looked at."""

QUESTIONS = 200


def useful(case: ReportCase) -> Section:
    """Return expected errors from the release alone and, with the table, errors as they are."""
    blocks: list[PageBlock] = _expected(case)
    if case.several:
        blocks.append(
            Prose(["Asked is who has a value among hers: counts of whole groups are exact, and others have an interval."])
        )
    elif case.table is not None:
        blocks += [*_measured(case.release, case.table), *_crosstabs(case.release, case.table)]
    return Section("useful", "What it is good for", blocks)


def _expected(case: ReportCase) -> list[PageBlock]:
    try:
        quality = case.release.quality()
    except SfumatoError:
        return []
    each = quality.each if isinstance(quality, QualityOfEach) else {"": quality}
    notes = dict.fromkeys(quality.note for quality in each.values() if quality.note)
    words = (
        "Anybody with the release can ask how many people fulfil a condition, and gets an estimate with its error. What "
        "to expect, computed from the release alone:"
    )
    return [Prose([words, *map(_without, notes)]), *(grid for name, quality in each.items() for grid in _quality(name, quality))]


def _without(note: str) -> str:
    """Return in a sentence why some answers have no interval."""
    why = note.removeprefix("no interval: ").replace("mostly prior", "they mostly follow how frequent values are in all")
    return f"Some answers come without an interval: {why}." if why != note else f"{note[:1].upper()}{note[1:]}."


def _quality(secret: str, quality: Quality) -> list[PageBlock]:
    """Return the expected errors of one secret, by name where there are several."""
    error = "the error to expect, as a share of the answer"
    of = f" of {secret}" if secret else ""
    return [
        Grid(
            f"Typical questions{of}", ("question", "asked", error, "with an interval"), quality.question_rows(), right=(1, 2, 3)
        ),
        Grid(
            f"Every column: how much of its links with the sensitive values{of} is learned, how many people's groups are alike "
            "in it, and the error of its two-way table",
            ("column", "learned", "settled", "error", "with an interval"),
            quality.column_rows(),
            right=(1, 2, 3, 4),
        ),
    ]


def _measured(release: Release, table: Table) -> list[PageBlock]:
    """Return errors of random questions beside the truth, by the size of the true answer."""
    sets, ranges = random_workloads(table, QUESTIONS)
    try:
        error = query_error(release, table, Workload("random", (*sets, *ranges)))
    except InputError:
        return []
    rows = [
        (
            part.name,
            f"{part.queries:,}",
            percent(part.median, 1),
            percent(part.independence_median, 1),
            percent(part.intervals, 0),
            "" if part.held is None else percent(part.held, 0),
        )
        for part in (error, *error.classes)
    ]
    headings = ("true answer", "questions", "median error", "assuming independence", "with an interval", "which holds")
    words = (
        "Measured against the original table: half of the answers are off by at most the median error. Beside it, what somebody "
        "reaches who knows all quasi values and how frequent each sensitive value is, but no link between them. How many answers "
        "have a 95 % interval, and how many of these hold the truth, is said last."
    )
    return [Prose([words]), Grid("Random sets and ranges of values", headings, rows, right=(1, 2, 3, 4, 5))]


def _crosstabs(release: Release, table: Table) -> list[PageBlock]:
    points: list[dict[str, float | str]] = []
    rows = []
    for column in table.quasi:
        asked = crosstab_workload(replace(table, quasi=(column,)), queries=CELLS)
        truth = true_answers(table, asked).astype(float)
        answers = count_many(release, asked.queries)
        guess = np.array([answer.value for answer in answers if isinstance(answer, Estimate)])
        kept = truth >= 10
        if not kept.any():
            continue
        error = float(np.abs(guess - truth)[kept].sum() / truth[kept].sum())
        rows.append((column.name, f"{int(kept.sum()):,}", percent(error, 1)))
        points += [
            {"truth": t, "guess": max(g, 1.0), "column": column.name} for t, g in zip(truth[kept], guess[kept], strict=True)
        ]
    if not points:
        return []
    alike = _one_way(release, table)
    note = (
        "Two-way tables of every quasi column with the sensitive values: each point is a cell of at least ten people. On the "
        "line the release is exact."
    )
    return [
        Prose([alike] if alike else []),
        ChartFigure(
            _scatter(points, [row[0] for row in rows]),
            note,
            Grid(
                "By column: the sum of errors as a share of all people counted", ("column", "cells", "error"), rows, right=(1, 2)
            ),
        ),
    ]


def _one_way(release: Release, table: Table) -> str:
    """Return how well the shares of single values are kept."""
    queries = crosstab_workload(replace(table, quasi=table.quasi[:1]), bands=1, queries=500).queries
    truth = true_answers(table, queries).astype(float)
    guess = np.array([answer.value for answer in count_many(release, queries) if isinstance(answer, Estimate)])
    off = float(np.abs(guess - truth).sum() / truth.sum())
    exact = "exactly" if off < 1e-9 else f"up to {percent(off, 1)} of all people"
    return f"One-way tables: how many people have each sensitive value is kept {exact}."


def _scatter(points: Sequence[dict[str, float | str]], names: Sequence[str]) -> str:
    alt = altair()
    low = min(min(float(point["truth"]), float(point["guess"])) for point in points)
    high = max(max(float(point["truth"]), float(point["guess"])) for point in points)
    scale = alt.Scale(type="log", domain=[low / 1.1, high * 1.1], nice=False)
    line = alt.Chart(alt.Data(values=[{"truth": low, "guess": low}, {"truth": high, "guess": high}]))
    x = alt.X("truth:Q", scale=scale, title="true count", axis=alt.Axis(format=",~g", tickCount=5))
    y = alt.Y("guess:Q", scale=scale, title="count from the release", axis=alt.Axis(format=",~g", tickCount=5))
    tint = alt.Color(
        "column:N",
        scale=alt.Scale(domain=list(names), range=[colour(k) for k in range(len(names))]),
        legend=alt.Legend(title=None, labelLimit=160),
    )
    dots = alt.Chart(alt.Data(values=list(points))).mark_circle(size=26, opacity=0.6).encode(x=x, y=y, color=tint)
    chart = alt.layer(line.mark_line(color=colour("axis"), strokeDash=[4, 4]).encode(x=x, y=y), dots).properties(
        width=400, height=330
    )
    return picture_svg(chart, title="Cells of two-way tables: from the release, against the truth", numbered="cells")
