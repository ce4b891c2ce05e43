"""A chart as SVG text: in words too for whoever does not see it, with colours by name, so that light and dark can differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from sfumato.charts.library import Chart, chart_library
from sfumato.charts.look import DARK, FONT, LIGHT, SMALL, TEXT, TITLE

VEGA_LITE = "5.20"
"""The version of the charts' language that they are drawn by: every altair since 5 writes what it understands."""

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
    used = {"paper", *re.findall(r"var\(--sf-([a-z0-9-]+)\)", svg)}
    light, dark = (colours({name: shade for name, shade in scheme.items() if name in used}) for scheme in (LIGHT, DARK))
    style = f"<style>:root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}text{{font-family:{FONT}}}</style>"
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
            "labelFontSize": SMALL,
            "titleFontSize": TEXT,
            "titleFontWeight": "normal",
            "titlePadding": 10,
        },
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": SMALL, "titleFontSize": SMALL, "symbolStrokeWidth": 2},
        "title": {
            "color": ink,
            "subtitleColor": soft,
            "fontSize": TITLE,
            "subtitleFontSize": TEXT,
            "anchor": "start",
            "offset": 14,
        },
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 13},
        "text": {"color": ink},
        "range": {"category": [colour(number) for number in range(SERIES)]},
    }
    own = spec.get("config", {})
    own.pop("view", None)  # altair's own size of a view
    return {**spec, "config": {**look, **own}}
