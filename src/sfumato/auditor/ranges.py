"""Audit of the form *ranges*, from `records`; with the original table also beside it."""

from __future__ import annotations

import numpy as np

from sfumato.auditor.claims import AuditedBounds, Case, ShownCounts, judge, open_values, structure
from sfumato.auditor.containment import Contained, contain
from sfumato.auditor.held import audit_held, homes_in_boxes, mixed_boxes
from sfumato.auditor.linked import check_links
from sfumato.auditor.original import Batches
from sfumato.auditor.own_ranges import judge_weaker_claim, stated_faults
from sfumato.auditor.result import Audit, Finding
from sfumato.release.ranges import RECORDS, RangesRelease

NO_BOUND = (
    "nothing is claimed about what a reader believes; the release states a weaker claim, whose equal probabilities cannot be "
    "seen in the tables"
)
MIXTURE = "other groups may fit a person too; what she then faces is a mixture of whole groups, which keeps the bound as they do"


def audit_ranges(case: Case[RangesRelease], people: Batches | None = None) -> Audit:
    """Return every claim judged on the table `records`, what is wrong with it, and what stronger adversaries would reach.

    A reader who takes all groups whose ranges fit a person believes in x with Σ count(x) / Σ size over them. That is at most the
    largest share of x in any of them, so the worst group decides the claim, in integers. `people` are those of the table where
    its rows are not in memory.
    """
    release, manifest = case.release, case.manifest
    shown = range_histograms(release)
    if release.held is not None:
        return audit_held(case, shown, mixed_boxes(release), homes_in_boxes(release, case.table), "st")
    bounds = AuditedBounds.of(case, shown)
    contained = None if case.table is None else contain(shown, release.boxes, case.table, people)
    problems = structure(manifest, shown, bounds, RECORDS) + (contained.problems if contained else [])
    as_paper = "weaker_claim" in manifest.parameters
    stronger = {} if as_paper else _stronger(shown, contained)
    if as_paper:
        problems += stated_faults(manifest)
        if len(shown.sizes) != shown.people:
            problems.append(f"{shown.people} records are in {len(shown.sizes)} groups; expected one group for each record")
        if case.table is not None and bounds.known is not None and not problems:
            problems, stronger = judge_weaker_claim(manifest, shown, release.boxes, case.table, bounds.known)
            if case.links is not None and not problems:
                problems, linked = check_links(case, shown, bounds.known)
                stronger |= linked
    return Audit(
        claims=tuple(judge(claim, case, shown, bounds) for claim in manifest.claims),
        problems=tuple(problems),
        warnings=(*([NO_BOUND] if as_paper else ()), *open_values(shown.totals, bounds)),
        stronger=stronger,
        exposure=None if contained is None else contained.exposure if as_paper else shown.exposure,
    )


def range_histograms(release: RangesRelease) -> ShownCounts:
    """Return how often each group shows each value."""
    start, value, count = release.shown
    group = np.repeat(np.arange(len(release.sizes), dtype=np.int32), np.diff(start))
    return ShownCounts(group, value, count, release.sizes, release.domain, account=release.account, held=release.held)


def _stronger(shown: ShownCounts, contained: Contained | None) -> dict[str, Finding]:
    """Return what is measured beside the claims: containment, insiders, parts of a compound value."""
    findings = {}
    if contained is not None:
        part = "" if contained.measured == shown.people else f", measured on {contained.measured} people"
        findings["reader who takes every group that fits a person"] = Finding(
            f"worst belief in a person's true value, {contained.exposure:.3g} on average; {contained.groups:.3g} groups fit "
            f"a person on average{part}; {MIXTURE}",
            contained.worst,
        )
    return findings | shown.stronger("group")
