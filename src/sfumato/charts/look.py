"""The look of everything that is shown: one palette, one scale of type, one step of space, one way to draw an interval.

Reports, pages, pictures of the guide, `answer.plot()` and the studio take colours from here by name, never by number.
"""

from __future__ import annotations

_COLOURS = {
    "ink": ("#1f2328", "#f0f6fc"),
    "soft": ("#59636e", "#9198a1"),
    "grid": ("#e3e8ed", "#2b323b"),
    "axis": ("#818b98", "#656c76"),
    "paper": ("#ffffff", "#0d1117"),
    "card": ("#f6f8fa", "#161b22"),
    "line": ("#d1d9e0", "#3d444d"),
    "link": ("#0550ae", "#79c0ff"),
    "good": ("#1a7f37", "#4ac26b"),
    "good-bg": ("#dafbe1", "#12261e"),
    "careful": ("#7d4e00", "#e3b341"),
    "careful-bg": ("#fff8c5", "#272115"),
    "bad": ("#cf222e", "#ff7b72"),
    "bad-bg": ("#ffebe9", "#2d1214"),
    "more": ("#b2182b", "#ff7b72"),
    "less": ("#2166ac", "#58a6ff"),
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
"""The colours by name: writing, lines of the axes, what is behind, what is good, careful or bad, and one a series."""

BETWEEN = ("#2f7fdd", "#c8681f", "#2f9a4d", "#9a6fe0", "#dd4f55", "#a97d10", "#258f97", "#7d8792", "#d05a9b", "#808a94")
"""The series where a picture cannot follow the ground it stands on: each has a contrast of 3 and more to light and to dark."""

BETWEEN_TEXT, BETWEEN_LINE = "#76808a", "rgba(128,128,128,.3)"

LIFTS = ("#2166ac", "#f7f7f7", "#b2182b")
"""The colours of a lift of 1/4, of 1, and of 4."""

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif'

FILL = 0.45
"""How opaque a bar is on which marks stand: they are seen in grey too."""

TITLE, TEXT, SMALL = 16, 12.5, 12
"""Sizes of type in a picture, in pixels: its title, what stands beside axes and under the title, and marks of axes."""

BAR, POINT = 3, 8
"""An interval is a bar so many pixels thick, in the colour of its figure, which is a point so wide, or a cross without one."""
