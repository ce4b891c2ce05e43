"""What audits of *columns* and *views* share: the histograms, the statements of the manifest, and the table they come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.auditor.bounds import presence_bound
from sfumato.auditor.claims import AuditedBounds, Case, ShownCounts, open_values, structure
from sfumato.auditor.covered import ShownTable, compare
from sfumato.auditor.halved import not_halved
from sfumato.auditor.original import Batches, PeopleCounts, true_codes, true_values
from sfumato.auditor.own_ranges import stated_faults
from sfumato.auditor.presence import (
    OVERLAP,
    PresenceBeliefs,
    combined_warning,
    judge_presence,
    overlaps,
    presence_findings,
)
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.errors import FormatError, InputError
from sfumato.release.columns import ColumnsRelease
from sfumato.release.fragments import ST
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.programs import by_halves
from sfumato.release.views import ViewsRelease
from sfumato.table.table import Table

MEASURED, MEASURED_VALUES = 50_000, 5_000
"""Whose presence, and whose values, are measured over all groups that cover them; everybody's presence where none overlap."""

NO_BOUND = (
    "nothing is claimed about what a reader believes who combines all groups that cover a person: the release states a weaker "
    "claim, which speaks of one group by itself"
)

BORROWED = "where groups overlap, it cannot be checked that a group shows the values of its own people and no others"


FragmentsForm = TypeVar("FragmentsForm", bound=ColumnsRelease | ViewsRelease)


@dataclass(frozen=True, eq=False)
class FragmentsAudit(ABC, Generic[FragmentsForm]):
    """A release whose tables show parts of people; a subclass per form says what a group tells."""

    case: Case[FragmentsForm]

    @property
    def release(self) -> FragmentsForm:
        """The release as it was read."""
        return self.case.release

    @cached_property
    def histograms(self) -> ShownCounts:
        """The sensitive values of every group."""
        release = self.release
        key = release.st_group.astype(np.int64) * len(release.domain) + release.st_value
        distinct, where = np.unique(key, return_inverse=True)
        group, value = np.divmod(distinct, len(release.domain))
        count = np.bincount(where, weights=release.st_count).astype(np.int64)
        account = release.account
        return ShownCounts(group.astype(np.int32), value.astype(np.int32), count, release.sizes, release.domain, account=account)

    @property
    @abstractmethod
    def presence(self) -> list[Fraction]:
        """For every group the largest belief in presence that it gives to a combination it covers."""

    @abstractmethod
    def judge_values(self, claim: Claim, bounds: AuditedBounds) -> ClaimResult:
        """Judge a claim about sensitive values."""

    @abstractmethod
    def weaker_faults(self, alpha: Fraction | None, frequent: int) -> list[str]:
        """Return where the paper's bounds are not kept in a group by itself; `frequent` counts are above their bound."""

    @abstractmethod
    def shown(self) -> list[ShownTable]:
        """Return the published tables, those of quasi values first, `st` last."""

    @abstractmethod
    def people(self, table: Table, some: PeopleCounts | None = None) -> Integers:
        """Return [rows × shown tables]: what each table would show of everybody, or of some, −1 where nothing like it."""

    @abstractmethod
    def exposure(self) -> float | None:
        """Return the mean belief of a reader, who knows a person's group, in her true value."""

    @abstractmethod
    def stronger(self) -> dict[str, Finding]:
        """Return what adversaries beyond the claims reach in single groups."""


def audit_fragments(read: FragmentsAudit[Any], batches: Batches | None = None) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach.

    `batches` are the people of the table where its rows are not in memory.
    """
    release, case, shown = read.release, read.case, read.histograms
    manifest, table = case.manifest, case.table
    bounds, alpha = AuditedBounds.of(case, shown), presence_bound(manifest.requirement)
    overlapping, as_paper = len(overlaps(release.cover)) > 0, "weaker_claim" in manifest.parameters
    problems = [*structure(manifest, shown, bounds, ST), *_statements(manifest)]
    problems += read.weaker_faults(alpha, _exceeding(shown, bounds)) if as_paper else [OVERLAP] if overlapping else []
    members: PresenceBeliefs | None = None
    values: dict[str, Finding] = {}
    if table is not None and batches is not None:
        # Where groups overlap, that is all that can be said, and enough.
        if not overlapping:
            rows = ((read.people(table, some), some.weight) for some in batches)
            problems += compare(shown, read.shown(), rows, table, _suppressed(manifest) or 0, disjoint=True)
            members, values = _measured(read, table, batches, alpha)
    elif table is not None:
        missing = _suppressed(manifest) or 0
        problems += compare(shown, read.shown(), [(read.people(table), None)], table, missing, disjoint=not overlapping)
        # Of some people, evenly chosen, where each is covered by many groups.
        chosen = _some(table.rows, MEASURED if overlapping else table.rows)
        members = PresenceBeliefs.of(release.presence(table.to_arrow().take(pa.array(chosen))), alpha) if len(chosen) else None
        values = _values_of_members(read, table)
    away = None
    if case.outsiders is not None:
        try:
            away = release.presence(case.outsiders)
        except FormatError as error:  # no fault of the release
            raise InputError(f"outsiders: {error.message}", hint="give the quasi columns as they are published") from None

    def judged(claim: Claim) -> ClaimResult:
        if claim.kind != "presence":
            return read.judge_values(claim, bounds)
        uncut = "" if overlapping or not by_halves(manifest.method) else not_halved(release.cover, manifest)
        return judge_presence(claim, release, read.presence, overlapping=overlapping, dropped=case.dropped, uncut=uncut)

    return Audit(
        claims=tuple(judged(claim) for claim in manifest.claims),
        problems=tuple(problems),
        warnings=(
            *([NO_BOUND] if as_paper else ()),
            *([BORROWED] if overlapping else ()),
            *combined_warning(members, alpha),
            *open_values(shown.totals, bounds),
        ),
        stronger={
            **presence_findings(members, away, alpha, people=shown.people, left_out="suppression" in manifest.parameters),
            **values,
            **read.stronger(),
        },
        exposure=None if table is None else read.exposure(),
    )


def _values_of_members(read: FragmentsAudit[Any], table: Table) -> dict[str, Finding]:
    """Return what somebody believes of people's true values who combines all groups that cover them; measured on some people."""
    true = true_values(read.histograms.labels, table)
    chosen = _some(table.rows, MEASURED_VALUES)
    chosen = chosen[true[chosen] >= 0]
    belief = read.release.mean_beliefs(table.to_arrow().take(pa.array(chosen)))[np.arange(len(chosen)), true[chosen]]
    return _values_found(belief, np.ones(len(belief), np.int64), table)


