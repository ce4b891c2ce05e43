"""Showing groups as columns: from a grouping to the release that a recipient gets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.groups.grouping import Grouping, histograms
from sfumato.methods.forms import without_unused
from sfumato.methods.show_fragments import Small, Terms, renumbered, require_free_fragment_names, shown_domain
from sfumato.release.columns import ColumnsRelease
from sfumato.release.fragments import ST, auxiliary_names, starts
from sfumato.table.column import Column
from sfumato.table.table import Table

Integers = npt.NDArray[np.int64]


def show_as_columns(table: Table, grouping: Grouping, terms: Terms) -> ColumnsRelease:
    """Return the columns release of a grouping: the values of every group, each once, column by column, in an order of coins."""
    require_free_fragment_names(table)
    random = terms.random
    kept, group = renumbered(grouping, random)
    shown = histograms(group, table.sensitive.codes[kept], len(table.sensitive.domain))
    order: dict[str, Small] = {ST: random.permutation(len(shown.count)).astype(np.int32)}
    columns, first = [], []
    for name, column in zip(auxiliary_names([column.name for column in table.quasi]), table.quasi, strict=True):
        entries, start = _entries(without_unused(column.take(kept)), group, grouping.groups)
        columns.append(entries)
        first.append(start)
        order[name] = random.permutation(len(entries)).astype(np.int32)
    manifest = terms.manifest(ColumnsRelease.form, table, grouping)
    domain, value = shown_domain(table.sensitive.domain, shown.value)
    return ColumnsRelease(manifest, tuple(columns), tuple(first), domain, shown.group, value, shown.count, order, table.native)


def _entries(column: Column, group: npt.NDArray[np.int32], groups: int) -> tuple[Column, Integers]:
    """Return the distinct values of every group, sorted by group and value, and where each group begins."""
    every = group.astype(np.int64) * column.size + column.codes
    every.sort()  # several times faster than numpy's hashing `unique`
    fresh = np.ones(len(every), bool)
    np.not_equal(every[1:], every[:-1], out=fresh[1:])
    key = every[fresh]
    del every
    codes = (key % column.size).astype(column.codes.dtype)
    return Column(column.name, column.kind, column.values, codes, column.has_missing), starts(key // column.size, groups)
