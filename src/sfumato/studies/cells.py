"""Cells of tables as people read them."""

from __future__ import annotations

Cell = str | int | float | None


def text(cell: Cell) -> str:
    """Return a cell as people read it."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if cell == 0:
        return "0"
    if abs(cell) >= 1000:
        return f"{cell:,.0f}"
    if abs(cell) >= 0.001:
        return f"{cell:.3g}"
    return f"{cell:.1e}"
