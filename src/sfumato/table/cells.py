"""One cell by itself: the text that equal values have in common, whatever the rest of the column looks like.

A column that is read as a whole takes one type from all of its cells: 1 becomes 1.0 where somebody has 2.5 or nothing, "1" stays
text where somebody has "x", a day becomes a moment where somebody has a time. Where nothing that is published of a person may
depend on others, cells are read here, one by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.table.coding import build, doubles, split
from sfumato.table.column import MISSING, Column, as_text
from sfumato.table.source import require_publishable

NOTHING_KNOWN = "\0"
"""The text of a cell that holds neither text nor a number nor a date."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[+-]?0[0-9].*")  # digits after a leading zero are a name, such as a postcode
_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T]([0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)[0-9]*(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def cell_text(value: Any, decimal: str = ".") -> str | None:
    """Return the text of a cell, None where it is missing: the same for 1, 1.0, "1" and " 1", and for a day and its midnight.

    It follows from this cell alone. ISO dates and moments and 31.12.2024 are dates (a zone is cut off: the wall clock counts);
    dates with slashes, which only a whole column could explain, are text.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _of_text(value.strip(), decimal)
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | float | np.integer | Decimal):
        return _of_number(value)
    if isinstance(value, np.floating):
        return _of_number(float(str(value)))  # the float32 0.1 means 0.1
    if isinstance(value, datetime):
        return None if value != value else _of_moment(value)  # a missing moment differs from itself
    return value.isoformat() if isinstance(value, date) else NOTHING_KNOWN


def number_in(text: str, decimal: str = ".") -> float | None:
    """Return the number that a text writes, None where it is none; digits after a leading zero are a name."""
    if decimal != ".":
        text = text.replace(".", "?").replace(decimal, ".")
    return float(text) if _NUMBER.fullmatch(text) and not _NAME.fullmatch(text) else None


def date_in(text: str) -> datetime | None:
    """Return the day or moment that a text writes, None where it is none."""
    iso, dotted = _ISO.fullmatch(text), _DOTTED.fullmatch(text)
    try:
        if dotted:
            return datetime(int(dotted[3]), int(dotted[2]), int(dotted[1]))
        return datetime.fromisoformat(f"{iso[1]} {iso[3] or '00:00'}") if iso else None
    except ValueError:
        return None


def cell_column(name: str, data: pa.ChunkedArray, decimal: str) -> Column:
    """Return a column of cell texts: distinct values are many fewer than rows, and each is read by itself."""
    require_publishable(name, data.type)
    values, codes = split(data)
    texts = [cell_text(value, decimal) for value in _plain(values)]
    return build(name, "categorical", pa.array(texts, pa.string()), codes)


def cell_texts(values: list[Any], missing: list[bool]) -> pa.Array:
    """Return the texts of Python objects of any types: what a column of different types holds."""
    # Only texts are remembered: two moments in different zones are equal and have different texts.
    known: dict[str, str | None] = {}
    texts = []
    for value, gone in zip(values, missing, strict=True):
        if type(value) is str and not gone:
            if value not in known:
                known[value] = cell_text(value)
            texts.append(known[value])
        else:
            texts.append(None if gone else cell_text(value))
    return pa.array(texts, pa.string())


def _plain(values: pa.Array) -> list[Any]:
    """Return Arrow values as Python ones."""
    kind = values.type
    if pt.is_timestamp(kind):
        moments = values if kind.tz is None else pc.local_timestamp(values)
        values = pc.cast(moments, pa.timestamp("us"), safe=False)
    elif pt.is_floating(kind) and not pt.is_float64(kind):
        values = doubles(values)
    try:
        return list(values.to_pylist())
    except (ValueError, OverflowError):  # a date that Python does not have
        return [_python(value) for value in values]


def _python(value: Any) -> Any:
    try:
        return value.as_py()
    except (ValueError, OverflowError):
        return NOTHING_KNOWN


def _of_text(text: str, decimal: str) -> str | None:
    if text == MISSING:
        return None
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        return NOTHING_KNOWN  # halves of characters: no text that could be written down
    number = number_in(text, decimal)
    if number is not None:
        return _of_number(number)
    moment = date_in(text)
    return text if moment is None else _of_moment(moment)


def _of_number(number: Any) -> str | None:
    try:
        # Through a float: a column of whole numbers becomes one of floats as soon as somebody in it has no value.
        near = float(number) + 0.0
    except (OverflowError, ValueError):
        return NOTHING_KNOWN
    return None if math.isnan(near) else as_text(near)


def _of_moment(moment: datetime) -> str:
    moment = datetime(
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond
    )  # neither a zone nor nanoseconds
    return moment.date().isoformat() if moment.time() == time() else str(moment)


# Columns from cells of any types, as workbooks and files of statistics programs have them.


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
