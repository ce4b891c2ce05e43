"""Audit of the form *buckets*, from `qit` and `st`; with the original table also beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers, taken
from sfumato.auditor._kernels import GroupDomain, walk_people
from sfumato.auditor.claims import AnyCounts, AuditedBounds, Case, ShownCounts, judge, open_values, structure
from sfumato.auditor.held import audit_held, homes, mixed_bands
from sfumato.auditor.noisy import WalkNoisy, audit_noisy
from sfumato.auditor.original import quasi_numbers, true_codes, wrong_totals
from sfumato.auditor.result import Audit, Finding
from sfumato.release.buckets import BucketsRelease
from sfumato.release.manifest import Manifest
from sfumato.table.coding import SortedPlaces, dealt
from sfumato.table.table import Table


class BucketWalk(NamedTuple):
    """What a walk over equal quasi rows finds, as `walk_people` says; `crowded` entries of st count fewer than are certain."""

    invented: int
    lost: int
    misplaced: int
    crowded: int


WalkTable = Callable[[Table], BucketWalk]


def audit_buckets(
    case: Case[BucketsRelease], beyond: tuple[AnyCounts, WalkTable] | None = None, noisy: WalkNoisy | None = None
) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach.

    `beyond` is what `st` shows, and who compares people with those of the table; `noisy` does where counts have noise. They are
    given where rows are not in memory.
    """
    release, manifest = case.release, case.manifest
    if release.noisy:
        return audit_noisy(case, noisy)
    if release.held is not None:
        return audit_held(case, histograms_of(release), mixed_bands(release), homes(release, case.table), "st")
    shown, walk = beyond or _in_memory(release)
    bounds = AuditedBounds.of(case, shown)
    problems = structure(manifest, shown, bounds, "st")
    if manifest.parameters.get("suppression") and not _may_suppress(manifest):
        problems.append("the manifest states suppressed people although its method suppresses nobody")
    if shown.decoys and shown.largest > 1:
        problems.append("with decoys a value must occur at most once in a group; here some occur more often")
    lost = 0
    if case.table is not None:
        differences, lost = _compare(release, shown, case.table, walk(case.table))
        problems += differences
    return Audit(
        claims=tuple(judge(claim, case, shown, bounds) for claim in manifest.claims),
        problems=tuple(problems),
        warnings=(*open_values(shown.totals, bounds), *([f"{lost} people of the table were suppressed"] if lost else ())),
        stronger=_stronger(shown),
        exposure=None if case.table is None else shown.exposure,
    )


def _may_suppress(manifest: Manifest) -> bool:
    """Return whether people may be missing: only where the manifest says so, and the method was asked to."""
    return bool(manifest.parameters.get("suppression")) and manifest.method.get("suppress") is True


def histograms_of(release: BucketsRelease) -> ShownCounts:
    """Return what `st` shows."""
    return ShownCounts(
        release.st_group,
        release.st_value,
        release.st_count,
        release.sizes,
        release.domain,
        release.decoys,
        release.account,
        release.held,
    )


def _in_memory(release: BucketsRelease) -> tuple[ShownCounts, WalkTable]:
    shown = histograms_of(release)
    return shown, lambda table: _walk_rows(release, shown, table)


def _walk_rows(release: BucketsRelease, shown: ShownCounts, table: Table) -> BucketWalk:
    """Return how the published people differ from those of the table."""
    ours, theirs, many = quasi_numbers(release.quasi, table)
    mine = dealt(ours, many)
    del ours
    people = dealt(theirs, many)
    del theirs
    truth = taken(true_codes(shown.labels, table), table.sensitive.codes)
    invented, lost, misplaced, certain = walk_dealt(mine, people, release.group, truth, shown)
    return BucketWalk(invented, lost, misplaced, int((certain > shown.count).sum()))


def walk_dealt(
    mine: SortedPlaces, people: SortedPlaces, group: Array, truth: Array, shown: ShownCounts
) -> tuple[int, int, int, Integers]:
    """Return what `walk_people` says of published rows and people of the table who are dealt by equal quasi values."""
    certain = np.zeros(len(shown.value), np.int64)
    entries = GroupDomain(shown.start.astype(np.int64), shown.value, len(shown.labels))
    invented, lost, misplaced = walk_people(mine, people, group, truth, entries, certain)
    return invented, lost, misplaced, certain


def _compare(release: BucketsRelease, shown: AnyCounts, table: Table, walked: BucketWalk) -> tuple[list[str], int]:
    """Return where people or values are not the table's, and how many people were suppressed, which may be missing."""
    invented, lost, misplaced, crowded = walked
    suppressed = lost if _may_suppress(release.manifest) else 0
    problems: list[str] = []
    if invented:
        problems.append(f"{invented} published rows are not rows of the table")
    if lost > suppressed:
        problems.append(f"{lost} rows of the table are not published")
    if misplaced:
        problems.append(f"{misplaced} people have a sensitive value that no group with their quasi values shows")
    if crowded:
        problems.append(f"{crowded} counts of st are smaller than the number of people who are in the group with that value")
    return problems + wrong_totals(shown, table, suppressed), suppressed


def _stronger(shown: AnyCounts) -> dict[str, Finding]:
    """Return what adversaries beyond the claims would reach: who knows group mates, who asks for parts of a compound value."""
    alone = Finding("share of real values among those that remain when all group mates are known", 1.0 / (1 + shown.decoys))
    return shown.stronger("group") | {"insider who knows everybody else in the group": alone}
