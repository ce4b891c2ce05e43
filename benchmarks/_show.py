"""What a benchmark found: on screen as it comes, and as Markdown and CSV when it is done."""

from __future__ import annotations

import csv
import platform
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sfumato.studies import cells

_WIDE = 220  # columns of a file: a table that is cut to fit a screen cannot be read there


Cell = cells.Cell
text = cells.text


class Show:
    """Collects the tables and notes of one benchmark; `close` writes `<name>.md` and `<name>.csv`."""

    def __init__(self, name: str, question: str, directory: Path, *, quick: bool = False, console: Console | None = None) -> None:
        self.name = name
        self.directory = directory
        self.console = console or Console(width=None if sys.stdout.isatty() else _WIDE)
        self._lines = [f"# {name}", "", question, "", f"{_machine()}{'; quick run' if quick else ''}.", ""]
        self._rows: list[tuple[str, int, str, str]] = []
        self.console.rule(f"[bold]{name}")
        self.console.print(question)

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Show a table; numbers keep about three digits on screen and all of them in the CSV, None is a dash."""
        shown = Table(title=title, title_justify="left")
        for place, column in enumerate(columns):
            shown.add_column(column, justify="left" if place == 0 else "right")
        self._lines += [f"## {title}", "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        for number, row in enumerate(rows):
            if len(row) != len(columns):
                raise ValueError(f"{title}: row {number} has {len(row)} cells, expected {len(columns)}")
            cells = [text(cell) for cell in row]
            shown.add_row(*cells)
            self._lines.append("| " + " | ".join(cells) + " |")
            self._rows += [
                (title, number, column, "" if cell is None else str(cell)) for column, cell in zip(columns, row, strict=True)
            ]
        self._lines.append("")
        self.console.print(shown)

    def note(self, sentence: str) -> None:
        """Show a sentence under the table before it."""
        self._lines += [sentence, ""]
        self.console.print(sentence)

    def target(self, what: str, value: float, limit: float, *, at_least: bool = False) -> None:
        """Show a figure beside what it should be, and whether it is."""
        met = value >= limit if at_least else value <= limit
        sign = "≥" if at_least else "≤"
        self.note(f"- {what}: {text(value)} (target {sign} {text(limit)}): {'met' if met else '**not met**'}")

    def close(self, seconds: float) -> None:
        """Write the results."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._lines.append(f"Took {seconds:.0f} s.")
        (self.directory / f"{self.name}.md").write_text("\n".join(self._lines) + "\n", encoding="utf-8")
        with (self.directory / f"{self.name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("table", "row", "column", "value"))
            writer.writerows(self._rows)
        self.console.print(f"[dim]{self.name}: {seconds:.0f} s; written to results/{self.name}.md and .csv")


def _machine() -> str:
    return f"{date.today().isoformat()}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
