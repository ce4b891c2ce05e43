"""Showing groups as ranges: from a grouping to the release that a recipient gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sfumato import __version__
from sfumato.errors import InputError
from sfumato.groups.grouping import Grouping
from sfumato.methods.base import Method
from sfumato.methods.forms import described_values, public_schema
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.randomness import Randomness
from sfumato.release.box_tables import possible_columns
from sfumato.release.boxes import box_of
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.ranges import GROUP, RangesRelease
from sfumato.table.table import Table


def show_as_ranges(
    table: Table,
    grouping: Grouping,
    *,
    bounds: Bounds | None,
    requirement: Requirement,
    method: Method,
    random: Randomness,
    complete: bool = True,
    parameters: Mapping[str, Any] | None = None,
) -> RangesRelease:
    """Return the ranges release of a grouping: every group by its smallest box, its values in their own order.

    A row shows nothing of its person but the group, so nothing says whose value is whose. `bounds` go into the manifest, value by
    value with their counts, None to leave them out. `complete` is False when a clock stopped the making; `parameters` are further
    public ones.
    """
    require_free_range_names(table)
    if (grouping.group < 0).any():
        raise InputError("the form ranges shows everybody, but the grouping leaves people out", hint="show it as buckets")
    manifest = Manifest(
        form=RangesRelease.form,
        schema=public_schema(table),
        rows=table.rows,
        requirement=requirement.to_dict(),
        method=method.to_dict(),
        claims=(Claim.association(requirement.against, one_row_per_person=table.schema.one_row_per_person),),
        values=None if bounds is None else tuple(described_values(bounds)),
        parameters={
            "groups": grouping.groups,
            "one_row_per_person": table.schema.one_row_per_person,
            **(parameters or {}),
        },
        seeded=random.reproducible,
        reproducible=random.reproducible and complete,
        software=f"sfumato {__version__}",
    )
    boxes = tuple(box_of(column, grouping.group, grouping.groups) for column in table.quasi)
    sensitive = table.sensitive
    return RangesRelease(
        manifest,
        boxes,
        grouping.group,
        sensitive.domain,
        sensitive.codes.astype("int32"),
        table.native,
    ).canonical()[0]


def require_free_range_names(table: Table) -> None:
    """Raise `InputError` where two published columns would have one name: "age_min" beside the range of "age", or "group"."""
    names = [name for column in table.quasi for name in possible_columns(column.name, column.kind)]
    twice = [name for name, times in Counter([*names, *table.sensitive.domain.names, GROUP]).items() if times > 1]
    if twice:
        raise InputError(
            f"the form ranges would publish two columns called {twice[0]!r}",
            hint=f"rename the column {twice[0]!r} of the table, to {twice[0]}_ for example",
        )
