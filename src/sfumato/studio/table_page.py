"""Page 1, the table: what each column is, what is published of it, and who stays unique."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from nicegui import ui

from sfumato.exact import percent
from sfumato.explanation.highlights import in_population
from sfumato.policy.roles import ROLES
from sfumato.studio.column_card import CardEvents, column_card
from sfumato.studio.frame import attempt, heading, main_button, marked, opened, page, quietly, refocus, say
from sfumato.studio.jobs import shell
from sfumato.studio.session import POLICY, Session, message
from sfumato.table.histogram import Histogram, histograms
from sfumato.table.people import nearly_unique

if TYPE_CHECKING:
    from sfumato.policy import Policy
    from sfumato.policy.roles import Decision
    from sfumato.table import Table
    from sfumato.table.schema import Role

MEANING = {
    "identifier": "names a person: never published",
    "quasi": "what others may know: published, coarser",
    "sensitive": "the secret: published, but not whose",
    "other": "not published",
}
WHAT = (
    "You say what every column is: who is named, what others may know, what is the secret, what stays here.",
    "You say how sure is too sure: against whom, and how many times surer than before somebody may become.",
    "You look at what that costs, if you like: how wrong answers get, for several methods and bounds.",
    "You publish once. The release is checked before it is written, and you get a receipt and a report.",
)
"""The way from a table to a release, a step each."""

ROWS = 5
PAINT = 0.3
"""Seconds in which the browser may draw the cards before the processor is asked for more."""

_STYLE = """
.lane { border: 1px solid var(--sf-line); border-radius: 8px; padding: 12px 16px; display: flex; flex-direction: column;
  gap: 8px; min-height: 72px }
