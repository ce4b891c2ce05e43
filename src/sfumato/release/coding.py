"""Coding published tables, and finding the published rows that fit given quasi values. For recipients: reads releases only.

Tables are read with care: exactly the columns that a form has, of the types that they may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Integers, Small, counted
from sfumato.errors import FormatError, InputError
from sfumato.table.column import Column, Domain, Kind, code_type, combined, numbers
from sfumato.table.table import Table


def code_column(name: str, kind: Kind, values: pa.ChunkedArray) -> Column:
    """Return a published column in codes: values ascending, a null last."""
    encoded = values.combine_chunks()
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    ascending = pc.sort_indices(encoded.dictionary)
    order = numbers(ascending)
    missing, index = encoded.indices.null_count > 0, encoded.indices
    size = len(order) + int(missing)
    codes = numbers(index.cast(pa.int64()).fill_null(len(order)) if missing else index)
    if (order[1:] < order[:-1]).any():
        rank = np.append(np.argsort(order), len(order))  # a null keeps its place, the last
        codes = rank[codes]
    return Column(name, kind, encoded.dictionary.take(ascending), as_type(codes, code_type(size)), missing)


def as_type(codes: Array, kind: Any) -> Array:
    """Return codes, none of them negative, as another type that holds them; the same memory where that has the same width."""
    return codes.view(kind) if codes.dtype.itemsize == np.dtype(kind).itemsize else codes.astype(kind)


def joined_columns(parts: Sequence[Column]) -> tuple[Column, list[Array]]:
    """Return the column, without rows, that has the values of all parts of one, and for every part the new code of each code."""
    values, places = joined_values([column.values for column in parts])
    missing = any(column.has_missing for column in parts)
    kind = code_type(len(values) + int(missing))
    return Column(parts[0].name, parts[0].kind, values, np.zeros(0, kind), missing), [place.astype(kind) for place in places]


def joined_values(parts: Sequence[pa.Array]) -> tuple[pa.Array, list[Integers]]:
    """Return the values of all parts, ascending, and for every part the place there of each of its own, and of a missing one."""
    values = pa.concat_arrays(parts).unique()
    values = values.take(pc.sort_indices(values))
    return values, [np.append(np.asarray(pc.index_in(part, value_set=values), np.int64), len(values)) for part in parts]


def code_domain(sensitive: pa.Table, kinds: tuple[Kind, ...]) -> tuple[Domain, Integers]:
    """Return the distinct rows of the sensitive columns, sorted, and each row's number among them."""
    columns = [code_column(name, kind, sensitive[name]) for name, kind in zip(sensitive.column_names, kinds, strict=True)]
    if len(columns) == 1 and np.bincount(columns[0].codes, minlength=columns[0].size).all():
        return Domain(pa.table({columns[0].name: columns[0].dictionary()}), kinds), columns[0].codes.astype(np.int64)
    _, first, codes = np.unique(combined(columns), return_index=True, return_inverse=True)
    rows = pa.array(first)
    return Domain(pa.table({column.name: column.arrow().take(rows) for column in columns}), kinds), codes.astype(np.int64)


def match_rows(quasi: tuple[Column, ...], people: Any) -> tuple[Integers, Integers, int]:
    """Return pairs (person, published row) for every published row whose quasi values are the person's, and how many people."""
    published, wanted = row_keys(quasi, people)
    order = np.argsort(published, kind="stable")
    first = np.searchsorted(published[order], wanted, side="left")
    length = np.searchsorted(published[order], wanted, side="right") - first
    owner = np.repeat(np.arange(len(wanted)), length)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    return owner, order[np.repeat(first, length) + offset], len(wanted)


def row_keys(columns: tuple[Column, ...], people: Any) -> tuple[Integers, Integers]:
    """Return a number for every row of these columns and one for every person, equal where all values are; −1 where none is."""
    codes = people_codes(columns, people)
    rows = len(columns[0])
    both = [replace(column, codes=np.append(column.codes, np.maximum(codes[:, j], 0))) for j, column in enumerate(columns)]
    key = combined(both)
    return key[:rows], np.where((codes >= 0).all(axis=1), key[rows:], -1)


def people_codes(columns: tuple[Column, ...], people: Any) -> Integers:
    """Return [people × columns]: each person's codes in these columns, −1 for a value that a column does not have.

    `people` is any frame with the columns (pandas, polars, pyarrow), or a list of mappings.
    """
    table = people_table(people, [column.name for column in columns])
    codes = np.empty((table.num_rows, len(columns)), np.int64)
    for j, column in enumerate(columns):
        wanted = as_published(table[column.name], column.values.type, column.name)
        place = pc.index_in(wanted, value_set=column.dictionary())
        codes[:, j] = np.asarray(place.fill_null(-1).combine_chunks(), dtype=np.int64)
    return codes


def as_published(values: Any, kind: pa.DataType, name: str) -> Any:
    """Return given values in the type that a column is published with; values that cannot have it are refused unseen."""
    try:
        return values.cast(kind)
    except pa.ArrowException:
        raise InputError(f"column {name!r}: its values are not all {kind} values", hint=f"expected {kind} values") from None


