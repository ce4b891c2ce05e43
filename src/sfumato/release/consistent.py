"""What a manifest says of method, form and making goes together: a statement that nothing else fixes could tell anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.release.manifest import Manifest

_CUTS = {"reader": "tight", "engineer": "safe"}
_NEAR = {"reader": "annealed", "engineer": "near"}
_OWN = {"weaker_claim", "matches"}

MAKERS: dict[str, tuple[str, ...]] = {
    "buckets": ("buckets", "near-groups", "anatomy", "mondrian", "burel"),
    "ranges": ("near-groups", "mondrian", "burel", "heterogeneous", "ring"),
    "columns": ("ambiguity",),
    "views": ("priview",),
    "randomized": ("small-domain", "uniform", "burel-perturbation"),
}
"""The methods that make each form."""


def inconsistencies(manifest: Manifest) -> list[str]:
    """Return that form, method, adversary and public parameters are not those of one publication; nothing where they are."""
    method, public = manifest.method, manifest.parameters
    fits = (
        method["name"] in MAKERS[manifest.form]
        and method.get("form", manifest.form) == manifest.form
        and public.get("locality") in _localities(manifest)
        and public.get("decoys", 0) == method.get("decoys", 0)
        and (not public.get("suppression") or method.get("suppress") is True)
        and _own_parameters(manifest.form, method) == set(public) & {"weaker_claim", "matches", "dummies"}
        and ("note" not in public or _note(method) == public["note"])
        and (manifest.values is None) == bool(manifest.form == "randomized" or public.get("decoys") or public.get("suppression"))
        and (manifest.seeded or not manifest.reproducible)
    )
    return [] if fits else ["manifest.json: form, method, requirement and parameters do not go together"]


def _localities(manifest: Manifest) -> tuple[str | None, ...]:
    """Return how people may have been put together by this method for this adversary; None where nothing is said."""
    method, against = manifest.method, str(manifest.requirement["against"])
    cuts = _CUTS.get(against, "safe")
    if method["name"] == "buckets":
        # Where a table leaves no room for a first cut, people are matched or drawn.
        return {"boxes": (cuts, "near", "none"), "near": ("near",), "none": ("none",)}[method["locality"]]
    if method["name"] == "near-groups":
        return (_NEAR.get(against),)
    if method["name"] in ("ambiguity", "priview"):
        return ("none",) if method["grouping"] == "paper" else (cuts,)
    if manifest.form == "buckets":
        return ("none",) if method["name"] == "anatomy" else ("tight",)
    return (None,)


def _own_parameters(form: str, method: Mapping[str, Any]) -> set[str]:
    """Return the parameters that say what is claimed in place of a bound on belief."""
    if method["name"] == "heterogeneous":
        return {*_OWN, "dummies"}
    if method["name"] == "ring":
        return _OWN
    return {"weaker_claim"} if form in ("columns", "views") and method["grouping"] == "paper" else set()


def _note(method: Mapping[str, Any]) -> str | None:
    """Return what a release of Mondrian may say whose bounds are all 1."""
    if method["name"] != "mondrian":
        return None
    constraint = method["constraint"]
    kept = "k-anonymity" if constraint == "bounds" else f"the constraint {constraint!r}, kept in every group,"
    return f"{kept} makes no claim about sensitive values"
