"""Everybody in the order of their values, in files, and coins by their place in that order.

Where coins are not drawn by box, they are drawn by place: the place of a person among all, sorted by quasi values and then by
the sensitive one. People who are equal in all of them are interchangeable, so that places, and with them coins, follow from the
people alone: neither the order of a source, nor how it is divided, nor a task that is tried again changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.scale.layout import Blocks, Layout, scatter

_CELLS = 1 << 16
_ROOM = 1 << 62


def packs(sizes: Sequence[int]) -> list[list[int]]:
    """Return the columns, of these sizes, in runs whose codes fit into one number each."""
    runs: list[list[int]] = []
    room = _ROOM
    for j, size in enumerate(sizes):
        if room * size >= _ROOM:
            runs.append([])
            room = 1
        runs[-1].append(j)
        room *= size
    return runs


def packed(columns: Sequence[Array], sizes: Sequence[int]) -> list[Integers]:
    """Return numbers that ascend with the codes of the columns in turn: the first, then the second, …"""
    keys = []
    for run in packs(sizes):
        key = np.zeros(len(columns[0]), np.int64)
        for j in run:
            key *= sizes[j]
            key += columns[j]
        keys.append(key)
    return keys


def ascending(keys: Sequence[Integers]) -> Integers:
    """Return the order of rows by the first key, then the second, …"""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def sorted_files(
    rows: Iterable[Sequence[Array]], layout: Layout, sizes: Sequence[int], place: Path, at_once: int
) -> list[Blocks]:
    """Return the rows in files of one block each, at most `at_once` rows, sorted by their first columns, of these sizes."""
    place.mkdir(mode=0o700, exist_ok=True)
    whole = Blocks(place / "whole", layout)
    for columns in rows:
        whole.append(columns)
    return list(_divided(whole, sizes, 0, 0, _ROOM, at_once))


def _divided(blocks: Blocks, sizes: Sequence[int], level: int, low: int, high: int, at_once: int) -> Iterator[Blocks]:
    """Yield the rows of a file in sorted ones: their keys of a level lie in low … high − 1, and are equal on those before."""
    if level == len(packs(sizes)):  # all are equal: any order is one
        for k, columns in enumerate(blocks):
            part = Blocks(blocks.path.with_name(f"{blocks.path.name}.{k}"), blocks.layout)
            part.append(columns)
            yield part
        blocks.path.unlink(missing_ok=True)
        return
    if blocks.total <= at_once:
        columns = blocks.take()
        order = ascending(packed(columns, sizes))
        blocks.append([column[order] for column in columns])
        yield blocks
        return
    run = packs(sizes)[level]
    high = min(high, int(np.prod([sizes[j] for j in run], dtype=np.int64)))
    step = -(-(high - low) // _CELLS)
    count = np.zeros(-(-(high - low) // step), np.int64)
    for columns in blocks:
        count += np.bincount((packed(columns, sizes)[level] - low) // step, minlength=len(count))
    # Cells, each a range of keys, are put into files in their order; a large one has a file of its own.
    number = np.zeros(len(count), np.int64)
    held = file = 0
    for cell, many in enumerate(count.tolist()):
        if held and held + many > at_once:
            file, held = file + 1, 0
        number[cell] = file
        held += many
    files = [Blocks(blocks.path.with_name(f"{blocks.path.name}.{k}"), blocks.layout) for k in range(file + 1)]
    for columns in blocks:
        scatter(columns, number[(packed(columns, sizes)[level] - low) // step], files)
    blocks.path.unlink(missing_ok=True)
    for k, part in enumerate(files):
        cells = np.flatnonzero((number == k) & (count > 0))
        if not len(cells):
            continue
        begin, end = low + int(cells[0]) * step, low + (int(cells[-1]) + 1) * step
        if end - begin == 1:
            yield from _divided(part, sizes, level + 1, 0, _ROOM, at_once)
        else:
            yield from _divided(part, sizes, level, begin, end, at_once)


@dataclass(frozen=True, eq=False)
class Series:
    """Rows in their final order, in several files of one block each."""

    files: Sequence[Blocks]

    @property
    def total(self) -> int:
        """Number of rows."""
        return sum(file.total for file in self.files)

    def part(self, begin: int, end: int) -> list[Array]:
        """Return the columns of the rows from one place up to another."""
        pieces, at = [], 0
        for file in self.files:
            low, high = max(begin - at, 0), min(end - at, file.total)
            if low < high:
                pieces.append(file.slice(low, high))
            at += file.total
        return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]
