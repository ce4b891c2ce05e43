"""Showing randomized records: from a plan and its outcome to the release that a recipient gets."""

from __future__ import annotations

from typing import Any

from sfumato import __version__
from sfumato.arrays import Small
from sfumato.errors import InputError
from sfumato.methods.base import Method
from sfumato.methods.forms import public_schema
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.randomize.apply import Randomized
from sfumato.randomize.plan import Part, RandomizationPlan
from sfumato.randomness import Randomness
from sfumato.release.manifest import Manifest
from sfumato.release.randomized import PART, RandomizedRelease, plain_values, randomized_claim
from sfumato.table.sensitive import Domain
from sfumato.table.table import Table


def show_as_randomized(
    table: Table,
    domain: Domain,
    plan: RandomizationPlan,
    made: Randomized,
    *,
    bounds: Bounds,
    requirement: Requirement,
    method: Method,
    random: Randomness,
) -> tuple[RandomizedRelease, Small]:
    """Return the release, which tells of its parts values, matrices and what was declared, and the number of each part there.

    `bounds` are those of the plan, in the order of `domain`. True counts and shares stay at home, but for the largest protected
    share of a part where γ tells it anyway.
    """
    plain = plain_values(domain)
    parts = [{"part": k, **_described(part, plain, bounds, declared=plan.declared)} for k, part in enumerate(plan.parts, 1)]
    single = table.schema.one_row_per_person
    manifest = Manifest(
        form=RandomizedRelease.form,
        schema=public_schema(table),
        rows=table.rows,
        requirement=requirement.to_dict(),
        method=method.to_dict(),
        claims=(randomized_claim(requirement.against, declared=plan.declared, one_row_per_person=single),),
        parameters={
            "parameters": "declared" if plan.declared else "computed",
            "parts": parts,
            "one_row_per_person": single,
        },
        seeded=random.reproducible,
        reproducible=random.reproducible,
        software=f"sfumato {__version__}",
    )
    return RandomizedRelease(manifest, table.quasi, domain, made.part, made.value, table.native).canonical()


def _described(part: Part, plain: list[Any], bounds: Bounds, *, declared: bool) -> dict[str, Any]:
    """Return what the manifest says of a part, but for its number."""
    named = [plain[code] for code in part.values]
    entry: dict[str, Any] = {"values": [list(value) if isinstance(value, tuple) else value for value in named]}
    if part.gamma is None:
        entry["retention"] = [str(kept) for kept in part.retention]
    else:
        entry["gamma"], entry["retention"] = str(part.gamma), str(part.retention[0])
    if declared:
        entry["shares"] = [str(share) for share in part.shares]
        entry["weight"] = str(part.weight)
        return entry
    limits = {bounds.limits[code] for code in part.values} - {1}
    if part.gamma is not None and len(limits) == 1:
        limit = limits.pop()
        entry["largest_share"] = str(limit / (limit + part.gamma * (1 - limit)))
    return entry


def require_free_part_name(table: Table) -> None:
    """Raise `InputError` where a column has the name of the one that the form adds."""
    if PART in [*(column.name for column in table.quasi), *table.sensitive.domain.names]:
        raise InputError(
            f"the column {PART!r} has the name of a column that the form randomized adds",
            hint=f"rename it, to {PART}_ for example",
        )
