"""Reading a table: delimited text, Parquet, Arrow and Feather, workbooks, files of statistics programs, a database."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt
from pyarrow import ipc

from sfumato.errors import InputError, PolicyError
from sfumato.table.assemble import Rows
from sfumato.table.database import Database
from sfumato.table.parse import guess
from sfumato.table.schema import Schema, check_unique
from sfumato.table.source import (
    LABELLED_ENDINGS,
    SHEET_ENDINGS,
    TEXT_ENDINGS,
    SharedFile,
    Source,
    comparable,
    ending_of,
    find,
    remembered,
    require_publishable,
    require_sound,
)
from sfumato.table.textfile import ReadOptions, TextFile

TablePath = str | os.PathLike[str]
"""A path, "-" for standard input, a `Database`, or a file that is `SharedFile` in memory."""


def read_arrow(
    path: TablePath,
    options: ReadOptions | None = None,
    *,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    rows: Rows | None = None,
) -> pa.Table:
    """Return the table in a file, text columns coded by a dictionary; what Arrow and Parquet files hold is checked.

    With a schema, the columns must be those it names: `other` columns are not kept, identifiers stay text, and a column with a
    declared type, or with declared values, comes as the text of the file, to be parsed where errors can name what is wrong.
    Without one, every column, or every one of these `columns`, comes with the type its values suggest. `rows` says which rows
    are kept; types are guessed from these alone.
    """
    options = options or ReadOptions()
    if isinstance(path, Database):
        return _selected(path.read(_alone(schema)), path.name, schema, columns, rows)
    source = find(path)
    if schema is not None and (source.is_text or source.ending in SHEET_ENDINGS):
        _require_values_apart(schema, options)
    if source.is_text:
        return _read_text(
            TextFile(source, options), options, schema, columns, rows, path if isinstance(path, SharedFile) else None
        )
    if isinstance(path, SharedFile):
        kept = path.columns((options, _alone(schema)), lambda: _everything(path.path, source, options, _alone(schema)))
        return _selected(kept, source.name, schema, columns, rows)
    whole = _whole(source, options, _alone(schema))
    if whole is not None:
        return _selected(whole, source.name, schema, columns, rows)
    with _telling(source):
        fields = _schema_of(source)
        wanted, beside = _chosen(fields, source.name, schema, columns, rows)
        plain = [name for name in wanted if schema.role(name) in ("identifier", "other")] if schema else []
        table = _read_columns(source, fields, [*wanted, *beside], plain, coded=schema is not None and not beside)
    return _checked(table, source.name, rows)


def _require_values_apart(schema: Schema, options: ReadOptions) -> None:
    """Raise `PolicyError` where a text means a declared value and that there is none: who has it would decide what happens."""
    for name in schema.domains:
        domain = schema.domain(name)
        listed = () if domain is None or domain.values is None else domain.values
        both = [text for text in listed if text in options.null]
        if both and name not in schema.recode:
            raise PolicyError(
                f"domains: {name!r} lists {both[0]!r}, which is read as a missing value",
                hint=f'[input] null = [""] reads it as a value; or leave it out, and [missing] {name} = "value"',
            )


def column_names(path: TablePath, options: ReadOptions | None = None) -> list[str]:
    """Return the names of the columns in a file, without reading the rows where that can be done."""
    options = options or ReadOptions()
    if isinstance(path, Database):
        return _wanted(path.read().column_names, None, path.name)
    source = find(path)
    if source.is_text:
        file = TextFile(source, options)
        file.require_header()
        return _wanted(file.names, None, source.name)
    whole = _whole(source, options)
    if whole is not None:
        return _wanted(whole.column_names, None, source.name)
    with _telling(source):
        return _wanted(_schema_of(source).names, None, source.name)


def is_text(path: TablePath) -> bool:
    """Return whether a file is read as delimited text, whose types are guessed."""
    if isinstance(path, Database):
        return False
    ending = ending_of(Path(path))
    return ending in TEXT_ENDINGS or ((ending == ".zip" or os.fspath(path) == "-") and find(path).is_text)


def _alone(schema: Schema | None) -> tuple[str, ...]:
    """Return the columns whose cells are read one by one: no person's value decides how those of others are read."""
    return () if schema is None else schema.read_by_cell


def _whole(source: Source, options: ReadOptions, alone: Sequence[str] = ()) -> pa.Table | None:
    """Return the table of a file that is read as a whole by a library of its own, None for others."""
    if source.ending in SHEET_ENDINGS:
        from sfumato.table.workbook import read_sheet

        return read_sheet(source, options)
    if source.ending in LABELLED_ENDINGS:
        from sfumato.table.labelled import read_labelled

        return read_labelled(source, alone)
    return None


def _everything(path: Path, source: Source, options: ReadOptions, alone: Sequence[str]) -> pa.Table:
    """Return all columns of a file."""
    whole = _whole(source, options, alone)
    return read_arrow(path, options) if whole is None else _selected(whole, source.name, None, None, None)


def _selected(table: pa.Table, where: str, schema: Schema | None, columns: Sequence[str] | None, rows: Rows | None) -> pa.Table:
    """Return the wanted columns of a table that is there as a whole."""
    wanted, beside = _chosen(table.schema, where, schema, columns, rows)
    return _checked(table.select([*wanted, *beside]), where, rows)


