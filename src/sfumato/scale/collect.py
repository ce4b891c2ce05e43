"""What shards leave behind, put together: boxes numbered as one release numbers them, and the rows of any part of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.groups.counted import Leaf
from sfumato.methods.show.manifest import without_unused
from sfumato.release.boxes import Box, box_ranks
from sfumato.release.canonical import TableRows, canonical_order
from sfumato.scale.layout import Blocks, Layout
from sfumato.scale.shard import ShardBoxes
from sfumato.scale.shown import Seen, Values, box_shown, together
from sfumato.table.column import Column


@dataclass(frozen=True, eq=False)
class StoredShard:
    """A shard whose rows lie on disk, in canonical order; what is left of it in memory is about boxes, not people.

    `piece` is how many of the pieces of its final box come before it; all other shards hold whole boxes.
    """

    leaf: Leaf
    rows: Blocks
    made: ShardBoxes
    piece: int = 0


def keep(place: Path, name: str, layout: Layout, leaf: Leaf, made: ShardBoxes, piece: int) -> StoredShard:
    """Write the rows of a shard to disk and return the rest."""
    rows = Blocks(place / name, layout)
    if made.rows:
        rows.append(made.rows)
    without_rows = replace(made, rows=[])
    return StoredShard(leaf, rows, without_rows, piece)


@dataclass(frozen=True, eq=False)
class Collected:
    """All boxes in canonical order, from 0 on: where the rows of each lie, its size, its account and its counts of values.

    A box lies in one shard, or in pieces in several; `run`s are boxes or pieces in the order of their rows.
    """

    shards: tuple[StoredShard, ...]
    shard: Integers
    offset: Integers
    length: Integers
    box: Integers
    sizes: Integers
    entries: Integers
    value: Integers
    count: Integers
    account: Integers | None
    along: Integers
    """The number of each box from left to right along the cuts."""

    @property
    def rows(self) -> int:
        """Number of people."""
        return int(self.sizes.sum())

    @property
    def group(self) -> Small:
        """The box of every entry."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.entries)

    def along_cuts(self, values: Integers) -> Integers:
        """Return numbers of boxes from left to right along the cuts."""
        found = np.empty(len(values), np.int64)
        found[self.along] = values
        return found

    def part(self, begin: int, end: int) -> tuple[list[Array], Integers]:
        """Return the rows of a table of people from one place up to another: their codes, and the box of each."""
        ends = np.cumsum(self.length)
        low, high = np.searchsorted(ends, begin, side="right"), np.searchsorted(ends, end, side="left") + 1
        shard, offset, length = (array[low:high].copy() for array in (self.shard, self.offset, self.length))
        ahead = begin - (int(ends[low]) - int(length[0]))
        offset[0] += ahead
        length[0] -= ahead
        length[-1] -= int(ends[high - 1]) - end
        pieces: list[list[Array]] = []
        start, at = np.zeros(len(self.shards), np.int64), 0
        for number in np.unique(shard).tolist():
            mine = shard == number
            first, last = int(offset[mine].min()), int((offset[mine] + length[mine]).max())
            pieces.append(self.shards[number].rows.slice(first, last))
            start[number] = at - first
            at += last - first
        after = np.cumsum(length)
        places = np.repeat(offset + start[shard] - (after - length), length) + np.arange(end - begin)
        columns = [np.concatenate(parts)[places] for parts in zip(*pieces, strict=True)]
        return columns, np.repeat(self.box[low:high], length)


