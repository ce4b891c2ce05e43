"""`sfumato query`: count questions, answered from the release alone: one, many from a file, or at a prompt."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from sfumato.cli._answers import (
    answer_json,
    comparison_json,
    crosstab_json,
    show_answer,
    show_comparison,
    show_crosstab,
    show_quality,
)
from sfumato.cli._model_file import write_model_file
from sfumato.cli._options import JsonOption, ReleaseDirectory, Workers
from sfumato.cli._run import BAD_INPUT, verb
from sfumato.cli._show import console, print_json, progress_bar, shown, warn
from sfumato.cli._state import writing
from sfumato.cli._workers import limited
from sfumato.cli.explain import question_text

if TYPE_CHECKING:
    from sfumato.query.answer import Answer
    from sfumato.release import Release


@verb
def query(
    release: ReleaseDirectory,
    sql: Annotated[
        str | None,
        typer.Argument(
            help="SELECT COUNT(*), AVG(…), SHARE(…) WHERE … [GROUP BY …], or only the condition; - reads questions from "
            "standard input. Without it a prompt opens.",
        ),
    ] = None,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="A file of questions, one a line or ended by semicolons.")
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(help="How to estimate: paper, likelihood or an installed one; the better of the first two otherwise."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How often the interval should cover the truth.")] = 0.95,
    duckdb: Annotated[
        Path | None, typer.Option("--duckdb", help="Write a new DuckDB database for SQL and BI tools in place of an answer.")
    ] = None,
    export_model: Annotated[
        Path | None,
        typer.Option("--export-model", help="Write what the release teaches to a new JSON file (.json or .json.gz), for R."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="A second question: the difference and the ratio of the two figures are told.")
    ] = None,
    crosstab: Annotated[
        str | None, typer.Option(metavar="A,B", help="Two columns against each other; a question is then a condition.")
    ] = None,
    quality: Annotated[bool, typer.Option("--quality", help="How well the release can tell about each column.")] = False,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Figures of the population, by the survey weight that the release declares.")
    ] = False,
    workers: Workers = None,
    as_json: JsonOption = False,
) -> None:
    """Answer questions for counts, shares, averages and sums from a release, each with an error bar.

    What a release teaches is learned once and kept in your cache, so later questions are answered at once. With many questions
    the exit code is 2 when one of them could not be answered.
    """
    from sfumato.errors import QueryError

    if weighted and (export_model is not None or duckdb is not None or against is not None):
        raise QueryError("--weighted is for questions, --crosstab and --quality", hint="leave it out")
    if export_model is not None:
        if duckdb is not None or sql is not None or file is not None:
            raise QueryError("--export-model answers no question", hint="give it alone")
        write_model_file(release, load_remembering(release), export_model)
        return
    if duckdb is not None:
        _write_database(release, duckdb, question=sql is not None or file is not None)
        return
    if sql is not None and file is not None:
        raise QueryError("--file: there is a question too", hint="give one of the two")
    if sql is not None and not sql.strip():
        raise QueryError("the question is empty", hint='to count everybody, ask "SELECT COUNT(*)"')
    if not 0 < confidence < 1:
        raise QueryError(f"--confidence: expected a number between 0 and 1, got {confidence}", hint="0.95 is usual")
    how: dict[str, Any] = {"estimator": estimator, "confidence": confidence} | ({"weighted": True} if weighted else {})
    other = _Other(quality, crosstab, against)
    if other != (False, None, None):
        other.require_alone(sql, file)
        with limited(workers):
            other.answer(load_remembering(release), sql, how, as_json=as_json)
        return
    open_prompt = sql is None and file is None and on_terminal() and not as_json
    many = None if open_prompt or (sql is not None and sql != "-") else read_questions(file)
    with limited(workers):
        loaded = load_remembering(release)

        def count(question: str) -> Answer:
            return loaded.count(question, **how)

        if open_prompt:
            from sfumato.cli._prompt import Completer, talk
            from sfumato.query.count import words_of

            def respond(line: str) -> None:
                if line.startswith(".quality"):
                    show_quality(loaded.quality(weighted=weighted))
                elif line.startswith(".crosstab"):
                    show_crosstab(loaded.crosstab(*two_columns(line.removeprefix(".crosstab")), weighted=weighted))
                else:
                    show_answer(count(line))

            talk(Completer.of(words_of(loaded)), respond)
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
        show_answer(answer)


class _Other(NamedTuple):
    """What is no question of its own: how well the release can tell, a crosstab, or a comparison."""

    quality: bool
    crosstab: str | None
    against: str | None

    def require_alone(self, sql: str | None, file: Path | None) -> None:
        """Raise an error where two of them are asked for, or questions that they do not answer."""
        from sfumato.errors import QueryError

        given = [f"--{name}" for name, used in self._asdict().items() if used not in (False, None)]
        if len(given) > 1:
            raise QueryError(f"{' and '.join(given)} cannot be combined", hint="give one of them")
        if file is not None or (sql is not None and self.quality):
            raise QueryError(f"{given[0]} answers no list of questions", hint="leave the question or --file out")

    def answer(self, loaded: Release, sql: str | None, how: dict[str, Any], *, as_json: bool) -> None:
        """Show what the release answers."""
        from sfumato.errors import QueryError

        with progress_bar() as tell:
            tell("answering", 0.0)
            if self.quality:
                known = loaded.quality(weighted="weighted" in how)
                print_json(known.to_dict()) if as_json else show_quality(known)
            elif self.crosstab is not None:
                table = loaded.crosstab(*two_columns(self.crosstab), where=sql, **how)
                print_json(crosstab_json(table)) if as_json else show_crosstab(table)
            else:
                if sql is None or self.against is None:
                    raise QueryError(
                        "--against needs a question to compare with", hint='query release/ "age < 40" --against "age >= 40"'
                    )
                comparison = loaded.compare(sql, self.against, **how)
                print_json(comparison_json(comparison)) if as_json else show_comparison(comparison)


def two_columns(text: str) -> tuple[str, str]:
    """Return the two columns that a crosstab names."""
    from sfumato.errors import QueryError

    names = [name.strip().strip('"') for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise QueryError("a crosstab needs two columns with a comma between them", hint="for instance diagnosis,sex")
    return names[0], names[1]


def _write_database(directory: Path, target: Path, *, question: bool) -> None:
    """Write the release and tables completed from it to a database, and say what is in it."""
    import warnings

    from sfumato.errors import QueryError
    from sfumato.query.database import write_database

    if question:
        raise QueryError("--duckdb: there is a question too", hint="write the database first, then ask it in SQL")
    with progress_bar() as tell, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        tell("completing", 0.0)
        loaded = load_remembering(directory)
        with writing(target):
            without = write_database(loaded, target)
    for warning in warned:
        warn(str(warning.message))
    if without:
        warn(f"{without}: the database has the published tables and counts only")
        return
    console().print(
        f"Wrote {shown(target)}: the published tables, counts_… and cross_… with intervals, `completed`, "
        "weighted_count(weight), count_where('condition')"
    )


def on_terminal() -> bool:
    """Return whether somebody can be asked for questions."""
    return sys.stdin is not None and sys.stdin.isatty()


def load_remembering(directory: Path) -> Release:
    """Return the release in a directory, set up so that what it teaches is kept in the user's cache."""
    from sfumato.query.count import remember
    from sfumato.query.model_cache import ModelCache
    from sfumato.release import Release
    from sfumato.release.files import MANIFEST, sha256

    loaded = Release.load(directory)
    remember(loaded, ModelCache.of_user(sha256(directory / MANIFEST)))
    return loaded


