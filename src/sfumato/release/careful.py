"""Careful reading of published tables: exactly the columns that a form has, holding what they may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import FormatError

Integers = npt.NDArray[np.int64]


def take_table(tables: Mapping[str, pa.Table], name: str, columns: Sequence[str]) -> pa.Table:
    """Return a table with exactly these columns: one more could tell anything."""
    table = tables[name]
    if sorted(table.column_names) != sorted(columns):
        raise FormatError(f"table {name!r} should have the columns {', '.join(columns)}; it has {', '.join(table.column_names)}")
    for column in table.schema:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise FormatError(f"table {name!r}: column {column.name!r} holds {kind}, which no release has")
    return table


def whole_numbers(table: pa.Table, column: str, name: str) -> Integers:
    """Return a column of whole numbers; anything else is refused."""
    values = table[column]
    if values.null_count or not pa.types.is_integer(values.type):
        raise FormatError(f"table {name!r}: column {column!r} should hold whole numbers only")
    try:
        return np.asarray(pc.cast(values, pa.int64()).to_numpy(), dtype=np.int64)
    except pa.ArrowInvalid:
        raise FormatError(f"table {name!r}: column {column!r} holds numbers beyond any table") from None
