"""Groups as columns: each quasi column in a table of its own (Ambiguity), and a histogram of sensitive values a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Integers, Small
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.manifest import group_manifest, published_people, shown_events
from sfumato.release.columns import ColumnsRelease
from sfumato.release.fragments import starts
from sfumato.table.column import Column

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_columns(task: Task, grouping: Grouping, method: Method) -> ColumnsRelease:
    """Return the columns release of a grouping: the values of every group, each once, column by column."""
    shown = grouping.shown
    assert shown is not None
    quasi, group = published_people(task, grouping)
    entries = [_entries(column, group, grouping.groups) for column in quasi]
    columns, first = (tuple(parts) for parts in zip(*entries, strict=True))
    manifest = group_manifest(task, method, ColumnsRelease.form, grouping, fragment_facts(grouping))
    domain, value = shown_events(task.table.events, shown.value)
    native, account = task.table.native, grouping.account
    return ColumnsRelease(manifest, columns, first, domain, shown.group, value, shown.count, native, account)


def fragment_facts(grouping: Grouping) -> dict[str, Any]:
    """Return what columns and views say of their groups."""
    left_out = {"suppression": {"option": "suppress", "people": grouping.suppressed}} if grouping.suppressed else {}
    return {"groups": grouping.groups, **left_out}


def _entries(column: Column, group: Small, groups: int) -> tuple[Column, Integers]:
    """Return the distinct values of every group, sorted by group and value, and where each group begins."""
    every = group.astype(np.int64) * column.size + column.codes
    every.sort()  # several times faster than numpy's hashing `unique`
    fresh = np.ones(len(every), bool)
    np.not_equal(every[1:], every[:-1], out=fresh[1:])
    key = every[fresh]
    del every
    codes = (key % column.size).astype(column.codes.dtype)
    return Column(column.name, column.kind, column.values, codes, column.has_missing), starts(key // column.size, groups)
