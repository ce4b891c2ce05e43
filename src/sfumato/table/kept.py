"""A file that is read once: its columns stay in memory, for all tables that are made of it with other roles and recodings."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, MutableMapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.types as pt

T = TypeVar("T")

Memory = MutableMapping[Hashable, Any]
"""What was made of the rows of a table before, by what it is."""


class Kept(os.PathLike[str]):
    """A file of which many tables are made; it stands wherever a path may, and is read again when it was written to.

    Its `memory` is of the columns as they were read last. It is for one thread at a time. `forget` gives the memory back.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._of: Hashable = None
        self.memory: Memory = {}

    def __fspath__(self) -> str:
        return str(self.path)

    def columns(self, options: Hashable, read: Callable[[], pa.Table]) -> pa.Table:
        """Return all columns as they are read with these options, each in one piece and with one dictionary."""
        found = self.path.stat()
        now = (options, found.st_mtime_ns, found.st_size, found.st_ino)
        if self._of != now:
            self._of, self.memory = None, {}
            self.memory["columns"] = pa.table({name: _whole(one) for name, one in _named(read())})
            self._of = now
        return self.memory["columns"]

    def forget(self) -> None:
        """Remember nothing."""
        self._of, self.memory = None, {}


def remembered(memory: Memory | None, key: Hashable, make: Callable[[], T]) -> T:
    """Return what is remembered under a key, or is made now and remembered; without a memory it is made."""
    if memory is None:
        return make()
    if key not in memory:
        memory[key] = make()
    return memory[key]  # type: ignore[no-any-return]


def _named(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    return list(zip(table.column_names, table.columns, strict=True))


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pt.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return pa.chunked_array([column.combine_chunks()], column.type)
