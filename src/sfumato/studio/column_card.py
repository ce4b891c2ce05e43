"""The card of one column: what is in it, its role and why, and what makes it coarser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from nicegui import ui

from sfumato.arrays import Array
from sfumato.exact import percent
from sfumato.studio.chart_style import COLORS
from sfumato.studio.coarser import bins, recoding
from sfumato.studio.frame import told
from sfumato.studio.policy_text import ROLES
from sfumato.studio.session import Session
from sfumato.table.column import Column
from sfumato.table.sensitive import Sensitive

if TYPE_CHECKING:
    from sfumato.explain.risk import ColumnRisk
    from sfumato.policy import Policy
    from sfumato.policy.roles import Decision

BARS = 24


@dataclass(frozen=True)
class Counts:
    """How many people have each published value; `ordered` where values have an order."""

    labels: tuple[str, ...]
    people: Array
    ordered: bool

    @classmethod
    def of_column(cls, column: Column) -> Counts:
        """Return those of a quasi column."""
        return cls(column.labels(), np.bincount(column.codes, minlength=column.size), column.kind != "categorical")

    @classmethod
    def of_secret(cls, secret: Sensitive) -> Counts:
        """Return those of a sensitive column."""
        return cls(secret.labels, secret.counts, secret.domain.kinds[0] != "categorical")

    def shown(self) -> list[tuple[str, int]]:
        """Return what bars show: neighbours together where an ordered column has many values, else the most frequent ones."""
        size = len(self.people)
        if self.ordered and size > BARS:
            edges = np.linspace(0, size, BARS + 1).astype(int)
            sums = np.add.reduceat(self.people, edges[:-1])
            ends = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), sums.tolist(), strict=True)
            return [(f"{self.labels[a]} to {self.labels[b]}", int(many)) for a, b, many in ends]
        order = np.arange(size) if self.ordered else np.argsort(-self.people, kind="stable")
        return [(self.labels[k], int(self.people[k])) for k in order[:BARS].tolist()]


def column_card(
    session: Session,
    one: Decision,
    policy: Policy,
    counts: Counts | None,
    *,
    give: Callable[[str, Any], Any],
    change: Callable[[str, str, Any], Any],
    drag: Callable[[], None],
) -> Callable[[ColumnRisk], None]:
    """Draw a card, and return what tells it later who is unique because of the column."""
    profile = session.profiles[one.column]
    card = told(ui.card().classes("w-full q-pa-sm").props("flat bordered"), label=f"column {one.column}", role="group")
    card.props["draggable"] = "true"
    card.props["data-mark"] = f"card-{one.column}"
    # Some browsers drag nothing that carries no data.
    card.on("dragstart", drag, js_handler="(event) => { event.dataTransfer.setData('text/plain', 'column'); emit() }")
    with card.style("gap: 6px"):
        with ui.row().classes("items-center").style("gap: 8px"):
            ui.label(one.column if one.sure else f"{one.column} ?").classes("text-weight-bold")
            if one.role == "identifier":
                ui.badge("names a person").props("color=negative")
            if one.column in policy.schema.people_rule.key:
                ui.badge("key of a person").props("color=negative")
        missing = f", {percent(profile.missing / profile.rows, 1)} missing" if profile.missing else ""
        ui.label(f"{profile.distinct:,} different value{'s' * (profile.distinct != 1)}{missing}").classes("quiet")
        ui.label(one.why).classes("quiet")
        if counts is not None:
            _bars(one.column, counts)
        kind = policy.schema.types.get(one.column, profile.kind)
        if one.role == "quasi":
            recoding(session, one.column, kind, profile, lambda how: change(one.column, one.role, how))
        elif one.role == "sensitive" and kind == "numeric":
            bins(session, one.column, lambda how: change(one.column, one.role, how))
        after = ui.column().classes("w-full").style("gap: 4px")
        select = ui.select(list(ROLES), value=one.role, label=f"role of {one.column}").classes("w-full").props("dense outlined")
        told(select, mark=f"role-{one.column}")
        select.on_value_change(lambda event: give(one.column, event.value))

    def tell(risk: ColumnRisk) -> None:
        with after:
            ui.label(f"Without it, {percent(risk.unique_without, 1)} would be unique.").classes("quiet")
            if risk.step is not None:
                step = risk.step
                words = f"{step.text}: {percent(step.unique, 1)} unique"
                coarser = ui.button(words, on_click=lambda: change(one.column, one.role, step.recode.to_dict()))
                told(coarser.props("outline dense no-caps"), label=f"make {one.column} coarser, {words}")
                told(coarser, mark=f"step-{one.column}")

    return tell


def _bars(name: str, counts: Counts) -> None:
    shown = counts.shown()
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
    if not counts.ordered and len(counts.people) > BARS:
        ui.label(f"the {BARS} most frequent of {len(counts.people):,}:").classes("quiet")
    told(ui.echart(options).style("height: 56px; width: 100%"), role="img", label=f"people by {name}: {words}{more}")
