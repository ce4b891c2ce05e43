"""The prompt of `sfumato query release/`: one question a line, with history, and tab completing columns, values and words."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli._show import console, grid, shown
from sfumato.cli._state import STATE
from sfumato.errors import SfumatoError
from sfumato.places import private_directory, user_data

if TYPE_CHECKING:
    from sfumato.query.language.vocabulary import ColumnValues, Vocabulary

WORDS = (
    "SELECT", "COUNT(*)", "SHARE(", "AVG(", "SUM(", "MEDIAN(", "QUANTILE(", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT",
    "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS NULL",
)  # fmt: skip
COMMANDS = (".columns", ".values", ".crosstab", ".quality", ".help", ".quit")
ANSWERED = (".crosstab", ".quality")
"""Commands that are answered from the release, as questions are."""

PROMPT = "sfumato> "
HISTORY = "query_history"
SHOWN = 40
"""How many values of a column `.values` shows."""

HELP = """\
A question is a condition, or SELECT COUNT(*) WHERE … GROUP BY …, on one line. Tab completes columns and values.
In place of COUNT(*) or beside it: SHARE(condition), AVG, SUM, MEDIAN(column), QUANTILE(column, 0.25); HAVING, ORDER BY, LIMIT.
  .columns          the columns of this release
  .values COLUMN    the values of one of them
  .crosstab A, B    two columns against each other, with lift
  .quality          how well this release can tell about each column
  .quit             or ctrl-D: leave"""

_COMPARED = re.compile(
    r"""([\w.]+|"[^"]+")\s*(?:=|<>|!=|<=|>=|<|>|IN\s*\((?:[^()']|'[^']*')*|LIKE|BETWEEN|AND)\s*('?)([^'(),]*)$""", re.I
)


@dataclass(frozen=True)
class Completer:
    """What can follow a line that is being typed, from what the release shows."""

    columns: Sequence[ColumnValues]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Completer:
        """Return the completer of a release's columns and values."""
        return cls((*vocabulary.quasi, *vocabulary.parts))

    def complete(self, line: str) -> list[str]:
        """Return whole lines that this one may become, the nearest word completed."""
        if line.startswith("."):
            return self._command(line)
        compared = _COMPARED.search(line)
        words = None if compared is None else self._named(compared[1].strip('"'))
        if compared is not None and words is not None:
            start = line[: compared.start(2)]
            return [start + value for value in _matching(map(literal, words.values), compared[2] + compared[3])]
        typed = re.search(r"[\w.*(]*$", line)
        assert typed is not None
        start, word = line[: typed.start()], typed[0]
        return [start + name for name in _matching([*(quoted(column.name) for column in self.columns), *WORDS], word)]

    def _command(self, line: str) -> list[str]:
        if not line.startswith(".values "):
            return [name for name in COMMANDS if name.startswith(line)]
        typed = line.removeprefix(".values ")
        return [f".values {column.name}" for column in self.columns if column.name.startswith(typed)]

    def _named(self, name: str) -> ColumnValues | None:
        return next((column for column in self.columns if column.name.lower() == name.lower()), None)

    def listing(self, command: str) -> list[tuple[str, ...]] | None:
        """Return the rows that a command asks for, headings first; None where it names no column."""
        if command == ".columns":
            rows = [
                (column.name, "text" if column.is_text else str(column.type), f"{len(column.values):,}")
                for column in self.columns
            ]
            return [("column", "type", "values"), *rows]
        words = self._named(command.removeprefix(".values").strip())
        if words is None:
            return None
        more = [(f"… and {len(words.values) - SHOWN:,} more",)] if len(words.values) > SHOWN else []
        return [(words.name,), *((str(value),) for value in words.values[:SHOWN]), *more]


def questions_of(text: str) -> list[str]:
    """Return the questions of a text: between semicolons where it has any, else one a line; comments begin with # or --."""
    lines = [line for line in text.splitlines() if not line.strip().startswith(("#", "--"))]
    parts = _split("\n".join(lines)) if _split("\n".join(lines))[1:] else lines
    return [" ".join(part.split()) for part in parts if part.strip()]


def _split(text: str) -> list[str]:
    """Return what lies between semicolons that are not in quotes."""
    parts = re.findall(r"""(?:[^;'"]|'[^']*'|"[^"]*"|['"])+|;""", text)
    if ";" not in parts:
        return [text]
    joined, questions = "", []
    for part in parts:
        if part == ";":
            questions.append(joined)
            joined = ""
        else:
            joined += part
    return [*questions, joined]


def talk(completer: Completer, answer: Callable[[str], None]) -> None:
    """Ask for questions and let them, and `ANSWERED` commands, be answered until the end of input; errors are told."""
    screen = console()
    screen.print("Count questions, answered from the release alone; .help tells more.")
    with _editing(completer):
        while True:
            try:
                line = input(PROMPT).strip().rstrip(";").strip()
            except EOFError:
                screen.print()
                return
            except KeyboardInterrupt:
                STATE.signal = 0  # ctrl-C gives up the line, not the prompt
                screen.print()
                continue
            if line in (".quit", ".exit", "exit", "quit"):
                return
            if line:
                _respond(line, completer, answer)


def _respond(line: str, completer: Completer, answer: Callable[[str], None]) -> None:
    screen = console()
    if line == ".help":
        screen.print(HELP, highlight=False)
    elif line.startswith(".") and line.split(maxsplit=1)[0] not in ANSWERED:
        rows = completer.listing(line) if line.split(maxsplit=1)[0] in COMMANDS else None
        if rows is None:
            screen.print("There is no such command or column; .help and .columns list them.")
            return
        screen.print(grid(*rows[0], rows=(map(shown, row) for row in rows[1:])))
    else:
        try:
            answer(line)
        except SfumatoError as error:
            hint = "" if error.hint is None else f"\nhint: {shown(error.hint)}"
            screen.print(f"[red]error:[/red] {shown(error.message)}{hint}")


@contextlib.contextmanager
def _editing(completer: Completer) -> Iterator[None]:
    """Give the prompt history and completion, where the system has them."""
    try:
        import readline
    except ImportError:  # on Windows
        yield
        return
    home = private_directory(user_data())
    history = None if home is None else home / HISTORY
    matches: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            line = readline.get_line_buffer()[: readline.get_endidx()]
            matches[:] = [whole[readline.get_begidx() :] for whole in completer.complete(line)]
        return matches[state] if state < len(matches) else None

    readline.set_completer_delims(" \t\n,()<>=")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    if history is not None:
        with contextlib.suppress(OSError):
            readline.read_history_file(history)
    try:
        yield
    finally:
        readline.set_completer(None)
        if history is not None:
            _write_history(readline, history)


def _write_history(readline: Any, history: Path) -> None:
    with contextlib.suppress(OSError):
        os.close(os.open(history, os.O_WRONLY | os.O_CREAT, 0o600))
        readline.set_history_length(1000)
        readline.write_history_file(history)


def _matching(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.lower().startswith(typed.lower())][:200]


def literal(value: Any) -> str:
    """Return a value as a question writes it."""
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    text = str(value).replace("'", "''")
    return f"'{text}'"


def quoted(name: str) -> str:
    """Return the name of a column as a question writes it."""
    return name if name.isidentifier() else f'"{name}"'
