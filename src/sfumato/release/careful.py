"""Careful reading of published tables: exactly the columns that a form has, of the types that they may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Integers, Small, counted
from sfumato.errors import FormatError
from sfumato.table.column import numbers

TYPES: dict[str, tuple[str, ...]] = {
    "numeric": ("int64", "double"),
    "categorical": ("string",),
    "date": ("date32[day]", "timestamp[us]"),
    "group": ("int32",),
    "count": ("int64",),
    "flag": ("bool",),
    "set": ("list<element: string>", "string"),
}
"""The Arrow types that a published column of each kind may have; a set is a JSON text in CSV."""

MOST_PEOPLE = (1 << 31) - 1
"""What manifest.schema.json allows: that many add up exactly, whatever the tables say."""


def require_tables(tables: Mapping[str, pa.Table], form: str, names: Iterable[str]) -> None:
    """Raise `FormatError` unless these are exactly the tables of a release."""
    if set(tables) != {*names}:
        there = ", ".join(sorted(tables)) or "none"
        raise FormatError(f"a {form} release of this schema has the tables {', '.join(names)}; this one has {there}")


def take_table(tables: Mapping[str, pa.Table], name: str, columns: Mapping[str, str]) -> pa.Table:
    """Return a table with exactly these columns in this order, each of its kind: anything else could tell anything."""
    table = tables[name]
    if table.column_names != list(columns):
        raise FormatError(f"table {name!r} should have the columns {', '.join(columns)}; it has {', '.join(table.column_names)}")
    for column, kind in zip(table.schema, columns.values(), strict=True):
        found = str(value_type(column.type))
        if found not in TYPES[kind]:
            raise FormatError(f"table {name!r}: column {column.name!r} holds {found}, expected {' or '.join(TYPES[kind])}")
        if kind in ("group", "count", "flag", "set") and table[column.name].null_count:
            raise FormatError(f"table {name!r}: column {column.name!r} has rows without a value")
        if found == "double" and not _all_plain(table[column.name]):
            raise FormatError(f"table {name!r}: column {column.name!r} has a number that is not finite, or a negative zero")
    return table


def _all_plain(column: pa.ChunkedArray) -> bool:
    """Return whether all numbers are finite and no zero has a sign: 0 and −0 are shown alike, and which it is could tell."""
    for chunk in column.chunks:
        values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        numbers = np.asarray(values.drop_null())
        if not np.isfinite(numbers).all() or ((numbers == 0) & np.signbit(numbers)).any():
            return False
    return True


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of a column's values, however they are encoded."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def decoded(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one plain array, without a dictionary."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def whole_numbers(table: pa.Table, column: str, name: str) -> Integers:
    """Return a column of whole numbers from 1 on; anything else is refused."""
    values = pc.cast(decoded(table[column]), pa.int64())
    return _from_one(np.asarray(numbers(values), dtype=np.int64), column, name)


def _from_one(found: Array, column: str, name: str) -> Array:
    if found.min(initial=1) < 1:
        raise FormatError(f"table {name!r}: column {column!r} holds {int(found.min())}, but groups and counts start at 1")
    return found


def groups_of(table: pa.Table, column: str, name: str, groups: int | None = None) -> tuple[Small, int]:
    """Return the group of each row from 0 on, and how many there are; each of them must occur, and no other."""
    number = _from_one(numbers(decoded(table[column])), column, name)  # in 32 bits, as `take_table` has seen to
    many = int(number.max(initial=0)) if groups is None else groups
    if not len(number) or many > len(number) or int(number.max()) > many or not _all_occur(number, many):
        raise FormatError(f"table {name!r}: {column}s should be numbered 1, 2, … without gaps, the same in every table")
    return number.astype(np.int32, copy=False) - np.int32(1), many


def _all_occur(number: Array, many: int) -> bool:
    return bool((counted(number, many + 1)[1:] > 0).all())


def require_counts(count: Integers, rows: int) -> None:
    """Raise `FormatError` unless the counts of st add up to the number of people that the manifest gives."""
    if rows > MOST_PEOPLE or count.max(initial=0) > rows or int(count.sum()) != rows:
        raise FormatError(f"the counts of table 'st' do not add up to the {rows} people that the manifest speaks of")


def require_distinct(key: Integers, what: str) -> None:
    """Raise `FormatError` where a key occurs twice."""
    ranked = np.sort(key) if (key[1:] < key[:-1]).any() else key
    twice = int((ranked[1:] == ranked[:-1]).sum())
    if twice:
        raise FormatError(f"{twice} rows of {what} occur twice")
