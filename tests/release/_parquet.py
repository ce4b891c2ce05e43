"""Coded columns for the tests of the table file: drawn ones, and one small table with everything."""

import datetime as dt

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from sfumato.release.parquet import Coded, decode

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = {
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),  # -0.0 + 0.0 is 0.0
    "string": WORDS,
    "date32[day]": st.dates(dt.date(1800, 1, 1)),
    "timestamp[us]": st.datetimes(dt.datetime(1800, 1, 1)),
}


def coded(entries, type_, start=None):
    """Return the column of plain Python values, None for a missing one; the slow way, as an oracle."""
    distinct = sorted({entry for entry in entries if entry is not None})
    place = {value: k for k, value in enumerate(distinct)} | {None: len(distinct)}
    codes = np.array([place[entry] for entry in entries], np.int32)
    return Coded(pa.array(distinct, type_), codes, None if start is None else np.array(start, np.int64))


def of_lists(lists):
    """Return the column of lists of texts."""
    return coded([word for one in lists for word in one], pa.string(), np.cumsum([0, *map(len, lists)]))


def plain(column):
    """Return the column as plain Python values."""
    values = [*column.values.to_pylist(), None]
    entries = [values[code] for code in column.codes]
    if column.start is None:
        return entries
    return [entries[a:b] for a, b in zip(column.start[:-1], column.start[1:], strict=True)]


def types_of(columns):
    return {name: column.type for name, column in columns.items()}


def read(data, columns):
    """Decode with the rows and types of these columns."""
    return decode(data, rows=next(iter(columns.values())).rows, types=types_of(columns))


@st.composite
def flat(draw, rows):
    type_ = draw(st.sampled_from(sorted(VALUES)))
    few = draw(st.lists(VALUES[type_], max_size=6)) + ([None] if draw(st.booleans()) else [])
    entry = st.sampled_from(few) if few and draw(st.booleans()) else st.none() | VALUES[type_]
    return coded(draw(st.lists(entry, min_size=rows, max_size=rows)), pa.type_for_alias(type_))


@st.composite
def lists(draw, rows):
    return of_lists(draw(st.lists(st.lists(st.none() | WORDS, max_size=4), min_size=rows, max_size=rows)))


@st.composite
def tables(draw):
    rows = draw(st.integers(0, 40))
    return draw(st.dictionaries(WORDS, flat(rows) | lists(rows), min_size=1, max_size=5))


def everything():
    """Return a small table with every type, missing values, and columns without any value."""
    return {
        "flag": coded([True, None, False, True, True], pa.bool_()),
        "only": coded([True, None, True, True, True], pa.bool_()),
        "small": coded([3, -4, None, 3, 3], pa.int32()),
        "large": coded([2**60, 1, 2, 3, 4], pa.int64()),
        "ratio": coded([0.5, 0.0, None, -1e300, 0.5], pa.float64()),
        "word": coded(["", "zoë", None, "𝄞", "ａ"], pa.string()),
        "day": coded([dt.date(1969, 7, 20), None, dt.date(2024, 2, 29), None, None], pa.date32()),
        "time": coded([dt.datetime(1969, 7, 20, 1, 2, 3, 4), None, None, None, None], pa.timestamp("us")),
        "many": of_lists([["b", None, "a"], [], ["a"], [None], []]),
        "none": coded([None] * 5, pa.string()),
        "empty": of_lists([[]] * 5),
        "gone": of_lists([[None], [], [None, None], [], []]),
    }