def collect(shards: Sequence[StoredShard], order: Integers | None = None) -> Collected:
    """Return the boxes of all shards, which come from left to right along the cuts, numbered by their first rows.

    Boxes are disjoint in quasi space, so that no two of them have a first row in common and nothing else has to be compared.
    `order`, if given, lists the boxes along the cuts in the order of their numbers.
    """
    boxes_of = [len(shard.made.sizes) for shard in shards]
    size, first = np.concatenate([shard.made.sizes for shard in shards]), np.concatenate([shard.made.firsts for shard in shards])
    of_shard = np.repeat(np.arange(len(shards)), boxes_of)
    at = np.concatenate([np.cumsum(shard.made.sizes) - shard.made.sizes for shard in shards])
    of_piece = np.repeat([shard.piece for shard in shards], boxes_of)
    before = np.repeat(np.cumsum(boxes_of) - boxes_of, boxes_of)
    along = before + np.concatenate([shard.made.box for shard in shards]) - np.cumsum(of_piece > 0)
    whole = np.cumsum(of_piece == 0) - 1  # pieces of one box follow one another
    boxes = int(whole[-1]) + 1
    head = np.flatnonzero(of_piece == 0)
    order = np.lexsort(first[head].T[::-1]) if order is None else order
    number = np.empty(boxes, np.int64)
    number[order] = np.arange(boxes)
    runs = np.argsort(number[whole], kind="stable")
    total = np.bincount(number[whole], weights=size, minlength=boxes).astype(np.int64)
    entries, value, count = _entries(shards, number[whole], boxes)
    accounts = [shard.made.account for shard in shards if shard.made.account is not None]
    account = np.concatenate(accounts) if accounts else None
    return Collected(
        shards=tuple(shards),
        shard=of_shard[runs],
        offset=at[runs],
        length=size[runs],
        box=number[whole][runs],
        sizes=total,
        entries=entries,
        value=value,
        count=count,
        account=None if account is None else account[head][order],
        along=along[head][order],
    )


def seen_together(shards: Sequence[StoredShard], columns: Sequence[Column]) -> tuple[Seen, ...]:
    """Return what boxes show column by column, from left to right along the cuts."""
    piece = np.concatenate([np.full(len(shard.made.sizes), shard.piece) for shard in shards])
    box = np.cumsum(piece == 0) - 1
    return tuple(together([shard.made.seen[j] for shard in shards], box, column.size) for j, column in enumerate(columns))


def collect_ranges(shards: Sequence[StoredShard], columns: Sequence[Column]) -> tuple[Collected, tuple[Box, ...]]:
    """Return the boxes of all shards numbered by what they show, and that; equal ones by their values.

    Of two boxes with the same ranges the one comes first whose values do, written one after another. Where these first differ in
    how often a value occurs, that is the one which ends there, else the one in which it occurs more often.
    """
    shown = tuple(box_shown(column, seen) for column, seen in zip(columns, seen_together(shards, columns), strict=True))
    rank = box_ranks(shown)
    order = np.argsort(rank, kind="stable")
    if (rank[order][1:] == rank[order][:-1]).any():
        along = collect(shards, np.arange(len(rank)))
        box, last = np.repeat(np.arange(len(rank)), along.entries), np.zeros(len(along.value), bool)
        last[np.cumsum(along.entries) - 1] = True
        key = along.value * np.int64(1 << 33) + np.where(last, along.count, (1 << 33) - 1 - along.count)
        order = np.argsort(
            canonical_order([TableRows("ranges", np.arange(len(rank)), rank), TableRows("values", box, key)], len(rank)).number
        )
    return collect(shards, order), tuple(box.take(order) for box in shown)


def collect_columns(
    shards: Sequence[StoredShard], columns: Sequence[Column]
) -> tuple[Collected, tuple[tuple[Column, Integers], ...]]:
    """Return the boxes of all shards from left to right along the cuts; of every column their values, and where each begins."""
    shown = []
    for column, seen in zip(columns, seen_together(shards, columns), strict=True):
        assert isinstance(seen, Values)
        used = without_unused(replace(column, codes=seen.codes.astype(column.codes.dtype)))
        shown.append((used, np.concatenate(([0], np.cumsum(seen.length))).astype(np.int64)))
    boxes = len(shown[0][1]) - 1
    return collect(shards, np.arange(boxes)), tuple(shown)


def _entries(shards: Sequence[StoredShard], number: Integers, boxes: int) -> tuple[Integers, Integers, Integers]:
    """Return how many entries each box has, and value and count of all of them, box by box; counts of pieces are added up."""
    each = np.concatenate([shard.made.entries for shard in shards])
    group = np.repeat(number, each)
    value = np.concatenate([shard.made.value for shard in shards])
    count = np.concatenate([shard.made.count for shard in shards])
    order = np.lexsort((value, group))
    group, value, count = group[order], value[order], count[order]
    fresh = np.ones(len(group), bool)
    fresh[1:] = (group[1:] != group[:-1]) | (value[1:] != value[:-1])
    if not fresh.all():
        count = np.add.reduceat(count, np.flatnonzero(fresh))
        group, value = group[fresh], value[fresh]
    return np.bincount(group, minlength=boxes).astype(np.int64), value, count
