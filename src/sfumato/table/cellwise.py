"""Columns from cells of any types, as workbooks and files of statistics programs have them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import pyarrow as pa

from sfumato.table.cells import cell_texts


def column_of(cells: Iterable[Any], null: Sequence[str] = ("",)) -> pa.ChunkedArray:
    """Return a coded column of the type that all of its cells have, or of their texts; what is written as in `null` is missing.

    Numbers that are all whole become whole numbers: a workbook has no others than floats.
    """
    absent = {text.strip() for text in null} | {""}
    values = [None if _missing(cell, absent) else cell for cell in cells]
    present = [cell for cell in values if cell is not None]
    kinds = {_kind(cell) for cell in present}
    if not kinds:
        array = pa.nulls(len(values), pa.string())
    elif kinds == {"number"}:
        whole = all(float(cell).is_integer() and abs(cell) < 2**53 for cell in present)
        array = pa.array([None if cell is None else int(cell) if whole else float(cell) for cell in values])
    elif kinds <= {"day", "moment"}:
        array = pa.array([_moment(cell) for cell in values], pa.timestamp("us"))
    elif kinds == {"text"}:
        array = pa.array([None if cell is None else cell.strip() for cell in values], pa.string())
    else:
        texts = [str(cell) if isinstance(cell, time | timedelta) else cell for cell in values]
        array = cell_texts(texts, [cell is None for cell in values])
    return pa.chunked_array([array.dictionary_encode()])


def _moment(cell: Any) -> datetime | None:
    return cell if cell is None or isinstance(cell, datetime) else datetime.combine(cell, time())


def _missing(cell: Any, absent: set[str]) -> bool:
    if cell is None or (isinstance(cell, str) and cell.strip() in absent):
        return True
    return isinstance(cell, float) and not math.isfinite(cell)


def _kind(cell: Any) -> str:
    if isinstance(cell, bool | str):
        return "text" if isinstance(cell, str) else "truth"
    if isinstance(cell, datetime):
        return "moment"
    if isinstance(cell, date):
        return "day"
    return "number" if isinstance(cell, int | float) else "other"
