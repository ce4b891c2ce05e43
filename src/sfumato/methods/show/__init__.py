"""Showing groups: from a grouping to the release that a recipient gets, one file a form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import InputError
from sfumato.groups.grouping import Grouping, Histograms
from sfumato.methods.show.buckets import show_buckets
from sfumato.methods.show.columns import show_columns
from sfumato.methods.show.manifest import shown_apart
from sfumato.methods.show.ranges import show_ranges
from sfumato.methods.show.views import show_views
from sfumato.release import buckets, fragments, randomized, ranges
from sfumato.release.base import Release
from sfumato.release.box_tables import possible_columns
from sfumato.table.table import Table

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task

SHOWN: dict[str, Callable[[Task, Grouping, Method], Any]] = {
    "buckets": show_buckets,
    "ranges": show_ranges,
    "columns": show_columns,
    "views": show_views,
}
"""How each form shows a grouping whose `shown` histograms are known; groups are numbered as they were made."""

_ADDED = {
    "buckets": (buckets.BUCKET, buckets.COUNT),
    "ranges": (ranges.GROUP,),
    "columns": (fragments.GROUP, fragments.COUNT),
    "views": (fragments.GROUP, fragments.COUNT),
    "randomized": (randomized.PART,),
    "synthetic": (),
}


def show(task: Task, grouping: Grouping, method: Method) -> Release:
    """Return the groups in the method's form, in canonical order."""
    if task.bounds.apart:
        return _show_apart(task, grouping, method)
    arranged = SHOWN[method.form](task, grouping, method).canonical()
    release: Release = arranged[0] if isinstance(arranged, tuple) else arranged
    return release


def _show_apart(task: Task, grouping: Grouping, method: Method) -> Release:
    """Return the same groups with the values of each sensitive column by itself."""
    shown = grouping.shown
    assert shown is not None
    parts, first = [], 0
    for part, many in zip(task.parts(), task.bounds.apart, strict=True):
        mine = (shown.value >= first) & (shown.value < first + many)
        own = Histograms(shown.group[mine], shown.value[mine] - np.int32(first), shown.count[mine])
        parts.append(SHOWN[method.form](part, replace(grouping, shown=own), method))
        first += many
    return shown_apart(task, parts)


def require_free_names(table: Table, form: str) -> None:
    """Raise `InputError` where a form would publish two columns of one name: "age_min" beside the range of "age", or "group"."""
    quasi = [possible_columns(one.name, one.kind) if form == "ranges" else (one.name,) for one in table.quasi]
    names = [*(name for listed in quasi for name in listed), *table.sensitive.domain.names, *_ADDED[form]]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(
            f"the form {form} would publish two columns called {twice[0]!r}",
            hint=f"rename the column {twice[0]!r} of the table, to {twice[0]}_ for example",
        )


__all__ = ["SHOWN", "require_free_names", "show"]
