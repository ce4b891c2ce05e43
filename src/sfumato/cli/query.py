"""`sfumato query`: a count question, answered from the release alone."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import Json, ReleaseDirectory, Workers
from sfumato.cli._run import verb
from sfumato.cli._show import console, grid, print_json, progress_bar, shown
from sfumato.cli._workers import limited

if TYPE_CHECKING:
    from sfumato.query.answer import Estimate


class Estimator(StrEnum):
    """How the count is estimated."""

    paper = "paper"
    likelihood = "likelihood"


@verb
def query(
    release: ReleaseDirectory,
    sql: Annotated[str, typer.Argument(help="SELECT COUNT(*) WHERE … [GROUP BY …], or only the condition.", show_default=False)],
    *,
    estimator: Annotated[
        Estimator | None, typer.Option(help="How to estimate; the better one is chosen otherwise.", show_default=False)
    ] = None,
    confidence: Annotated[float, typer.Option(help="How often the interval should cover the truth.")] = 0.95,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Answer a count question from a release, with an error bar."""
    from sfumato.errors import QueryError
    from sfumato.query.answer import Estimate
    from sfumato.release import Release

    if not sql.strip():
        raise QueryError("the question is empty", hint='to count everybody, ask "SELECT COUNT(*)"')
    if not 0 < confidence < 1:
        raise QueryError(f"--confidence: expected a number between 0 and 1, got {confidence}", hint="0.95 is usual")
    with limited(workers), progress_bar() as tell:
        tell("answering", 0.0)
        loaded = Release.load(release)
        answer = loaded.count(sql, estimator=estimator.value if estimator else None, confidence=confidence)
    if isinstance(answer, Estimate):
        if as_json:
            print_json(estimate_dict(answer))
        else:
            _show_one(answer)
        return
    cells = [(dict(key), estimate) for key, estimate in answer]
    if as_json:
        print_json([{"group": key, **estimate_dict(estimate)} for key, estimate in cells])
    else:
        _show_many(cells)


def estimate_dict(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as plain JSON values."""
    names = ("value", "std_error", "low", "high", "confidence", "estimator", "note")
    document = {name: getattr(estimate, name) for name in names}
    return document if estimate.raw is None else {**document, "raw": estimate.raw}


def interval(estimate: Estimate) -> str:
    """Return the interval as text, or that there is none."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{estimate.low:,.0f} to {estimate.high:,.0f}"


def _show_one(estimate: Estimate) -> None:
    screen = console()
    if estimate.low is None:
        # Not as "±": that would be read as an error bar, and an error bar is what is not known here.
        screen.print(f"[bold]{estimate.value:,.1f}[/bold]")
        screen.print(f"no interval (standard error {estimate.std_error:,.1f}, estimator: {estimate.estimator})")
    else:
        screen.print(f"[bold]{estimate.value:,.1f}[/bold] ± {estimate.std_error:,.1f}")
        screen.print(f"{100 * estimate.confidence:g} % interval: {interval(estimate)} (estimator: {estimate.estimator})")
    _notes([estimate])


def _show_many(cells: list[tuple[dict[str, Any], Estimate]]) -> None:
    if not cells:
        console().print("no group has anybody in it")
        return
    names = list(cells[0][0])
    first = cells[0][1]
    wide = len(names)
    headings = (*names, "count", "std. error", f"{100 * first.confidence:g} % interval")
    table = grid(*headings, right=(wide, wide + 1, wide + 2))
    for key, estimate in cells:
        group = ("(missing)" if key[name] is None else shown(key[name]) for name in names)
        table.add_row(*group, f"{estimate.value:,.1f}", f"{estimate.std_error:,.1f}", interval(estimate))
    console().print(table)
    _notes([estimate for _, estimate in cells])


def _notes(estimates: list[Estimate]) -> None:
    for note in dict.fromkeys(estimate.note for estimate in estimates if estimate.note):
        console().print(f"note: {shown(note)}")
