"""How answers look: on a screen, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.cli._show import console, grid, shown

if TYPE_CHECKING:
    from sfumato.query.answer import Answer, Estimate
    from sfumato.query.comparing import Comparison
    from sfumato.query.crosstab import Crosstab
    from sfumato.query.quality import Quality, QualityOfEach


def answer_json(answer: Answer) -> Any:
    """Return an answer as plain JSON values: one estimate, or one a cell; by name for several figures."""
    from sfumato.query.answer import Estimate, SeveralAnswers

    if isinstance(answer, Estimate):
        return estimate_dict(answer)
    if isinstance(answer, SeveralAnswers):
        return {name: answer_json(part) for name, part in answer}
    return [{"group": dict(key), **estimate_dict(estimate)} for key, estimate in answer]


def show_answer(answer: Answer) -> None:
    """Print an answer."""
    from sfumato.query.answer import Estimate, SeveralAnswers

    if isinstance(answer, Estimate):
        _show_one(answer)
    elif isinstance(answer, SeveralAnswers):
        for name, part in answer:
            if isinstance(part, Estimate):
                console().print(f"[bold]{shown(name)}[/bold]")
            show_answer(part)
    else:
        _show_many([(dict(key), estimate) for key, estimate in answer], answer.total)


def estimate_dict(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as plain JSON values."""
    document: dict[str, Any] = {"value": estimate.value, "std_error": estimate.error, "low": estimate.low, "high": estimate.high}
    document |= {name: getattr(estimate, name) for name in ("confidence", "estimator", "note")}
    if estimate.sampling_error is not None:
        parts = {"sampling_error": estimate.sampling_error, "release_error": estimate.release_error}
        document |= {name: None if estimate.error is None else part for name, part in parts.items()}
    if estimate.measure != "count":
        document["measure"] = estimate.measure
    return document if estimate.raw is None else {**document, "raw": estimate.raw}


def interval(estimate: Estimate) -> str:
    """Return the interval as text, or that there is none."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    if estimate.measure != "count":
        return f"{estimate.written(estimate.low, ',')} to {estimate.written(estimate.high, ',')}"
    return f"{estimate.low:,.0f} to {estimate.high:,.0f}"


def _show_one(estimate: Estimate) -> None:
    screen = console()
    _notes([estimate])  # before the figure, which somebody may copy without reading on: a misspelt value has a certain 0
    value = estimate.written(estimate.value, ",")
    if estimate.error is None:
        limits = "no interval" if estimate.low is None else f"certain: {interval(estimate)}"
        screen.print(f"[bold]{value}[/bold]")
        screen.print(f"{limits} (estimator: {estimate.estimator})")
    else:
        screen.print(f"[bold]{value}[/bold] ± {estimate.error_text}")
        screen.print(f"{100 * estimate.confidence:g} % interval: {interval(estimate)} (estimator: {estimate.estimator})")
        if estimate.parts_text:
            screen.print(estimate.parts_text)


def _show_many(cells: list[tuple[dict[str, Any], Estimate]], total: Estimate) -> None:
    if not cells:
        console().print("no group has anybody in it")
        _notes([total])
        return
    names = list(cells[0][0])
    first = cells[0][1]
    wide = len(names)
    weighted = first.sampling_error is not None
    parts = ("by sampling",) if weighted else ()
    headings = (*names, first.measure, "std. error", *parts, f"{100 * first.confidence:g} % interval")
    table = grid(*headings, right=tuple(range(wide, len(headings))))
    for key, estimate in cells:
        group = ("(missing)" if key[name] is None else shown(key[name]) for name in names)
        own = (estimate.sampling_text,) if weighted else ()
        table.add_row(*group, estimate.written(estimate.value, ","), estimate.error_text, *own, interval(estimate))
    console().print(table)
    _notes([estimate for _, estimate in cells])


def _notes(estimates: list[Estimate]) -> None:
    for note in dict.fromkeys(estimate.note for estimate in estimates if estimate.note):
        console().print(f"note: {shown(note)}")


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain JSON values."""
    named = {"a": comparison.a, "b": comparison.b, "difference": comparison.difference, "ratio": comparison.ratio}
    return {name: None if estimate is None else estimate_dict(estimate) for name, estimate in named.items()}


def show_comparison(comparison: Comparison) -> None:
    """Print a comparison."""
    named = [("a", comparison.a), ("b", comparison.b), ("a − b", comparison.difference), ("a ÷ b", comparison.ratio)]
    made = [(name, estimate) for name, estimate in named if estimate is not None]
    rows = [(name, estimate.written(estimate.value, ","), interval(estimate)) for name, estimate in made]
    headings = ("", comparison.a.measure, f"{100 * comparison.a.confidence:g} % interval")
    console().print(grid(*headings, right=(1, 2), rows=rows))
    _notes([estimate for _, estimate in made])


def crosstab_json(crosstab: Crosstab) -> dict[str, Any]:
    """Return a crosstab as plain JSON values."""
    test = crosstab.test
    return {
        "columns": list(crosstab.names),
        "cells": crosstab.to_arrow().to_pylist(),
        "test": {
            "verdict": test.verdict,
            "statistic": test.statistic,
            "mean": test.mean,
            "p": test.p,
            "retained": test.retained,
            "note": test.note,
        },
    }


def show_crosstab(crosstab: Crosstab) -> None:
    """Print a crosstab."""
    headings, rows, left = crosstab.shown()
    console().print(grid(*headings, right=tuple(range(1, len(headings))), rows=(map(shown, row) for row in rows)))
    for line in (left, crosstab.legend, str(crosstab.test)):
        if line:
            console().print(shown(line))


def show_quality(quality: Quality | QualityOfEach) -> None:
    """Print how well a release can tell, of each secret where each is protected by itself."""
    from sfumato.query.quality import QualityOfEach

    if isinstance(quality, QualityOfEach):
        for name, secret in quality.each.items():
            console().print(f"[bold]{shown(name)}[/bold]")
            show_quality(secret)
        return
    groups = "" if quality.groups is None else f" in {quality.groups:,} groups"
    known = [map(shown, row) for row in quality.column_rows()]
    asked = [map(shown, row) for row in quality.question_rows()]
    of_columns, of_questions = quality.headings
    columns = grid(*of_columns, right=tuple(range(1, len(of_columns))), rows=known)
    questions = grid(*of_questions, right=tuple(range(1, len(of_questions))), rows=asked)
    for part in (f"{quality.people:,} people{groups}", columns, questions, *([shown(quality.note)] if quality.note else [])):
        console().print(part)