def _values_found(belief: Floats, weight: Integers, table: Table) -> dict[str, Finding]:
    belief, weight = belief[~np.isnan(belief)], weight[~np.isnan(belief)]
    people = int(weight.sum())
    if not people:
        return {}
    part = f", measured on {people} people" if people < table.rows else ""
    text = "mean belief in a person's true value, if she is in one of the groups that cover her, each as likely as she is in it"
    finding = Finding(f"{text}; the largest is {belief.max():.3g}{part}", float(np.average(belief, weights=weight)))
    return {"values of members, all covering groups combined": finding}


def _measured(
    read: FragmentsAudit[Any], table: Table, batches: Batches, alpha: Fraction | None
) -> tuple[PresenceBeliefs | None, dict[str, Finding]]:
    """Return the same two measures where people come some at a time: presence of everybody, values of some of each batch."""
    members: PresenceBeliefs | None = None
    beliefs, weights = [np.zeros(0)], [np.zeros(0, np.int64)]
    truth = true_codes(read.histograms.labels, table).astype(np.int64)
    for some in batches:
        if not len(some.weight):
            continue
        frame = pa.table(
            {
                column.name: column.dictionary().take(pa.array(codes))
                for column, codes in zip(table.quasi, some.codes, strict=True)
            }
        )
        batch = PresenceBeliefs.of(read.release.presence(frame), alpha, some.weight)
        members = batch if members is None else members.and_(batch)
        true = truth[some.secret]
        chosen = _some(len(true), max(1, MEASURED_VALUES // len(batches)))
        chosen = chosen[true[chosen] >= 0]
        beliefs.append(read.release.mean_beliefs(frame.take(pa.array(chosen)))[np.arange(len(chosen)), true[chosen]])
        weights.append(some.weight[chosen])
    return members, _values_found(np.concatenate(beliefs), np.concatenate(weights), table)


def _some(rows: int, most: int) -> Integers:
    """Return at most so many rows of a table, evenly chosen."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.int64)


def _statements(manifest: Manifest) -> list[str]:
    """Return what is inconsistent in the manifest: claims that are missing, groupings, columns, suppressed people."""
    problems = []
    made = {claim.kind for claim in manifest.claims}
    as_paper = "weaker_claim" in manifest.parameters
    if as_paper:
        problems += stated_faults(manifest)
    elif presence_bound(manifest.requirement) is not None and made == {"association"}:
        problems.append("the requirement bounds presence, and the manifest makes no claim about it")
    elif made == {"presence"}:
        problems.append("the requirement bounds sensitive values, and the manifest makes no claim about them")
    if manifest.rests_on.as_published != as_paper:
        problems.append("the basis 'paper' goes with a weaker claim, and no other basis does; here they differ")
    column, moved = manifest.method.get("column"), manifest.parameters.get("moved")
    asked = [column] if isinstance(column, str) else column
    if "package" in manifest.method:  # what its parameters mean is its own matter
        asked = None
    if asked is not None and (
        not isinstance(asked, list) or not isinstance(moved, list) or sorted(map(str, asked)) != sorted(moved)
    ):
        problems.append("the columns that the method was asked to move differ from those stated as moved")
    if "suppression" in manifest.parameters and _suppressed(manifest) is None:
        problems.append("the manifest states suppressed people although its method suppresses nobody, or does not state how many")
    return problems


def _suppressed(manifest: Manifest) -> int | None:
    """Return how many people were left out, as the manifest says; None where its method or basis leaves out nobody."""
    stated = manifest.parameters.get("suppression", {"option": None, "people": 0})
    if not isinstance(stated, Mapping) or set(stated) != {"option", "people"} or type(stated["people"]) is not int:
        return None
    if stated["people"] == 0:
        return 0 if stated["option"] is None else None
    allowed = stated["option"] == "suppress" and manifest.method.get("suppress") is True and manifest.rests_on.as_published
    return stated["people"] if allowed and stated["people"] > 0 else None


def _exceeding(shown: ShownCounts, bounds: AuditedBounds) -> int:
    """Return how many counts are a larger share of their group than the value's bound, in integers; 0 without bounds."""
    if bounds.known is None:
        return 0
    over = 0
    for v, label in enumerate(shown.labels):
        mine, bound = shown.value == v, bounds.known[label]
        pairs = np.unique(np.stack([shown.sizes[shown.group[mine]], shown.count[mine]]), axis=1, return_counts=True)
        for size, count, times in zip(*pairs[0].tolist(), pairs[1].tolist(), strict=True):
            over += times if count * bound.denominator > bound.numerator * size else 0
    return over
