"""`sfumato study`: the papers' figures and tables, asked again."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
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
    from sfumato.studies.catalogue import chosen, compares, study_of
    from sfumato.studies.page import write_page
    from sfumato.studies.parallel import Asked, work
    from sfumato.studies.results import forget, run

    if names and names[0] == "list":
        _list(chosen(names[1:]), as_json=as_json)
        return
    if (table is None) != (policy is None):
        raise InputError("--table and --policy go together", hint="give both, or none for the generated tables")
    asked = chosen(names or [])
    if table is not None:
        asked = [name for name in asked if study_of(name)[0].own]
        if not asked:
            raise InputError("this study asks nothing of a table", hint="`sfumato study list` says which do")
    if also and not any(compares(study_of(name)[0]) for name in asked):
        fit = ", ".join(name for name in chosen([]) if compares(study_of(name)[0]))
        raise InputError("--also: none of these studies compares methods of other packages", hint=f"those are {fit}")
    if out.exists() and not out.is_dir():
        raise InputError(f"--out: {near(str(out))} is a file", hint="name a directory, new or one of earlier studies")
    given = Asked("quick" if quick else "full", out, table, policy, tuple(also or ()))
    own, failed, told = given.source(), [], []
    if again:
        forget(asked, given.size, out)
    with progress_bar() as tell:
        work(asked, given, _processes(workers), tell)
        for done, name in enumerate(asked):
            made, question = given.study(name), study_of(name)[1]
            tell(name, done / len(asked))
            try:
                result, _ = run(name, made, given.size, out, source=own)
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


def _list(names: list[str], *, as_json: bool) -> None:
    """Show which studies there are, with their presets for machines."""
    from sfumato.studies.catalogue import compares, study_of

    rows = [(name, *study_of(name)) for name in names]
    if as_json:
        presets = [{"paper": dict(study.printed), "full": dict(study.full), "quick": dict(study.quick)} for _, study, _ in rows]
        about = [
            {"name": name, "figure": study.figure, "question": question, "own_table": study.own, "also": compares(study)}
            for name, study, question in rows
        ]
        print_json([{**one, "settings": preset} for one, preset in zip(about, presets, strict=True)])
    else:
        screen = console()
        screen.print(f"{len(rows)} studies; sfumato study NAME asks one of them again.")
        room = screen.width - max(map(len, names)) - max(len(_takes(study)) for _, study, _ in rows) - 8
        told = [(name, shown(shorten(question, room, placeholder=" …")), _takes(study)) for name, study, question in rows]
        screen.print(grid("study", "question", "takes", rows=told))


def _takes(study: Study) -> str:
    from sfumato.studies.catalogue import compares

    return " ".join(option for option, fits in (("--table", study.own), ("--also", compares(study))) if fits)


def _show(name: str, study: Study, question: str, result: Result) -> None:
    """Show a verdict, its claims, and what differs from the paper."""
    from sfumato.studies.page import claims_of, word_of

    screen, verdict = console(), study.judge(result.rows)
    screen.print(f"[bold]{shown(name)}, {shown(study.figure)}: {shown(question)}[/]")
    screen.print(f"The paper: {shown(study.says)}")
    screen.print(f"[bold]{shown(word_of(study, result, verdict).capitalize())}.[/] {shown(verdict.why)}")
    screen.print(bullets(claims_of(study, result, verdict)))
    screen.print(
        f"[dim]Differs from the paper: {shown('; '.join(study.departures(result.settings, result.source)) or 'nothing')}.[/]"
    )
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
        "departures": study.departures(result.settings, result.source),
        "seconds": result.seconds,
        "rows": list(result.rows),
    }
