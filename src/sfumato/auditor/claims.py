"""Claims judged on histograms: in which words they are made, what they need, and whether every group keeps its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.auditor.published import Published
from sfumato.auditor.result import ClaimResult
from sfumato.exact import percent
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.table import Table

BLIND = "that the program put people together as the manifest says, whoever has which value, cannot be seen in the tables"


@dataclass(frozen=True)
class _Worst:
    belief: Fraction
    value: str
    bound: Fraction


def judge(claim: Claim, manifest: Manifest, published: Published, limits: Mapping[str, Fraction] | None) -> ClaimResult:
    """Judge one claim: in every bucket every value's share is at most its bound, in integers.

    A person's belief is the largest over the buckets that fit her, so the worst bucket decides ([F' §3.1]). With decoys a value
    that may be a decoy belongs to one person of the bucket at most, which is the belief counted here.
    """
    fault = unfounded(claim, manifest)
    if fault:
        return ClaimResult(claim, False, note=fault)
    if not len(published.count):
        return ClaimResult(claim, False, note="the release shows no sensitive value")
    worst = _worst(published, limits)
    if limits is None:
        note = "the bounds depend on the table's shares, which this release does not show: audit it with the table"
        return ClaimResult(claim, None, worst.belief, None, worst.value, note)
    note = BLIND if claim.adversary == "engineer" else ""
    return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value, note)


def unfounded(claim: Claim, manifest: Manifest) -> str:
    """Return why the claim is not one that such a release can make; empty if it is."""
    if claim.kind != "association" or claim.adversary not in ("reader", "engineer"):
        return "this form cannot support such a claim"
    one_row = manifest.parameters.get("one_row_per_person", True) is not False
    if claim != Claim.association(claim.adversary, one_row_per_person=one_row):
        return "the claim is not made in the words that such a claim has"
    if claim.adversary != manifest.requirement.get("against"):
        return "the claim names another adversary than the requirement"
    if claim.adversary == "engineer" and (manifest.basis not in _ENGINEERS or manifest.parameters.get("suppression")):
        return "groups on the basis that the manifest states are not known to hold against an engineer"
    return ""


_ENGINEERS = ("blind", "safe", "matched")
"""The bases that hold against an engineer: nobody was put anywhere because of a value that the release does not show."""


def may_suppress(manifest: Manifest) -> bool:
    """Return whether people may be missing: only where the method says so openly."""
    return bool(manifest.parameters.get("suppression")) and manifest.method.get("suppress") is True


def _worst(published: Published, limits: Mapping[str, Fraction] | None) -> _Worst:
    """Return the belief with the largest excess over its bound (the largest belief where no bounds are known)."""
    size = np.maximum(published.sizes[published.bucket], 1)
    room = int(published.count.max()) + 1, int(size.max()) + 1
    if len(published.labels) * room[0] * room[1] < 1 << 62:
        packed = np.sort((published.value * np.int64(room[0]) + published.count) * room[1] + size)
        value, rest = np.divmod(packed, room[0] * room[1])
        count, size = np.divmod(rest, room[1])
    else:
        order = np.lexsort((size, published.count, published.value))
        value, count, size = published.value[order], published.count[order], size[order]
    # Of the buckets that show a value equally often, the smallest decides: it is the first of its (value, count).
    fresh = np.flatnonzero(np.concatenate(([True], (value[1:] != value[:-1]) | (count[1:] != count[:-1]))))
    candidates = []
    for k in fresh:
        label = published.labels[value[k]]
        bound = Fraction(1) if limits is None else limits[label]
        candidates.append(_Worst(Fraction(int(count[k]), int(size[k])), label, bound))
    # No belief can exceed 1, so a value without a bound is the worst only where no value has one.
    return max(candidates, key=lambda one: (one.bound < 1, one.belief - one.bound))


def declared_values(manifest: Manifest, published: Published, limits: Mapping[str, Fraction] | None, source: str) -> list[str]:
    """Return where the manifest's bounds and counts do not follow from its requirement and from the table `source`."""
    if manifest.values is None:
        return []
    totals = dict(zip(published.labels, map(int, published.totals), strict=True))
    problems = []
    try:
        declared = {entry["value"]: (entry["count"], Fraction(entry["bound"])) for entry in manifest.values}
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return ["the manifest's list of values cannot be read"]
    if set(declared) != set(totals):
        problems.append(f"the manifest lists other sensitive values than {source} shows")
    for label in sorted(set(declared) & set(totals)):
        count, bound = declared[label]
        if count != totals[label]:
            problems.append(f"{label}: {source} shows it {totals[label]} times, the manifest says {count}")
        if limits is not None and bound != limits[label]:
            problems.append(f"{label}: its bound follows as {limits[label]} from the requirement, the manifest says {bound}")
    return problems


def several_rows(manifest: Manifest, table: Table | None) -> list[str]:
    """Return that the release speaks of people where the table's rows are not people; nothing without the table."""
    stated = manifest.parameters.get("one_row_per_person", True) is not False
    if table is None or table.schema.one_row_per_person or not stated:
        return []
    return ["the release speaks of people, but in the table one person may have several rows"]


def warnings_of(manifest: Manifest) -> list[str]:
    """Return what a reader of the audit should know besides the claims, from the manifest alone."""
    warnings = []
    if manifest.seeded:
        warnings.append("the release was made with a seed: whoever learns the seed can undo it; do not hand it out")
    if manifest.parameters.get("one_row_per_person") is False:
        warnings.append("one person may have several rows: the bound is about a row, not about a person")
    if len(manifest.schema.get("sensitive", ())) > 1:
        warnings.append(
            "several sensitive columns were bounded as combinations: the belief in a single part can be larger than the "
            "bound of every combination it occurs in"
        )
    return warnings


def open_values(published: Published, limits: Mapping[str, Fraction] | None) -> list[str]:
    """Return how many people have a value that the requirement leaves open, in a sentence; nothing if nobody has."""
    free = [k for k, label in enumerate(published.labels) if limits is not None and limits[label] == 1]
    if not free:
        return []
    share = Fraction(int(published.totals[free].sum()), int(published.totals.sum()))
    return [f"{percent(share)} of people have a value without a bound ({len(free)} values), which may be shown openly"]
