"""Charts of answers: points with their intervals, and a heat map of lift. They are made by altair, the extra `report`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sfumato.errors import SfumatoError

if TYPE_CHECKING:
    from sfumato.query.answer import Estimate
    from sfumato.query.crosstab import Crosstab

MOST_CELLS = 5000
"""Marks that a chart shows."""


def altair() -> Any:
    """Return the library that draws; an error names the extra to install."""
    try:
        import altair as found
    except ImportError:
        raise SfumatoError("charts need altair", hint="pip install 'sfumato[report]'") from None
    return found


def plot_answer(cells: Sequence[tuple[str, Estimate]], columns: Sequence[str]) -> Any:
    """Return a chart of estimates: a point with its interval for each cell, in the order of the answer."""
    alt = altair()
    require_few(len(cells))
    measure = cells[0][1].measure if cells else "count"
    rows = [
        {"cell": name, "value": estimate.value, "low": estimate.low, "high": estimate.high, "interval": estimate.low is not None}
        for name, estimate in cells
    ]
    title = ", ".join(columns) or None
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("cell:N", sort=None, title=title, axis=alt.Axis(labelLimit=300) if columns else None)
    )
    scale = alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=measure, scale=scale), x2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("value:Q", title=measure, scale=scale),
        shape=alt.Shape("interval:N", legend=None, scale=alt.Scale(domain=[True, False], range=["circle", "cross"])),
        tooltip=["cell:N", "value:Q", "low:Q", "high:Q"],
    )
    confidence = f"with {100 * cells[0][1].confidence:g} % intervals; a cross has none" if cells else ""
    return (bars + points).properties(width=360, title=alt.Title(measure, subtitle=confidence))


def plot_crosstab(table: Crosstab) -> Any:
    """Return a heat map of lift: blue below 1, red above, white where the interval holds 1."""
    alt = altair()
    require_few(len(table.rows) * len(table.columns))
    cells = [
        {
            "row": row,
            "column": column,
            "lift": lift.value,
            "shown": min(max(lift.value, 1 / 4), 4.0),
            "low": lift.low,
            "high": lift.high,
            "count": count.value,
            "clear": lift.low is not None and lift.high is not None and not lift.low <= 1.0 <= lift.high,
        }
        for row, column, count, lift in table.named()
        if lift is not None
    ]
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("column:N", sort=None, title=table.names[1]),
        y=alt.Y("row:N", sort=None, title=table.names[0], axis=alt.Axis(labelLimit=300)),
    )
    colour = alt.Color(
        "shown:Q", title="lift", scale=alt.Scale(type="log", domain=[0.25, 1, 4], range=["#2166ac", "#f7f7f7", "#b2182b"])
    )
    boxes = base.mark_rect().encode(
        color=colour,
        opacity=alt.condition(alt.datum.clear, alt.value(1.0), alt.value(0.35)),
        tooltip=["row:N", "column:N", "count:Q", "lift:Q", "low:Q", "high:Q"],
    )
    layers = boxes
    if len(cells) <= 400:
        layers = boxes + base.mark_text(fontSize=10).encode(text=alt.Text("lift:Q", format=".2g"))
    return layers.properties(title=alt.Title("lift", subtitle="pale where the interval holds 1"), width={"step": 44})


def require_few(marks: int) -> None:
    """Refuse a chart that nobody could read."""
    if marks > MOST_CELLS:
        raise SfumatoError(f"a chart of {marks:,} cells cannot be read", hint="ask for fewer cells: WHERE, HAVING or LIMIT")
