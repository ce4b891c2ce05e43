"""What every release says of itself, and the parts of the original that it must not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sfumato import __version__
from sfumato.arrays import Small, counted
from sfumato.groups.grouping import Grouping
from sfumato.release.base import APART, Release
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.table.column import Column, Domain, code_type

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def manifest_of(task: Task, method: Method, form: str, **facts: Any) -> Manifest:
    """Return the manifest of a release in this form, with these further facts."""
    facts["parameters"] = {"one_row_per_person": task.table.schema.one_row_per_person, **facts["parameters"]}
    complete = facts.pop("complete", True)
    return Manifest(
        form=form,
        schema=_public_schema(task),
        rows=facts.pop("rows", task.table.rows),
        requirement=_requirement(task),
        method=method.to_dict(),
        seeded=task.random.reproducible,
        reproducible=task.random.reproducible and complete,
        software=f"sfumato {__version__}",
        **facts,
    )


def group_manifest(task: Task, method: Method, form: str, grouping: Grouping, parameters: Mapping[str, Any]) -> Manifest:
    """Return the manifest of a grouping; bounds and counts only where the tables show the counts of everybody."""
    one_row = task.table.schema.one_row_per_person
    claims = [Claim.association(task.against, one_row_per_person=one_row, sets=bool(task.requirement.sets))]
    if task.requirement.presence is not None:
        program = getattr(method, "grouping", "") == "halves"
        claims.insert(0, Claim.presence("stranger", form=form, program=program, one_row_per_person=one_row))
    published = grouping.basis == "paper"
    hidden = grouping.suppressed or parameters.get("decoys")
    return manifest_of(
        task,
        method,
        form,
        basis=grouping.basis,
        rows=task.table.rows - grouping.suppressed,
        claims=() if published else tuple(claims),
        values=None if hidden else described_values(task),
        sets=() if hidden else described_sets(task),
        parameters={
            **parameters,
            **grouping.public,
            **({"weaker_claim": PAPER_CLAIMS[method.name]} if published else {}),
        },
        complete=grouping.complete,
    )


class Stated(NamedTuple):
    """The manifest of a release whose tables lie elsewhere."""

    manifest: Manifest


def apart_manifest(task: Task, parts: Sequence[Release | Stated]) -> Manifest:
    """Return the manifest of a release whose sensitive columns are protected each by itself, from those of its parts."""
    first = parts[0].manifest
    names = task.table.sensitive.domain.names
    manifest = replace(
        first,
        schema=_public_schema(task),
        requirement=_requirement(task),
        values=None
        if first.values is None
        else tuple(
            {"column": name, **one} for name, part in zip(names, parts, strict=True) for one in part.manifest.values or ()
        ),
        sets=tuple({"column": name, **one} for name, part in zip(names, parts, strict=True) for one in part.manifest.sets),
    )
    # The words of a claim follow from all the rest.
    words = APART[first.form](manifest, tuple(parts)).in_fixed_words  # type: ignore[call-arg]
    return replace(manifest, claims=tuple(words(claim) for claim in first.claims))


def shown_apart(task: Task, parts: Sequence[Any]) -> Release:
    """Return the release that shows each sensitive column by itself, of these parts, in canonical order."""
    manifest = apart_manifest(task, parts)
    named = zip(parts, manifest.secrets, strict=True)
    kind: Any = APART[manifest.form]
    release: Release = kind(manifest, tuple(replace(one, manifest=manifest.of(name)) for one, name in named)).canonical()
    return release


def _public_schema(task: Task) -> dict[str, Any]:
    """Return names and kinds of the published columns, and how they were recoded; no identifier or dropped column."""
    domain = task.table.sensitive.domain
    return {
        "quasi": [{"name": column.name, "kind": column.kind} for column in task.quasi],
        "sensitive": [{"name": name, "kind": kind} for name, kind in zip(domain.names, domain.kinds, strict=True)],
        "declared": task.table.schema.to_dict(),
    }


def described_values(task: Task) -> tuple[Mapping[str, Any], ...]:
    """Return value, count and exact bound of each sensitive value."""
    bounds = task.bounds
    return tuple(
        {"value": value, "count": count, "bound": str(limit)}
        for value, count, limit in zip(bounds.values, bounds.counts, bounds.limits, strict=True)
    )


def described_sets(task: Task) -> tuple[Mapping[str, Any], ...]:
    """Return name, count and exact bound of each set of values."""
    bounds = task.bounds
    counts = bounds.event_counts[len(bounds.values) :]
    return tuple(
        {"set": one.name, "count": count, "bound": str(one.limit)} for one, count in zip(bounds.sets, counts, strict=True)
    )


def _requirement(task: Task) -> dict[str, Any]:
    """Return the requirement; a map of values to categories without the values that nobody has."""
    document = task.requirement.to_dict()
    for rule in document.get("sets", {}).values():
        if "map" in rule:
            rule["map"] = {value: category for value, category in rule["map"].items() if value in task.bounds.values}
    if task.bounds.apart:
        parts = zip(task.table.sensitive.domain.names, task.parts(), strict=True)
        own = {name: _requirement(part) for name, part in parts if name in document.get("columns", {})}
        if task.requirement.presence is None and own:
            document["columns"] = own
    return document


def shown_domain(domain: Domain, value: Small) -> tuple[Domain, Small]:
    """Return the sensitive values that occur, and the codes among them: others would tell about absent people."""
    occurs = np.bincount(value, minlength=len(domain)) > 0
    if occurs.all():
        return domain, value
    codes = (np.cumsum(occurs) - 1).astype(np.int32)
    return Domain(domain.table.take(pa.array(np.flatnonzero(occurs))), domain.kinds), codes[value]


def without_unused(column: Column) -> Column:
    """Return the column with only the dictionary entries that occur: the others would tell about absent people."""
    used = counted(column.codes, column.size) > 0
    if used.all():
        return column
    present = used[: len(column.values)]
    missing = bool(column.has_missing and used[len(column.values)])
    codes = (np.cumsum(used) - 1)[column.codes].astype(code_type(int(used.sum())))
    return Column(column.name, column.kind, column.values.filter(pa.array(present)), codes, missing)


def published_people(task: Task, grouping: Grouping) -> tuple[tuple[Column, ...], Small]:
    """Return the quasi columns and groups of everybody who is published."""
    if not grouping.suppressed:
        return tuple(without_unused(column) for column in task.quasi), grouping.group
    kept = np.flatnonzero(grouping.group >= 0)
    return tuple(without_unused(column.take(kept)) for column in task.quasi), grouping.group[kept]
