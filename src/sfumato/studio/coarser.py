"""What makes a column coarser: bands of numbers, shorter codes, longer times, hierarchies, and bins of secret numbers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from nicegui import ui

from sfumato.errors import PolicyError
from sfumato.policy.profile import Profile
from sfumato.studio.frame import marked
from sfumato.studio.session import Session
from sfumato.table.recode import Bands

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
    """Offer the width of bands, and the ends beyond which numbers are one: they follow the width, not it them."""

    def field(key: str, words: str, mark: str) -> None:
        shown = ui.number(words, value=_number(now.get(key))).props("dense outlined clearable")
        marked(shown.classes("col"), mark=mark)
        _settled(shown, lambda value: change(with_end_or_width(now, key, value)))

    with ui.row().classes("w-full no-wrap"):
        field("width", f"bands of {name}", f"band-{name}")
    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        field("bottom", f"bottom of {name}", f"bottom-{name}")
        field("top", f"top of {name}", f"top-{name}")


def with_end_or_width(now: dict[str, Any], key: str, value: float | None) -> dict[str, Any] | None:
    """Return a recoding with another width, top or bottom, or without it; what cannot be read is left for the policy to tell."""
    rest = {one: given for one, given in now.items() if one != key}
    if value is None:
        if key == "width":
            rest.pop("origin", None)
        return rest or None
    asked = {**rest, key: _plain(value)}
    if key != "width":
        return asked
    try:
        return Bands(**asked).with_width(asked["width"]).to_dict()
    except (PolicyError, TypeError):  # no width, or beside what goes with no bands
        return asked


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
    clip = now.get("clip", False) if isinstance(now, dict) else False
    listed = now.get("edges", []) if isinstance(now, dict) else now or []
    edges = ", ".join(str(edge) for edge in listed)
    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        text = ui.input(f"edges of {name}", value=edges, placeholder="0, 1000, 5000, inf").props("dense outlined")
        marked(text.classes("col"), mark=f"edges-{name}")
        equal = ui.number("or equal bins", value=people, precision=0).props("dense outlined").style("width: 7.5rem")
        marked(equal, mark=f"bins-{name}")
    _settled(text, lambda value: change(_clipped(_edges(value), clip) if clip else _edges(value)))
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


def _clipped(edges: list[float | int | str] | None, clip: Any) -> Any:
    """Return edges beyond which numbers count in the bins at the ends, as before (`clip`), where they still have two ends."""
    numbers = [edge for edge in edges or () if isinstance(edge, (int, float)) and abs(edge) < float("inf")]
    return {"edges": edges, "clip": clip} if edges and len(numbers) == len(edges) else edges


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