def read_questions(file: Path | None) -> list[str]:
    """Return the questions in a file, or on standard input."""
    from sfumato.cli._prompt import questions_of
    from sfumato.errors import QueryError

    questions = questions_of(question_text(file, "--file", "expected questions, one a line"))
    if not questions:
        raise QueryError(
            f"{file or 'standard input'}: there is no question in it",
            hint="write one a line, for instance: age BETWEEN 30 AND 40",
        )
    return questions


def _answer_all(questions: list[str], count: Callable[[str], Answer], *, as_json: bool) -> None:
    """Answer one question after the other; one that cannot be answered is shown as an error, and the exit code is then 2."""
    from sfumato.errors import QueryError

    answers: list[dict[str, Any]] = []
    failed = 0
    for number, question in enumerate(questions, 1):
        try:
            answer = count(question)
        except QueryError as error:
            failed += 1
            # Not the question itself: the file may be another one by mistake, the table itself.
            message = f"question {number}: {getattr(error, 'brief', error.message)}"
            answers.append({"question": number, "error": message, "hint": error.hint})
            if not as_json:
                warn(message if error.hint is None else f"{message} ({error.hint})")
            continue
        answers.append({"question": number, "sql": question, "answer": answer_json(answer)})
        if not as_json:
            console().print(f"[dim]{number}[/dim] {shown(question)}")
            show_answer(answer)
    if as_json:
        print_json(answers)
    if failed:
        raise typer.Exit(BAD_INPUT)
