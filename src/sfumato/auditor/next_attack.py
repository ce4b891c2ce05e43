"""For a claim the next stronger adversary, whom nothing is claimed against, and the attack that shows what she reaches."""

from __future__ import annotations

from sfumato.release.manifest import Manifest

TINY = 9
"""Tables of up to so many people can be rerun with every placement, whatever the method."""

_RERUN = ("boxes", "mondrian", "ambiguity")
_APART = ("boxes", "mondrian")

ENGINEER = ("minimality", "an engineer, who reruns the program")
LEARNER = ("statistician", "somebody who learns from the release how columns go together")
KINDS = ("nb", "somebody who learns from the release what kinds of people have")
LISTED = ("presence --outsiders FILE", "somebody with a list of the population")


def next_attack(adversary: str, manifest: Manifest, people: int) -> tuple[str, str]:
    """Return what to give `sfumato attack --attack`, and who does it: the first stronger one who can do anything here."""
    if adversary == "stranger":
        return LISTED
    if adversary == "reader" and _can_be_rerun(manifest, people):
        return ENGINEER
    return LEARNER if _shows_who_is_where(manifest) else KINDS


def _can_be_rerun(manifest: Manifest, people: int) -> bool:
    """Return whether an engineer has more than a reader to go by, in a way that can be computed."""
    if manifest.basis in (None, "noisy") or manifest.form == "views":
        return False
    return people <= TINY or manifest.basis in ("blind", "safe", "soft", "matched") or _cut(manifest)


def _cut(manifest: Manifest) -> bool:
    method = manifest.method
    plain = method.get("constraint", "bounds") == "bounds" and method.get("partition") != "relaxed"
    return manifest.basis == "tight" and method.get("name") in _RERUN and plain


def _shows_who_is_where(manifest: Manifest) -> bool:
    """Return whether everybody is in one group that the release shows, or has a published value of her own."""
    if manifest.form in ("buckets", "randomized"):
        return True
    return manifest.form == "ranges" and manifest.method.get("name") in _APART