def _chosen(
    fields: pa.Schema, where: str, schema: Schema | None, columns: Sequence[str] | None, rows: Rows | None
) -> tuple[list[str], list[str]]:
    """Return the wanted columns, whose types can be published, and those that are looked at besides."""
    if len(fields) < 2:
        raise InputError(f"{where}: only one column was found", hint="a table needs a quasi and a sensitive column")
    wanted = _wanted(fields.names, schema, where, columns)
    for name in wanted:
        require_publishable(name, fields.field(name).type)
    return wanted, [name for name in (rows.beside if rows else ()) if comparable(fields.field(name).type)]


def _checked(table: pa.Table, where: str, rows: Rows | None) -> pa.Table:
    require_sound(table, where)
    if table.num_rows == 0:
        raise InputError(f"{where}: the table has no rows", hint="expected one row per person")
    return table if rows is None else rows.pick(table)


@contextlib.contextmanager
def _telling(source: Source) -> Iterator[None]:
    """Turn what Arrow says of a file into one sentence: its own messages may quote cells."""
    name = "Parquet" if source.ending == ".parquet" else "Arrow"
    try:
        yield
    except PermissionError:
        raise InputError(f"{source.name}: no permission to read the file") from None
    except MemoryError:
        raise InputError(
            f"{source.name}: there is not enough memory for what the file says it holds", hint=f"is it a whole file of {name}?"
        ) from None
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"{source.name}: the file is damaged or not a file of {name}", hint="write it again, or check its ending"
        ) from None


def _wanted(names: Sequence[str], schema: Schema | None, where: str, columns: Sequence[str] | None = None) -> list[str]:
    if schema is None:
        check_unique(names, where)
        return list(names if columns is None else columns)
    schema.check_columns(names, where)
    return schema.used


def _read_text(
    file: TextFile,
    options: ReadOptions,
    schema: Schema | None,
    only: Sequence[str] | None,
    rows: Rows | None,
    kept: SharedFile | None = None,
) -> pa.Table:
    if schema is None or (file.headerless and not schema.accepts(file.names)):
        file.require_header()
    columns = _wanted(file.names, schema, file.name, only)
    plain = [name for name in columns if schema.role(name) in ("identifier", "other")] if schema else []
    declared = {*schema.types, *_alone(schema)} if schema else set()
    beside = rows.beside if rows else []
    deciding = rows.schema.people_rule.orders if rows else ()
    if kept is None:
        table = file.read([*columns, *beside], plain, unread=[name for name in beside if name not in deciding])
    else:
        table = kept.columns(options, lambda: file.read(file.names, ())).select([*columns, *beside])
    if rows is not None:
        table, columns = rows.pick(table), rows.named
    known = None if kept is None or (rows is not None and rows.chose) else kept.memory
    typed = [
        column
        if name in plain or name in declared
        else remembered(known, ("typed", name), partial(_typed, column, options.decimal))
        for name, column in zip(columns, table.select(columns).columns, strict=True)
    ]
    return pa.table(dict(zip(columns, typed, strict=True)))


def _typed(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return a text column with the type its distinct values suggest, the codes unchanged."""
    whole = pa.chunked_array([column.combine_chunks()]).chunk(0)
    guessed = guess(whole.dictionary, decimal)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(whole.indices, guessed.values)])


def _seekable(source: Source) -> pa.NativeFile:
    """Return a file that can be read anywhere. Not a memory map: one that is written to meanwhile would change checked data."""
    return source.open() if source.path is None else pa.OSFile(str(source.path))


def _schema_of(source: Source) -> pa.Schema:
    with _seekable(source) as stream:
        if source.ending == ".parquet":
            with pq.ParquetFile(stream) as file:
                return file.schema_arrow
        return _open_ipc(stream).schema


def _read_columns(source: Source, fields: pa.Schema, columns: list[str], plain: Sequence[str], *, coded: bool) -> pa.Table:
    """Return these columns, texts coded but for the `plain` ones; an Arrow file says itself what is coded.

    Those of a Parquet file are read one after another, and with `coded` numbers and dates are coded at once: what is held of all
    columns together is then four bytes an entry.
    """
    with _seekable(source) as stream:
        if source.ending == ".parquet":
            texts = [field.name for field in fields if _is_text(field.type) and field.name not in plain]
            with pq.ParquetFile(stream, read_dictionary=texts) as file:
                one_by_one = (file.read(columns=[name]).column(name) for name in columns)
                return pa.table(
                    {
                        name: _coded(column) if coded and name not in plain else column
                        for name, column in zip(columns, one_by_one, strict=True)
                    }
                )
        return _open_ipc(stream, [fields.get_field_index(name) for name in columns]).read_all().select(columns)


def _coded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of numbers or dates as its values and a code per entry; others as they are."""
    kind = column.type
    return column.dictionary_encode() if pt.is_integer(kind) or pt.is_float64(kind) or pt.is_date(kind) else column


def _open_ipc(stream: pa.NativeFile, fields: list[int] | None = None) -> Any:
    options = ipc.IpcReadOptions() if fields is None else ipc.IpcReadOptions(included_fields=fields)
    try:
        return ipc.open_file(stream, options=options)
    except pa.ArrowInvalid:
        stream.seek(0)
        return ipc.open_stream(stream, options=options)


def _is_text(kind: Any) -> bool:
    return bool(pt.is_string(kind) or pt.is_large_string(kind))
