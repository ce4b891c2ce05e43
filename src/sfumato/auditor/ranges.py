"""Audit of the form *ranges*, from the published table `records` alone; with the original table, against it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.auditor.arranged import arranged
from sfumato.auditor.bounds import bounds_of
from sfumato.auditor.claims import declared_values, judge, open_values, several_rows, warnings_of
from sfumato.auditor.containment import Contained, contain
from sfumato.auditor.own_ranges import has_weaker_claim, judge_weaker_claim, weaker_claim_faults
from sfumato.auditor.published import Published, distinct, texts
from sfumato.auditor.result import Audit, Finding
from sfumato.errors import FormatError
from sfumato.release.boxes import Box
from sfumato.release.buckets import published_names
from sfumato.release.manifest import Manifest
from sfumato.release.ranges import GROUP, RECORDS, RangesRelease
from sfumato.table.sensitive import SEPARATOR
from sfumato.table.table import Table

NO_BOUND = (
    "nothing is claimed about what a reader believes; the release states a weaker claim, whose equal probabilities cannot be "
    "seen in the tables"
)
MIXTURE = "other groups may fit a person too; what she then faces is a mixture of whole groups, which keeps the bound as they do"


def audit_ranges(
    manifest: Manifest, tables: Mapping[str, pa.Table], table: Table | None, problems: tuple[str, ...] = ()
) -> Audit:
    """Return every claim judged on the table `records`, what is wrong with it, and what stronger adversaries would reach.

    A reader who takes all groups whose ranges fit a person believes in x with Σ count(x) / Σ size over them. That is at most the
    largest share of x in any of them, so the worst group decides the claim, in integers.
    """
    try:
        release, ordered = arranged(RangesRelease, manifest, tables)
        boxes, published = release.boxes, read_ranges(manifest, ordered[RECORDS])
        contained = None if table is None else contain(published, boxes, table)
        shares = contained.shares if contained is not None else _shown_shares(published)
        limits = bounds_of(manifest.requirement, shares, list(published.labels))
    except FormatError as error:
        return Audit(claims=(), problems=(*problems, error.message), against_table=table is not None)
    found = [*problems, *_structure(manifest, published), *(contained.problems if contained else ())]
    found += declared_values(manifest, published, limits, RECORDS) + several_rows(manifest, table)
    if has_weaker_claim(manifest):
        return _weaker(manifest, published, boxes, table, limits, found, contained)
    return Audit(
        claims=tuple(judge(claim, manifest, published, limits) for claim in manifest.claims),
        problems=tuple(found),
        warnings=(*warnings_of(manifest), *open_values(published, limits)),
        stronger=_stronger(published, contained),
        exposure=None if contained is None else published.exposure,
        against_table=table is not None,
    )


def _weaker(
    manifest: Manifest,
    published: Published,
    boxes: tuple[Box, ...],
    table: Table | None,
    limits: Mapping[str, Fraction] | None,
    problems: list[str],
    contained: Contained | None,
) -> Audit:
    """Return the audit of records with ranges of their own, which make a weaker claim than one about belief."""
    found = [*problems, *weaker_claim_faults(manifest, published)]
    stronger: dict[str, Finding] = {}
    if table is not None and limits is not None and not found:
        broken, stronger = judge_weaker_claim(manifest, published, boxes, table, limits)
        found += broken
    return Audit(
        claims=tuple(judge(claim, manifest, published, limits) for claim in manifest.claims),
        problems=tuple(found),
        warnings=(*warnings_of(manifest), NO_BOUND, *open_values(published, limits)),
        stronger=stronger,
        exposure=None if contained is None else contained.exposure,
        against_table=table is not None,
    )


def read_ranges(manifest: Manifest, records: pa.Table) -> Published:
    """Return the histograms of the groups, counted from the rows."""
    quasi, sensitive, _ = published_names(manifest)
    text = [texts(records[name]) for name in sensitive]
    number, first = distinct([codes for codes, _ in text])
    parts = tuple(tuple(words[codes[row]] for codes, words in text) for row in first)
    group = np.asarray(records[GROUP].to_numpy(), dtype=np.int64) - 1
    packed = np.sort(group * len(parts) + number)
    fresh = np.flatnonzero(np.concatenate(([True], packed[1:] != packed[:-1])))
    return Published(
        qit=records,
        quasi=tuple(quasi),
        sensitive=tuple(sensitive),
        row_bucket=group.astype(np.int32),
        bucket=(packed[fresh] // len(parts)).astype(np.int32),
        value=(packed[fresh] % len(parts)).astype(np.int32),
        count=np.diff(np.append(fresh, len(packed))).astype(np.int64),
        labels=tuple(SEPARATOR.join(words) for words in parts),
        parts=parts,
        sizes=np.bincount(group).astype(np.int64),
        decoys=0,
    )


def _structure(manifest: Manifest, published: Published) -> list[str]:
    problems = []
    if published.people != manifest.rows:
        problems.append(f"records has {published.people} rows, the manifest says {manifest.rows}")
    if not manifest.claims and not has_weaker_claim(manifest):
        problems.append("the manifest makes no claim")
    if manifest.parameters.get("groups") != len(published.sizes):
        problems.append(f"{len(published.sizes)} groups, the manifest says {manifest.parameters.get('groups')}")
    if len(set(published.labels)) < len(published.labels):
        problems.append("records shows two different values that are written alike, so that each hides behind the other")
    return problems


def _shown_shares(published: Published) -> dict[str, Fraction]:
    """Return the share of each value, which this form always shows: everybody is in it."""
    return {label: Fraction(int(n), published.people) for label, n in zip(published.labels, published.totals, strict=True)}


def _stronger(published: Published, contained: Contained | None) -> dict[str, Finding]:
    """Return what is measured beside the claims: containment, insiders, parts of a compound value."""
    findings = {}
    if contained is not None and contained.worst is not None and contained.groups is not None:
        part = "" if contained.measured == published.people else f", measured on {contained.measured} people"
        findings["reader who takes every group that fits a person"] = Finding(
            f"worst belief in a person's true value, {contained.exposure or 0:.3g} on average; {contained.groups:.3g} groups fit "
            f"a person on average{part}; {MIXTURE}",
            contained.worst,
        )
    size = published.sizes[published.bucket]
    knows_one = np.where(size > 1, published.count / np.maximum(size - 1, 1), 1.0)
    findings["insider who knows one other person of the group"] = Finding(
        "worst belief of a reader who knows who is in a group and the value of one other (a different value)",
        float(knows_one.max()),
    )
    for name, belief in published.worst_parts().items():
        findings[f"belief in {name} alone"] = Finding(f"worst belief in a single value of {name}, over all combinations", belief)
    return findings
