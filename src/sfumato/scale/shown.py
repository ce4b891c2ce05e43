"""What boxes show of their people column by column, found in shards and put together: ranges, and lists of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Integers, Small
from sfumato.form import FORMS
from sfumato.release.boxes import Box, Ranges, Sets
from sfumato.table.column import Column


class Span(NamedTuple):
    """A numeric or date column: the smallest and largest code of every box, −1 where nobody has a value; who has none."""

    low: Small
    high: Small
    missing: Flags


class Values(NamedTuple):
    """Any column: the different codes of every box, ascending, and how many each box has."""

    length: Small
    codes: Small


Seen = Span | Values


def ranged(columns: Sequence[Column], form: str) -> tuple[int, ...]:
    """Return for every column that a form shows as a range the code of a missing value, −1 for those shown value by value."""
    return tuple(len(column.values) if FORMS[form].as_ranges and column.kind != "categorical" else -1 for column in columns)


def seen_in(codes: Array, group: Array, groups: int, size: int, absent: int) -> Seen:
    """Return what boxes show of a column with so many codes."""
    if absent < 0:
        key = group.astype(np.int64) * size + codes
        key.sort()
        key = key[np.append(True, key[1:] != key[:-1])]
        return Values(np.bincount(key // size, minlength=groups).astype(np.int32), (key % size).astype(np.int32))
    held = codes < absent
    low, high = np.full(groups, size, np.int32), np.full(groups, -1, np.int32)
    mine, some = group[held], codes[held].astype(np.int32)
    np.minimum.at(low, mine, some)
    np.maximum.at(high, mine, some)
    missing = np.zeros(groups, bool)
    missing[group[~held]] = True
    return Span(low, high, missing)


def together(parts: Sequence[Seen], box: Integers, size: int) -> Seen:
    """Return what boxes show whose pieces these are: `box` is the box of every piece, and pieces of one follow one another."""
    if isinstance(parts[0], Span):
        head = np.flatnonzero(np.append(True, box[1:] != box[:-1]))
        low, high, missing = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Span(np.minimum.reduceat(low, head), np.maximum.reduceat(high, head), np.logical_or.reduceat(missing, head))
    length, codes = (np.concatenate(part) for part in zip(*parts, strict=True))
    boxes = int(box[-1]) + 1
    if boxes == len(box):
        return Values(length, codes)
    return seen_in(codes, np.repeat(box, length), boxes, size, -1)


def box_shown(column: Column, seen: Seen) -> Box:
    """Return the same as a release shows it, with no value that no box shows."""
    if isinstance(seen, Span):
        return Ranges.between(column, seen.low.astype(np.int64), seen.high.astype(np.int64), seen.missing)
    used = np.bincount(seen.codes, minlength=column.size) > 0
    short = (np.cumsum(used) - 1).astype(np.int32)
    known = np.flatnonzero(used[: len(column.values)])
    start = np.concatenate(([0], np.cumsum(seen.length))).astype(np.int64)
    return Sets(column.name, column.values.take(pa.array(known)), start, short[seen.codes])
