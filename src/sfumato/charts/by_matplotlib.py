"""Pictures drawn by matplotlib, in the colours of reports and pages."""

from __future__ import annotations

import base64
import io
from typing import Any

from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure

from sfumato.charts.look import BAR, FILL, LIFTS, LIGHT, POINT
from sfumato.charts.pictures import Allowances, Drawable, HeatMap, Points
from sfumato.notebook import text

PT = 0.75
"""Points a pixel."""

ROW = 0.28
"""Inches a row of a picture takes."""


class DescribedFigure(Figure):
    """A figure that says in words what it shows; a notebook shows it with these."""

    words = ""

    def _repr_html_(self) -> str:
        held = io.BytesIO()
        self.savefig(held, format="png", dpi=110, bbox_inches="tight", metadata={"Description": self.words})
        return f'<img src="data:image/png;base64,{base64.b64encode(held.getvalue()).decode()}" alt="{text(self.words)}">'


def drawn(picture: Drawable) -> DescribedFigure:
    """Return the figure, with its title, and its words for whoever does not see it."""
    figure = DescribedFigure(layout="constrained")
    figure.words = picture.words
    axes: Any = figure.add_subplot()
    if isinstance(picture, Points):
        _points(figure, axes, picture)
    elif isinstance(picture, HeatMap):
        _heat_map(figure, axes, picture)
    else:
        _allowances(figure, axes, picture)
    axes.set_title(_plain(picture.title), loc="left", color=LIGHT["ink"], fontsize=12, fontweight="bold", pad=22)
    under = {"xy": (0, 1), "xycoords": "axes fraction", "xytext": (0, 7), "textcoords": "offset points"}
    axes.annotate(_plain(picture.under), **under, color=LIGHT["soft"], fontsize=9)
    axes.tick_params(colors=LIGHT["soft"], labelsize=9)
    for side in axes.spines.values():
        side.set_color(LIGHT["axis"])
    return figure


def _plain(words: str) -> str:
    """Return text in which no dollar sign begins a formula."""
    return words.replace("$", r"\$")


def _named(axes: Any, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), [_plain(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)


def _points(figure: Figure, axes: Any, picture: Points) -> None:
    figure.set_size_inches(6.4, 1.3 + ROW * len(picture.rows))
    for place, one in enumerate(picture.rows):
        if one.low is not None and one.high is not None:
            axes.plot([one.low, one.high], [place, place], color=LIGHT["0"], linewidth=PT * BAR, alpha=0.6)
        axes.plot(one.value, place, "x" if one.low is None else "o", color=LIGHT["0"], markersize=PT * POINT)
    _named(axes, [one.name for one in picture.rows])
    axes.set_xlabel(_plain(picture.measure))
    axes.set_ylabel(_plain(picture.names))
    axes.grid(axis="x", color=LIGHT["grid"])
    axes.set_axisbelow(True)


def _heat_map(figure: Figure, axes: Any, picture: HeatMap) -> None:
    rows = list(dict.fromkeys(one.row for one in picture.tiles))
    columns = list(dict.fromkeys(one.column for one in picture.tiles))
    figure.set_size_inches(max(5.2, 2.6 + 0.5 * len(columns)), 2.2 + ROW * len(rows))
    shades, norm = LinearSegmentedColormap.from_list("lift", LIFTS), LogNorm(0.25, 4)
    for one in picture.tiles:
        x, y = columns.index(one.column), rows.index(one.row)
        shade = shades(norm(min(max(one.lift, 0.25), 4.0)))
        axes.add_patch(_square(x, y, shade, 1.0 if one.clear else 0.35))
        strong = one.clear and not 0.45 <= one.lift <= 2.2
        axes.text(x, y, f"{one.lift:.2f}", ha="center", va="center", fontsize=8, color=LIGHT["paper" if strong else "ink"])
    _named(axes, rows)
    axes.set_xticks(range(len(columns)), [_plain(name) for name in columns], rotation=45 if len(columns) > 4 else 0)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_xlabel(_plain(picture.names[1]))
    axes.set_ylabel(_plain(picture.names[0]))


def _square(x: int, y: int, shade: Any, opacity: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, alpha=opacity, linewidth=0)


def _allowances(figure: Figure, axes: Any, picture: Allowances) -> None:
    figure.set_size_inches(6.8, 1.7 + ROW * len(picture.rows))
    looks = (("belief", "largest share in a group", "0"), ("bound", "bound", "1"), ("share", "share of all", "ink"))
    for field, name, colour in looks:
        shown = [(place, value) for place, one in enumerate(picture.rows) if (value := getattr(one, field)) is not None]
        if not shown:
            continue
        places, values = zip(*shown, strict=True)
        if field == "belief":
            axes.barh(places, values, height=0.45, color=LIGHT[colour], alpha=FILL, label=name)
        else:
            axes.plot(values, places, "|", color=LIGHT[colour], markersize=11, markeredgewidth=2.5, label=name)
    _named(axes, [one.value for one in picture.rows])
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.set_xlabel("how sure somebody can be")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
