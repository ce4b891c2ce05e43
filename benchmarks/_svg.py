"""What every picture shares: a card with a title, colours that follow the reader's choice of light or dark, and writing it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

LIGHT = ("#6e7781", "#bc4c00", "#1a7f37", "#0969da", "#8250df")
DARK = ("#9198a1", "#f0883e", "#4ac26b", "#58a6ff", "#ab7df8")

_COLOURS = "".join(f".s{k}{{fill:{c}}}.l{k}{{stroke:{c}}}" for k, c in enumerate(LIGHT))
_DARK_COLOURS = "".join(f".s{k}{{fill:{c}}}.l{k}{{stroke:{c}}}" for k, c in enumerate(DARK))
STYLE = f"""<style>
text{{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",sans-serif}}
.card{{fill:#ffffff;stroke:#d1d9e0}}.paper{{fill:#ffffff}}.ink{{fill:#1f2328}}.soft{{fill:#59636e}}.grid{{stroke:#e3e8ed}}
.axis{{stroke:#818b98}}.halo{{stroke:#ffffff;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}}
.people{{fill:none;stroke:#59636e;stroke-opacity:.6;stroke-width:1.9;stroke-linecap:round}}
{_COLOURS}
@media (prefers-color-scheme:dark){{
.card{{fill:#0d1117;stroke:#3d444d}}.paper{{fill:#0d1117}}.ink{{fill:#f0f6fc}}.soft{{fill:#9198a1}}.grid{{stroke:#262c36}}
.axis{{stroke:#656c76}}.halo{{stroke:#0d1117}}.people{{stroke:#b0b8c1}}
{_DARK_COLOURS}
}}
</style>"""


def card(wide: int, high: int, title: str, note: str) -> list[str]:
    """Return the start of a picture: its frame, title and a note below it."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" aria-label="{escape(title)}">',
        STYLE,
        f'<rect x="0.5" y="0.5" width="{wide - 1}" height="{high - 1}" rx="10" class="card"/>',
        f'<text x="28" y="38" font-size="18" font-weight="600" class="ink">{escape(title)}</text>',
        f'<text x="28" y="60" font-size="13" class="soft">{escape(note)}</text>',
    ]


def upright(px: float, py: float, text: str) -> str:
    """Return a text that reads upwards, around its middle."""
    turned = f'transform="translate({px},{py}) rotate(-90)"'
    return f'<text {turned} font-size="13" text-anchor="middle" class="ink">{escape(text)}</text>'


def write(path: Path, parts: Sequence[str]) -> Path:
    """Write the parts as one picture, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
    return path
