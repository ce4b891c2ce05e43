"""Small pictures as SVG, drawn without a plotting library; they follow the reader's choice of light or dark."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from benchmarks._svg import card, upright, write

Point = tuple[float, float, str]
Points = Mapping[str, Sequence[Point]]
Rectangle = tuple[float, float, float, float]

MARKS = ("ring", "diamond", "square", "circle")


@dataclass(frozen=True)
class Panel:
    """Boxes as (left, right, bottom, top), both ends inside, and people as (across, up), in whole numbers."""

    title: str
    note: str
    boxes: Sequence[Rectangle]
    people: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Log:
    """A logarithmic axis: the value `low` at pixel `start`, `high` at pixel `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = [step * 10.0**power for power in powers for step in (1, 2, 3, 5)]
        return [round(tick, 9) for tick in found if self.low <= tick <= self.high]


def scatter(path: Path, points: Points, *, title: str, note: str, x: str, y: str) -> Path:
    """Write one series of (x, y, label) per name, joined by a line, on logarithmic axes, and return the path."""
    wide, high, left, right, top, bottom = 860, 560, 76, 36, 84, 64
    values = [point for series in points.values() for point in series]
    across = _Log(min(p[0] for p in values) / 1.25, max(p[0] for p in values) * 1.35, left, wide - right)
    up = _Log(min(p[1] for p in values) / 1.4, max(p[1] for p in values) * 1.25, high - bottom, top)
    parts = [*card(wide, high, title, note), *_log_axes(across, up, x, y)]
    marks, wanted = [], []
    lines = [[(float(left), up.at(1)), (float(wide - right), up.at(1))]]
    for k, (name, series) in enumerate(points.items()):
        if not series:
            continue
        ordered = sorted(series, key=lambda point: point[0])
        places = [(across.at(px), up.at(py)) for px, py, _ in ordered]
        lines.append(places)
        joined = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        parts.append(f'<polyline points="{joined}" fill="none" class="l{k}" stroke-width="1.6" stroke-opacity="0.55"/>')
        marks += [(_mark(MARKS[k % len(MARKS)], k, px, py), (px, py)) for px, py in places]
        wanted += [(label, place, k, 11.5, "") for (_, _, label), place in zip(ordered, places, strict=True) if label]
        wanted.insert(0, (name, places[len(places) // 2], k, 14.0, ' font-weight="600"'))
    parts += [drawn for drawn, _ in marks]
    inside = (left, top, wide - right, high - bottom)
    taken = [(px - 8, py - 8, px + 8, py + 8) for _, (px, py) in marks]
    for text, place, k, size, weight in wanted:
        box = _free_place(text, place, size, taken, lines, inside)
        taken.append(box)
        look = f'font-size="{size}" class="s{k} halo"{weight}'
        parts.append(f'<text x="{box[0]:.1f}" y="{box[3] - 0.28 * size:.1f}" {look}>{escape(text)}</text>')
    return write(path, parts)


def plan_of_boxes(path: Path, *panels: Panel, title: str, note: str, x: str, y: str) -> Path:
    """Write the boxes of each panel side by side, with its people as faint dots, and return the path."""
    wide, high, left, top, bottom, gap = 900, 520, 56, 128, 58, 28
    width = (wide - left - 28 - gap * (len(panels) - 1)) / len(panels)
    parts = card(wide, high, title, note)
    for k, panel in enumerate(panels):
        start = left + k * (width + gap)
        parts.append(f'<g transform="translate({start:.1f},{top})">')
        parts += _panel(panel, 2 + k, width, high - top - bottom)
        middle = f'x="{width / 2:.1f}" y="{high - top - 18}" font-size="13" text-anchor="middle"'
        parts.append(f'<text {middle} class="ink">{escape(x)}</text></g>')
    parts.append(upright(32, (top + high - bottom) / 2, y))
    return write(path, parts)


def _panel(panel: Panel, colour: int, width: float, height: float) -> list[str]:
    people = np.asarray(panel.people, dtype=float)
    low, far = people.min(axis=0) - 0.5, people.max(axis=0) + 0.5
    wide, high = width / (far[0] - low[0]), height / (far[1] - low[1])
    moved = people + np.random.default_rng(1).uniform(-0.38, 0.38, people.shape)
    dots = "".join(f"M{(px - low[0]) * wide:.1f} {(far[1] - py) * high:.1f}h0" for px, py in moved)
    parts = [
        f'<text y="-30" font-size="15" font-weight="600" class="s{colour}">{escape(panel.title)}</text>',
        f'<text y="-11" font-size="12.5" class="soft">{escape(panel.note)}</text>',
        f'<path d="{dots}" class="people"/>',
    ]
    for x0, x1, y0, y1 in panel.boxes:
        px, py = (x0 - 0.5 - low[0]) * wide + 1, (far[1] - y1 - 0.5) * high + 1
        size = f'width="{(x1 - x0 + 1) * wide - 2:.1f}" height="{(y1 - y0 + 1) * high - 2:.1f}"'
        look = f'rx="2.5" class="s{colour} l{colour}" fill-opacity="0.13" stroke-width="1.2"'
        parts.append(f'<rect x="{px:.1f}" y="{py:.1f}" {size} {look}/>')
    for tick in range(20, int(far[0]) + 1, 20):
        px = (tick - low[0]) * wide
        parts.append(f'<text x="{px:.1f}" y="{height + 18}" font-size="12" text-anchor="middle" class="soft">{tick}</text>')
    return parts


def _log_axes(across: _Log, up: _Log, x: str, y: str) -> list[str]:
    parts = []
    for tick in across.ticks():
        px = across.at(tick)
        parts.append(f'<path d="M{px:.1f},{up.start} V{up.end}" class="grid"/>')
        parts.append(
            f'<text x="{px:.1f}" y="{up.start + 20}" font-size="12" text-anchor="middle" class="soft">{100 * tick:g} %</text>'
        )
    for tick in up.ticks():
        py = up.at(tick)
        kind = "axis" if tick == 1 else "grid"
        dash = ' stroke-dasharray="5 4"' if tick == 1 else ""
        parts.append(f'<path d="M{across.start},{py:.1f} H{across.end}" class="{kind}"{dash}/>')
        parts.append(
            f'<text x="{across.start - 8}" y="{py + 4:.1f}" font-size="12" text-anchor="end" class="soft">{tick:g}</text>'
        )
    middle = (across.start + across.end) / 2
    parts.append(f'<text x="{middle}" y="{up.start + 46}" font-size="13" text-anchor="middle" class="ink">{escape(x)}</text>')
    parts.append(upright(24, (up.start + up.end) / 2, y))
    return parts


def _mark(shape: str, k: int, px: float, py: float) -> str:
    """Return a mark whose shape tells the series too, for readers who do not see its colour."""
    if shape == "diamond":
        return f'<path d="M{px:.1f},{py - 7:.1f} l7,7 l-7,7 l-7,-7 z" class="s{k}"/>'
    if shape == "square":
        return f'<rect x="{px - 5:.1f}" y="{py - 5:.1f}" width="10" height="10" rx="1.5" class="s{k}"/>'
    filled = "paper" if shape == "ring" else f"s{k}"
    return f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5.5" class="{filled} l{k}" stroke-width="2"/>'


def _free_place(
    text: str,
    place: tuple[float, float],
    size: float,
    taken: Iterable[Rectangle],
    lines: Iterable[Sequence[tuple[float, float]]],
    inside: Rectangle,
) -> Rectangle:
    """Return where around its point a text covers least: no other text or mark if possible, then no line, then near."""
    wide, high = 0.57 * size * len(text), 1.2 * size
    between = [
        (ax + (bx - ax) * step / 24, ay + (by - ay) * step / 24)
        for line in lines
        for (ax, ay), (bx, by) in itertools.pairwise(line)
        for step in range(25)
    ]
    best, least = (0.0, 0.0, 0.0, 0.0), math.inf
    for away in (10, 16, 24, 34):
        for turn in range(16):
            angle = math.tau * turn / 16
            px = place[0] + math.cos(angle) * (away + wide / 2) - wide / 2
            py = place[1] + math.sin(angle) * (away + high / 2) - high / 2
            box = (px, py, px + wide, py + high)
            out = box[0] < inside[0] or box[1] < inside[1] or box[2] > inside[2] or box[3] > inside[3]
            covered = sum(_shared(box, other) for other in taken)
            crossed = sum(box[0] - 2 <= qx <= box[2] + 2 and box[1] - 2 <= qy <= box[3] + 2 for qx, qy in between)
            cost = 10_000 * out + 20 * covered + 12 * crossed + away
            if cost < least:
                best, least = box, cost
    return best


def _shared(one: Rectangle, other: Rectangle) -> float:
    """Return the area that two rectangles (left, top, right, bottom) share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0
