"""The groups as a picture: people by two columns, and around each group's people its box."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.charts import altair, picture_svg
from sfumato.charts.svg import colour
from sfumato.randomness import SeededRandomness
from sfumato.reports.case import ReportCase
from sfumato.reports.parts import ChartFigure, Grid, Prose, Section
from sfumato.table.column import Column, labels

MOST_BOXES, MOST_DOTS = 40, 1500
JITTER = 0.36


def boxes(case: ReportCase) -> Section | None:
    """Return the picture of a release in groups with quasi values; nothing for other forms."""
    group, quasi = getattr(case.release, "group", None), getattr(case.release, "quasi", None)
    if group is None or not quasi or len(quasi) < 2:
        return None
    first, second = _most_divided(quasi, group)
    groups = np.unique(group)
    coins = SeededRandomness(0)
    shown = groups if len(groups) <= MOST_BOXES else np.sort(coins.permutation(len(groups))[:MOST_BOXES])
    ends = [_ends(column, group) for column in (first, second)]
    data = [
        {
            "x": float(ends[0][0][k]) - 0.5,
            "x2": float(ends[0][1][k]) + 0.5,
            "y": float(ends[1][0][k]) - 0.5,
            "y2": float(ends[1][1][k]) + 0.5,
        }
        for k in shown.tolist()
    ]
    rows = np.flatnonzero(np.isin(group, shown))
    rows = rows[np.sort(coins.permutation(len(rows))[:MOST_DOTS])]
    noise = (coins.below(1000, 2 * len(rows)).reshape(2, -1) / 999 - 0.5) * 2 * JITTER
    dots = [
        {"x": float(a), "y": float(b)} for a, b in zip(first.codes[rows] + noise[0], second.codes[rows] + noise[1], strict=True)
    ]
    some = "" if len(shown) == len(groups) else f", {len(shown)} of {len(groups):,} groups drawn at random"
    caption = (
        f"People by {first.name} and {second.name}{some}. A dot is a person, moved a little so that none hides another; a box is "
        "the smallest that holds a group. Boxes overlap where groups differ in other columns."
    )
    numbers = Grid(
        "The boxes shown",
        (first.name, second.name),
        [(_range(first, box["x"], box["x2"]), _range(second, box["y"], box["y2"])) for box in data],
    )
    words = "People of one box share their sensitive values: the release says how often each occurs among them, not who has it."
    return Section(
        "boxes", "The groups, as a picture", [Prose([words]), ChartFigure(_drawn(first, second, data, dots), caption, numbers)]
    )


def _most_divided(quasi: tuple[Column, ...], group: Array) -> tuple[Column, Column]:
    """Return the two columns in which groups are narrowest; of columns with two values only where there are no others."""

    def width(column: Column) -> tuple[bool, float]:
        low, high = _ends(column, group)
        sizes = np.bincount(group, minlength=len(low))
        return column.size <= 2, float(((high - low) * sizes).sum() / sizes.sum() / max(column.size - 1, 1))

    widest, other = sorted(quasi, key=width)[:2]
    return (widest, other) if widest.size >= other.size else (other, widest)


def _ends(column: Column, group: Array) -> tuple[Integers, Integers]:
    codes, many = column.codes.astype(np.int64), int(group.max()) + 1
    low, high = np.full(many, column.size), np.full(many, -1)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    return low, high


def _names(column: Column) -> list[str]:
    return [*labels(column.values), *(["(missing)"] if column.has_missing else [])]


def _range(column: Column, low: float, high: float) -> str:
    names = _names(column)
    first, last = names[round(low + 0.5)], names[round(high - 0.5)]
    return first if first == last else f"{first} to {last}"


def _axis(alt: Any, column: Column) -> Any:
    """Return an axis of codes that shows values: all of few, some of many."""
    names = _names(column)
    step = max(1, -(-len(names) // 12))
    places = list(range(0, len(names), step))
    shown = " : ".join(f"datum.value == {k} ? {_quoted(names[k])}" for k in places) + " : ''"
    return alt.Axis(values=places, labelExpr=shown, title=column.name, labelLimit=140, grid=False)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") + "'"


def _drawn(first: Column, second: Column, data: list[dict[str, float]], dots: list[dict[str, float]]) -> str:
    alt = altair()
    scales = [alt.Scale(domain=[-0.7, column.size - 0.3], nice=False) for column in (first, second)]
    x = alt.X("x:Q", scale=scales[0], axis=_axis(alt, first))
    y = alt.Y("y:Q", scale=scales[1], axis=_axis(alt, second))
    people = alt.Chart(alt.Data(values=dots)).mark_circle(size=7, color=colour("soft"), opacity=0.45).encode(x=x, y=y)
    drawn = (
        alt.Chart(alt.Data(values=data))
        .mark_rect(fill=colour(0), fillOpacity=0.025, stroke=colour(0), strokeWidth=1.2, strokeOpacity=0.75, cornerRadius=2)
        .encode(x=x, x2="x2:Q", y=y, y2="y2:Q")
    )
    high = min(420, max(160, 26 * second.size))
    chart = alt.layer(people, drawn).properties(width=560, height=high)
    return picture_svg(chart, title=f"People by {first.name} and {second.name}, with the boxes of their groups", numbered="boxes")
