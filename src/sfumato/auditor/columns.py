"""Audit of the form *columns*, from the auxiliary tables and `st`; with the original table also beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.auditor.claims import AuditedBounds, Case, judge
from sfumato.auditor.covered import ShownTable
from sfumato.auditor.fragments import FragmentsAudit, audit_fragments
from sfumato.auditor.original import Batches, PeopleCounts, true_codes
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.release.coding import people_codes
from sfumato.release.columns import ColumnsRelease
from sfumato.release.covering import ShownPart
from sfumato.release.fragments import ST, auxiliary_names
from sfumato.release.manifest import Claim
from sfumato.table.table import Table


def audit_columns(case: Case[ColumnsRelease], people: Batches | None = None) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach.

    `people` are those of the table where its rows are not in memory.
    """
    return audit_fragments(ColumnsAudit(case), people)


@dataclass(frozen=True, eq=False)
class ColumnsAudit(FragmentsAudit[ColumnsRelease]):
    """In one group every combination of its values is present with probability people / combinations ([AMB, Theorem 1]).

    Whoever is in it has a value with its share of the group ([AMB, Theorem 2]).
    """

    @cached_property
    def presence(self) -> list[Fraction]:
        """People / combinations for every group; 1 where people share combinations and may fill them all."""
        room = np.array([1] * len(self.release.sizes), dtype=object)
        for start in self.release.start:
            room = room * np.diff(start).astype(object)
        sizes = self.release.sizes.tolist()
        return [Fraction(size, cells) if size < cells else Fraction(1) for size, cells in zip(sizes, room, strict=True)]

    def judge_values(self, claim: Claim, bounds: AuditedBounds) -> ClaimResult:
        """Judge by the worst group: a reader whom several groups fit faces a mixture of them, which keeps the bound too."""
        return judge(claim, self.case, self.histograms, bounds)

    def weaker_faults(self, alpha: Fraction | None, frequent: int) -> list[str]:
        """Return how many groups exceed alpha, and how many counts exceed a bound."""
        faults = []
        crowded = sum(alpha is not None and belief > alpha for belief in self.presence)
        if crowded:
            faults.append(f"{crowded} groups give people whom they cover a belief in presence above alpha")
        if frequent:
            faults.append(f"{frequent} counts of st are a larger share of their group than the value's bound")
        return faults

    def shown(self) -> list[ShownTable]:
        """Return the auxiliary tables, which tell no numbers, and `st`."""
        release = self.release
        names = auxiliary_names([column.name for column in release.columns])
        tables = [ShownTable(name, part, None) for name, part in zip(names, release.cover.parts, strict=True)]
        return [*tables, ShownTable(ST, ShownPart(len(release.domain), release.st_start, release.st_value), release.st_count)]

    def people(self, table: Table, some: PeopleCounts | None = None) -> Integers:
        """Return everybody's codes in every column, or those of some people, and the sensitive value."""
        names, codes = [column.name for column in table.quasi], []
        for column in self.release.columns:
            theirs = table.column(column.name)
            code = people_codes((column,), pa.table({column.name: theirs.dictionary()}))[:, 0]
            codes.append(code[theirs.codes if some is None else some.codes[names.index(column.name)]])
        secret = table.sensitive.codes if some is None else some.secret
        return np.stack([*codes, true_codes(self.histograms.labels, table).astype(np.int64)[secret]], axis=1)

    def exposure(self) -> float | None:
        """Return the mean share of people's true values in their groups."""
        return self.histograms.exposure

    def stronger(self) -> dict[str, Finding]:
        """Return what somebody believes who knows one of the group, and the beliefs in parts of a compound value."""
        return self.histograms.stronger("group")
