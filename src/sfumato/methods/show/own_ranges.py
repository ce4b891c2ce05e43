"""Records with ranges of their own: from matches to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.methods.show.manifest import described_values, manifest_of
from sfumato.release.boxes import Box, Ranges, Sets
from sfumato.release.links import Links
from sfumato.release.paper_claims import weaker_claim
from sfumato.release.ranges import RangesRelease
from sfumato.table.column import Column

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task

_AT_ONCE = 1 << 22


def show_own_ranges(
    task: Task, links: Links, method: Method, *, least: int, parameters: Mapping[str, Any]
) -> tuple[RangesRelease, Links]:
    """Return the release in which every record shows the ranges of the people it is linked with, and the links in its order.

    Every record is a group of its own, numbered as the rows are. No claim about belief is made: the paper's stands in its place;
    `least` is with how many people every record is linked at least.
    """
    table = task.table
    manifest = manifest_of(
        task,
        method,
        RangesRelease.form,
        basis="paper",
        claims=(),
        values=described_values(task),
        parameters={
            "groups": table.rows,
            "weaker_claim": weaker_claim(method.to_dict()),
            "matches": least,
            **parameters,
        },
    )
    boxes = tuple(_box(column, links) for column in task.quasi)
    value = task.codes[links.carried].astype(np.int32)
    group = np.arange(table.rows, dtype=np.int32)
    release, rows = RangesRelease(manifest, boxes, group, table.sensitive.domain, value, table.native).canonical()
    return release, _taken(links, rows)


def _taken(links: Links, order: Integers) -> Links:
    """Return the links of the records in another order."""
    length = np.diff(links.start)[order]
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    place = np.repeat(links.start[order] - start[:-1], length) + np.arange(start[-1])
    return Links(start, links.linked[place], links.carried[order])


def _box(column: Column, links: Links) -> Box:
    """Return what every record shows of a column: the smallest range or set that holds the people it is linked with."""
    if column.kind == "categorical":
        return _sets(column, links)
    codes = column.codes[links.linked].astype(np.int64)
    held = codes < len(column.values)
    low = np.minimum.reduceat(codes, links.start[:-1])
    high = np.maximum.reduceat(np.where(held, codes, -1), links.start[:-1])
    return Ranges.between(column, low, high, np.logical_or.reduceat(~held, links.start[:-1]))


def _sets(column: Column, links: Links) -> Sets:
    lengths: list[Integers] = []
    pieces: list[Integers] = []
    step = max(1, _AT_ONCE // column.size)
    records = len(links.carried)
    for begin in range(0, records, step):
        end = min(begin + step, records)
        inside = slice(links.start[begin], links.start[end])
        present = np.zeros((end - begin, column.size), bool)
        owner = np.repeat(np.arange(end - begin), np.diff(links.start[begin : end + 1]))
        present[owner, column.codes[links.linked[inside]]] = True
        lengths.append(present.sum(axis=1))
        pieces.append(np.nonzero(present)[1])
    used, short = np.unique(np.concatenate(pieces), return_inverse=True)
    start = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64)
    known = used[used < len(column.values)]
    return Sets(column.name, column.values.take(pa.array(known)), start, short.astype(np.int32))
