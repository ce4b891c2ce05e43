"""Showing groups as two views: from a grouping to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import PolicyError, did_you_mean
from sfumato.groups.grouping import Grouping
from sfumato.methods.forms import shown_domain, without_unused
from sfumato.methods.show_fragments import Terms, require_free_fragment_names
from sfumato.release.views import MOVED, ViewsRelease
from sfumato.table.table import Table


def show_as_views(table: Table, grouping: Grouping, moved: Sequence[str], terms: Terms) -> ViewsRelease:
    """Return the views release of a grouping: the `moved` quasi columns stand with the sensitive ones, apart from the others."""
    require_free_fragment_names(table)
    _require_moved(table, moved)
    kept = np.flatnonzero(grouping.group >= 0)
    group = grouping.group[kept]
    people = [without_unused(column.take(kept)) for column in table.quasi]
    right = [column for column in people if column.name in moved]
    sensitive = table.sensitive.codes[kept]
    entry, count = _distinct_rows([group, *(column.codes for column in right), sensitive])
    domain, value = shown_domain(table.sensitive.domain, sensitive[entry].astype(np.int32))
    return ViewsRelease(
        terms.manifest(ViewsRelease.form, table, grouping, **{MOVED: [column.name for column in right]}),
        tuple(column for column in people if column.name not in moved),
        group,
        tuple(column.take(entry) for column in right),
        domain,
        group[entry],
        value,
        count,
        table.native,
    ).canonical()


def _distinct_rows(parts: Sequence[Array]) -> tuple[Integers, Integers]:
    """Return one row for each combination of these codes, sorted by it, and how many rows have it."""
    rows = np.lexsort(parts[::-1])
    fresh = np.zeros(len(rows), bool)
    fresh[:1] = True
    for part in parts:
        ranked = part[rows]
        fresh[1:] |= ranked[1:] != ranked[:-1]
    return rows[fresh], np.diff(np.flatnonzero(fresh), append=len(rows))


def _require_moved(table: Table, moved: Sequence[str]) -> None:
    names = [column.name for column in table.quasi]
    unknown = [name for name in moved if name not in names]
    if unknown:
        raise PolicyError(f"{unknown[0]!r} is no quasi column of the table", hint=did_you_mean(unknown[0], names))
    if not moved or len(set(moved)) == len(names):
        raise PolicyError(
            "one quasi column or more stands with the sensitive values, and one or more does not; "
            f"asked for are {len(set(moved))} of {len(names)}",
            hint="choose some of the quasi columns, but not all of them",
        )
