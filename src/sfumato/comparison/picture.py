"""The picture of a study: error against exposure, one line a method, the owner's policy marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sfumato.charts import Chart, altair
from sfumato.charts.look import FONT
from sfumato.charts.svg import colour, picture_page
from sfumato.comparison.result import Run, Study
from sfumato.exact import percent

TITLE = "What a release tells analysts, and what it tells about a person"
X = "exposure: how sure a reader is of a person’s true value, on average"
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "triangle-right", "triangle-left")
Y = "error ÷ that of assuming independence (median of the workload)"
WIDTH, HEIGHT = 600, 430
NEAR = 17
"""Points of a line that are nearer than so many pixels share one label."""


def picture(study: Study) -> Chart:
    """Return the chart; lines join the variations of a method from the least exposure to the most."""
    alt = altair()
    made = [run for run in study.runs if run.made and run.exposure and run.relative]
    names = list(dict.fromkeys(_name(run) for run in sorted(made, key=lambda run: (bool(run.translated), run.method))))
    points = [_point(run) for run in made]
    start = {"x": study.prior_exposure, "y": 1.0, "name": "independence"}
    alone = alt.Chart(alt.Data(values=[start]))
    x = alt.X("x:Q", scale=alt.Scale(type="log", nice=False, padding=24), axis=alt.Axis(format="~%", title=X, tickCount=6))
    ticks = _ticks([1.0, *(point["y"] for point in points)])
    y = alt.Y("y:Q", scale=alt.Scale(type="log", nice=False, padding=36), axis=alt.Axis(format="~g", title=Y, values=ticks))
    scale = alt.Scale(domain=names, range=[colour(number) for number in range(len(names))])
    shapes = alt.Scale(domain=names, range=[SHAPES[number % len(SHAPES)] for number in range(len(names))])
    legend = alt.Legend(title=None, orient="right", labelLimit=260, offset=28)
    tint = alt.Color("name:N", scale=scale, legend=legend)
    base = alt.Chart(alt.Data(values=points)).encode(x=x, y=y, color=tint)
    layers: list[Any] = [
        alt.Chart(alt.Data(values=[{"y": 1.0}])).mark_rule(strokeDash=[4, 4], color=colour("axis")).encode(y="y:Q"),
        alone.mark_point(shape="cross", size=90, filled=True, color=colour("axis")).encode(x=x, y=y),
        base.mark_line(strokeWidth=2, opacity=0.75).encode(
            order="x:Q", detail="line:N", strokeDash=alt.StrokeDash("dash:O", scale=None, legend=None)
        ),
    ]
    soft = {"align": "left", "color": colour("soft")}
    layers += _words(alone.encode(x=x, y=y), "name:N", dx=9, dy=14, fontSize=11.5, **soft)
    labels = alt.Chart(alt.Data(values=_labels(points, [start, *points]))).encode(x=x, y=y)
    layers += _words(labels, "label:N", dx=8, dy=-8, fontSize=10.5, **soft)
    layers.append(base.mark_point(filled=True, size=70, opacity=1).encode(shape=alt.Shape("name:N", scale=shapes, legend=legend)))
    if study.marked is not None and study.marked in made:
        own = [{**_point(study.marked), "mark": f"your policy: {study.marked.method}"}]
        ring = alt.Chart(alt.Data(values=own)).encode(x=x, y=y)
        layers.append(ring.mark_point(size=420, strokeWidth=2.5, color=colour("ink")))
        layers += _words(ring, "mark:N", align="center", dy=26, fontSize=12.5, fontWeight="bold", color=colour("ink"))
    varied = next((next(iter(run.varied)) for run in made if run.varied), "")
    note = (
        f"a point per value of {varied}" if varied else "a point per method"
    ) + " · down: better answers, above the dashed line none about links · left: people less exposed"
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title={"text": TITLE, "subtitle": [note, *study.steps()]})


def picture_of(study: Study) -> str:
    """Return the picture as the text of an SVG file."""
    return picture_page(picture(study), title=TITLE, description=described(study))


def described(study: Study) -> str:
    """Return what the picture shows, for whoever does not see it."""
    made = [run for run in study.runs if run.made and run.exposure is not None and run.error is not None]
    each = [
        f"{_name(run)} {run.label}: exposure {percent(run.exposure or 0, 1)}, error {percent(run.error or 0, 1)}" for run in made
    ]
    return f"{Y} against {X}. " + "; ".join(each) + "."


def _words(chart: Chart, text: str, **how: Any) -> list[Chart]:
    """Return the layers of text at the points of a chart: a margin in the paper's colour, which hides lines, and the text."""
    paper = colour("paper")
    margin = chart.mark_text(font=FONT, **{**how, "color": paper}, stroke=paper, strokeWidth=3, strokeJoin="round")
    return [layer.encode(text=text) for layer in (margin, chart.mark_text(font=FONT, **how))]


def _name(run: Run) -> str:
    return run.method + (" (translated)" if run.translated else "")


def _point(run: Run) -> dict[str, Any]:
    first, *rest = list(run.varied.items()) or [("", "")]
    return {
        "x": run.exposure,
        "y": run.relative,
        "name": _name(run),
        "label": str(first[1]),
        "line": f"{_name(run)} {rest}",
        "dash": [4, 3] if run.translated else [1, 0],
    }


def _ticks(values: Sequence[float]) -> list[float]:
    """Return the round numbers that a logarithmic axis over these values is marked at."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low > 20 else (1, 1.5, 2, 3, 4, 5, 7)
    round_ones = [round(step * 10.0**k, 6) for k in range(first, last + 1) for step in steps]
    return [tick for tick in round_ones if low / 1.2 <= tick <= high * 1.2]


def _labels(points: Sequence[dict[str, Any]], seen: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return where labels stand: at each point, or once for points of a line that are drawn on one another."""
    wide, high = (math.log(max(p[k] for p in seen) / min(p[k] for p in seen)) or 1.0 for k in ("x", "y"))
    labels: list[dict[str, Any]] = []
    for line in dict.fromkeys(point["line"] for point in points):
        last: dict[str, Any] | None = None
        for point in sorted((point for point in points if point["line"] == line), key=lambda point: float(point["x"])):
            if last is not None:
                across = math.log(point["x"] / last["x"]) / wide * WIDTH
                if across < NEAR and abs(math.log(point["y"] / last["y"])) / high * HEIGHT < NEAR:
                    last["label"] += f", {point['label']}" if point["label"] else ""
                    last |= {"x": point["x"], "y": point["y"]}
                    continue
            last = {**point}
            labels.append(last)
    return labels
