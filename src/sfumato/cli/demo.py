"""`sfumato demo`: the whole job on a made-up hospital table, in one command."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._run import verb
from sfumato.cli._show import console, grid
from sfumato.cli._state import STATE

if TYPE_CHECKING:
    from rich.console import Console

    from sfumato.release import Release
    from sfumato.table import Table

RECEIPTS = "SFUMATO_RECEIPTS"
MARKER = ".sfumato-demo"
"""A file that tells a directory of ours from one that somebody else made."""

WALK = (
    "sfumato sample hospital --rows 100000 --out patients.csv",
    "sfumato policy init patients.csv --out policy.toml",
    "sfumato policy check policy.toml patients.csv --reviewed",
    "sfumato explain patients.csv --policy policy.toml",
    "sfumato publish patients.csv --policy policy.toml --out release",
    "sfumato audit release --table patients.csv",
    "sfumato query release \"SELECT sex, COUNT(*) WHERE age BETWEEN 30 AND 39 AND diagnosis IN ('Flu', 'Asthma') GROUP BY sex\"",
)
"""The whole job, as README.md shows it."""

QUESTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Asthma and bronchitis among children up to 14", "age < 15", ("Asthma", "Bronchitis")),
    ("Women from 60 on with type 2 diabetes", "sex = 'female' AND age >= 60", ("Type 2 diabetes",)),
    ("Hard: heart failure or atrial fibrillation in cardiology", "ward = 'Cardiology'", ("Heart failure", "Atrial fibrillation")),
)
"""What is asked, the condition on quasi columns, and the diagnoses; of the last, which hardly occur elsewhere, little is told."""


@verb
def demo(
    *,
    directory: Annotated[Path, typer.Option("--dir", help="Where everything is put.")] = Path("sfumato-demo"),
    rows: Annotated[int, typer.Option(help="Number of made-up patients.", min=1000)] = 100_000,
) -> None:
    """Do the whole job on a made-up hospital table, by the same commands that you would use on yours."""
    home = fresh_directory(directory)
    try:
        run(home, rows, console())
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        STATE.written = ""
        raise
    STATE.written = str(home)


def fresh_directory(wanted: Path) -> Path:
    """Return a new directory: an earlier demo of ours is replaced, anything else is left alone and a numbered name used."""
    from sfumato.errors import OutputError

    place = wanted
    number = 2
    while place.exists() or place.is_symlink():
        if (place / MARKER).is_file() and not place.is_symlink():
            shutil.rmtree(place)
            break
        place = wanted.with_name(f"{wanted.name}-{number}")
        number += 1
    try:
        place.mkdir(parents=True)
        (place / MARKER).write_text(
            "made by `sfumato demo`, which replaces this directory when it runs again\n", encoding="utf-8"
        )
    except OSError as error:
        raise OutputError(f"cannot make {place}: {error.strerror or error}", hint="choose another --dir") from None
    return place


def run(home: Path, rows: int, screen: Console) -> None:
    """Do the whole job in an empty directory by the commands of `WALK`, and show beside some answers what is true."""
    from rich.markup import escape

    from sfumato.policy import Policy
    from sfumato.release import Release

    place, receipts = Path.cwd(), os.environ.get(RECEIPTS)
    os.environ[RECEIPTS] = "."  # beside the release: another demo is no second publication
    os.chdir(home)
    try:
        for command in WALK:
            screen.rule(f"$ {escape(command.replace('100000', str(rows)))}", align="left", characters="─")
            _call(command.replace("100000", str(rows)))
            screen.print()
    finally:
        os.chdir(place)
        os.environ.pop(RECEIPTS)
        if receipts is not None:
            os.environ[RECEIPTS] = receipts
    data, policy, release = home / "patients.csv", home / "policy.toml", home / "release"
    screen.rule("Three questions, answered from the release alone, beside the truth", align="left", characters="─")
    _show_answers(screen, Release.load(release), Policy.load(policy).read_table(data))
    screen.rule("Where everything lies", align="left", characters="─")
    _show_places(screen, data, policy, release, home / "release.receipt.json")


def _call(command: str) -> None:
    """Run a command line as a shell would, in this process."""
    from sfumato.cli.app import app

    code = app(shlex.split(command)[1:], standalone_mode=False)
    if code:
        raise typer.Exit(code)


def _show_answers(screen: Console, release: Release, table: Table) -> None:
    from sfumato.cli._answers import interval
    from sfumato.query.answer import Estimate

    shares = table.sensitive.histogram()
    shown = grid("question", "truth", "from the release", "95 % interval", "independence", right=(1, 2, 3, 4))
    for question, condition, values in QUESTIONS:
        answer = release.count(f"{condition} AND {diagnosis_in(values)}")
        everybody = release.count(condition)
        if not isinstance(answer, Estimate) or not isinstance(everybody, Estimate):
            raise TypeError("a question without GROUP BY has one answer")
        blind = everybody.value * sum(shares[value] for value in values) / table.rows
        truth = true_count(table, condition, values)
        error = "" if answer.error is None else f" ± {answer.error:,.0f}"
        shown.add_row(question, f"{truth:,}", f"{answer.value:,.0f}{error}", interval(answer), f"{blind:,.0f}")
    screen.print(shown)
    screen.print("independence: what somebody would say who only knows how frequent each diagnosis is.")
    screen.print(
        "Hard: hardly anybody in another ward has these. So strong a link comes out weaker than it is, in a wide interval."
    )


def diagnosis_in(values: tuple[str, ...]) -> str:
    """Return the condition that the diagnosis is one of these."""
    return "diagnosis IN (" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + ")"


def true_count(table: Table, condition: str, values: tuple[str, ...]) -> int:
    """Return the true number of people, which only the publisher can know."""
    from sfumato.query import parse_sql, true_answers

    return int(true_answers(table, [parse_sql(f"{condition} AND {diagnosis_in(values)}")])[0])


def _show_places(screen: Console, data: Path, policy: Path, release: Path, receipt: Path) -> None:
    from rich.markup import escape

    rows = [
        ("the table", escape(str(data)), "nobody else"),
        ("the policy", escape(str(policy)), "the publisher; its comments tell figures of the table"),
        ("the release", escape(str(release)), "everybody"),
        ("the receipt", escape(str(receipt)), "nobody else"),
    ]
    screen.print(grid("what", "where", "for whom", rows=rows))
    screen.print("Try next: the same commands on a table of yours.")