.lane.over { border-color: var(--sf-1); border-style: dashed }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 12px; align-items: start }
.people { border: 2px solid var(--sf-bad); border-radius: 8px; padding: 10px }
"""


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/")
    async def table() -> None:
        ui.add_css(_STYLE)
        with page(session, "/", "What is in the table", lambda: _command(session)):
            with marked(ui.element("section"), label="What will happen", mark="what").classes("note"):
                ui.label("What will happen").classes("text-weight-bold")
                with ui.element("ol"):
                    for step in WHAT:
                        with ui.element("li"):
                            ui.label(step)
                ui.label("Nothing leaves this machine. There is no release before you press Publish.").classes("quiet")
            ui.label(
                "Give every column its role: drag its card to another frame, or choose the role in the card. A question mark "
                "says that the role is doubtful. Only counts are shown, no row of any person."
            )
            if await opened(session):
                await _Board(session).show()


def _command(session: Session) -> str:
    check = shell(["sfumato", "policy", "check", POLICY, session.data_name, "--reviewed"])
    if (session.root / POLICY).is_file():
        return check
    return f"{shell(['sfumato', 'policy', 'init', session.data_name, '--out', POLICY])}\n{check}"


class _TableFacts(NamedTuple):
    """What there is to tell of a table as the policy reads it: counts alone."""

    table: Table
    values: dict[str, Histogram]
    warnings: dict[str, str]
    people: tuple[str, ...]


class _Board:
    """The columns of a table by role, on one tab."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.dragged = ""
        self.asked = 0
        self.shown = self.wrong = ""
        self.unique: Fraction | None = None
        self.files: dict[str, list[str]] = {}
        self.lanes: dict[str, Any] = {}
        self.cards: dict[str, tuple[Any, Any, Callable[[Any], None]]] = {}

    async def show(self) -> None:
        """Show the sentence about unique people, the frames with their cards, and what follows."""
        texts = [one for one in self.session.profiles.values() if one.kind == "categorical"]
        self.files = await quietly(lambda: {one.name: self.session.hierarchies_for(one) for one in texts}) or {}
        self.anchor = ui.element("div").classes("column w-full no-wrap").style("gap: 14px")
        with self.anchor:
            self.sentence = marked(ui.label("Counting who is unique …").classes("verdict"), mark="unique", role="status")
            self.population = marked(ui.label().classes("quiet"), mark="population", role="status")
            self.people = marked(ui.column().style("gap: 4px"), mark="about-people")
            for role in ROLES:
                self.lanes[role] = self._lane(role)
            self.end = ui.element("div").classes("column w-full no-wrap").style("gap: 14px")
        await self.refresh()
        with self.anchor:
            ui.timer(1.0, self.follow)

    def _lane(self, role: Role) -> Any:
        with marked(ui.element("section"), label=f"{role}: {MEANING[role]}", mark=f"lane-{role}").classes("lane") as lane:
            with ui.row().classes("items-baseline").style("gap: 12px"):
                heading(role)
                ui.label(MEANING[role]).classes("quiet")
            cards = ui.element("div").classes("cards")
        lane.on("dragover.prevent", js_handler="() => {}")
        lane.on("drop.prevent", lambda: self.give(self.dragged, role))
        return cards

    async def follow(self) -> None:
        """Draw what was changed on another tab."""
        if self.shown != self.session.policy.text:
            await self.refresh()

    async def refresh(self) -> None:
        """Draw what has changed as the policy stands; what each column adds follows when it is known.

        What was overtaken by a later change is not shown.
        """
        self.asked += 1
        with self.anchor:  # not in the card that was changed, which is drawn anew
            await self._refresh(self.asked)

    async def _refresh(self, mine: int) -> None:
        self.shown = self.session.policy.text
        found, wrong = await attempt(lambda: (self.session.decisions(), self.session.parsed()))
        if mine != self.asked:
            return
        if found is None:
            self._refused(wrong)
            return
        counted, wrong = await attempt(self._counted)
        if mine != self.asked:
            return
        self._draw(*found, counted)
        if counted is None:
            self._refused(wrong)
        else:
            await self._tell(counted.table, mine)

    def _refused(self, wrong: Exception | None) -> None:
        """Say why the table cannot be read as the policy stands, until it can be."""
        self.wrong = "" if wrong is None else message(wrong)
        self.unique = None
        self.sentence.set_text(f"The table cannot be read like this: {self.wrong}")
        self.sentence.classes("bad")
        for _, _, tell in self.cards.values():
            tell(None)

    def _counted(self) -> _TableFacts:
        table = self.session.table()
        return _TableFacts(
            table, histograms(table), {one.column: one.sentence for one in nearly_unique(table)}, table.about_people()
        )

    def _draw(self, decisions: list[Decision], policy: Policy, counted: _TableFacts | None) -> None:
        """Draw the cards that are not what they were, and bring all of them to their places."""
        self.people.clear()
        with self.people:
            for sentence in () if counted is None else counted.people:
                ui.label(sentence)
        for role in ROLES:
            for place, one in enumerate(one for one in decisions if one.role == role):
                counts = None if counted is None else counted.values.get(one.column)
                warning = "" if counted is None else counted.warnings.get(one.column, "")
                drawn = (*self._drawn_from(one, policy), warning, None if counts is None else counts.bars())
                old = self.cards.get(one.column)
                if old is None or old[1] != drawn:
                    if old is not None:
                        old[0].delete()
                    with self.lanes[role]:
                        self.cards[one.column] = self._card(one, policy, counts, warning, drawn)
                card = self.cards[one.column][0]
                if card.parent_slot.children.index(card) != place:
                    card.move(target_index=place)
        self.end.clear()
        with self.end:
            self._end()
        refocus()

    def _drawn_from(self, one: Decision, policy: Policy) -> tuple[Any, ...]:
        """Return what the policy has of a card, to be compared with what it had before."""
        text, name = self.session.policy, one.column
        key = name in policy.schema.people_rule.key
        return (one, policy.schema.types.get(name), text.recoding(name), text.binning(name), key)

    def _card(
        self, one: Decision, policy: Policy, counts: Histogram | None, warning: str, drawn: Any
    ) -> tuple[Any, Any, Callable[[Any], None]]:
        def drag() -> None:
            self.dragged = one.column

        files = self.files.get(one.column, [])
        events = CardEvents(self.give, self.change, drag)
        card, tell = column_card(self.session, one, policy, counts, files, warning, events)
        return card, drawn, tell

    async def _tell(self, table: Table, mine: int) -> None:
        self.wrong = ""
        self.sentence.classes(remove="bad")
        share = await quietly(table.unique_share)
        if share is None or mine != self.asked:
            return
        before = f" Before this change: {percent(self.unique, 1)}." if self.unique not in (None, share) else ""
        self.unique = share
        words = f"{percent(share, 1)} of people are" if share else "Nobody is"
        self.sentence.set_text(f"{words} the only one with their quasi values.{before}")
        await asyncio.sleep(PAINT)
        if mine != self.asked:
            return
        risk = await quietly(self.session.risk)
        if risk is None or mine != self.asked:
            return
        self.population.set_text(" ".join(in_population(risk)))
        known = {column.name: column for column in risk.columns}
        for name, (_, _, tell) in self.cards.items():
            tell(known.get(name))

    def _end(self) -> None:
        if self.session.policy.reviewed:
            marked(ui.label("You have said that every role is right."), role="status")
        else:
            main_button("I have looked at every column", on_click=self.looked, icon="check", mark="reviewed")
        marked(ui.button(f"Show {ROWS} rows of people", on_click=self.rows).props("flat"), mark="rows")

    async def rows(self) -> None:
        """Show a few rows as they would be published, because somebody asked, and mark them as what they are."""
        table = await quietly(lambda: self.session.table().to_arrow().slice(0, ROWS))
        if table is None:
            return
        with self.end, marked(ui.element("section"), label="rows of people", mark="people").classes("people") as shown:
            ui.label("Real people, without identifiers: for your eyes only.").classes("verdict bad")
            columns = [{"name": name, "label": name, "field": name, "align": "left"} for name in table.column_names]
            rows = [{name: str(value) for name, value in row.items()} for row in table.to_pylist()]
            ui.table(columns=columns, rows=rows).classes("w-full").props("dense flat")
            ui.button("Hide them", on_click=shown.delete).props("flat")

    async def give(self, column: str, role: Any) -> None:
        """Give a column another role."""
        if column and self.session.policy.roles().get(column) != role:
            self.session.policy.give(column, role)
            await self.refresh()

    async def change(self, column: str, role: str, how: Any) -> str | None:
        """Make a column coarser, or as it came; return why the table cannot be read like this, if so: it is taken back then."""
        policy = self.session.policy
        put, old = (policy.bins, policy.binning(column)) if role == "sensitive" else (policy.recode, policy.recoding(column))
        put(column, how)
        with self.anchor:
            _, wrong = await attempt(self.session.table)
        if wrong is not None and message(wrong) != self.wrong:
            put(column, old)
            return message(wrong)
        await self.refresh()
        return None

    async def looked(self) -> None:
        """Say that every role was looked at, and save the policy."""
        _, wrong = await attempt(self.session.table)
        if wrong is not None:
            say(wrong)
            return
        self.session.policy.review(True)
        try:
            self.session.save_policy()
        except OSError as error:
            say(error)
        await self.refresh()
