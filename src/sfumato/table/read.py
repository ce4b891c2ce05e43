"""Reading a table from a file: CSV and TSV, Parquet, Arrow and Feather."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyarrow import ipc

from sfumato.errors import InputError, did_you_mean
from sfumato.table.parse import guess
from sfumato.table.schema import Schema, check_unique
from sfumato.table.textfile import ReadOptions, TextFile

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".arrow", ".feather", ".ipc")
_COMPRESSIONS = (".gz", ".bz2", ".zst")


def read_arrow(path: str | os.PathLike[str], options: ReadOptions | None = None, *, schema: Schema | None = None) -> pa.Table:
    """Return the table in a file, text columns coded by a dictionary.

    With a schema, the columns must be those it names: `other` columns are not read, identifiers stay text, and a column with a
    declared type, or with declared values, comes as the text of the file, to be parsed where errors can name what is wrong.
    Without one, every column comes with the type its values suggest.
    """
    options = options or ReadOptions()
    path = Path(path)
    ending = _checked(path)
    if ending in TEXT_ENDINGS:
        return _read_text(TextFile(path, options), options, schema)
    try:
        return _read_parquet(path, schema) if ending == ".parquet" else _read_ipc(path, schema)
    except PermissionError:
        raise InputError(f"{path.name}: no permission to read the file") from None
    except (pa.ArrowException, OSError):
        name = "Parquet" if ending == ".parquet" else "Arrow"
        raise InputError(
            f"{path.name}: the file is damaged or not a {name} file", hint="write it again, or check its ending"
        ) from None


def is_text(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is read as delimited text, whose types are guessed."""
    return _ending(Path(path)) in TEXT_ENDINGS


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSIONS and suffixes[-2] in TEXT_ENDINGS:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def _checked(path: Path) -> str:
    if path.is_dir():
        raise InputError(
            f"{path.name or path}: this is a directory, expected a file", hint="give the path of a CSV or Parquet file"
        )
    if not path.exists():
        near = [each.name for each in path.parent.iterdir() if each.is_file()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near) if near else None
        raise InputError(f"{path.name}: there is no such file", hint=hint if hint and "mean" in hint else None)
    ending = _ending(path)
    if ending not in ENDINGS:
        raise InputError(
            f"{path.name}: unknown file ending {ending!r}", hint=f"known endings: {', '.join(ENDINGS)} (text also with .gz)"
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path.name}: the file is empty", hint="expected a header line and one line per person")
    return ending


def _wanted(names: Sequence[str], schema: Schema | None, where: str) -> list[str]:
    if schema is None:
        check_unique(names, where)
        return list(names)
    schema.check_columns(names, where)
    return [*schema.identifier, *schema.quasi, *schema.sensitive]


def _read_text(file: TextFile, options: ReadOptions, schema: Schema | None) -> pa.Table:
    columns = _wanted(file.names, schema, file.path.name)
    plain = list(schema.identifier) if schema else []
    declared = {*schema.types, *(schema.sensitive if schema.closed else ())} if schema else set()
    table = file.read(columns, plain)
    typed = [
        column if name in plain or name in declared else _typed(column, options.decimal)
        for name, column in zip(columns, table.select(columns).columns, strict=True)
    ]
    return pa.table(dict(zip(columns, typed, strict=True)))


def _typed(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return a text column with the type its distinct values suggest, the codes unchanged."""
    whole = pa.chunked_array([column.combine_chunks()]).chunk(0)
    found = guess(whole.dictionary, decimal)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(whole.indices, found.values)])


def _read_parquet(path: Path, schema: Schema | None) -> pa.Table:
    with pq.ParquetFile(path) as file:
        fields = file.schema_arrow
    columns = _wanted(fields.names, schema, path.name)
    texts = [field.name for field in fields if _is_text(field.type) and not (schema and field.name in schema.identifier)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        return _filled(file.read(columns=columns).select(columns), path)


def _read_ipc(path: Path, schema: Schema | None) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        try:
            table = ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            table = ipc.open_stream(source).read_all()
    return _filled(table.select(_wanted(table.column_names, schema, path.name)), path)


def _is_text(kind: Any) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind))


def _filled(table: pa.Table, path: Path) -> pa.Table:
    if table.num_columns < 2:
        raise InputError(f"{path.name}: only one column was found", hint="a table needs a quasi and a sensitive column")
    if table.num_rows == 0:
        raise InputError(f"{path.name}: the table has no rows", hint="expected one row per person")
    return table
