"""Coded rows on disk while a release is made: columns of small integers one after another, in blocks, in a private directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from sfumato.arrays import Array, Unsigned
from sfumato.table.coding import sorted_with_places


@dataclass(frozen=True)
class Layout:
    """The integer type of each column of a block."""

    types: tuple[np.dtype[Any], ...]

    @property
    def width(self) -> int:
        """Bytes a row."""
        return sum(kind.itemsize for kind in self.types)

    def pack(self, columns: Sequence[Array]) -> bytes:
        """Return the bytes of a block."""
        return b"".join(np.ascontiguousarray(column, kind).tobytes() for column, kind in zip(columns, self.types, strict=True))

    def unpack(self, data: bytes | memoryview, rows: int) -> list[Array]:
        """Return the columns of a block of so many rows."""
        columns, at = [], 0
        for kind in self.types:
            columns.append(np.frombuffer(data, kind, rows, at))
            at += rows * kind.itemsize
        return columns


@dataclass(eq=False)
class Blocks:
    """A file of blocks that grows at its end."""

    path: Path
    layout: Layout
    rows: list[int] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of rows in all blocks."""
        return sum(self.rows)

    def append(self, columns: Sequence[Array]) -> None:
        """Write a block."""
        if len(columns[0]) == 0:
            return
        with self.path.open("ab") as stream:
            stream.write(self.layout.pack(columns))
        self.rows.append(len(columns[0]))

    def __iter__(self) -> Iterator[list[Array]]:
        if not self.rows:
            return
        with self.path.open("rb") as stream:
            for rows in self.rows:
                yield self.layout.unpack(stream.read(rows * self.layout.width), rows)

    def read(self) -> list[Array]:
        """Return the columns of all blocks together."""
        blocks = list(self) or [[np.zeros(0, kind) for kind in self.layout.types]]
        return blocks[0] if len(blocks) == 1 else [np.concatenate(parts) for parts in zip(*blocks, strict=True)]

    def take(self) -> list[Array]:
        """Return the same, and remove the file; it may then be written anew."""
        columns = self.read()
        self.path.unlink(missing_ok=True)
        self.rows.clear()
        return columns

    def slice(self, begin: int, end: int) -> list[Array]:
        """Return these rows of a file of one block."""
        (rows,) = self.rows
        columns, at = [], 0
        with self.path.open("rb") as stream:
            for kind in self.layout.types:
                stream.seek(at + begin * kind.itemsize)
                columns.append(np.frombuffer(stream.read((end - begin) * kind.itemsize), kind))
                at += rows * kind.itemsize
        return columns


def scatter(columns: Sequence[Array], which: Array, files: Sequence[Blocks]) -> None:
    """Put every row at the end of the file that `which` numbers."""
    order = sorted_with_places(which)[1] if len(files) > 1 else np.arange(len(which))
    ends = np.cumsum(np.bincount(which, minlength=len(files))).tolist()
    ordered = [column[order] for column in columns]
    for file, begin, end in zip(files, [0, *ends], ends, strict=False):
        file.append([column[begin:end] for column in ordered])


def hashed(columns: Sequence[Array]) -> Unsigned:
    """Return a number for every row that follows from its codes alone."""
    word = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        word = (word ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(29)
    return word


def summed(blocks: Blocks, empty: Any, add: Any, threads: int) -> Any:
    """Return the sum over all blocks of what `add(columns, total)` adds to a total that `empty()` makes, in threads.

    Whole numbers are added up, so that who adds what changes nothing.
    """
    waiting = iter(blocks)
    if threads < 2 or len(blocks.rows) < 2:
        total = empty()
        for columns in waiting:
            add(columns, total)
        return total
    totals, lock = [empty() for _ in range(threads)], Lock()

    def work(total: Any) -> None:
        while True:
            with lock:
                columns = next(waiting, None)
            if columns is None:
                return
            add(columns, total)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, totals))
    whole = totals[0]
    for other in totals[1:]:
        for mine, theirs in zip(whole, other, strict=True):
            mine += theirs
    return whole
