"""Clouds of points beside each other as SVG: estimate against truth, with the diagonal, drawn without a plotting library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

SIDE, GAP, LEFT, TOP, BOTTOM = 250, 34, 70, 74, 56
COLOUR = "#2f6fb0"

Panels = Mapping[str, Sequence[tuple[float, float]]]


def dots(path: Path, panels: Panels, *, title: str, x: str, y: str) -> Path:
    """Write one panel per name, all with the same axes, and return the path."""
    top = max(point[0] for points in panels.values() for point in points) * 1.05
    low = min(0.0, *(point[1] for points in panels.values() for point in points))
    low = max(low, -0.5 * top)
    width, height = LEFT + len(panels) * (SIDE + GAP), TOP + SIDE + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="26" font-size="16">{escape(title)}</text>',
        f'<text transform="translate(18,{TOP + SIDE / 2}) rotate(-90)" text-anchor="middle">{escape(y)}</text>',
    ]
    for number, (name, points) in enumerate(panels.items()):
        left = LEFT + number * (SIDE + GAP)
        parts += _panel(left, name, points, low, top, x, first=number == 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
    return path


def _panel(
    left: float, name: str, points: Sequence[tuple[float, float]], low: float, top: float, x: str, *, first: bool
) -> list[str]:
    def across(value: float) -> float:
        return left + value / top * SIDE

    def up(value: float) -> float:
        return TOP + SIDE - (min(max(value, low), top) - low) / (top - low) * SIDE

    bottom = TOP + SIDE
    parts = [
        f'<text x="{left}" y="{TOP - 12}" font-size="14">{escape(name)}</text>',
        f'<path d="M{left},{TOP} V{bottom} H{left + SIDE}" fill="none" stroke="black"/>',
        f'<path d="M{across(0):.1f},{up(0):.1f} L{across(top):.1f},{up(top):.1f}" stroke="black" stroke-opacity="0.5"/>',
        f'<text x="{left + SIDE / 2}" y="{bottom + 40}" text-anchor="middle">{escape(x)}</text>',
    ]
    for tick in _ticks(top):
        parts.append(f'<text x="{across(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{tick:,.0f}</text>')
        if first:
            parts.append(f'<text x="{left - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:,.0f}</text>')
        parts.append(f'<path d="M{left},{up(tick):.1f} H{left + SIDE}" stroke="black" stroke-opacity="0.1"/>')
    cloud = "".join(f"M{across(a):.1f},{up(b):.1f}h0" for a, b in points)
    parts.append(
        f'<path d="{cloud}" stroke="{COLOUR}" stroke-opacity="0.35" stroke-width="3" stroke-linecap="round" fill="none"/>'
    )
    return parts


def _ticks(top: float) -> list[float]:
    step = 10.0 ** (len(str(int(top))) - 1)
    while top / step < 3:
        step /= 2
    return [step * k for k in range(int(top / step) + 1)]
