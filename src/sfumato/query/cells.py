"""The cells of a GROUP BY: which there are, the question cut down to one, and estimates that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.arrays import Flags
from sfumato.errors import QueryError
from sfumato.query.buckets import Guess
from sfumato.query.compile import Piece, Pieces, restrict
from sfumato.query.index import RowIndex
from sfumato.query.vocabulary import Vocabulary, Words

MAX_CELLS = 10_000
"""Cells of a GROUP BY that are answered at once."""

Places = Sequence[tuple[bool, int, Words]]
"""Per grouped column: whether it is sensitive, its number among its kind, its words."""


def find_places(vocabulary: Vocabulary, group_by: tuple[str, ...]) -> list[tuple[bool, int, Words]]:
    """Return where the grouped columns are; a column named twice is an error."""
    places = [vocabulary.find(name) for name in group_by]
    if len(set(group_by)) < len(group_by):
        raise QueryError("GROUP BY names a column twice")
    return places


def occurring_cells(table: RowIndex, vocabulary: Vocabulary, places: Places, pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """Return the combinations of codes that can occur, ascending: per piece those of its rows with those of its values."""
    quasi = [j for sensitive, j, _ in places if not sensitive]
    parts = [j for sensitive, j, _ in places if sensitive]
    cells: set[tuple[int, ...]] = set()
    for piece in pieces:
        buffer, found = table.find(piece.rows)
        rows = _distinct([table.codes[j][buffer[:found]] for j in quasi], found)
        values = _distinct([vocabulary.part_codes[j][piece.values] for j in parts], int(piece.values.sum()))
        if len(rows) * len(values) + len(cells) > MAX_CELLS:
            raise QueryError(
                f"GROUP BY makes more than {MAX_CELLS} cells", hint="group by fewer columns, or add a WHERE condition"
            )
        for row in rows:
            for value in values:
                of_quasi, of_parts = iter(row), iter(value)
                cells.add(tuple(next(of_parts) if sensitive else next(of_quasi) for sensitive, _, _ in places))
    return sorted(cells)


def _distinct(columns: list[Any], length: int) -> list[tuple[int, ...]]:
    if not columns:
        return [()] if length else []
    return [tuple(map(int, row)) for row in np.unique(np.stack([c.astype(np.int64) for c in columns], axis=1), axis=0)]


def cut_to_cell(vocabulary: Vocabulary, places: Places, cell: tuple[int, ...], pieces: Sequence[Piece]) -> Pieces:
    """Return the pieces cut down to one cell."""
    result = []
    for piece in pieces:
        values: Flags = piece.values
        rows = piece.rows
        for (sensitive, column, words), code in zip(places, cell, strict=True):
            if sensitive:
                values = values & (vocabulary.part_codes[column] == code)
            else:
                accepted = np.zeros(words.size, bool)
                accepted[code] = True
                rows = restrict(rows, column, accepted)
        if values.any():
            result.append(Piece(values, rows))
    return tuple(result)


def reconcile(parts: list[Guess], total: Guess) -> list[Guess]:
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
    return [replace(part, value=float(value)) for value, part in zip(values, parts, strict=True)]