def people_table(people: Any, names: list[str]) -> pa.Table:
    """Return these columns of people, who come in any frame, as a `Table`, or as a list of dictionaries."""
    if isinstance(people, Table):
        people = people.to_arrow()
    elif isinstance(people, (list, dict)):
        try:
            people = pa.table(people) if isinstance(people, dict) else pa.Table.from_pylist(people)
        except (pa.ArrowException, AttributeError, TypeError, ValueError, OverflowError):
            raise FormatError("people: not all of them are dictionaries with plain values", hint='such as {"age": 30}') from None
    if not isinstance(people, pa.Table):
        import narwhals as nw

        try:
            people = nw.from_native(people, eager_only=True).to_arrow()
        except (TypeError, ValueError, pa.ArrowException, nw.exceptions.NarwhalsError):
            raise FormatError(
                f"people: expected a data frame, a Table, or a list of dictionaries, got {type(people).__name__}",
                hint="Table.read reads a file",
            ) from None
    lacking = [name for name in names if name not in people.column_names]
    if lacking:
        raise FormatError(f"people: the quasi columns {', '.join(lacking)} are missing")
    if any(people.column_names.count(name) > 1 for name in names):
        raise FormatError("people: a quasi column occurs twice", hint="give every column once")
    return people.select(names)


def dictionary_array(column: Column) -> pa.DictionaryArray:
    """Return a column as it is published: dictionary-encoded with the smallest signed index, a null where a value is missing."""
    missing = column.codes == len(column.values) if column.has_missing else None
    signed = as_type(column.codes, next(kind for kind in (np.int8, np.int16, np.int32) if column.size <= np.iinfo(kind).max))
    return pa.DictionaryArray.from_arrays(pa.array(signed, mask=missing), column.values)


def sensitive_columns(domain: Domain, value: Small) -> dict[str, pa.Array]:
    """Return the sensitive columns of a table, one value per row."""
    index = pa.array(value)
    columns = zip(domain.names, domain.table.columns, strict=True)
    return {name: values.combine_chunks().take(index) for name, values in columns}


def entries_table(name: str, group: Small, shown: Mapping[str, pa.Array], count: Integers) -> pa.Table:
    """Return a table of what groups show, and how often: groups are numbered from 1 on in the column of this name."""
    return pa.table({name: pa.array(group + 1, pa.int32()), **shown, "count": pa.array(count, pa.int64())})


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
"""What the schema of manifests allows: that many add up exactly, whatever the tables say."""


def require_tables(tables: Mapping[str, pa.Table], form: str, names: Iterable[str]) -> None:
    """Raise `FormatError` unless these are exactly the tables of a release."""
    if set(tables) != {*names}:
        there = ", ".join(sorted(tables)) or "none"
        raise FormatError(f"a {form} release of this schema has the tables {', '.join(names)}; this one has {there}")


def take_table(tables: Mapping[str, pa.Table], name: str, columns: Mapping[str, str], rows: int | None = None) -> pa.Table:
    """Return a table with exactly these columns in this order, each of its kind: anything else could leak information.

    `rows` is how many the manifest says it has, where that is known.
    """
    table = tables[name]
    if table.column_names != list(columns):
        raise FormatError(f"table {name!r} should have the columns {', '.join(columns)}; it has {', '.join(table.column_names)}")
    for column, kind in zip(table.schema, columns.values(), strict=True):
        arrow_type = str(value_type(column.type))
        if arrow_type not in TYPES[kind]:
            raise FormatError(f"table {name!r}: column {column.name!r} holds {arrow_type}, expected {' or '.join(TYPES[kind])}")
        if kind in ("group", "count", "flag", "set") and table[column.name].null_count:
            raise FormatError(f"table {name!r}: column {column.name!r} has rows without a value")
        if arrow_type == "double" and not all_plain(table[column.name]):
            raise FormatError(f"table {name!r}: column {column.name!r} has a number that is not finite, or a negative zero")
    if rows not in (None, table.num_rows):
        raise FormatError(f"table {name!r} has {table.num_rows} rows, the manifest says {rows}")
    return table


def all_plain(column: pa.ChunkedArray | pa.Array) -> bool:
    """Return whether all numbers are finite and no zero has a sign: 0 and −0 are shown alike, and which it is could tell."""
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
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


def _from_one(numbers: Array, column: str, name: str) -> Array:
    if numbers.min(initial=1) < 1:
        raise FormatError(f"table {name!r}: column {column!r} holds {int(numbers.min())}, but groups and counts start at 1")
    return numbers


def groups_of(table: pa.Table, column: str, name: str, groups: int | None = None) -> tuple[Small, int]:
    """Return the group of each row from 0 on, and how many there are; each of them must occur, and no other."""
    number = _from_one(numbers(decoded(table[column])), column, name)  # in 32 bits, as `take_table` has seen to
    many = int(number.max(initial=0)) if groups is None else groups
    if not len(number) or many > len(number) or int(number.max()) > many or not counted(number, many + 1)[1:].all():
        raise FormatError(f"table {name!r}: {column}s should be numbered 1, 2, … without gaps, the same in every table")
    return number.astype(np.int32, copy=False) - np.int32(1), many


def some_groups_of(table: pa.Table, column: str, name: str, groups: int) -> Small:
    """Return the group of each row from 0 on, where groups may have no row."""
    number = _from_one(numbers(decoded(table[column])), column, name)
    if int(number.max(initial=1)) > groups:
        raise FormatError(f"table {name!r}: {column}s should be numbered 1, 2, …, {groups}, the same in every table")
    return number.astype(np.int32, copy=False) - np.int32(1)


def require_counts(count: Integers, rows: int) -> None:
    """Raise `FormatError` unless the counts of st add up to the number of people that the manifest gives."""
    if rows > MOST_PEOPLE or count.max(initial=0) > rows or int(count.sum()) != rows:
        raise FormatError(f"the counts of table 'st' do not add up to the {rows} people that the manifest states")


def require_distinct(key: Integers, what: str) -> None:
    """Raise `FormatError` where a key occurs twice."""
    ranked = np.sort(key) if (key[1:] < key[:-1]).any() else key
    twice = int((ranked[1:] == ranked[:-1]).sum())
    if twice:
        raise FormatError(f"{twice} rows of {what} occur twice")
