"""Whether names are those of columns. The first line of a file without a header is a person, who must not be shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.errors import InputError
from sfumato.table.parse import guess, parse_dates, parse_numbers

HEADERLESS = "the first line looks like data, and not like the names of columns"

_FEW = 2
"""From this many names that are also values of their own columns on, the names are a row; one may be chance ("pregnant")."""


class HeaderlessError(InputError):
    """A file whose first line looks like a person: it has no header, and `width` columns."""

    def __init__(self, message: str, *, width: int) -> None:
        super().__init__(
            message,
            hint='[input] header = false and names = ["…", …] for a file without names; a column that is really called '
            "by a number or a date needs a letter (y2020)",
        )
        self.width = width


def looks_like_row(names: Sequence[str], body: Sequence[Sequence[str]], decimal: str = ".") -> bool:
    """Return whether the first line of a text file looks like one more of the lines below it."""
    rows = [row for row in body if len(row) == len(names)]
    if not rows or len(names) < 2:
        return False
    columns = [pa.array([cell or None for cell in cells], pa.string()).drop_null() for cells in zip(*rows, strict=True)]
    typed = [guess(column.unique(), decimal).values if len(column) else column for column in columns]
    return _is_row(names, [pa.chunked_array([column]) for column in typed], decimal)


def is_row(names: Sequence[str], table: pa.Table, *, decimal: str = ".") -> bool:
    """Return whether these "names" look like one more row of the table.

    They do if one is a number or a date above a column of such, or if several of them occur in their own columns.
    """
    return _is_row(names, table.columns, decimal)


def _is_row(names: Sequence[str], columns: Sequence[pa.ChunkedArray], decimal: str) -> bool:
    kinds = [column.type.value_type if pt.is_dictionary(column.type) else column.type for column in columns]
    texts = pa.array(names, pa.string())
    number, day = ~parse_numbers(texts, decimal).bad, ~parse_dates(texts).bad
    numeric = np.array([pt.is_integer(kind) or pt.is_floating(kind) for kind in kinds])
    dated = np.array([pt.is_temporal(kind) for kind in kinds])
    if (number & numeric).any() or (day & dated).any():
        return True
    repeated = sum(_holds(column, name) for name, column in zip(names, columns, strict=True))
    return repeated >= min(_FEW, (len(names) + 1) // 2)


def _holds(column: pa.ChunkedArray, text: str) -> bool:
    """Return whether a column of texts has this one among its values."""
    chunks = [chunk.dictionary if pt.is_dictionary(column.type) else chunk for chunk in column.chunks]
    texts = [chunk for chunk in chunks if pt.is_string(chunk.type) or pt.is_large_string(chunk.type)]
    return any(pc.index(chunk, pa.scalar(text, chunk.type)).as_py() >= 0 for chunk in texts)
