"""A chart as SVG text: in words too for whoever does not see it, with colours by name, so that light and dark can differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from sfumato.charts.library import Chart, chart_library

VEGA_LITE = "5.20"
"""The version of the charts' language that they are drawn by: every altair since 5 writes what it understands."""

_COLOURS = {
    "ink": ("#1f2328", "#f0f6fc"),
    "soft": ("#59636e", "#9198a1"),
    "grid": ("#e3e8ed", "#2b323b"),
    "axis": ("#818b98", "#656c76"),
    "paper": ("#ffffff", "#0d1117"),
    "0": ("#0969da", "#58a6ff"),
    "1": ("#bc4c00", "#f0883e"),
    "2": ("#1a7f37", "#4ac26b"),
    "3": ("#8250df", "#b083f0"),
    "4": ("#cf222e", "#ff7b72"),
    "5": ("#9a6700", "#d4a72c"),
    "6": ("#1b7c83", "#56d4dd"),
    "7": ("#6e7781", "#9198a1"),
    "8": ("#bf3989", "#f778ba"),
    "9": ("#57606a", "#b1bac4"),
}
LIGHT, DARK = ({name: pair[which] for name, pair in _COLOURS.items()} for which in range(2))
"""The colours by name: writing, lines of the axes, what is behind, and one a series."""

LIFTS = ("#2166ac", "#f7f7f7", "#b2182b")
"""The colours of a lift of 1/4, of 1, and of 4."""

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'

SERIES = 10

MANY = 20
"""From so many marks of one look on, the look is written once."""

_MARK = re.compile(r'<path transform="translate\(([-\d.e]+),([-\d.e]+)\)"( d="[^"]+"[^>]*?)/>')


def colour(name: str | int) -> str:
    """Return the colour of this name as a chart takes it; a series beyond the last begins again."""
    return f"var(--sf-{name % SERIES if isinstance(name, int) else name})"


def colours(scheme: Mapping[str, str]) -> str:
    """Return the colours as CSS properties."""
    return "".join(f"--sf-{name}:{value};" for name, value in scheme.items())


def picture_svg(chart: Chart, *, title: str, description: str = "", numbered: str = "chart") -> str:
    """Return the chart as SVG for a page whose style sets the colours; `title` and `description` are read aloud.

    `numbered` makes its identifiers differ from those of other pictures of the page.
    """
    drawn: str = chart_library("vl_convert").vegalite_to_svg(_styled(chart.to_dict()), vl_version=VEGA_LITE)
    wide, high = (float(one) for one in re.findall(r' (?:width|height)="([\d.]+)"', drawn[:400])[:2])
    body = drawn[drawn.index(">") + 1 : drawn.rindex("</svg>")]
    body = re.sub(r'^<rect width="[\d.]+" height="[\d.]+" fill="white"/>', "", body)
    body = re.sub(r'\b(id="|url\(#|href="#)(?=\w)', rf"\g<1>{numbered}-", body)
    body = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", body)  # the picture is one thing to whoever has it read aloud
    body = _shared(body, numbered)
    named = f'<title id="{numbered}-title">{escape(title)}</title>'
    detail = f'<desc id="{numbered}-desc">{escape(description)}</desc>' if description else ""
    labels = f'aria-labelledby="{numbered}-title"' + (f' aria-describedby="{numbered}-desc"' if description else "")
    size = f'viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {labels} {size}>{named}{detail}{body}</svg>'


def _shared(body: str, numbered: str) -> str:
    """Return a picture in which marks that differ by their place alone are drawn once: thousands of dots take much room."""
    alike = Counter(look for _, _, look in _MARK.findall(body))
    known = {look: f"{numbered}-m{k}" for k, (look, many) in enumerate(alike.items()) if many >= MANY}
    if not known:
        return body

    def used(match: re.Match[str]) -> str:
        across, up, look = match.groups()
        if look not in known:
            return match.group(0)
        return f'<use href="#{known[look]}" x="{float(across):.1f}" y="{float(up):.1f}"/>'

    marks = "".join(f'<path id="{name}"{look}/>' for look, name in known.items())
    return f"<defs>{marks}</defs>{_MARK.sub(used, body)}"


def picture_page(chart: Chart, *, title: str, description: str = "") -> str:
    """Return the chart as a picture of its own, which follows the reader's choice of light or dark."""
    return on_its_own(picture_svg(chart, title=title, description=description))


def on_its_own(svg: str) -> str:
    """Return a picture whose colours are names with a style that sets them, by the reader's choice of light or dark."""
    style = (
        f"<style>:root{{{colours(LIGHT)}}}@media (prefers-color-scheme:dark){{:root{{{colours(DARK)}}}}}"
        f"text{{font-family:{FONT}}}</style>"
    )
    behind = '<rect width="100%" height="100%" rx="8" fill="var(--sf-paper)"/>'
    begin = svg.index(">") + 1
    return f"{svg[:begin]}{style}{behind}{svg[begin:]}\n"


def save_picture(chart: Chart, path: Path, *, title: str, description: str = "") -> Path:
    """Write the chart as a picture of its own, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(picture_page(chart, title=title, description=description), encoding="utf-8")
    return path


def _styled(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart's specification with the look that all have."""
    ink, soft, axis = colour("ink"), colour("soft"), colour("axis")
    look = {
        "background": None,
        "font": FONT,
        "padding": 14,
        "view": {"stroke": None},
        "axis": {
            "labelColor": soft,
            "titleColor": ink,
            "gridColor": colour("grid"),
            "domainColor": axis,
            "tickColor": axis,
            "labelFontSize": 12,
            "titleFontSize": 12.5,
            "titleFontWeight": "normal",
            "titlePadding": 10,
        },
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "symbolStrokeWidth": 2},
        "title": {"color": ink, "subtitleColor": soft, "fontSize": 16, "subtitleFontSize": 12.5, "anchor": "start", "offset": 14},
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 13},
        "text": {"color": ink},
        "range": {"category": [colour(number) for number in range(SERIES)]},
    }
    own = spec.get("config", {})
    own.pop("view", None)  # altair's own size of a view
    return {**spec, "config": {**look, **own}}
