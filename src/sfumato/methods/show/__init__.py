"""Showing groups: from a grouping to the release that a recipient gets, one file a form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sfumato.errors import InputError
from sfumato.form import FORMS
from sfumato.groups.grouping import Grouping
from sfumato.methods.show.buckets import show_buckets
from sfumato.methods.show.columns import show_columns
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
    "buckets": (buckets.GROUP, buckets.COUNT),
    "ranges": (ranges.GROUP,),
    "columns": (fragments.GROUP, fragments.COUNT),
    "views": (fragments.GROUP, fragments.COUNT),
    "randomized": (randomized.PART,),
    "synthetic": (),
}


def show(task: Task, grouping: Grouping, method: Method) -> Release:
    """Return the groups in the method's form, in canonical order."""
    arranged = SHOWN[method.form](task, grouping, method).canonical()
    release: Release = arranged[0] if isinstance(arranged, tuple) else arranged
    return release


def require_free_names(table: Table, form: str) -> None:
    """Raise `InputError` where a form would publish two columns of one name: "age_min" beside the range of "age", or "group"."""
    quasi = [possible_columns(column.name, column.kind) if FORMS[form].as_ranges else (column.name,) for column in table.quasi]
    names = [*(name for listed in quasi for name in listed), *table.sensitive.domain.names, *_ADDED[form]]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(
            f"the form {form} would publish two columns called {twice[0]!r}",
            hint=f"rename the column {twice[0]!r} of the table, to {twice[0]}_ for example",
        )


__all__ = ["SHOWN", "require_free_names", "show"]
