"""Page 1, the table: what each column is, what is published of it, and who stays unique."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from nicegui import ui

from sfumato.exact import percent
from sfumato.studio.column_card import Counts, column_card
from sfumato.studio.frame import heading, main_button, page, quietly, say, told
from sfumato.studio.jobs import shell
from sfumato.studio.policy_text import ROLES
from sfumato.studio.session import POLICY, Session

if TYPE_CHECKING:
    from sfumato.policy.roles import Decision

MEANING = {
    "identifier": "names a person: never published",
    "quasi": "what others may know: published, coarser",
    "sensitive": "the secret: published, but not whose",
    "other": "not published",
}
ROWS = 5
PAINT = 0.3
"""Seconds in which the browser may draw the cards before the processor is asked for more."""

_STYLE = """
.lane { border: 1px solid rgba(128, 128, 128, .45); border-radius: 8px; padding: 10px 12px; display: flex; flex-direction: column;
  gap: 10px; min-height: 74px }
.lane.over { border-color: #d9822b; border-style: dashed }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 12px; align-items: start }
.people { border: 2px solid #b3261e; border-radius: 8px; padding: 10px }
"""


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/")
    async def table() -> None:
        ui.add_css(_STYLE)
        with page(session, "/", "What is in the table", lambda: _command(session)):
            ui.label(
                "Give every column its role: drag its card to another frame, or choose the role in the card. A question mark "
                "says that the role is doubtful. Only counts are shown, no row of any person."
            )
            await ui.context.client.connected(timeout=60)  # the page first, then what takes a moment
            await _Board(session).show()


def _command(session: Session) -> str:
    check = shell(["sfumato", "policy", "check", POLICY, session.data_name, "--reviewed"])
    if (session.root / POLICY).is_file():
        return check
    return f"{shell(['sfumato', 'policy', 'init', session.data_name, '--out', POLICY])}\n{check}"


class _Board:
    """The columns of a table by role, on one tab."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.dragged = ""
        self.before: Fraction | None = None
        self.unique: Fraction | None = None

    async def show(self) -> None:
        """Show the sentence about unique people, the frames with their cards, and what follows."""
        self.anchor = ui.element("div").classes("column w-full no-wrap").style("gap: 14px")
        with self.anchor:
            self.sentence = told(ui.label().classes("verdict"), mark="unique", role="status")
            self.place = ui.element("div").classes("column w-full no-wrap").style("gap: 14px")
        await self.refresh()

    async def refresh(self) -> None:
        """Draw everything as the policy stands; what each column adds follows when it is known."""
        with self.anchor:  # not in the card that was changed, which is drawn anew
            await self._refresh()

    async def _refresh(self) -> None:
        found = await quietly(lambda: (self.session.decisions(), self.session.parsed()))
        if found is None:
            self.sentence.set_text("The policy cannot be read like this.")
            return
        decisions, policy = found
        table = await quietly(self.session.table)
        notes: dict[str, Callable[[Any], None]] = {}
        counts = {} if table is None else _counts(table)
        self.place.clear()
        with self.place:
            for role in ROLES:
                with told(ui.element("section"), label=f"{role}: {MEANING[role]}", mark=f"lane-{role}").classes("lane") as lane:
                    with ui.row().classes("items-baseline").style("gap: 12px"):
                        heading(role)
                        ui.label(MEANING[role]).classes("quiet")
                    with ui.element("div").classes("cards"):
                        for one in decisions:
                            if one.role == role:
                                notes[one.column] = self._card(one, policy, counts.get(one.column))
                lane.on("dragover.prevent", js_handler="() => {}")
                lane.on("drop.prevent", lambda role=role: self.give(self.dragged, role))
            self._end()
        await self._tell(table, notes)

    def _card(self, one: Decision, policy: Any, counts: Counts | None) -> Callable[[Any], None]:
        def drag() -> None:
            self.dragged = one.column

        return column_card(self.session, one, policy, counts, give=self.give, change=self.change, drag=drag)

    async def _tell(self, table: Any, notes: dict[str, Callable[[Any], None]]) -> None:
        if table is None:
            self.sentence.set_text("The table cannot be read like this.")
            return
        share = await quietly(table.unique_share)
        if share is None:
            return
        self.before, self.unique = self.unique, share
        moved = self.before is not None and self.before != share
        before = f" Before this change: {percent(self.before, 1)}." if moved and self.before is not None else ""
        words = f"{percent(share, 1)} of people are" if share else "Nobody is"
        self.sentence.set_text(f"{words} the only one with their quasi values.{before}")
        await asyncio.sleep(PAINT)
        risk = await quietly(self.session.risk)
        if risk is not None and self.session.table() is table:
            for column in risk.columns:
                notes[column.name](column)

    def _end(self) -> None:
        if self.session.policy.reviewed:
            told(ui.label("You have said that every role is right."), role="status")
        else:
            main_button("I have looked at every column", on_click=self.looked, icon="check", mark="reviewed")
        told(ui.button(f"Show {ROWS} rows of people", on_click=self.rows).props("flat"), mark="rows")

    async def rows(self) -> None:
        """Show a few rows as they would be published, because somebody asked, and mark them as what they are."""
        table = await quietly(lambda: self.session.table().to_arrow().slice(0, ROWS))
        if table is None:
            return
        with self.place, told(ui.element("section"), label="rows of people", mark="people").classes("people") as shown:
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

    async def change(self, column: str, role: str, how: Any) -> None:
        """Make a column coarser, or as it came; what cannot be read like this is told and taken back."""
        policy = self.session.policy
        put, old = (policy.bins, policy.binning(column)) if role == "sensitive" else (policy.recode, policy.recoding(column))
        put(column, how)
        if await quietly(self.session.table) is None and old is not None:
            put(column, old)
        await self.refresh()

    async def looked(self) -> None:
        """Say that every role was looked at, and save the policy."""
        if await quietly(self.session.table) is None:
            return
        self.session.policy.review(True)
        try:
            self.session.save_policy()
        except OSError as error:
            say(error)
        await self.refresh()


def _counts(table: Any) -> dict[str, Counts]:
    """Return how many people have each value of the columns that are published, as they are published."""
    quasi = {one.name: Counts.of_column(one) for one in table.quasi}
    return quasi | {one.domain.names[0]: Counts.of_secret(one) for one in table.sensitive.apart()}
