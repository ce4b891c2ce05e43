"""What makes a column coarser: bands of numbers, shorter codes, longer times, hierarchies, and bins of secret numbers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nicegui import ui

from sfumato.policy.profile import Profile
from sfumato.studio.frame import marked
from sfumato.studio.session import Session

UNITS = ("week", "month", "quarter", "year")

Change = Callable[[Any], Awaitable[str | None]]
"""Makes a change, or returns why it cannot be made."""


def recoding(session: Session, name: str, kind: str, profile: Profile, files: Sequence[str], change: Change) -> None:
    """Offer what a quasi column of this kind can become; `files` may be hierarchies of it."""
    now = session.policy.recoding(name) or {}
    if kind == "numeric":
        _bands(name, now, change)
    elif kind == "date":
        unit = ui.select([*UNITS], value=now.get("to"), label=f"{name} by", clearable=True).props("dense outlined")
        marked(unit.classes("w-full"), mark=f"unit-{name}")
        _chosen(unit, lambda value: change({"to": value} if value else None))
    else:
        if "prefix" in now or profile.distinct > 20:
            keep = ui.number(f"first characters of {name}", value=now.get("prefix"), precision=0)
            marked(keep.props("dense outlined clearable").classes("w-full"), mark=f"prefix-{name}")
            _settled(keep, lambda value: change(None if value is None else {"prefix": int(value)}))
        _hierarchy(name, files, now, change)
    if "map" in now:
        many = len(now["map"])
        with ui.row().classes("items-center"):
            ui.label(f"{many} values keep a name, others together.").classes("quiet")
            ui.button("As it came", on_click=lambda: change(None)).props("flat dense no-caps size=sm")


def _bands(name: str, now: dict[str, Any], change: Change) -> None:
    def put(key: str, value: Any) -> Awaitable[str | None]:
        own = {} if value is None else {key: _plain(value)}
        rest = {**{one: given for one, given in now.items() if one != key}, **own}
        if "width" not in rest:
            rest.pop("origin", None)
        return change(rest or None)

    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        width = ui.number(f"bands of {name}", value=_number(now.get("width"))).props("dense outlined clearable")
        marked(width.classes("col"), mark=f"band-{name}")
        _settled(width, lambda value: put("width", value))
        top = ui.number(f"top of {name}", value=_number(now.get("top"))).props("dense outlined clearable")
        marked(top.classes("col"), mark=f"top-{name}")
        _settled(top, lambda value: put("top", value))


def _hierarchy(name: str, files: Sequence[str], now: dict[str, Any], change: Change) -> None:
    """Offer the hierarchies that lie beside the table, in the files of ARX: value;level 1;level 2."""
    if now.get("hierarchy") and now["hierarchy"] not in files:
        files = [*files, str(now["hierarchy"])]
    if not files:
        return
    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        file = ui.select([*files], value=now.get("hierarchy"), label=f"hierarchy of {name}", clearable=True)
        marked(file.props("dense outlined").classes("col"), mark=f"hierarchy-{name}")
        level = ui.number("level", value=now.get("level", 1), precision=0).props("dense outlined").style("width: 5rem")
        marked(level, mark=f"level-{name}")

    async def put(_: Any) -> str | None:
        if not file.value and "hierarchy" not in now:
            return None  # a level of nothing
        number = 1 if level.value is None else int(level.value)
        return await change({"hierarchy": file.value, "level": number} if file.value else None)

    _chosen(file, put)
    _settled(level, put)


def bins(session: Session, name: str, change: Change) -> None:
    """Offer bins of a secret number: edges, or so many bins of about equally many people."""
    now = session.policy.binning(name)
    people = now.get("people") if isinstance(now, dict) else None
    edges = ", ".join(str(edge) for edge in now) if isinstance(now, list) else ""
    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        text = ui.input(f"edges of {name}", value=edges, placeholder="0, 1000, 5000, inf").props("dense outlined")
        marked(text.classes("col"), mark=f"edges-{name}")
        equal = ui.number("or equal bins", value=people, precision=0).props("dense outlined").style("width: 7.5rem")
        marked(equal, mark=f"bins-{name}")
    _settled(text, lambda value: change(_edges(value)))
    _settled(equal, lambda value: change(None if value is None else {"people": int(value)}))


def _edges(text: str) -> list[float | int | str] | None:
    """Return the edges of a text; what is no number stays as it is, and the policy says what is wrong with it."""
    parts = [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
    found: list[float | int | str] = []
    for part in parts:
        try:
            found.append(_plain(float(part)))
        except ValueError:
            found.append(part)
    return found or None


def _chosen(field: Any, then: Change) -> None:
    """Call with what was chosen, and mark what is wrong."""

    async def done() -> None:
        _mark(field, await then(field.value))

    field.on_value_change(done)


def _mark(field: Any, wrong: str | None) -> None:
    if not field.is_deleted:  # after a change its card is drawn anew
        field.props("error no-error-icon hide-bottom-space" if wrong else "", remove="" if wrong else "error")


def _settled(field: Any, then: Change) -> None:
    """Call with a field's value when somebody is done with it, and mark what is wrong."""
    old = {"value": field.value}

    async def done() -> None:
        if field.value != old["value"]:
            old["value"] = field.value
            _mark(field, await then(field.value))

    for event in ("change", "blur", "keydown.enter", "clear"):  # change: before Tab has passed the sign that clears the field
        field.on(event, done)


def _number(value: Any) -> float | None:
    """Return a number of the policy as a field shows it; one that is written as text, such as "1/3", stays in the file."""
    return float(value) if isinstance(value, int | float) else None


def _plain(number: float) -> int | float:
    return int(number) if number == number // 1 and abs(number) != float("inf") else number
