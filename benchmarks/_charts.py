"""The pictures of benchmarks, made with the chart library; they follow the reader's choice of light or dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.charts import Chart, altair, save_picture
from sfumato.charts.svg import colour
from sfumato.studies.draw import SHAPES, titled, values

Point = tuple[float, float, str]
Points = Mapping[str, Sequence[Point]]
Rectangle = tuple[float, float, float, float]
Panels = Mapping[str, Sequence[tuple[float, float]]]

FAMILIES = (7, 1, 2, 0)
"""The colours of four families of series: grey, orange, green, blue."""
SERIES = (*FAMILIES, 3)
"""And of single series: violet beside these."""


@dataclass(frozen=True)
class Panel:
    """Boxes as (left, right, bottom, top), both ends inside, and people as (across, up), in whole numbers."""

    title: str
    note: str
    boxes: Sequence[Rectangle]
    people: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Lines:
    """A panel: per name its family's colour and a figure for every step, None where there is none; and a dashed level."""

    title: str
    series: Mapping[str, tuple[int, Sequence[float | None]]]
    level: tuple[str, float] | None = None
    cap: float = float("inf")
    """What lies above is drawn here."""
    steps: Sequence[str] = ()
    """What the figures are for, from left to right."""


def scatter(path: Path, points: Points, *, title: str, note: str, x: str, y: str) -> Path:
    """Write one series of (x, y, label) per name, joined by a line, on logarithmic axes, and return the path."""
    alt = altair()
    rows: list[dict[str, Any]] = [
        {"x": a, "y": b, "label": label, "name": name} for name, series in points.items() for a, b, label in series
    ]
    names = list(points)
    axes = {}
    for side, name in (("x", x), ("y", y)):
        figures = [row[side] for row in rows]
        scale = alt.Scale(type="log", nice=False, domain=[min(figures) / 1.25, max(figures) * 1.25])
        axes[side] = {"scale": scale, "axis": alt.Axis(title=name, format="~g", tickCount=6)}
    tints = [colour(SERIES[k % 5]) for k in range(len(names))]
    tint = alt.Color(
        "name:N", scale=alt.Scale(domain=names, range=tints), legend=alt.Legend(title=None, labelLimit=220, offset=30)
    )
    shapes = alt.Scale(domain=names, range=[(*SHAPES, "cross")[k % 5] for k in range(len(names))])
    one = values([{"y": 1}]).mark_rule(strokeDash=[4, 4], color=colour("axis")).encode(y="y:Q")

    def drawn(some: Sequence[Mapping[str, Any]]) -> Chart:
        return values(some).encode(x=alt.X("x:Q", **axes["x"]), y=alt.Y("y:Q", **axes["y"]), color=tint)

    chart = alt.layer(
        one,
        drawn(rows).mark_line(opacity=0.55, strokeWidth=1.6).encode(order="x:Q"),
        drawn(rows).mark_point(filled=True, size=80, opacity=1).encode(shape=alt.Shape("name:N", scale=shapes)),
        *(
            drawn(some).mark_text(align=align, dx=dx, dy=dy, fontSize=11).encode(text="label:N")
            for (align, dx, dy), some in _labelled(rows, 620, 420).items()
        ),
    )
    return save_picture(titled(chart.properties(width=620, height=420), title, note), path, title=title)


def _labelled(rows: Sequence[dict[str, Any]], wide: int, high: int) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    """Return the points by where their label stands: one after the other where it covers least of points and earlier labels."""
    places = [(align, dx, dy) for dy in (-9, 11, 1, -20, 22) for align, dx in (("left", 9), ("right", -9))]
    spans = [np.log([row[side] for row in rows]) for side in ("x", "y")]
    across, up = ((one - one.min()) / max(np.ptp(one), 1e-9) for one in spans)
    dots = np.stack([across * wide * 0.9, (1 - up) * high * 0.9], axis=1)
    taken = [np.concatenate([dot - 6, dot + 6]) for dot in dots]
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for row, (a, b) in zip(rows, dots, strict=True):
        length = 6.5 * len(row["label"])
        boxes = {}
        for align, dx, dy in places:
            left = a + dx - (length if align == "right" else 0)
            boxes[align, dx, dy] = np.array([left, b + dy - 7, left + length, b + dy + 7])
        over = {place: sum(_shared_area(box, other) for other in taken) for place, box in boxes.items()}
        best = min(places, key=lambda place: over[place])
        taken.append(boxes[best])
        found.setdefault(best, []).append(row)
    return found


def _shared_area(one: Any, other: Any) -> float:
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    return float(np.prod(np.maximum(sides, 0)))


