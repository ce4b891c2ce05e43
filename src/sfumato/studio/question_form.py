"""A question to a release: put together by choosing, or written in SQL with completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from nicegui import ui

from sfumato.cli._prompt import Completer, literal, quoted
from sfumato.studio.frame import main_button, marked

if TYPE_CHECKING:
    from sfumato.query.language.vocabulary import ColumnValues
    from sfumato.release import Release

MANY = 20
"""A column of more numbers is asked about from one to another."""

OFFERED = 8
MOST = 2_000

AskHandler = Callable[[str], Awaitable[None]]


class QuestionForm:
    """The form of one tab; what is chosen becomes the text of the question, which can be changed by hand."""

    def __init__(self, release: Release) -> None:
        from sfumato.query.count import words_of

        vocabulary = words_of(release)
        self.completer = Completer.of(vocabulary)
        self.words: dict[str, ColumnValues] = {one.name: one for one in (*vocabulary.parts, *vocabulary.quasi)}
        self.quasi = [one.name for one in vocabulary.quasi]
        self.conditions: list[str] = []

    def draw(self, answer: AskHandler) -> None:
        """Draw the form, and the line of SQL with its button."""
        first = next(iter(self.words))
        with ui.row().classes("w-full items-end"):
            self.column = ui.select(list(self.words), value=first, label="column").style("min-width: 10rem")
            marked(self.column, mark="column")
            self.place = ui.row().classes("items-end")
            marked(ui.button("Add condition", on_click=self.add).props("outline"), mark="compose")
        with ui.row().classes("w-full items-end"):
            figures = {"COUNT(*)": "how many people"}
            for name, words in self.words.items():
                if _is_number(words):
                    figures |= {f"AVG({quoted(name)})": f"average {name}", f"MEDIAN({quoted(name)})": f"median {name}"}
            self.figure = marked(ui.select(figures, value="COUNT(*)", label="figure").style("min-width: 10rem"), mark="figure")
            self.split = ui.select(["", *self.words], value="", label="for each").style("min-width: 10rem")
            marked(self.split, mark="split")
            ui.button("Start again", on_click=self.clear).props("flat")
        self.sql = marked(ui.input("question, in SQL").classes("w-full").props("outlined clearable"), mark="sql")
        self.offers = marked(ui.row().classes("items-center").style("gap: 4px"), label="completions", role="group")
        main_button("Ask", on_click=lambda: answer(self.sql.value or ""), icon="help_outline", mark="ask")
        self.sql.on("keydown.enter", lambda: answer(self.sql.value or ""))
        self.sql.on_value_change(self.complete)
        self.column.on_value_change(self.values)
        self.figure.on_value_change(self.compose)
        self.split.on_value_change(self.compose)
        self.values()
        self.complete()

    def values(self) -> None:
        """Offer the values of the column that was chosen: a choice, or two ends."""
        words = self.words[self.column.value]
        self.chosen: Any = None
        self.place.clear()
        with self.place:
            if _is_number(words) and len(words.values) > MANY:
                self.low = marked(ui.number("from", value=None).style("width: 7rem"), mark="low")
                self.high = marked(ui.number("to", value=None).style("width: 7rem"), mark="high")
            else:
                offered = {str(place): str(value) for place, value in enumerate(words.values[:MOST])}
                self.chosen = ui.select(offered, label="is one of", multiple=True, with_input=True).style("min-width: 14rem")
                marked(self.chosen, mark="value")

    def add(self) -> None:
        """Add the condition that was chosen; together with those before, people meet all of them."""
        name, words = quoted(self.column.value), self.words[self.column.value]
        if self.chosen is not None:
            texts = [literal(words.values[int(place)]) for place in self.chosen.value or ()]
            condition = f"{name} = {texts[0]}" if len(texts) == 1 else f"{name} IN ({', '.join(texts)})"
            if texts:
                self.conditions.append(condition)
        else:
            ends = [(">=", self.low.value), ("<=", self.high.value)]
            self.conditions += [f"{name} {sign} {end:g}" for sign, end in ends if end is not None]
        self.compose()

    def clear(self) -> None:
        """Forget what was chosen."""
        self.conditions.clear()
        self.compose()

    def compose(self) -> None:
        """Write the question that was chosen."""
        where = f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
        if self.split.value:
            group = quoted(self.split.value)
            self.sql.value = f"SELECT {group}, {self.figure.value}{where} GROUP BY {group}"
        else:
            self.sql.value = f"SELECT {self.figure.value}{where}"

    def complete(self) -> None:
        """Offer how the line may go on: as a grey end that Tab takes, and as buttons."""
        line = self.sql.value or ""
        lines = [] if _closed(line) else [one for one in self.completer.complete(line)[:MANY] if one != line]
        # Tab takes the rest of a word that was begun; at the end of one it leads out of the line, as everywhere.
        self.sql.set_autocomplete(lines if line and not line.endswith(" ") else [])
        self.offers.clear()
        with self.offers:
            for one in lines[:OFFERED]:
                word = _last(one, line)
                take = ui.button(word, on_click=lambda one=one: self.sql.set_value(one)).props("flat dense no-caps size=sm")
                marked(take, label=f"complete with {word}")


def _closed(line: str) -> bool:
    """Return whether a line ends with a value that is complete: a text whose quotes are closed, a number, or a bracket."""
    return line.endswith(")") or (line.endswith("'") and line.count("'") % 2 == 0) or line[-1:].isdigit()


def _last(whole: str, line: str) -> str:
    """Return the word with which a line would go on."""
    same = 0
    while same < min(len(whole), len(line)) and whole[same].casefold() == line[same].casefold():
        same += 1
    start = max((whole.rfind(mark, 0, same) for mark in " (,="), default=-1)
    return whole[start + 1 :].strip() or whole


def _is_number(words: ColumnValues) -> bool:
    return bool(words.values) and isinstance(words.values[0], int | float) and not isinstance(words.values[0], bool)
