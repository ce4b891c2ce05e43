"""Reading a query of SQLite, where every cell has a type of its own, whatever its column was declared as.

Drivers that guess the type of a column from its first rows end at a cell of another one: whether there is a table would then
depend on one person. Here no cell ends the reading. A column takes the type that its cells have in common, or their texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.table.cells import NOTHING_KNOWN, cell_text, cell_texts

ONE_SELECT = "the query is not one SELECT: a table is read, and nothing else is done"
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_PREPARED = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
"""What tables for full-text search and the like prepare whenever they are read; a file open for reading refuses to run it."""
_BATCH = 1 << 14
_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string()}

Some = Any
"""Some cells of a column: an array where they have one type, else as they came."""


@dataclass(frozen=True, eq=False)
class RowBatches:
    """The result of a query, a few thousand rows at a time."""

    names: list[str]
    columns: list[list[Some]]

    def table(self, alone: Sequence[str]) -> pa.Table:
        """Return the result as a table; in columns that are read cell by cell, `alone`, one that holds bytes is nothing known."""
        whole = [_column(parts, alone=name in alone) for name, parts in zip(self.names, self.columns, strict=True)]
        return pa.table(whole, names=self.names)


def ask(path: str, sql: str) -> RowBatches:
    """Return what one SELECT gives; the file is opened for reading, and every other kind of statement is refused."""
    uri = f"file://{quote(str(Path(path).absolute()))}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.text_factory = _text
        connection.set_authorizer(_allowed)
        try:
            cursor = connection.execute(sql)
        except (sqlite3.Warning, sqlite3.ProgrammingError):  # several statements, or parameters that nobody gives
            raise InputError(ONE_SELECT, hint='--sql "SELECT … FROM …"') from None
        except sqlite3.DatabaseError as problem:
            if any(word in str(problem) for word in ("authoriz", "prohibited", "readonly")):
                raise InputError(ONE_SELECT, hint='--sql "SELECT … FROM …"') from None
            raise
        if cursor.description is None:
            raise InputError(ONE_SELECT, hint='--sql "SELECT … FROM …"')
        names = [name for name, *_ in cursor.description]
        columns: list[list[Some]] = [[] for _ in names]
        while rows := cursor.fetchmany(_BATCH):
            for cells, parts in zip(zip(*rows, strict=True), columns, strict=True):
                parts.append(_some(cells))
    return RowBatches(names, columns)


def _allowed(action: int, first: str | None, *_: str | None) -> int:
    """Say whether a step may be part of a SELECT: no other file is attached, and nothing is made."""
    part = action in _READS or action in _PREPARED or (action == sqlite3.SQLITE_PRAGMA and first == "data_version")
    return sqlite3.SQLITE_OK if part else sqlite3.SQLITE_DENY


def _text(cell: bytes) -> str | bytes:
    """Return a text; bytes that are none stay bytes."""
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell


def _some(cells: Sequence[Any]) -> Some:
    kinds = {*map(type, cells)} - {type(None)}
    if not kinds:
        return pa.nulls(len(cells))
    kind = _TYPES.get(kinds.pop()) if len(kinds) == 1 else None
    return list(cells) if kind is None else pa.array(cells, kind)


def _column(parts: list[Some], *, alone: bool) -> pa.ChunkedArray:
    """Return the cells of a column in one type: numbers, texts, or bytes where some are and no person's cell is to be spared."""
    kinds = {None if isinstance(part, list) else part.type for part in parts} - {pa.null()}
    if len(kinds) <= 1 and None not in kinds:
        kind = kinds.pop() if kinds else pa.string()
    elif kinds == {pa.int64(), pa.float64()}:
        kind = pa.float64()
    else:
        return pa.chunked_array([_mixed(list(_cells(parts)), alone=alone)])
    return pa.chunked_array([part.cast(kind, safe=False) for part in parts], kind)


def _cells(parts: list[Some]) -> Iterator[Any]:
    for part in parts:
        yield from part if isinstance(part, list) else part.to_pylist()


def _mixed(cells: list[Any], *, alone: bool) -> pa.Array:
    if alone or not any(isinstance(cell, bytes) for cell in cells):
        return cell_texts(cells, [cell is None for cell in cells])
    # Of a type that is not published: texts made up for bytes would be.
    return pa.array([cell if isinstance(cell, bytes | None) else (cell_text(cell) or NOTHING_KNOWN).encode() for cell in cells])
