"""Showing groups in a form: from a grouping to the release that a recipient gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato import __version__
from sfumato.arrays import Small
from sfumato.errors import InputError
from sfumato.groups.grouping import Grouping, Histograms
from sfumato.methods.base import Method
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.randomness import Randomness
from sfumato.release.buckets import BUCKET, COUNT, BucketsRelease
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.column import Column, code_type
from sfumato.table.sensitive import Domain
from sfumato.table.table import Table


def show_as_buckets(
    table: Table,
    grouping: Grouping,
    shown: Histograms,
    *,
    bounds: Bounds | None,
    requirement: Requirement,
    method: Method,
    random: Randomness,
    complete: bool = True,
    decoys: int = 0,
    suppression: bool = False,
    locality: Literal["none", "safe", "tight", "near", "annealed"] = "none",
) -> BucketsRelease:
    """Return the buckets release of a grouping, with nothing of what was left out.

    `bounds` go into the manifest, value by value with their counts; None where the tables do not show the counts anyway (decoys,
    suppression). `complete` is False when a clock stopped the making.
    """
    people, group = table.quasi, grouping.group
    if suppression:
        kept = np.flatnonzero(group >= 0)
        people, group = tuple(column.take(kept) for column in people), group[kept]
    manifest = Manifest(
        form=BucketsRelease.form,
        schema=public_schema(table),
        rows=len(group),
        requirement=requirement.to_dict(),
        method=method.to_dict(),
        claims=(Claim.association(requirement.against, one_row_per_person=table.schema.one_row_per_person),),
        values=None if bounds is None else tuple(described_values(bounds)),
        parameters={
            "buckets": grouping.groups,
            "decoys": decoys,
            "suppression": suppression,
            "locality": locality,
            "one_row_per_person": table.schema.one_row_per_person,
        },
        seeded=random.reproducible,
        reproducible=random.reproducible and complete,
        software=f"sfumato {__version__}",
    )
    quasi = tuple(without_unused(column) for column in people)
    domain, value = shown_domain(table.sensitive.domain, shown.value)
    return BucketsRelease(manifest, quasi, group, domain, shown.group, value, shown.count, table.native).canonical()


def require_free_names(table: Table) -> None:
    """Raise `InputError` where a column has the name of one that the form adds."""
    for name in [*(column.name for column in table.quasi), *table.sensitive.domain.names]:
        if name in (BUCKET, COUNT):
            raise InputError(
                f"the column {name!r} has the name of a column that the bucket form adds",
                hint=f"rename it, to {name}_ for example",
            )


def public_schema(table: Table) -> dict[str, Any]:
    """Return names and kinds of the published columns, and how they were recoded; no identifier or dropped column."""
    return {
        "quasi": [{"name": column.name, "kind": column.kind} for column in table.quasi],
        "sensitive": [
            {"name": name, "kind": kind}
            for name, kind in zip(table.sensitive.domain.names, table.sensitive.domain.kinds, strict=True)
        ],
        "declared": table.schema.to_dict(),
    }


def described_values(bounds: Bounds) -> list[Mapping[str, Any]]:
    """Return value, count and exact bound of each sensitive value."""
    return [
        {"value": value, "count": count, "bound": str(limit)}
        for value, count, limit in zip(bounds.values, bounds.counts, bounds.limits, strict=True)
    ]


def shown_domain(domain: Domain, value: Small) -> tuple[Domain, Small]:
    """Return the sensitive values that occur, and the codes among them: others would tell about absent people."""
    occurs = np.bincount(value, minlength=len(domain)) > 0
    if occurs.all():
        return domain, value
    codes = (np.cumsum(occurs) - 1).astype(np.int32)
    return Domain(domain.table.take(pa.array(np.flatnonzero(occurs))), domain.kinds), codes[value]


def without_unused(column: Column) -> Column:
    """Return the column with only the dictionary entries that occur: the others would tell about absent people."""
    used = np.bincount(column.codes, minlength=column.size) > 0
    if used.all():
        return column
    present = used[: len(column.values)]
    missing = bool(column.has_missing and used[len(column.values)])
    renumber = np.cumsum(used) - 1
    codes = renumber[column.codes].astype(code_type(int(used.sum())))
    return Column(column.name, column.kind, column.values.filter(pa.array(present)), codes, missing)
