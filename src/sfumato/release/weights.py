"""What a release says of its weight, and what its claims say where secrets may have gone into making it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sfumato.release.manifest import Claim, Manifest
    from sfumato.table.column import Column

_Claim = TypeVar("_Claim", bound="Claim")


def beside_weight(claim: _Claim, declared: Mapping[str, Any]) -> _Claim:
    """Return a claim that names the weight unless the policy states that no secret went into making it."""
    words = uncovered(declared)
    return replace(claim, statement=f"{claim.statement} {words}") if words else claim


def uncovered(declared: Mapping[str, Any]) -> str:
    """Return what no claim covers, in fixed words; empty where there is no weight, or it was made without secrets."""
    weight = declared.get("weight")
    if weight is None or weight["made_without_secrets"]:
        return ""
    return f"The weight {weight['column']!r} may have been made with secrets: what it tells of them by itself is not covered."


def weight_fault(manifest: Manifest) -> str:
    """Return why such a weight cannot stand beside such claims; empty where it can."""
    declared = manifest.schema.get("declared", {})
    weight = declared.get("weight")
    if weight is None:
        return ""
    kinds = {column["name"]: column["kind"] for column in manifest.schema["quasi"]}
    if kinds.get(weight["column"]) != "numeric":
        return "the weight is no quasi column of numbers"
    if manifest.shown_as.of_people and "floor" not in weight:
        return "nothing says how many people the bins of the weight have"
    hides = any(claim.kind == "presence" for claim in manifest.claims) or "alpha" in manifest.requirement
    strong = hides or manifest.requirement.get("against") == "insider" or manifest.rests_on.noisy
    if not weight["made_without_secrets"] and (strong or "weaker_claim" in manifest.parameters):
        return "secrets may have gone into making the weight, and the claims do not allow for that"
    if hides and weight.get("from_table"):
        return "the bins of the weight follow from who is in the table, which a claim hides"
    return ""


def stray_weights(manifest: Manifest, columns: Sequence[Column]) -> list[str]:
    """Return that the column which the manifest calls the weight shows numbers that stand for no bin: it may be another one."""
    weight = manifest.schema.get("declared", {}).get("weight")
    if weight is None:
        return []
    known = {float(Fraction(str(value))) for value in weight["values"]}
    shown = {value for column in columns if column.name == weight["column"] for value in column.values.to_pylist()}
    strange = len(shown - known)
    return [f"the weight {weight['column']!r}: {strange} numbers are shown that stand for no bin"] if strange else []
