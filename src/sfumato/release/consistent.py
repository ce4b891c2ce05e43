"""What a manifest says of method, form and basis goes together: a statement that nothing else fixes could tell anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.basis import Basis
from sfumato.release.manifest import Manifest

Method = Mapping[str, Any]


def _cuts(method: Method, against: str) -> Basis:
    if method.get("grouping") == "paper":
        return "paper"
    if against == "reader":
        return "tight"
    return "safe" if method.get("patience") == 0 or method.get("grouping") == "halves" else "soft"


def _near(method: Method, against: str) -> Basis:
    return "annealed" if against == "reader" else "matched"


def _always(basis: Basis | None) -> Any:
    return lambda method, against: basis


MADE: dict[str, tuple[tuple[str, ...], Any]] = {
    "boxes": (("buckets", "ranges"), _cuts),
    "near-groups": (("buckets", "ranges"), _near),
    "multi-size": (("buckets", "ranges"), _always("blind")),
    "anatomy": (("buckets",), _always("blind")),
    "decoys": (("buckets",), lambda method, against: "tight" if method.get("guard") else "blind"),
    "mondrian": (("buckets", "ranges"), _always("tight")),
    "burel": (("buckets", "ranges"), _always("tight")),
    "heterogeneous": (("ranges",), _always("paper")),
    "ring": (("ranges",), _always("paper")),
    "ambiguity": (("columns",), _cuts),
    "priview": (("views",), lambda method, against: "paper" if method.get("grouping") == "paper" else "tight"),
    "noisy-boxes": (("buckets",), _always("noisy")),
    "small-domain": (("randomized",), _always(None)),
    "uniform": (("randomized",), _always(None)),
    "burel-perturbation": (("randomized",), _always(None)),
    "privbayes": (("synthetic",), _always(None)),
    "noisy-tables": (("synthetic",), _always(None)),
}
"""The forms that each of sfumato's own methods makes, and the basis of its groups for its parameters and an adversary."""

FOREIGN = ("buckets", "ranges")
"""The forms that methods of other packages make. Their basis is their package's word; `paper` needs words fixed here."""


def inconsistencies(manifest: Manifest) -> list[str]:
    """Return that form, method, adversary and public parameters are not those of one publication; nothing where they are."""
    method, public = manifest.method, manifest.parameters
    fits = (
        _made(manifest)
        and method.get("form", manifest.form) == manifest.form
        and public.get("decoys", 0) == method.get("decoys", 0)
        and (not public.get("suppression") or method.get("suppress") is True)
        and _own_parameters(manifest) == set(public) & {"weaker_claim", "matches", "dummies"}
        and set(public) & {"gamma", "ratio"} == _noise_parameters(manifest)
        and _drawn_noise(manifest)
        and ("note" not in public or _note(method) == public["note"])
        and (manifest.values is None)
        == bool(
            manifest.form in ("randomized", "synthetic")
            or manifest.basis == "noisy"
            or public.get("decoys")
            or public.get("suppression")
        )
        and (manifest.seeded or not manifest.reproducible)
        and _sets_fit(manifest)
        and _columns_fit(manifest)
    )
    return [] if fits else ["manifest.json: form, method, requirement and parameters do not go together"]


def _drawn_noise(manifest: Manifest) -> bool:
    """Return whether it is said who drew the noise where that may differ, as the method asked, and OpenDP's without a seed."""
    if manifest.method.get("name") != "noisy-tables":
        return "noise" not in manifest.parameters
    said = manifest.parameters.get("noise")
    return said is not None and manifest.method.get("noise") in (None, said) and not (said == "opendp" and manifest.seeded)


def _columns_fit(manifest: Manifest) -> bool:
    """Return whether columns have requirements of their own only where each is protected by itself, and the method does that."""
    asked, own = manifest.requirement, manifest.requirement.get("columns", {})
    if not manifest.apart:
        return not own
    method = manifest.method
    kept = method["name"] in ("boxes", "noisy-boxes") or (method["name"] == "ambiguity" and method.get("grouping") != "paper")
    return (
        (kept or (method["name"] == "near-groups" and manifest.basis == "matched"))
        and "package" not in method
        and "sets" not in asked
        and set(manifest.secrets).issuperset(own)
        and not any("columns" in one or one.get("model") == "presence-association" for one in own.values())
        and all(one.get("against") == asked.get("against") for one in own.values())
    )


def _sets_fit(manifest: Manifest) -> bool:
    """Return whether the method keeps bounds on sets, where the requirement has any, and the manifest lists some only then."""
    if manifest.apart and any("sets" in one for one in manifest.requirement.get("columns", {}).values()):
        return bool(manifest.sets) == (manifest.values is not None)
    if "sets" not in manifest.requirement:
        return not manifest.sets
    method = manifest.method
    kept = method["name"] in ("boxes", "noisy-boxes") or (method["name"] == "ambiguity" and method.get("grouping") != "paper")
    kept = kept or manifest.basis == "matched"
    return ("package" in method or kept) and (bool(manifest.sets) == (manifest.values is not None))


def _made(manifest: Manifest) -> bool:
    """Return whether the method makes such a form, with groups on such a basis."""
    method, against = manifest.method, str(manifest.requirement.get("against"))
    if "package" in method:
        return method["name"] not in MADE and manifest.form in FOREIGN and manifest.basis not in (None, "paper", "noisy")
    forms, basis = MADE.get(method["name"], ((), _always(None)))
    return manifest.form in forms and bool(manifest.basis == basis(method, against))


def _own_parameters(manifest: Manifest) -> set[str]:
    """Return the parameters that say what is claimed in place of a bound on belief."""
    if manifest.form == "synthetic":
        return {"weaker_claim"}
    if manifest.basis != "paper":
        return set()
    own_ranges = {"matches", *(("dummies",) if manifest.method["name"] == "heterogeneous" else ())}
    return {"weaker_claim", *(own_ranges if manifest.form == "ranges" else ())}


def _noise_parameters(manifest: Manifest) -> set[str]:
    """Return the parameters that say how much odds may grow, and by which noise."""
    if manifest.form == "synthetic":
        return {"gamma"}
    return {"gamma", "ratio"} if manifest.basis == "noisy" else set()


def _note(method: Method) -> str | None:
    """Return what a release of Mondrian may say whose bounds are all 1."""
    if method["name"] != "mondrian":
        return None
    constraint = method.get("constraint")
    kept = "k-anonymity" if constraint == "bounds" else f"the constraint {constraint!r}, kept in every group,"
    return f"{kept} makes no claim about sensitive values"
