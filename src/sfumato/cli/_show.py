"""How results look on a screen: rich where there is a terminal, plain and 80 wide where there is none."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli._state import check_interrupt
from sfumato.cli._visible import escape_json, visible
from sfumato.progress import LINES, Progress, in_a_line, listening

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

WIDTH = 80
"""Columns where nothing says how many there are."""

LABEL = 18
"""Letters of the longest label that stands in a column of its own."""


def console(*, stderr: bool = False) -> Console:
    """Return a console on standard output (or error) that does not colour numbers and paths by guesswork."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=False)


def shown(text: object) -> str:
    """Return text of a user or a table as it may be printed: no markup in it counts, and control characters are made visible."""
    from rich.markup import escape

    return escape(visible(str(text)))


def counted(number: int, singular: str = "person", more: str = "people") -> str:
    """Return a number with its noun: "1 person", "2,000 people"."""
    return f"{number:,} {singular if number == 1 else more}"


def grid(*columns: str, title: str | None = None, right: tuple[int, ...] = (), rows: Iterable[Iterable[str]] = ()) -> RichTable:
    """Return a table with these headings and rows; the columns numbered in `right` hold figures, cells are `shown` text."""
    from rich import box
    from rich.table import Table as RichTable

    table = RichTable(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_style="bold")
    for place, name in enumerate(columns):
        table.add_column(shown(name), justify="right" if place in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def bullets(paragraphs: Iterable[str]) -> RichTable:
    """Return a list of paragraphs, each with a mark before it."""
    from rich.table import Table as RichTable

    table = RichTable.grid(padding=(0, 1, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")
    for paragraph in paragraphs:
        table.add_row("•", shown(paragraph))
    return table


def labelled(sentences: Iterable[str]) -> RichTable:
    """Return sentences with what each is about in a column before them: "Unique: 4 % of people are …"; markup in them counts."""
    from rich.table import Table as RichTable

    table = RichTable.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for sentence in sentences:
        label, colon, text = sentence.partition(": ")
        table.add_row(*((label, text) if colon and len(label) <= LABEL else ("", sentence)))
    return table


def hundredths(value: float | None, digits: int = 1) -> str:
    """Return a share as a number of hundredths, nothing where it is not known."""
    return "" if value is None else f"{100 * value:.{digits}f}"


def near(path: str) -> str:
    """Return a path as seen from here, if it lies below the working directory."""
    place = Path(path)
    return str(place.relative_to(Path.cwd())) if place.is_relative_to(Path.cwd()) else path


def print_json(document: Any) -> None:
    """Print one JSON document on standard output, and nothing else; in ASCII where that could not write every letter."""
    plain = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    sys.stdout.write(escape_json(json.dumps(document, indent=2, ensure_ascii=plain, default=_plain)) + "\n")


def warn(message: str) -> None:
    """Print one warning on standard error."""
    console(stderr=True).print(f"[yellow]warning:[/yellow] {shown(message)}")


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a function that shows stage and fraction done as a bar on standard error, if that is a terminal.

    Between two stages it also looks whether ctrl-C got lost, so that nothing is written after it.
    """
    screen = console(stderr=True)
    if os.environ.get(LINES):

        def say(stage: str, done: float) -> None:
            check_interrupt()
            print(in_a_line(stage, done), file=sys.stderr, flush=True)

        with listening(say) as passed_on:
            yield passed_on
        return
    if not screen.is_terminal:
        yield lambda stage, done: check_interrupt()
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bars(*columns, console=screen, transient=True) as bars:
        task = bars.add_task("starting", total=1.0)

        def tell(stage: str, done: float) -> None:
            check_interrupt()
            bars.update(task, description=stage, completed=done)

        with listening(tell) as passed_on:
            yield passed_on


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
