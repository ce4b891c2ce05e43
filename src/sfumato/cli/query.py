"""`sfumato query`: count questions, answered from the release alone: one, many from a file, or at a prompt."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli._options import Json, ReleaseDirectory, Workers
from sfumato.cli._run import BAD_INPUT, verb
from sfumato.cli._show import console, grid, print_json, progress_bar, shown, warn
from sfumato.cli._workers import limited

if TYPE_CHECKING:
    from sfumato.query.answer import Answer, Estimate
    from sfumato.release import Release

LONGEST = 10_000_000
"""A file of questions has at most so many bytes."""


class Estimator(StrEnum):
    """How the count is estimated."""

    paper = "paper"
    likelihood = "likelihood"


@verb
def query(
    release: ReleaseDirectory,
    sql: Annotated[
        str | None,
        typer.Argument(
            help="SELECT COUNT(*) WHERE … [GROUP BY …], or only the condition; - reads questions from standard input. Without it "
            "a prompt opens.",
            show_default=False,
        ),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="A file of questions, one a line or ended by semicolons.", show_default=False),
    ] = None,
    estimator: Annotated[
        Estimator | None, typer.Option(help="How to estimate; the better one is chosen otherwise.", show_default=False)
    ] = None,
    confidence: Annotated[float, typer.Option(help="How often the interval should cover the truth.")] = 0.95,
    duckdb: Annotated[
        Path | None,
        typer.Option(
            "--duckdb", help="Write a new DuckDB database for SQL and BI tools in place of an answer.", show_default=False
        ),
    ] = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Answer count questions from a release, each with an error bar.

    What a release teaches is learned once and kept in your cache, so later questions are answered at once. With many questions
    the exit code is 2 when one of them could not be answered.
    """
    from sfumato.errors import QueryError

    if duckdb is not None:
        _write_database(release, duckdb, question=sql is not None or file is not None)
        return
    if sql is not None and file is not None:
        raise QueryError("--file: there is a question too", hint="give one of the two")
    if sql is not None and not sql.strip():
        raise QueryError("the question is empty", hint='to count everybody, ask "SELECT COUNT(*)"')
    if not 0 < confidence < 1:
        raise QueryError(f"--confidence: expected a number between 0 and 1, got {confidence}", hint="0.95 is usual")
    open_prompt = sql is None and file is None and on_terminal() and not as_json
    many = None if open_prompt or (sql is not None and sql != "-") else read_questions(file)
    with limited(workers):
        loaded = load_remembering(release)

        def count(question: str) -> Answer:
            return loaded.count(question, estimator=estimator.value if estimator else None, confidence=confidence)

        if open_prompt:
            from sfumato.cli._prompt import Completer, talk
            from sfumato.query.count import engine_of

            talk(Completer.of(engine_of(loaded).vocabulary), lambda question: _show(count(question)))
            return
        if many is not None:
            _answer_all(many, count, as_json=as_json)
            return
        assert sql is not None
        with progress_bar() as tell:
            tell("answering", 0.0)
            answer = count(sql)
    if as_json:
        print_json(answer_json(answer))
    else:
        _show(answer)


def _write_database(directory: Path, target: Path, *, question: bool) -> None:
    """Write the release and tables completed from it to a database, and say what is in it."""
    import warnings

    from sfumato.errors import QueryError
    from sfumato.query.database import write_database

    if question:
        raise QueryError("--duckdb: there is a question too", hint="write the database first, then ask it in SQL")
    with progress_bar() as tell, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tell("completing", 0.0)
        without = write_database(load_remembering(directory), target)
    for one in told:
        warn(str(one.message))
    if without:
        warn(f"{without}: the database has the published tables only")
        return
    console().print(f"Wrote {shown(target)}: the published tables, `completed`, weighted_count(weight), count_where('condition')")


def on_terminal() -> bool:
    """Return whether somebody can be asked for questions."""
    return sys.stdin is not None and sys.stdin.isatty()


def load_remembering(directory: Path) -> Release:
    """Return the release in a directory, set up so that what it teaches is kept in the user's cache."""
    from sfumato.query.count import remember
    from sfumato.query.shelf import Shelf
    from sfumato.release import Release
    from sfumato.release.files import MANIFEST, sha256

    loaded = Release.load(directory)
    remember(loaded, Shelf.of_user(sha256(directory / MANIFEST)))
    return loaded


def read_questions(file: Path | None) -> list[str]:
    """Return the questions in a file, or on standard input."""
    from sfumato.cli._prompt import questions_of
    from sfumato.errors import InputError, QueryError
    from sfumato.table.regular import TooLongError, read_text, refusal

    name = "standard input" if file is None else str(file)
    refused = None if file is None else refusal(file)
    if refused is not None:
        raise InputError(f"{name}: {refused}", hint="check the path of --file")
    try:
        text = sys.stdin.read(LONGEST + 1) if file is None else read_text(file, most=LONGEST)
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8 text", hint="expected questions, one a line") from None
    except TooLongError:
        text = " " * (LONGEST + 1)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}", hint="check the path of --file") from None
    if len(text) > LONGEST:
        raise InputError(f"{name}: questions have at most {LONGEST:,} bytes", hint="is it the table?")
    questions = questions_of(text)
    if not questions:
        raise QueryError(f"{name}: there is no question in it", hint="write one a line, for instance: age BETWEEN 30 AND 40")
    return questions


def _answer_all(questions: list[str], count: Callable[[str], Answer], *, as_json: bool) -> None:
    """Answer one question after the other; one that cannot be answered is shown as an error, and the exit code is then 2."""
    from sfumato.errors import QueryError

    shown: list[dict[str, Any]] = []
    failed = 0
    for number, question in enumerate(questions, 1):
        try:
            answer = count(question)
        except QueryError as error:
            failed += 1
            # Not the question itself: the file may be another one by mistake, the table itself.
            message = f"question {number}: {getattr(error, 'brief', error.message)}"
            shown.append({"question": number, "error": message, "hint": error.hint})
            if not as_json:
                warn(message if error.hint is None else f"{message} ({error.hint})")
            continue
        shown.append({"question": number, "sql": question, "answer": answer_json(answer)})
        if not as_json:
            console().print(f"[dim]{number}[/dim] {shown(question)}")
            _show(answer)
    if as_json:
        print_json(shown)
    if failed:
        raise typer.Exit(BAD_INPUT)


def answer_json(answer: Answer) -> Any:
    """Return an answer as plain JSON values: one estimate, or one a cell."""
    from sfumato.query.answer import Estimate

    if isinstance(answer, Estimate):
        return estimate_dict(answer)
    return [{"group": dict(key), **estimate_dict(estimate)} for key, estimate in answer]


def _show(answer: Answer) -> None:
    from sfumato.query.answer import Estimate

    if isinstance(answer, Estimate):
        _show_one(answer)
    else:
        _show_many([(dict(key), estimate) for key, estimate in answer])


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
