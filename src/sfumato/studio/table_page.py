"""Page 1, the table: what each column is, what is published of it, and who stays unique."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from sfumato.exact import percent
from sfumato.explain.risk import risk_of
from sfumato.policy.roles import Decision
from sfumato.studio.frame import page, quietly, say
from sfumato.studio.policy_text import ROLES
from sfumato.studio.session import Session
from sfumato.table.column import Column

MEANING = {
    "identifier": "names a person: never published",
    "quasi": "what others may know: published, coarser",
    "sensitive": "the secret: published, but not whose",
    "other": "not published",
}
BARS = 24
STEPS_OF_TIME = ("month", "quarter", "year")


def add(session: Session) -> None:
    """Add the page to the server."""

    @ui.page("/")
    async def table() -> None:
        with page(session, "/", "What is in the table", lambda: _command(session)):
            ui.label(
                "Give every column its role: drag its card, or choose in it. Cards with a question mark are doubtful. Only "
                "counts are shown here, no row of any person."
            )
            await ui.context.client.connected(timeout=60)  # the page first, then what takes a moment
            await _board(session)


def _command(session: Session) -> str:
    assert session.data is not None
    name = session.data.relative_to(session.root)
    return f"sfumato policy init {name} --out policy.toml\nsfumato policy check policy.toml {name}"


async def _board(session: Session) -> None:
    dragged: dict[str, str] = {}

    @ui.refreshable
    async def board() -> None:
        found = await quietly(lambda: (session.decisions(), _columns(session), _unique(session)))
        if found is None:
            decisions, columns, unique = session.decisions(), {}, "The table cannot be read like this."
        else:
            decisions, columns, unique = found
        ui.label(unique).classes("verdict").props('role="status"').props('data-mark="unique"')
        with ui.row().classes("w-full items-stretch"):
            for role in ROLES:
                with ui.card().classes("col").style("min-width: 240px") as lane:
                    ui.html(f"<h2 style='font-size:1.1rem;line-height:1.4rem;margin:0'>{role}</h2>", sanitize=False)
                    ui.label(MEANING[role]).classes("quiet")
                    for one in decisions:
                        if one.role == role:
                            _card(session, one, columns.get(one.column), give, change, dragged)
                lane.on("dragover.prevent", lambda: None)
                lane.on("drop", lambda role=role: give(dragged.get("column", ""), role))
        if session.policy.reviewed:
            ui.label("You have said that every role is right.").props('role="status"')
        else:
            ui.button("I have looked at every column", on_click=looked, icon="check").props('data-mark="reviewed"')

    def give(column: str, role: Any) -> None:
        if column and session.policy.roles().get(column) != role:
            session.policy.give(column, role)
            board.refresh()

    def change(column: str, how: dict[str, Any] | None) -> None:
        session.policy.recode(column, how)
        board.refresh()

    def looked() -> None:
        try:
            session.parsed()
            session.table()
        except Exception as error:
            say(error)
            return
        session.policy.review(True)
        session.save_policy()
        board.refresh()

    await board()


def _columns(session: Session) -> dict[str, Column]:
    """Return the published columns as recoded."""
    return {column.name: column for column in session.table().quasi}


def _unique(session: Session) -> str:
    """Return who is found by the quasi values as they would be published, and which column does most of it."""
    table = session.table()
    share = table.unique_share()
    if not share:
        return "Nobody is the only one with their quasi values."
    most = min(risk_of(table).columns, key=lambda one: one.unique_without)
    without = f"; without {most.name} it would be {percent(most.unique_without, 1)}" if len(table.quasi) > 1 else ""
    return f"{percent(share, 1)} of people are the only one with their quasi values{without}."


def _card(session: Session, one: Decision, column: Column | None, give: Any, change: Any, dragged: dict[str, str]) -> None:
    profile = session.profiles[one.column]
    with ui.card().classes("w-full q-pa-sm").props('draggable="true" flat bordered') as card:
        card.on("dragstart", lambda: dragged.update(column=one.column))
        mark = "" if one.sure else "? "
        ui.label(f"{mark}{one.column}").classes("text-weight-bold")
        missing = f", {profile.missing:,} missing" if profile.missing else ""
        ui.label(f"{profile.distinct:,} different values{missing}").classes("quiet")
        ui.label(one.why).classes("quiet")
        if one.role == "identifier":
            ui.badge("names a person").props("color=negative")
        if column is not None:
            _bars(column)
            _coarser(session, one.column, column, change)
        select = ui.select(list(ROLES), value=one.role, label=f"role of {one.column}").classes("w-full").props("dense outlined")
        select.on_value_change(lambda event: give(one.column, event.value))
        select.props(f'data-mark="role-{one.column}"')


def _bars(column: Column) -> None:
    """Draw how many people have each published value; the rarest ones together where there are many."""
    counts = np.bincount(column.codes, minlength=column.size)
    labels = column.labels()
    if column.kind == "categorical":
        order = np.argsort(-counts, kind="stable")
    else:
        order = np.arange(len(counts))
    shown = [(labels[k], int(counts[k])) for k in order[:BARS]]
    rest = int(counts[order[BARS:]].sum())
    if rest:
        shown.append((f"{len(order) - BARS} more", rest))
    options = {
        "grid": {"left": 4, "right": 4, "top": 4, "bottom": 4},
        "xAxis": {"type": "category", "data": [name for name, _ in shown], "show": False},
        "yAxis": {"type": "value", "show": False},
        "tooltip": {"trigger": "axis"},
        "animation": False,
        "series": [{"type": "bar", "data": [count for _, count in shown]}],
    }
    words = ", ".join(f"{name} {count:,}" for name, count in shown[:5])
    ui.echart(options).style("height: 70px").props(f'role="img" aria-label="{_attribute(words)}"')


def _coarser(session: Session, name: str, column: Column, change: Any) -> None:
    """Offer what makes a column coarser: bands of numbers, shorter codes, longer times."""
    now = session.policy.recoding(name) or {}
    if column.kind == "numeric":
        width = ui.number(f"band of {name}", value=now.get("width"), min=0).props("dense outlined clearable").classes("w-full")
        width.on("change", lambda: change(name, {**now, "width": _plain(width.value)} if width.value else None))
        width.props(f'data-mark="band-{name}"')
    elif column.kind == "date":
        unit = (
            ui.select([*STEPS_OF_TIME], value=now.get("to"), label=f"{name} to", clearable=True)
            .props("dense outlined")
            .classes("w-full")
        )
        unit.on_value_change(lambda event: change(name, {"to": event.value} if event.value else None))
    elif "prefix" in now or _is_code(column):
        keep = (
            ui.number(f"characters of {name}", value=now.get("prefix"), min=1, precision=0)
            .props("dense outlined clearable")
            .classes("w-full")
        )
        keep.on("change", lambda: change(name, {"prefix": int(keep.value)} if keep.value else None))


def _is_code(column: Column) -> bool:
    """Whether the values are codes of one length, which a shorter beginning makes coarser."""
    texts = column.labels()
    return len(texts) > BARS and len({len(text) for text in texts}) == 1


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#39;")
