"""Audit of the form *columns*, from the auxiliary tables and `st` alone; with the original table, against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.auditor.claims import judge
from sfumato.auditor.fragments import Fragments, Limits, audit_fragments
from sfumato.auditor.placed import ShownTable, true_values
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.release.coding import people_codes
from sfumato.release.columns import ColumnsRelease
from sfumato.release.covering import Part
from sfumato.release.fragments import ST, auxiliary_names
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.table import Table


def audit_columns(
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    table: Table | None,
    problems: tuple[str, ...] = (),
    *,
    outsiders: Any = None,
) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach."""
    return audit_fragments(Columns, ColumnsRelease, manifest, tables, table, problems, outsiders)


@dataclass(frozen=True, eq=False)
class Columns(Fragments):
    """In one group every combination of its values is present with probability people / combinations ([AMB, Theorem 1]).

    Whoever is in it has a value with its share of the group ([AMB, Theorem 2]).
    """

    release: ColumnsRelease

    @cached_property
    def presence(self) -> list[Fraction]:
        """People over combinations for every group; 1 where people share combinations and may fill them all."""
        room = np.array([1] * len(self.release.sizes), dtype=object)
        for start in self.release.start:
            room = room * np.diff(start).astype(object)
        sizes = self.release.sizes.tolist()
        return [Fraction(size, cells) if size < cells else Fraction(1) for size, cells in zip(sizes, room, strict=True)]

    def judge_values(self, claim: Claim, limits: Limits | None) -> ClaimResult:
        """Judge by the worst group: a reader whom several groups fit faces a mixture of them, which keeps the bound too."""
        return judge(claim, self.release.manifest, self.published, limits)

    def weaker_faults(self, alpha: Fraction | None, limits: Limits | None) -> list[str]:
        """Return how many groups exceed alpha, and how many counts exceed a bound."""
        faults = []
        crowded = sum(alpha is not None and belief > alpha for belief in self.presence)
        if crowded:
            faults.append(f"{crowded} groups give people whom they cover a belief in presence above alpha")
        frequent = exceeding(self, limits)
        if frequent:
            faults.append(f"{frequent} counts of st are a larger share of their group than the value's bound")
        return faults

    def shown(self) -> list[ShownTable]:
        """Return the auxiliary tables, which tell no numbers, and `st`."""
        release = self.release
        names = auxiliary_names([column.name for column in release.columns])
        tables = [ShownTable(name, part, None) for name, part in zip(names, release.cover.parts, strict=True)]
        return [*tables, ShownTable(ST, Part(len(release.domain), release.st_start, release.st_value), release.st_count)]

    def people(self, table: Table) -> Integers:
        """Return everybody's codes in every column, and her sensitive value."""
        found = []
        for column in self.release.columns:
            theirs = table.column(column.name)
            code = people_codes((column,), pa.table({column.name: theirs.dictionary()}))[:, 0]
            found.append(code[theirs.codes])
        return np.stack([*found, true_values(self.published, table)], axis=1)

    def exposure(self) -> float | None:
        """Return the mean share of people's true values in their groups."""
        return self.published.exposure

    def stronger(self) -> dict[str, Finding]:
        """Return what somebody believes who knows one of the group, and the beliefs in parts of a compound value."""
        published = self.published
        size = published.sizes[published.bucket]
        knows_one = np.where(size > 1, published.count / np.maximum(size - 1, 1), 1.0)
        findings = {
            "insider who knows one other person of the group": Finding(
                "worst belief of a reader who knows who is in a group and the value of one other (a different value)",
                float(knows_one.max()),
            )
        }
        for name, belief in published.worst_parts().items():
            findings[f"belief in {name} alone"] = Finding(
                f"worst belief in a single value of {name}, over all combinations", belief
            )
        return findings


def exceeding(read: Fragments, limits: Limits | None) -> int:
    """Return how many counts are a larger share of their group than the value's bound, in integers; 0 without bounds."""
    if limits is None:
        return 0
    published = read.published
    over = 0
    for v, label in enumerate(published.labels):
        mine = published.value == v
        size, count = published.sizes[published.bucket[mine]], published.count[mine]
        pairs = np.unique(np.stack([size, count]), axis=1, return_counts=True)
        limit = limits[label]
        for n, c, times in zip(*pairs[0].tolist(), pairs[1].tolist(), strict=True):
            over += times if c * limit.denominator > limit.numerator * n else 0
    return over
