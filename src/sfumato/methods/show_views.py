"""Showing groups as two views: from a grouping to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import PolicyError, did_you_mean
from sfumato.groups.grouping import Grouping
from sfumato.methods.forms import without_unused
from sfumato.methods.show_fragments import Terms, renumbered, require_free_fragment_names, shown_domain
from sfumato.release.fragments import ST
from sfumato.release.views import MOVED, ViewsRelease
from sfumato.table.table import Table


def show_as_views(table: Table, grouping: Grouping, moved: Sequence[str], terms: Terms) -> ViewsRelease:
    """Return the views release of a grouping: the `moved` quasi columns stand with the sensitive ones, apart from the others.

    The order of both tables follows from the coins alone.
    """
    require_free_fragment_names(table)
    random = terms.random
    _require_moved(table, moved)
    kept, group = renumbered(grouping, random)
    people = {column.name: without_unused(column.take(kept)) for column in table.quasi}
    left = [people[column.name] for column in table.quasi if column.name not in moved]
    right = [people[column.name] for column in table.quasi if column.name in moved]
    at = _sorted_rows([group, *(column.codes for column in left)])[random.permutation(len(kept)).astype(np.int32)]
    sensitive = table.sensitive.codes[kept]
    entry, count = _distinct_rows([group, *(column.codes for column in right), sensitive])
    domain, value = shown_domain(table.sensitive.domain, sensitive[entry].astype(np.int32))
    manifest = terms.manifest(ViewsRelease.form, table, grouping, **{MOVED: [column.name for column in right]})
    return ViewsRelease(
        manifest,
        tuple(column.take(at) for column in left),
        group[at],
        tuple(column.take(entry) for column in right),
        domain,
        group[entry],
        value,
        count,
        {ST: random.permutation(len(entry)).astype(np.int32)},
        table.native,
    )


def _sorted_rows(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int32]:
    """Return the rows sorted by these codes, the first before the second and so on."""
    return np.lexsort(parts[::-1]).astype(np.int32)


def _distinct_rows(parts: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return one row for each combination of these codes, sorted by it, and how many rows have it."""
    rows = _sorted_rows(parts)
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
