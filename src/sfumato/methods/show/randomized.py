"""Randomized records: from a plan and its outcome to the release that a recipient gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.arrays import Small
from sfumato.methods.show.manifest import manifest_of
from sfumato.privacy.bounds import Bounds
from sfumato.randomize.apply import Randomized
from sfumato.randomize.plan import Part, RandomizationPlan
from sfumato.release.parts import plain_values
from sfumato.release.randomized import RandomizedRelease, randomized_claim
from sfumato.release.weights import beside_weight
from sfumato.table.column import Domain

if TYPE_CHECKING:
    from sfumato.methods.base import Method, Task


def show_randomized(
    task: Task, method: Method, domain: Domain, plan: RandomizationPlan, made: Randomized
) -> tuple[RandomizedRelease, Small]:
    """Return the release, which tells of its parts values, matrices and what was declared, and the number of each part there.

    True counts and shares stay at home, but for the largest protected share of a part where γ tells it anyway.
    """
    plain = plain_values(domain)
    parts = [{"part": k, **_described(part, plain, task.bounds, declared=plan.declared)} for k, part in enumerate(plan.parts, 1)]
    single = task.table.schema.one_row_per_person
    claim = randomized_claim(task.against, declared=plan.declared, one_row_per_person=single)
    manifest = manifest_of(
        task,
        method,
        RandomizedRelease.form,
        claims=(beside_weight(claim, task.table.schema.to_dict()),),
        parameters={"parameters": "declared" if plan.declared else "computed", "parts": parts},
    )
    return RandomizedRelease(manifest, task.quasi, domain, made.part, made.value, task.table.native).canonical()


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
