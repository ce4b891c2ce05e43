"""Groups as two views (PriView): some quasi columns stand with the sensitive ones, apart from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.columns import fragment_facts
from sfumato.methods.show.manifest import group_manifest, published_people, shown_domain
from sfumato.release.views import MOVED, ViewsRelease

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_views(task: Task, grouping: Grouping, method: Method) -> ViewsRelease:
    """Return the views release of a grouping whose public parameters name the moved columns."""
    moved = grouping.public[MOVED]
    people, group = published_people(task, grouping)
    right = [column for column in people if column.name in moved]
    sensitive = task.codes[grouping.group >= 0]
    entry, count = _distinct_rows([group, *(column.codes for column in right), sensitive])
    domain, value = shown_domain(task.table.sensitive.domain, sensitive[entry].astype(np.int32))
    return ViewsRelease(
        group_manifest(task, method, ViewsRelease.form, grouping, fragment_facts(grouping)),
        tuple(column for column in people if column.name not in moved),
        group,
        tuple(column.take(entry) for column in right),
        domain,
        group[entry],
        value,
        count,
        task.table.native,
    )


def _distinct_rows(parts: Sequence[Array]) -> tuple[Integers, Integers]:
    """Return one row for each combination of these codes, sorted by it, and how many rows have it."""
    rows = np.lexsort(parts[::-1])
    fresh = np.zeros(len(rows), bool)
    fresh[:1] = True
    for part in parts:
        ranked = part[rows]
        fresh[1:] |= ranked[1:] != ranked[:-1]
    return rows[fresh], np.diff(np.flatnonzero(fresh), append=len(rows))
