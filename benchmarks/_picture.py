"""A small scatter plot as SVG, drawn without a plotting library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 470, 80, 50, 150, 60
COLOURS = ("#777777", "#c1440e", "#2a6f4e", "#7fb69a", "#1f4e9c", "#88a9d8")

Points = Mapping[str, Sequence[tuple[float, float, str]]]


def scatter(path: Path, points: Points, *, title: str, x: str, y: str) -> Path:
    """Write one series of (x, y, label) per name, joined by a line, and return the path."""
    across = max(point[0] for series in points.values() for point in series) * 1.08
    up = max(point[1] for series in points.values() for point in series) * 1.08
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="28" font-size="16">{escape(title)}</text>',
        *_axes(across, up, x, y),
    ]
    for number, (name, series) in enumerate(points.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(_x(point[0], across), _y(point[1], up), point[2]) for point in series]
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py, _ in places)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.2" stroke-opacity="0.6"/>')
        for px, py, label in places:
            parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5" fill="{colour}"/>')
            parts.append(f'<text x="{px + 8:.1f}" y="{py - 6:.1f}" font-size="10" fill="{colour}">{escape(label)}</text>')
        top = TOP + 20 * number
        parts.append(f'<circle cx="{WIDTH - RIGHT + 24}" cy="{top}" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 36}" y="{top + 4}">{escape(name)}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
    return path


def _axes(across: float, up: float, x: str, y: str) -> list[str]:
    parts = [
        f'<path d="M{LEFT},{TOP} V{HEIGHT - BOTTOM} H{WIDTH - RIGHT}" fill="none" stroke="black"/>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 16}" text-anchor="middle">{escape(x)}</text>',
        f'<text transform="translate(24,{(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{escape(y)}</text>',
    ]
    for tick in _ticks(across):
        px = _x(tick, across)
        parts.append(f'<path d="M{px:.1f},{HEIGHT - BOTTOM} v5" stroke="black"/>')
        parts.append(f'<text x="{px:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{tick:g}</text>')
    for tick in _ticks(up):
        py = _y(tick, up)
        parts.append(f'<path d="M{LEFT},{py:.1f} h-5 M{LEFT},{py:.1f} H{WIDTH - RIGHT}" stroke="black" stroke-opacity="0.15"/>')
        parts.append(f'<text x="{LEFT - 10}" y="{py + 4:.1f}" text-anchor="end">{tick:g}</text>')
    return parts


def _ticks(top: float) -> list[float]:
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10) if top / step <= 7)
    return [round(step * k, 6) for k in range(int(top / step) + 1)]


def _x(value: float, across: float) -> float:
    return LEFT + value / across * (WIDTH - LEFT - RIGHT)


def _y(value: float, up: float) -> float:
    return HEIGHT - BOTTOM - value / up * (HEIGHT - TOP - BOTTOM)
