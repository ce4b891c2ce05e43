"""Small multiples of lines with their names at the right end, as SVG; colours tell families apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks._svg import card, upright, write

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 470, 330, 56, 118, 34, 46


@dataclass(frozen=True)
class Lines:
    """A panel: per name its family's colour and a figure for every step, None where there is none; and a dashed level."""

    title: str
    series: Mapping[str, tuple[int, Sequence[float | None]]]
    level: tuple[str, float] | None = None
    cap: float = float("inf")
    """What lies above is drawn here."""


def small_multiples(path: Path, panels: Sequence[Lines], steps: Sequence[str], *, title: str, note: str, y: str) -> Path:
    """Write panels two in a row, all with the same steps across, each with its own scale from 0 on, and return the path."""
    rows = -(-len(panels) // 2)
    parts = card(2 * WIDE + 48, rows * HIGH + 92, title, note)
    for k, panel in enumerate(panels):
        parts.append(f'<g transform="translate({28 + k % 2 * WIDE},{78 + k // 2 * HIGH})">')
        parts += _panel(panel, steps, y if k % 2 == 0 else "")
        parts.append("</g>")
    return write(path, parts)


def _panel(panel: Lines, steps: Sequence[str], y: str) -> list[str]:
    figures = [one for _, series in panel.series.values() for one in series if one is not None]
    top = min(1.08 * max([*figures, panel.level[1] if panel.level else 0.0]), panel.cap)
    floor, roof, right = HIGH - BOTTOM, TOP, WIDE - RIGHT

    def across(step: int) -> float:
        return LEFT + step * (right - LEFT) / max(len(steps) - 1, 1)

    def up(figure: float) -> float:
        return floor - min(figure / top, 1.0) * (floor - roof)

    parts = [f'<text x="{LEFT}" y="18" font-size="14" font-weight="600" class="ink">{escape(panel.title)}</text>']
    for tick in range(5):
        level = top * tick / 4
        parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{up(level):.1f}" y2="{up(level):.1f}" class="grid"/>')
        text = f'x="{LEFT - 8}" y="{up(level) + 4:.1f}" font-size="12" text-anchor="end" class="soft"'
        parts.append(f"<text {text}>{level:.0%}</text>")
    for step, name in enumerate(steps):
        for line, word in enumerate(name.split("\n")):
            place = f'x="{across(step):.1f}" y="{floor + 18 + 15 * line}" font-size="12" text-anchor="middle" class="soft"'
            parts.append(f"<text {place}>{escape(word)}</text>")
    ends: list[tuple[float, int, str]] = []
    if panel.level is not None:
        parts.append(
            f'<line x1="{LEFT}" x2="{right}" y1="{up(panel.level[1]):.1f}" y2="{up(panel.level[1]):.1f}" class="axis" '
            'stroke-dasharray="4 4"/>'
        )
        ends.append((up(panel.level[1]), -1, panel.level[0]))
    for name, (colour, series) in panel.series.items():
        places = [(across(k), up(one)) for k, one in enumerate(series) if one is not None]
        joined = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        parts.append(f'<polyline points="{joined}" fill="none" class="l{colour}" stroke-width="1.8" stroke-opacity="0.8"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.6" class="s{colour}"/>' for px, py in places]
        ends.append((places[-1][1], colour, name))
    parts += _names(ends, right + 8, roof, floor)
    if y:
        parts.append(upright(12, (roof + floor) / 2, y))
    return parts


def _names(ends: list[tuple[float, int, str]], x: float, roof: float, floor: float) -> list[str]:
    """Return every name near the end of its line, moved apart where they would touch."""
    gap, ends = 13.0, sorted(ends)
    places = [end for end, _, _ in ends]
    for _ in range(200):
        for k in range(len(places) - 1):
            near = gap - (places[k + 1] - places[k])
            if near > 0:
                places[k], places[k + 1] = places[k] - near / 2, places[k + 1] + near / 2
        over = places[-1] - floor
        under = roof - places[0]
        places = [place - max(over, 0.0) + max(under, 0.0) for place in places]
    looks = ["soft" if colour < 0 else f"s{colour}" for _, colour, _ in ends]
    return [
        f'<text x="{x}" y="{place + 4:.1f}" font-size="11.5" class="{look}">{escape(name)}</text>'
        for place, look, (_, _, name) in zip(places, looks, ends, strict=True)
    ]
