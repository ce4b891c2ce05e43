"""`sfumato study`: the papers' figures and tables, asked again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import JsonOption, Workers
from sfumato.cli._run import BROKEN, verb
from sfumato.cli._show import bullets, console, grid, near, print_json, progress_bar, shown, warn
from sfumato.cli._state import STATE

if TYPE_CHECKING:
    from sfumato.studies.study import Result, Study


@verb
def study(
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies by name (003-fig8) or paper (003); all without one; `list` says which.")
    ] = None,
    *,
    table: Annotated[Path | None, typer.Option(help="Ask it of a table of your own; needs --policy.")] = None,
    policy: Annotated[Path | None, typer.Option("--policy", "-p", help="How to read that table: a TOML file.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small settings: all of them in minutes.")] = False,
    also: Annotated[
        list[str] | None, typer.Option(help="A method of an installed package, by its name, beside 003's. Repeatable.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where results, pictures and the page go; a killed study goes on.")
    ] = Path("studies"),
    again: Annotated[bool, typer.Option("--again", help="Measure again what is there.")] = False,
    workers: Workers = None,
    as_json: JsonOption = False,
) -> None:
    """Ask again what the papers found, at their settings: errors, losses and times, and whether each claim holds.

    Everything is measured on generated tables, or on a table of your own; then what is shown tells figures of that table, so keep
    it private.
    """
    from sfumato.errors import InputError
    from sfumato.studies.catalogue import chosen, study_of
    from sfumato.studies.page import write_page
    from sfumato.studies.parallel import Asked, work
    from sfumato.studies.results import run

    if names == ["list"]:
        _list(as_json=as_json)
        return
    if (table is None) != (policy is None):
        raise InputError("--table and --policy go together", hint="give both, or none for the generated tables")
    asked = chosen(names or [])
    if table is not None:
        asked = [name for name in asked if study_of(name)[0].own]
        if not asked:
            raise InputError("this study asks nothing of a table", hint="`sfumato study list` says which do")
    given = Asked("quick" if quick else "full", out, table, policy)
    own, failed, told = given.source(), [], []
    with progress_bar() as tell:
        if not again:
            work(asked, given, _processes(workers), tell)
        for done, name in enumerate(asked):
            made, question = study_of(name)
            if also and "ways" in made.full:
                made = _with(made, also)
            tell(name, done / len(asked))
            try:
                result, _ = run(name, made, given.size, out, source=own, again=again)
            except Exception as error:  # a study that fails does not stop the others
                if len(asked) == 1:
                    raise
                warn(f"{name} failed: {type(error).__name__}: {error}")
                failed.append(name)
                continue
            told.append((name, made, question, result))
    STATE.written = str(out)
    page = write_page(out / "studies.md", out)
    if as_json:
        print_json([_document(*one) for one in told])
    else:
        for one in told:
            _show(*one)
        console().print(f"Written: {near(str(page))}")
    if failed:
        raise typer.Exit(BROKEN)


def _processes(workers: int | None) -> int:
    import os

    from sfumato.errors import PolicyError

    if workers is not None and workers < 1:
        raise PolicyError(f"--workers: expected a whole number from 1 on, got {workers}", hint="leave it out")
    return workers or len(os.sched_getaffinity(0))


def _with(study: Study, also: list[str]) -> Study:
    """Return the study with methods of installed packages beside its own."""
    from dataclasses import replace

    from sfumato.errors import InputError, did_you_mean
    from sfumato.methods import METHODS

    unknown = [name for name in also if name not in METHODS]
    if unknown:
        raise InputError(f"--also: there is no method {unknown[0]!r}", hint=did_you_mean(unknown[0], METHODS))
    return replace(
        study,
        full={**study.full, "ways": (*study.full["ways"], *also)},
        quick={**study.quick, "ways": (*study.quick["ways"], *also)},
    )


def _list(*, as_json: bool) -> None:
    from sfumato.studies.catalogue import names, study_of

    rows = [(name, study.figure, question) for name in names() for study, question in (study_of(name),)]
    if as_json:
        print_json([{"name": name, "figure": figure, "question": question} for name, figure, question in rows])
    else:
        screen = console()
        screen.print(f"{len(rows)} studies; sfumato study NAME asks one of them again.")
        table = grid("study", "question", rows=((name, shown(question)) for name, _, question in rows))
        table.columns[0].min_width = max(len(name) for name, _, _ in rows)
        table.columns[1].no_wrap, table.columns[1].overflow = True, "ellipsis"
        screen.print(table)


def _show(name: str, study: Study, question: str, result: Result) -> None:
    """Show a verdict, its claims, and what differs from the paper."""
    from sfumato.studies.page import claims_of, word_of

    screen, verdict = console(), study.judge(result.rows)
    screen.print(f"[bold]{shown(name)}, {shown(study.figure)}: {shown(question)}[/]")
    screen.print(f"The paper: {shown(study.says)}")
    screen.print(f"[bold]{shown(word_of(study, result, verdict).capitalize())}.[/] {shown(verdict.why)}")
    screen.print(bullets(claims_of(study, result, verdict)))
    screen.print(f"[dim]Differs from the paper: {shown('; '.join(study.departures(result.settings)) or 'nothing')}.[/]")
    screen.print()


def _document(name: str, study: Study, question: str, result: Result) -> dict[str, object]:
    from sfumato.studies.page import word_of

    verdict = study.judge(result.rows)
    return {
        "name": name,
        "figure": study.figure,
        "question": question,
        "verdict": word_of(study, result, verdict),
        "why": verdict.why,
        "claims": [
            {"claim": claim, "mark": mark, "seeds": result.spread(study).get(key)}
            for key, (claim, mark) in zip(verdict.claims, verdict.marked().items(), strict=True)
        ],
        "settings": dict(result.settings),
        "source": result.source,
        "departures": study.departures(result.settings),
        "seconds": result.seconds,
        "rows": list(result.rows),
    }
