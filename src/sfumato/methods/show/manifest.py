"""The manifest of a release of groups, and the parts of the original that it must not show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato import __version__
from sfumato.arrays import Small, counted
from sfumato.basis import BASES
from sfumato.groups.grouping import Grouping
from sfumato.release.manifest import Claim, Manifest, shared_by
from sfumato.release.paper_claims import weaker_claim
from sfumato.release.programs import by_halves
from sfumato.release.weights import beside_weight
from sfumato.table.column import Column, Domain, Events, code_type

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task
    from sfumato.privacy.bounds import Bounds
    from sfumato.privacy.requirement import Requirement


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
    sets, several = bounds_sets(task.requirement), task.table.schema.protects_each
    rule, bundled = task.table.schema.people_rule, task.table.schema.bundled
    alike = shared_by(rule.alike) if rule.all else None
    own: dict[str, Any] = {"one_row_per_person": one_row, "sets": sets, "several": several, "bundled": bundled}
    own["household"] = rule.household
    claim = Claim.association(task.against, alike=alike, by_band=rule.shares == "band", **own)
    claims = [beside_weight(claim, task.table.schema.to_dict())]
    if task.requirement.presence is not None:
        program = by_halves(method.to_dict())
        claims.insert(0, Claim.presence("stranger", form=form, program=program, one_row_per_person=one_row))
    published = BASES[grouping.basis].as_published
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
            **({"weaker_claim": weaker_claim(method.to_dict())} if published else {}),
        },
        complete=grouping.complete,
    )


def _public_schema(task: Task) -> dict[str, Any]:
    """Return names and kinds of the published columns, and how they were recoded; no identifier or dropped column."""
    domain = task.table.sensitive.domain
    return {
        "quasi": [{"name": column.name, "kind": column.kind} for column in task.quasi],
        "sensitive": [{"name": name, "kind": kind} for name, kind in zip(domain.names, domain.kinds, strict=True)],
        "declared": task.table.schema.to_dict(),
    }


def described_values(task: Task) -> tuple[Mapping[str, Any], ...]:
    """Return value, count and exact bound of each sensitive value; of several secrets also whose value it is."""
    return tuple(
        {**secret, "value": value, "count": count, "bound": str(limit)}
        for secret, bounds in _bounds_of_each(task)
        for (value, limit), count in zip(bounds.value_limits.items(), bounds.counts[: bounds.valued], strict=True)
    )


def described_sets(task: Task) -> tuple[Mapping[str, Any], ...]:
    """Return name, count and exact bound of each set of values; of several secrets also whose values these are."""
    return tuple(
        {**secret, "set": name, "count": count, "bound": str(limit)}
        for secret, bounds in _bounds_of_each(task)
        for name, count, limit in list(zip(bounds.events, bounds.counts, bounds.limits, strict=True))[bounds.valued :]
    )


def _bounds_of_each(task: Task) -> list[tuple[dict[str, str], Bounds]]:
    parts = task.parts()
    return [({"secret": part.table.schema.sensitive[0]} if len(parts) > 1 else {}, part.bounds) for part in parts]


def bounds_sets(requirement: Requirement) -> bool:
    """Return whether a requirement has bounds on sets of values, of any secret."""
    return bool(requirement.sets) or any(own.sets for _, own in requirement.columns)


def _requirement(task: Task) -> dict[str, Any]:
    """Return the requirement; a map of values to categories without the values that nobody has."""
    document = task.requirement.to_dict()
    for rule in document.get("sets", {}).values():
        if "map" in rule:
            rule["map"] = {value: category for value, category in rule["map"].items() if value in task.bounds.values}
    if task.table.schema.protects_each:
        parts = zip(task.table.sensitive.domain.names, task.parts(), strict=True)
        own = {name: _requirement(part) for name, part in parts if name in document.get("columns", {})}
        if task.requirement.presence is None and own:
            document["columns"] = own
    return document


def shown_events(events: Domain | Events, value: Small) -> tuple[Domain | Events, Small]:
    """Return the values of all secrets that occur, and the codes among them; nobody is left out where there are several."""
    return (events, value) if isinstance(events, Events) else shown_domain(events, value)


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
