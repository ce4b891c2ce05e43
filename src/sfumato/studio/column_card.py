"""The card of one column: what is in it, its role and why, and what makes it coarser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nicegui import ui

from sfumato.exact import percent
from sfumato.policy.roles import ROLES
from sfumato.studio.coarser import bins, recoding
from sfumato.studio.frame import COLORS, marked
from sfumato.studio.session import Session
from sfumato.table.histogram import Histogram

if TYPE_CHECKING:
    from sfumato.explanation.risk import ColumnRisk
    from sfumato.policy import Policy
    from sfumato.policy.roles import Decision


class CardEvents(NamedTuple):
    """What is called when a column gets a role, is made coarser, or its card is dragged."""

    give: Callable[[str, Any], Any]
    change: Callable[[str, str, Any], Awaitable[str | None]]
    drag: Callable[[], None]


def column_card(
    session: Session,
    one: Decision,
    policy: Policy,
    counts: Histogram | None,
    files: Sequence[str],
    warning: str,
    events: CardEvents,
) -> tuple[Any, Callable[[ColumnRisk | None], None]]:
    """Draw a card, and return it with what tells it later who is unique because of the column, or that this is not known yet."""
    profile = session.profiles[one.column]
    card = marked(ui.card().classes("w-full q-pa-sm").props("flat bordered"), label=f"column {one.column}", role="group")
    card.props["draggable"] = "true"
    card.props["data-mark"] = f"card-{one.column}"
    # Some browsers drag nothing that carries no data.
    card.on("dragstart", events.drag, js_handler="(event) => { event.dataTransfer.setData('text/plain', 'column'); emit() }")
    with card.style("gap: 6px"):
        with ui.row().classes("items-center").style("gap: 8px"):
            ui.label(one.column if one.sure else f"{one.column} ?").classes("text-weight-bold")
            if one.role == "identifier":
                ui.badge("names a person").props("color=negative")
            if one.column in policy.schema.people_rule.key:
                ui.badge("key of a person").props("color=negative")
        if warning:
            marked(ui.label(warning).classes("bad"), mark=f"warning-{one.column}")
        missing = f", {percent(profile.missing / profile.rows, 1)} missing" if profile.missing else ""
        ui.label(f"{profile.distinct:,} different value{'s' * (profile.distinct != 1)}{missing}").classes("quiet")
        ui.label(one.why).classes("quiet")
        if counts is not None:
            _bars(one.column, counts)
        kind = policy.schema.types.get(one.column, profile.kind)
        wrong = marked(ui.label().classes("bad"), role="alert", mark=f"wrong-{one.column}")

        async def tried(how: Any) -> str | None:
            said = await events.change(one.column, one.role, how)
            if not wrong.is_deleted:
                wrong.set_text(said or "")
                wrong.set_visibility(bool(said))
            return said

        wrong.set_visibility(False)
        if one.role == "quasi":
            recoding(session, one.column, kind, profile, files, tried)
        elif one.role == "sensitive" and kind == "numeric":
            bins(session, one.column, tried)
        wrong.move(target_index=-1)
        after = ui.column().classes("w-full").style("gap: 4px")
        select = ui.select(list(ROLES), value=one.role, label=f"role of {one.column}").classes("w-full").props("dense outlined")
        marked(select, mark=f"role-{one.column}")
        select.on_value_change(lambda event: events.give(one.column, event.value))

    def tell(risk: ColumnRisk | None) -> None:
        after.clear()
        if risk is None:
            return
        with after:
            ui.label(f"Without it, {percent(risk.unique_without, 1)} would be unique.").classes("quiet")
            if risk.step is not None:
                step = risk.step
                words = f"{step.text}: {percent(step.unique, 1)} unique"
                coarser = ui.button(words, on_click=lambda: events.change(one.column, one.role, step.recode.to_dict()))
                marked(coarser.props("outline dense no-caps"), label=f"make {one.column} coarser, {words}")
                marked(coarser, mark=f"step-{one.column}")

    return card, tell


def _bars(name: str, counts: Histogram) -> None:
    shown = counts.bars()
    options = {
        "grid": {"left": 4, "right": 4, "top": 4, "bottom": 4},
        "xAxis": {"type": "category", "data": [label for label, _ in shown], "show": False},
        "yAxis": {"type": "value", "show": False},
        "tooltip": {"trigger": "axis", "confine": True},
        "animation": False,
        "series": [{"type": "bar", "data": [people for _, people in shown], "itemStyle": {"color": COLORS[0]}}],
    }
    words = ", ".join(f"{label} {people:,}" for label, people in shown[:5])
    more = f" and {len(shown) - 5} more bars" if len(shown) > 5 else ""
    if not counts.whole:
        ui.label(f"the {len(shown)} most frequent of {len(counts.people):,}:").classes("quiet")
    marked(ui.echart(options).style("height: 56px; width: 100%"), role="img", label=f"people by {name}: {words}{more}")
