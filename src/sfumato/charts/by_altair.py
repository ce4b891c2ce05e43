"""Pictures drawn by altair, in the colours of reports and pages."""

from __future__ import annotations

from typing import Any

from sfumato.charts.library import Chart, altair
from sfumato.charts.look import BAR, FILL, LIFTS, LIGHT, POINT, TEXT, TITLE
from sfumato.charts.pictures import Allowances, Drawable, HeatMap, Points

WIDTH = 380
NUMBERED = 400
"""Tiles up to which each shows its lift."""


def drawn(picture: Drawable) -> Chart:
    """Return the chart, with its title, and its words as what is read aloud."""
    if isinstance(picture, Points):
        chart = _points(picture)
    elif isinstance(picture, HeatMap):
        chart = _heat_map(picture)
    else:
        chart = _allowances(picture)
    title = altair().Title(
        picture.title, subtitle=picture.under, anchor="start", fontSize=TITLE, subtitleFontSize=TEXT, subtitleColor=LIGHT["soft"]
    )
    return chart.properties(title=title, description=picture.words)


def _named(alt: Any, rows: list[dict[str, Any]], title: str | None) -> Any:
    """Return the axis of names in the order of the rows: layers that leave some out would change it if they were not listed."""
    names = list(dict.fromkeys(row["cell"] for row in rows))
    return alt.Y("cell:N", sort=names, title=title or None, axis=alt.Axis(labelLimit=300) if names != [""] else None)


def _points(picture: Points) -> Chart:
    alt = altair()
    rows = [
        {"cell": one.name, "value": one.value, "low": one.low, "high": one.high, "interval": one.low is not None}
        for one in picture.rows
    ]
    base, scale = alt.Chart(alt.Data(values=rows)).encode(y=_named(alt, rows, picture.names)), alt.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=BAR, color=LIGHT["0"], opacity=0.6).encode(
        x=alt.X("low:Q", title=picture.measure, scale=scale), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=POINT**2, opacity=1, color=LIGHT["0"]).encode(
        x=alt.X("value:Q", title=picture.measure, scale=scale),
        shape=alt.Shape("interval:N", legend=None, scale=alt.Scale(domain=[True, False], range=["circle", "cross"])),
        tooltip=["cell:N", "value:Q", "low:Q", "high:Q"],
    )
    return (bars + points).properties(width=WIDTH)


def _heat_map(picture: HeatMap) -> Chart:
    alt = altair()
    cells = [
        {
            "row": one.row,
            "column": one.column,
            "lift": one.lift,
            "shown": min(max(one.lift, 1 / 4), 4.0),
            "low": one.low,
            "high": one.high,
            "count": one.count,
            "clear": one.clear,
        }
        for one in picture.tiles
    ]
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X("column:N", sort=None, title=picture.names[1]),
        y=alt.Y("row:N", sort=None, title=picture.names[0], axis=alt.Axis(labelLimit=300)),
    )
    scale = alt.Scale(type="log", domain=[0.25, 1, 4], range=list(LIFTS))
    tiles = base.mark_rect().encode(
        color=alt.Color("shown:Q", title="lift", scale=scale, legend=alt.Legend(values=[0.25, 0.5, 1, 2, 4], format="~g")),
        opacity=alt.condition(alt.datum.clear, alt.value(1.0), alt.value(0.35)),
        tooltip=["row:N", "column:N", "count:Q", "lift:Q", "low:Q", "high:Q"],
    )
    if len(cells) <= NUMBERED:
        white = (alt.datum.clear) & ((alt.datum.shown > 2.2) | (alt.datum.shown < 0.45))
        colour = alt.condition(white, alt.value(LIGHT["paper"]), alt.value(LIGHT["ink"]))
        tiles += base.mark_text(fontSize=10).encode(text=alt.Text("lift:Q", format=".2f"), color=colour)
    return tiles.properties(width={"step": 44})


def _allowances(picture: Allowances) -> Chart:
    alt = altair()
    looks = {  # each with the field it shows, its colour and its mark
        "largest share in a group": ("belief", "0", "bar"),
        "bound": ("bound", "1", "tick"),
        "share of all": ("share", "ink", "tick"),
    }
    rows = [
        {"cell": one.value, "what": what, "sure": getattr(one, field)}
        for what, (field, _, _) in looks.items()
        for one in picture.rows
        if getattr(one, field) is not None
    ]
    shown = {what: look for what, look in looks.items() if any(row["what"] == what for row in rows)}
    tint = alt.Scale(domain=list(shown), range=[LIGHT[colour] for _, colour, _ in shown.values()])
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=_named(alt, rows, None),
        x=alt.X("sure:Q", title="how sure somebody can be", axis=alt.Axis(format="~%")),
        color=alt.Color("what:N", scale=tint, legend=alt.Legend(title=None, orient="top", symbolType="square", labelLimit=240)),
        tooltip=["cell:N", "what:N", "sure:Q"],
    )
    layers = []
    for what, (_, _, mark) in shown.items():
        own = base.transform_filter(alt.datum.what == what)
        layers.append(own.mark_bar(height=9, opacity=FILL) if mark == "bar" else own.mark_tick(thickness=3, size=15))
    return alt.layer(*layers).properties(width=WIDTH, height={"step": 20})