def plan_of_boxes(path: Path, *panels: Panel, title: str, note: str, x: str, y: str) -> Path:
    """Write the boxes of each panel side by side, with its people as faint dots, and return the path."""
    alt = altair()
    sides = []
    for k, panel in enumerate(panels):
        people = np.asarray(panel.people, dtype=float)
        low, far = people.min(axis=0) - 0.7, people.max(axis=0) + 0.7
        moved = people + np.random.default_rng(1).uniform(-0.38, 0.38, people.shape)
        scales = [alt.Scale(domain=[float(a), float(b)], nice=False) for a, b in zip(low, far, strict=True)]
        across = alt.X("x:Q", scale=scales[0], axis=alt.Axis(title=x, grid=False, tickCount=6))
        up = alt.Y("y:Q", scale=scales[1], axis=alt.Axis(title=y if k == 0 else None, labels=False, ticks=False, grid=False))
        dots = values([{"x": round(a, 2), "y": round(b, 2)} for a, b in moved.tolist()])
        boxes = values([{"x": a - 0.5, "x2": b + 0.5, "y": c - 0.5, "y2": d + 0.5} for a, b, c, d in panel.boxes])
        shade = colour(FAMILIES[(2 + k) % 4])
        drawn = alt.layer(
            dots.mark_circle(size=6, color=colour("soft"), opacity=0.6).encode(x=across, y=up),
            boxes.mark_rect(fill=shade, fillOpacity=0.13, stroke=shade, strokeWidth=1.2, cornerRadius=2).encode(
                x=across, x2="x2:Q", y=up, y2="y2:Q"
            ),
        )
        sides.append(titled(drawn.properties(width=380, height=330), panel.title, panel.note))
    return save_picture(titled(alt.hconcat(*sides, spacing=24), title, note), path, title=title)


def dots(path: Path, panels: Panels, *, title: str, x: str, y: str) -> Path:
    """Write one cloud of (truth, estimate) per name, all with the same axes and the diagonal, and return the path."""
    alt = altair()
    top = max(point[0] for points in panels.values() for point in points) * 1.05
    low = max(min(0.0, *(point[1] for points in panels.values() for point in points)), -0.5 * top)
    sides = []
    for number, (name, points) in enumerate(panels.items()):
        rows = [{"x": a, "y": min(max(b, low), top)} for a, b in points]
        across = alt.X("x:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(title=x, tickCount=4))
        up = alt.Y(
            "y:Q", scale=alt.Scale(domain=[low, top], nice=False), axis=alt.Axis(title=y if number == 0 else None, tickCount=5)
        )
        drawn = alt.layer(
            values([{"x": 0, "y": 0}, {"x": top, "y": top}])
            .mark_line(color=colour("axis"), strokeDash=[4, 4])
            .encode(x=across, y=up),
            values(rows).mark_circle(size=14, opacity=0.4, color=colour(0)).encode(x=across, y=up),
        )
        sides.append(titled(drawn.properties(width=250, height=250), name))
    return save_picture(titled(alt.hconcat(*sides), title), path, title=title)


def small_multiples(path: Path, panels: Sequence[Lines], *, title: str, note: str, y: str) -> Path:
    """Write panels two in a row, each with its own steps across and its own scale from 0 on, and return the path."""
    alt = altair()
    drawn = [_lines(panel, y if k % 2 == 0 else None) for k, panel in enumerate(panels)]
    chart = alt.concat(*drawn, columns=2, spacing=30).resolve_scale(color="independent")
    return save_picture(titled(chart, title, note), path, title=title)


def _labels(last: Sequence[Mapping[str, Any]], top: float) -> list[dict[str, Any]]:
    """Return where names stand beside the ends of their lines: as near as they can without lying on each other."""
    gap, order = 0.055 * top, sorted(last, key=lambda row: float(row["y"]))
    heights: list[float] = []
    for row in order:
        heights.append(max(float(row["y"]), heights[-1] + gap) if heights else float(row["y"]))
    room = top * 1.04
    for place in range(len(heights) - 1, -1, -1):
        heights[place] = min(heights[place], room)
        room = heights[place] - gap
    return [{**row, "y": height} for row, height in zip(order, heights, strict=True)]


def _lines(panel: Lines, y: str | None) -> Chart:
    alt = altair()
    steps = panel.steps
    rows: list[dict[str, Any]] = [
        {"step": step, "y": min(figure, panel.cap), "name": name}
        for name, (_, figures) in panel.series.items()
        for step, figure in zip(steps, figures, strict=True)
        if figure is not None
    ]
    last = _labels(list({str(row["name"]): row for row in rows}.values()), max(float(row["y"]) for row in rows))
    names = list(panel.series)
    tints = alt.Scale(domain=names, range=[colour(FAMILIES[family % 4]) for family, _ in panel.series.values()])
    across = alt.X("step:N", sort=list(steps), axis=alt.Axis(title=None, labelAngle=0), scale=alt.Scale(padding=0.3))
    up = alt.Y("y:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title=y, tickCount=5, format="~g"))
    tint = alt.Color("name:N", scale=tints, legend=None)
    layers = [
        values(rows).mark_line(strokeWidth=1.8, point=alt.OverlayMarkDef(size=28)).encode(x=across, y=up, color=tint),
        values(last).mark_text(align="left", dx=7, fontSize=11).encode(x=across, y=up, color=tint, text="name:N"),
    ]
    if panel.level is not None:
        level = values([{"y": panel.level[1], "label": panel.level[0]}])
        layers.append(level.mark_rule(strokeDash=[4, 4], color=colour("axis")).encode(y="y:Q"))
        words = level.mark_text(align="left", x=4, dy=-7, fontSize=11, color=colour("soft"))
        layers.append(words.encode(y="y:Q", text="label:N"))
    return titled(alt.layer(*layers).properties(width=360, height=230), panel.title)
