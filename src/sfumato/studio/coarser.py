"""What makes a column coarser: bands of numbers, shorter codes, longer times, hierarchies, and bins of secret numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from sfumato.policy.profile import Profile
from sfumato.studio.frame import told
from sfumato.studio.session import Session

UNITS = ("week", "month", "quarter", "year")

Change = Callable[[Any], Any]


def recoding(session: Session, name: str, kind: str, profile: Profile, files: Sequence[str], change: Change) -> None:
    """Offer what a quasi column of this kind can become; `files` may be hierarchies of it."""
    now = session.policy.recoding(name) or {}
    if kind == "numeric":
        _bands(name, now, change)
    elif kind == "date":
        unit = ui.select([*UNITS], value=now.get("to"), label=f"{name} by", clearable=True).props("dense outlined")
        told(unit.classes("w-full"), mark=f"unit-{name}")
        unit.on_value_change(lambda event: change({"to": event.value} if event.value else None))
    else:
        if "prefix" in now or profile.distinct > 20:
            keep = ui.number(f"first characters of {name}", value=now.get("prefix"), min=1, precision=0)
            told(keep.props("dense outlined clearable").classes("w-full"), mark=f"prefix-{name}")
            _settled(keep, lambda value: change({"prefix": int(value)} if value else None))
        _hierarchy(name, files, now, change)
    if "map" in now:
        many = len(now["map"])
        with ui.row().classes("items-center"):
            ui.label(f"{many} values keep a name, others together.").classes("quiet")
            ui.button("As it came", on_click=lambda: change(None)).props("flat dense no-caps size=sm")


def _bands(name: str, now: dict[str, Any], change: Change) -> None:
    def put(key: str, value: Any) -> Any:
        rest = {**{one: given for one, given in now.items() if one != key}, **({key: _plain(value)} if value else {})}
        if "width" not in rest:
            rest.pop("origin", None)
        return change(rest or None)

    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        width = ui.number(f"bands of {name}", value=_number(now.get("width")), min=0).props("dense outlined clearable")
        told(width.classes("col"), mark=f"band-{name}")
        _settled(width, lambda value: put("width", value))
        top = ui.number(f"top of {name}", value=_number(now.get("top"))).props("dense outlined clearable")
        told(top.classes("col"), mark=f"top-{name}")
        _settled(top, lambda value: put("top", value))


def _hierarchy(name: str, files: Sequence[str], now: dict[str, Any], change: Change) -> None:
    """Offer the hierarchies that lie beside the table, in the files of ARX: value;level 1;level 2."""
    if now.get("hierarchy") and now["hierarchy"] not in files:
        files = [*files, str(now["hierarchy"])]
    if not files:
        return
    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        file = ui.select([*files], value=now.get("hierarchy"), label=f"hierarchy of {name}", clearable=True)
        told(file.props("dense outlined").classes("col"), mark=f"hierarchy-{name}")
        level = ui.number("level", value=now.get("level", 1), min=1, precision=0).props("dense outlined").style("width: 5rem")
        told(level, mark=f"level-{name}")

    def put() -> Any:
        return change({"hierarchy": file.value, "level": int(level.value or 1)} if file.value else None)

    file.on_value_change(put)
    _settled(level, lambda _: put() if file.value else None)


def bins(session: Session, name: str, change: Change) -> None:
    """Offer bins of a secret number: edges, or so many bins of about equally many people."""
    now = session.policy.binning(name)
    people = now.get("people") if isinstance(now, dict) else None
    edges = ", ".join(str(edge) for edge in now) if isinstance(now, list) else ""
    with ui.row().classes("w-full no-wrap").style("gap: 8px"):
        text = ui.input(f"edges of {name}", value=edges, placeholder="0, 1000, 5000, inf").props("dense outlined")
        told(text.classes("col"), mark=f"edges-{name}")
        equal = ui.number("or equal bins", value=people, min=2, precision=0).props("dense outlined").style("width: 7.5rem")
        told(equal, mark=f"bins-{name}")
    _settled(text, lambda value: change(_edges(value)))
    _settled(equal, lambda value: change({"people": int(value)} if value else None))


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


def _settled(field: Any, then: Callable[[Any], Any]) -> None:
    """Call with a field's value when somebody is done with it: by leaving it, by Enter, or by clearing it."""
    old = {"value": field.value}

    def done() -> Any:
        if field.value == old["value"]:
            return None
        old["value"] = field.value
        return then(field.value)

    field.on("blur", done)
    field.on("keydown.enter", done)
    field.on("clear", done)


def _number(value: Any) -> float | None:
    """Return a number of the policy as a field shows it; one that is written as text, such as "1/3", stays in the file."""
    return float(value) if isinstance(value, int | float) else None


def _plain(number: float) -> int | float:
    return int(number) if number == number // 1 and abs(number) != float("inf") else number
