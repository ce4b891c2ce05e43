"""Charts of studies: lines in panels, from rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.charts import Chart, altair
from sfumato.charts.svg import colour
from sfumato.studies.study import Rows

SHAPES = ("circle", "diamond", "square", "triangle-up")


def values(rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Return an empty chart of these rows."""
    alt = altair()
    return alt.Chart(alt.Data(values=[dict(row) for row in rows]))


def titled(chart: Chart, title: str, note: str = "") -> Chart:
    """Return the chart under a title, with a note below it."""
    return chart.properties(title={"text": title, **({"subtitle": note} if note else {})})


def lines(
    rows: Rows,
    *,
    x: str,
    y: str,
    series: str | None = None,
    panel: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    steps: bool = False,
    columns: int = 2,
    same_y: bool = False,
    level: tuple[str, float] | None = None,
    width: int = 340,
    height: int = 230,
) -> Chart:
    """Return one line a series over x, in a panel each of `panel`; `steps` sets the x values at equal distances.

    Rows without a y are left out, and a `level` is a dashed line with its name. Panels have scales of their own unless `same_y`.
    """
    known = [row for row in rows if row.get(y) is not None]
    named = list(dict.fromkeys(str(row[series]) for row in known)) if series else []
    panels = list(dict.fromkeys(str(row[panel]) for row in known)) if panel else [""]
    top = max((float(row[y]) for row in known), default=1.0)
    drawn = []
    for number, one in enumerate(panels):
        mine = [row for row in known if not panel or str(row[panel]) == one]
        chart = _panel(
            mine,
            named,
            x,
            y,
            series,
            x if x_title is None else x_title,
            (y if y_title is None else y_title) if number % columns == 0 else None,
            log_x,
            log_y,
            steps,
        )
        if level is not None:
            chart = altair().layer(*_level(level, y), chart)
        if same_y and not log_y:
            chart = altair().layer(values([{y: top}]).mark_point(opacity=0).encode(y=f"{y}:Q"), chart)
        drawn.append(
            chart.properties(width=width, height=height, title=one) if one else chart.properties(width=width, height=height)
        )
    return drawn[0] if len(drawn) == 1 else altair().concat(*drawn, columns=columns, spacing=28)


def bars(
    rows: Rows,
    *,
    x: str,
    y: str,
    panel: str | None = None,
    x_title: str = "",
    y_title: str = "",
    labels: bool = False,
    width: int = 340,
) -> Chart:
    """Return one bar a row in the order given, in a panel each of `panel`."""
    alt = altair()
    panels = list(dict.fromkeys(str(row[panel]) for row in rows)) if panel else [""]
    drawn = []
    for number, one in enumerate(panels):
        mine = [row for row in rows if not panel or str(row[panel]) == one]
        across = alt.X(
            f"{x}:N",
            sort=[str(row[x]) for row in mine],
            axis=alt.Axis(title=x_title or None, labels=labels, ticks=False, labelAngle=-25),
        )
        up = alt.Y(f"{y}:Q", axis=alt.Axis(title=(y_title or y) if number == 0 else None))
        chart = values([{**row, x: str(row[x])} for row in mine]).mark_bar(color=colour(0)).encode(x=across, y=up)
        drawn.append(chart.properties(width=width, height=230, title=one))
    return drawn[0] if len(drawn) == 1 else alt.hconcat(*drawn, spacing=28)


def _panel(
    rows: Rows,
    named: Sequence[str],
    x: str,
    y: str,
    series: str | None,
    x_title: str,
    y_title: str | None,
    log_x: bool,
    log_y: bool,
    steps: bool,
) -> Chart:
    alt = altair()
    wide = alt.Scale(type="log", nice=False, padding=12) if log_x else alt.Scale(nice=False, zero=False, padding=12)
    axis = alt.Axis(title=x_title, format="~s", tickCount=5, labelAngle=0)
    if steps:
        rows = [{**row, x: f"{row[x]:,g}" if isinstance(row[x], float) else str(row[x])} for row in rows]
        order = list(dict.fromkeys(row[x] for row in rows))
        across = alt.X(f"{x}:N", sort=order, axis=alt.Axis(title=x_title, labelAngle=0), scale=alt.Scale(padding=0.3))
    else:
        across = alt.X(f"{x}:Q", scale=wide, axis=axis)
    high = alt.Scale(type="log", nice=False, padding=10) if log_y else alt.Scale(zero=True)
    up = alt.Y(f"{y}:Q", scale=high, axis=alt.Axis(title=y_title, tickCount=5, format="~r"))
    chart = values(rows)
    if series is None:
        return chart.mark_line(strokeWidth=1.8, color=colour(0), point=alt.OverlayMarkDef(size=34)).encode(x=across, y=up)
    tints = alt.Scale(domain=list(named), range=[colour(k) for k in range(len(named))])
    shapes = alt.Scale(domain=list(named), range=[SHAPES[k % 4] for k in range(len(named))])
    legend = alt.Legend(title=None, labelLimit=260)
    tint = alt.Color(f"{series}:N", scale=tints, legend=legend)
    return alt.layer(
        chart.mark_line(strokeWidth=1.8, opacity=0.8).encode(x=across, y=up, color=tint),
        chart.mark_point(filled=True, size=46, opacity=1).encode(
            x=across, y=up, color=tint, shape=alt.Shape(f"{series}:N", scale=shapes, legend=legend)
        ),
    )


def _level(level: tuple[str, float], y: str) -> list[Chart]:
    data = values([{y: level[1], "label": level[0]}])
    rule = data.mark_rule(strokeDash=[4, 4], color=colour("axis")).encode(y=f"{y}:Q")
    words = data.mark_text(align="left", x=4, dy=-7, fontSize=11, color=colour("soft")).encode(y=f"{y}:Q", text="label:N")
    return [rule, words]
