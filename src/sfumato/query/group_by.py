"""The cells of a GROUP BY: which there are, the question narrowed down to one, and estimates that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.arrays import combine_codes
from sfumato.errors import QueryError
from sfumato.query.engine import Cell, CountEstimate, GroupColumns
from sfumato.query.language.compile import Piece, Pieces
from sfumato.query.language.vocabulary import Vocabulary
from sfumato.query.rows import RowIndex

MAX_CELLS = 10_000
"""Cells of a GROUP BY that are answered at once."""


def find_columns(vocabulary: Vocabulary, names: tuple[str, ...]) -> GroupColumns:
    """Return where the columns of a GROUP BY are; one that is named twice is an error."""
    columns = [vocabulary.find(name) for name in names]
    if len(set(names)) < len(names):
        raise QueryError("GROUP BY names a column twice")
    return columns


def require_few_cells(cells: int) -> None:
    """Refuse a GROUP BY with more cells than anybody reads."""
    if cells > MAX_CELLS:
        raise QueryError(f"GROUP BY makes more than {MAX_CELLS} cells", hint="group by fewer columns, or add a WHERE condition")


def occurring_cells(table: RowIndex, vocabulary: Vocabulary, columns: GroupColumns, pieces: Sequence[Piece]) -> list[Cell]:
    """Return the cells that can occur where rows are shown: per piece those of its rows with those of its values."""
    cells: set[Cell] = set()
    for piece in pieces:
        buffer, people = table.find(piece.rows)
        rows = _distinct([table.codes[j][buffer[:people]] for sensitive, j, _ in columns if not sensitive], people)
        parts = [vocabulary.part_codes[j][piece.values] for sensitive, j, _ in columns if sensitive]
        values = _distinct(parts, int(piece.values.sum()))
        require_few_cells(len(rows) * len(values) + len(cells))
        for row in rows:
            for value in values:
                of_quasi, of_parts = iter(row), iter(value)
                cells.add(tuple(next(of_parts) if sensitive else next(of_quasi) for sensitive, _, _ in columns))
    return sorted(cells)


def _distinct(columns: list[Any], length: int) -> list[Cell]:
    if not columns:
        return [()] if length else []
    if not length:
        return []
    # One number a row, and one row of each number: sorting numbers is ten times as fast as sorting rows.
    key = combine_codes([(column, int(column.max()) + 1) for column in columns])
    _, rows = np.unique(key, return_index=True)
    return list(zip(*(column[rows].tolist() for column in columns), strict=True))


def narrow(vocabulary: Vocabulary, columns: GroupColumns, cell: Cell) -> Callable[[Pieces], Pieces]:
    """Return the function that narrows pieces down to one cell."""

    def to_cell(pieces: Pieces) -> Pieces:
        narrowed = []
        for piece in pieces:
            values, rows = piece.values, piece.rows
            for (sensitive, column, words), code in zip(columns, cell, strict=True):
                if sensitive:
                    values = values & (vocabulary.part_codes[column] == code)
                else:
                    rows = rows.narrowed(column, np.arange(words.size) == code)
            if values.any():
                narrowed.append(Piece(values, rows))
        return tuple(narrowed)

    return to_cell


def reconcile(parts: list[CountEstimate], total: CountEstimate) -> list[CountEstimate]:
    """Return the parts moved so that they add up to the total: each in proportion to its variance, within what is certain."""
    goal = total.inside
    values = np.array([part.inside for part in parts])
    least, most = np.array([part.least for part in parts]), np.array([part.most for part in parts])
    weight = np.array([part.std_error**2 for part in parts]) + 1e-12
    for _ in range(100):
        gap = goal - values.sum()
        free = (values < most) if gap > 0 else (values > least)
        if abs(gap) < 1e-9 * max(1.0, goal) or not free.any():
            break
        values = np.clip(values + gap * np.where(free, weight, 0.0) / weight[free].sum(), least, most)
    return [
        replace(part, value=value) if part.raw is None else replace(part, settled=value)
        for value, part in zip(values.tolist(), parts, strict=True)
    ]
