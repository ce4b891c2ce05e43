"""Showing groups as columns: from a grouping to the release that a recipient gets."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Integers, Small
from sfumato.groups.grouping import Grouping, histograms
from sfumato.methods.forms import shown_domain, without_unused
from sfumato.methods.show_fragments import Terms, require_free_fragment_names
from sfumato.release.columns import ColumnsRelease
from sfumato.release.fragments import starts
from sfumato.table.column import Column
from sfumato.table.table import Table


def show_as_columns(table: Table, grouping: Grouping, terms: Terms) -> ColumnsRelease:
    """Return the columns release of a grouping: the values of every group, each once, column by column."""
    require_free_fragment_names(table)
    kept = np.flatnonzero(grouping.group >= 0)
    group = grouping.group[kept]
    shown = histograms(group, table.sensitive.codes[kept], len(table.sensitive.domain))
    entries = [_entries(without_unused(column.take(kept)), group, grouping.groups) for column in table.quasi]
    columns, first = (tuple(parts) for parts in zip(*entries, strict=True))
    manifest = terms.manifest(ColumnsRelease.form, table, grouping)
    domain, value = shown_domain(table.sensitive.domain, shown.value)
    return ColumnsRelease(manifest, columns, first, domain, shown.group, value, shown.count, table.native).canonical()


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
