"""How answers look: points with bars, a table beside them, and a cross table as a heat map of lift."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nicegui import ui

from sfumato.charts.look import BAR, LIFTS, POINT
from sfumato.query.answer import Estimate, SeveralAnswers, interval_text
from sfumato.studio.frame import COLORS, LINES, TEXT, heading, marked

if TYPE_CHECKING:
    from sfumato.query.answer import GroupedAnswer
    from sfumato.query.crosstab import Crosstab

SHOWN = 60
CELLS = (40, 16)


def show_answer(answer: Any) -> None:
    """Show one figure, a row for each group, or several of these one after the other."""
    if isinstance(answer, SeveralAnswers):
        for name, one in answer:
            heading(name)
            show_answer(one)
    elif isinstance(answer, Estimate):
        _one(answer)
    else:
        _each_group(answer)


def _one(answer: Estimate) -> None:
    marked(ui.label(answer.written(answer.value, ",")).classes("verdict"), mark="answer", role="status")
    sure = f" with {100 * answer.confidence:g} % confidence; standard error {answer.error_text}" if answer.error_text else ""
    ui.label(f"{interval_text(answer)}{sure}")
    if answer.note:
        ui.label(answer.note).classes("quiet")
    _points([""], [answer])


def _each_group(answer: GroupedAnswer) -> None:
    cells = list(answer)[:SHOWN]
    names = [", ".join(str(value) for value in key.values()) for key, _ in cells]
    measure = answer.total.measure
    _points(names, [one for _, one in cells])
    headings = (*answer.columns, measure, "std. error", "interval")
    aligned = ["left"] * len(answer.columns) + ["right"] * (len(headings) - len(answer.columns))
    columns = [
        {"name": str(k), "label": name, "field": str(k), "align": side}
        for k, (name, side) in enumerate(zip(headings, aligned, strict=True))
    ]
    rows = []
    for place, (key, one) in enumerate(cells):
        figures = (one.written(one.value, ","), one.error_text, interval_text(one))
        rows.append({"id": place, **{str(k): text for k, text in enumerate((*map(str, key.values()), *figures))}})
    marked(ui.table(columns=columns, rows=rows, row_key="id").classes("w-full").props("dense flat"), mark="answer")
    if len(answer) > SHOWN:
        ui.label(f"… and {len(answer) - SHOWN:,} more; the command line shows all of them.").classes("quiet")
    if answer.total.note:
        ui.label(answer.total.note).classes("quiet")


def _points(names: list[str], cells: list[Estimate]) -> None:
    """Draw a point for each figure, and a bar from the low to the high end of its interval."""
    if not cells:
        ui.label("Nobody meets this.")
        return
    bars = [
        {
            "type": "line",
            "data": [[one.low, place], [one.high, place]],
            "symbol": "none",
            "lineStyle": {"color": COLORS[0], "width": BAR, "opacity": 0.6},
            "silent": True,
        }
        for place, one in enumerate(cells)
        if one.low is not None
    ]
    points = {
        "type": "scatter",
        "data": [[one.value, place] for place, one in enumerate(cells)],
        "symbolSize": POINT,
        "itemStyle": {"color": COLORS[0]},
        "z": 5,
    }
    options = {
        "animation": False,
        "grid": {"left": 8, "right": 24, "top": 10, "bottom": 8, "containLabel": True},
        "tooltip": {"confine": True},
        "xAxis": {
            "type": "value",
            "min": 0 if min(one.value for one in cells) >= 0 else None,
            "axisLabel": TEXT,
            "splitLine": LINES,
        },
        "yAxis": {
            "type": "category",
            "data": names,
            "inverse": True,
            "axisLabel": {**TEXT, "width": 180, "overflow": "truncate"},
        },
        "series": [*bars, points],
    }
    said = "; ".join(f"{name or 'answer'} {one}" for name, one in zip(names[:8], cells, strict=False))
    chart = ui.echart(options).style(f"height: {70 + 26 * len(cells)}px; width: 100%")
    marked(chart, role="img", label=f"figures with their intervals: {said}", mark="points")


def show_crosstab(table: Crosstab) -> None:
    """Show how many times as many people there are as if columns were unrelated: what is significant in full colour."""
    marked(ui.label(str(table.test)).classes("verdict"), mark="association", role="status")
    rows, columns = table.rows[: CELLS[0]], table.columns[: CELLS[1]]
    data = []
    for i in range(len(rows)):
        for j in range(len(columns)):
            lift = table.lift[i][j]
            if lift is None:
                continue
            clear = lift.low is not None and lift.high is not None and not lift.low <= 1.0 <= lift.high
            shade = (1.0 if clear else 0.25) * (max(-1.5, min(1.5, math.log2(lift.value))) if lift.value > 0 else -1.5)
            data.append(
                {
                    "value": [j, i, round(shade, 3)],
                    "label": {"formatter": f"{lift.value:.2f}{'*' if clear else ''}"},
                    "name": f"{rows[i]}, {columns[j]}: {table.counts[i][j].value:,.0f} people, lift {lift}",
                }
            )
    options = {
        "animation": False,
        "tooltip": {"formatter": "{b}", "confine": True},
        "grid": {"left": 8, "right": 8, "top": 34, "bottom": 8, "containLabel": True},
        "xAxis": {
            "type": "category",
            "data": list(columns),
            "position": "top",
            "axisLabel": {**TEXT, "interval": 0, "width": 90, "overflow": "truncate"},
        },
        "yAxis": {
            "type": "category",
            "data": list(rows),
            "inverse": True,
            "axisLabel": {**TEXT, "interval": 0, "width": 170, "overflow": "truncate"},
        },
        "visualMap": {"min": -1.5, "max": 1.5, "show": False, "inRange": {"color": list(LIFTS)}},
        "series": [{"type": "heatmap", "data": data, "label": {"show": True, "color": "#222"}}],
    }
    chart = ui.echart(options).style(f"height: {60 + 26 * len(rows)}px; width: 100%")
    marked(chart, role="img", mark="heat", label=f"lift of {table.names[0]} by {table.names[1]}; the same as a table below")
    if len(rows) < len(table.rows) or len(columns) < len(table.columns):
        drawn = f"Drawn are the first {len(rows)} of {len(table.rows)} rows and {len(columns)} of {len(table.columns)} columns"
        ui.label(f"{drawn}; the table below has all of them.").classes("quiet")
    ui.label(
        "Lift: red more, blue fewer people than if the columns were unrelated. Pale: chance could do that; * and full colour: "
        "the interval of the lift leaves 1 out."
    ).classes("quiet")
    with ui.expansion("As a table").classes("w-full"):
        ui.html(table._repr_html_(), sanitize=False).classes("w-full").style("overflow-x: auto")
