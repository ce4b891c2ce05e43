"""Reading a table from a file: CSV and TSV, Parquet, Arrow and Feather."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyarrow import ipc

from sfumato.errors import InputError, did_you_mean
from sfumato.table.parse import guess
from sfumato.table.regular import refusal
from sfumato.table.schema import Schema, check_unique
from sfumato.table.sound import require_publishable, require_sound
from sfumato.table.textfile import ReadOptions, TextFile

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
ENDINGS = (*TEXT_ENDINGS, ".parquet", ".arrow", ".feather", ".ipc")
_COMPRESSIONS = (".gz", ".bz2", ".zst")


def read_arrow(
    path: str | os.PathLike[str],
    options: ReadOptions | None = None,
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Return the table in a file, text columns coded by a dictionary; what Arrow and Parquet files hold is checked.

    With a schema, the columns must be those it names: `other` columns are not read, identifiers stay text, and a column with a
    declared type, or with declared values, comes as the text of the file, to be parsed where errors can name what is wrong.
    Without one, every column, or every one of these `columns`, comes with the type its values suggest.
    """
    options = options or ReadOptions()
    path = Path(path)
    ending = _checked(path)
    if ending in TEXT_ENDINGS:
        return _read_text(TextFile(path, options), options, schema, columns)
    with _telling(path, ending):
        fields = _schema_of(path, ending)
        if len(fields) < 2:
            raise InputError(f"{path.name}: only one column was found", hint="a table needs a quasi and a sensitive column")
        wanted = _wanted(fields.names, schema, path.name, columns)
        for name in wanted:
            require_publishable(name, fields.field(name).type)
        table = _read_columns(path, ending, fields, wanted, schema.identifier if schema else ())
    require_sound(table, path.name)
    if table.num_rows == 0:
        raise InputError(f"{path.name}: the table has no rows", hint="expected one row per person")
    return table


def column_names(path: str | os.PathLike[str], options: ReadOptions | None = None) -> list[str]:
    """Return the names of the columns in a file, without reading the rows."""
    path = Path(path)
    ending = _checked(path)
    if ending in TEXT_ENDINGS:
        return _wanted(TextFile(path, options or ReadOptions()).names, None, path.name)
    with _telling(path, ending):
        return _wanted(_schema_of(path, ending).names, None, path.name)


def is_text(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is read as delimited text, whose types are guessed."""
    return _ending(Path(path)) in TEXT_ENDINGS


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSIONS and suffixes[-2] in TEXT_ENDINGS:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def _checked(path: Path) -> str:
    refused = refusal(path)
    if refused is not None:
        near = _neighbours(path) if "no such" in refused else []
        hint = did_you_mean(path.name, near) if near else None
        if "directory" in refused:
            hint = "give the path of a CSV or Parquet file"
        raise InputError(f"{path.name or path}: {refused}", hint=hint if hint and "known" not in hint else None)
    ending = _ending(path)
    if ending not in ENDINGS:
        raise InputError(
            f"{path.name}: unknown file ending {ending!r}", hint=f"known endings: {', '.join(ENDINGS)} (text also with .gz)"
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path.name}: the file is empty", hint="expected a header line and one line per person")
    return ending


def _neighbours(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir() if each.is_file()]
    except OSError:
        return []


@contextlib.contextmanager
def _telling(path: Path, ending: str) -> Iterator[None]:
    """Turn what Arrow says of a file into one sentence: its own messages may quote cells."""
    name = "Parquet" if ending == ".parquet" else "Arrow"
    try:
        yield
    except PermissionError:
        raise InputError(f"{path.name}: no permission to read the file") from None
    except MemoryError:
        raise InputError(
            f"{path.name}: there is not enough memory for what the file says it holds", hint=f"is it a whole file of {name}?"
        ) from None
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"{path.name}: the file is damaged or not a file of {name}", hint="write it again, or check its ending"
        ) from None


def _wanted(names: Sequence[str], schema: Schema | None, where: str, columns: Sequence[str] | None = None) -> list[str]:
    if schema is None:
        check_unique(names, where)
        return list(names if columns is None else columns)
    schema.check_columns(names, where)
    return [*schema.identifier, *schema.quasi, *schema.sensitive]


def _read_text(file: TextFile, options: ReadOptions, schema: Schema | None, only: Sequence[str] | None) -> pa.Table:
    columns = _wanted(file.names, schema, file.path.name, only)
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
    guessed = guess(whole.dictionary, decimal)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(whole.indices, guessed.values)])


def _schema_of(path: Path, ending: str) -> pa.Schema:
    if ending == ".parquet":
        with pq.ParquetFile(path) as file:
            return file.schema_arrow
    with pa.OSFile(str(path)) as source:
        return _open_ipc(source).schema


def _read_columns(path: Path, ending: str, fields: pa.Schema, columns: list[str], plain: Sequence[str]) -> pa.Table:
    """Return these columns, texts coded but for the `plain` ones; an Arrow file says itself what is coded."""
    if ending == ".parquet":
        texts = [field.name for field in fields if _is_text(field.type) and field.name not in plain]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            return file.read(columns=columns).select(columns)
    # Not by a memory map: a file that is written to meanwhile would change checked data.
    with pa.OSFile(str(path)) as source:
        return _open_ipc(source, [fields.get_field_index(name) for name in columns]).read_all().select(columns)


def _open_ipc(source: pa.NativeFile, fields: list[int] | None = None) -> Any:
    options = ipc.IpcReadOptions() if fields is None else ipc.IpcReadOptions(included_fields=fields)
    try:
        return ipc.open_file(source, options=options)
    except pa.ArrowInvalid:
        source.seek(0)
        return ipc.open_stream(source, options=options)


def _is_text(kind: Any) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind))
