"""Tables as CSV in one dialect, so that a table has one file: what is read is written again and compared."""

from __future__ import annotations

import io
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.csv

from sfumato.errors import FormatError, OutputError
from sfumato.release.coding import decoded

_LARGEST = 2**31 - 1


def write_csv(table: pa.Table) -> bytes:
    """Return the table as CSV: a header, commas, line feeds, text in quotes, nothing for a missing value."""
    plain = pa.table({name: decoded(column) for name, column in zip(table.column_names, table.columns, strict=True)})
    data = _written(plain)
    types = {column.name: str(column.type) for column in plain.schema}
    try:
        again = _parsed(data, types)
    except FormatError:
        again = None
    if again is None or not again.equals(plain):
        raise OutputError("a table cannot be written as CSV without loss: what is read back differs", hint="use --format parquet")
    return data


def read_csv(data: bytes, *, rows: int, types: Mapping[str, str]) -> pa.Table:
    """Return the table in a CSV file; `FormatError` unless the file is, byte for byte, what `write_csv` writes for it."""
    table = _parsed(data, types)
    if table.num_rows != rows:
        raise FormatError(f"{table.num_rows} rows, the manifest says {rows}")
    if table.column_names != list(types) or _written(table) != data:
        raise FormatError("it is not in canonical form", hint="it was damaged, or not written by sfumato")
    return table


def _written(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=True, delimiter=",", quoting_style="needed"))
    return out.getvalue()


def _parsed(data: bytes, types: Mapping[str, str]) -> pa.Table:
    if len(data) >= _LARGEST:
        raise FormatError("it is too large to be read at once", hint="use --format parquet")
    options = pyarrow.csv.ConvertOptions(
        column_types={name: pa.type_for_alias(kind) for name, kind in types.items()},
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        null_values=[""],
    )
    # One block: a text with line breaks must not straddle two. One thread: a read that fails waits for no other.
    whole = pyarrow.csv.ReadOptions(block_size=len(data) + 1, use_threads=False)
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    try:
        table = pyarrow.csv.read_csv(io.BytesIO(data), read_options=whole, parse_options=parse, convert_options=options)
        table.column_names  # noqa: B018  (Arrow checks the UTF-8 of texts, but not that of the header)
        return table
    except (pa.ArrowException, ValueError, KeyError):
        raise FormatError("it cannot be read", hint="the file is damaged; get the release again") from None
