"""Audit of the form *views*, from `at` and `st`; with the original table also beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.auditor.claims import AuditedBounds, Case, unfounded
from sfumato.auditor.covered import ShownTable
from sfumato.auditor.fragments import FragmentsAudit, audit_fragments
from sfumato.auditor.original import PeopleCounts, true_values
from sfumato.auditor.result import Audit, ClaimResult, Finding, nearest_first
from sfumato.errors import FormatError
from sfumato.release.covering import ShownPart
from sfumato.release.fragments import ST
from sfumato.release.manifest import Claim
from sfumato.release.views import AT, ViewsRelease
from sfumato.table.table import Table

MATCHINGS = (
    "the belief that somebody with these quasi values has it, all matchings of a group's rows equally likely; the belief of her "
    "own row is at most that"
)


def audit_views(case: Case[ViewsRelease]) -> Audit:
    """Return every claim judged on the tables, what is wrong with them, and what stronger adversaries would reach."""
    return audit_fragments(ViewsAudit(case))


LARGEST = 5_000
"""Of two numbers of rows both above that, beliefs are bounded instead of computed: exact ones have millions of digits."""


def meets(size: int, left: int, right: int) -> Fraction:
    """Return 1 − C(size−right, left) / C(size, left): the share of matchings in which one of `left` meets one of `right`.

    Where both numbers are very large, 1, which is more than the share.
    """
    return Fraction(1) if min(left, right) > LARGEST else meets_at_least(size, left, right)


def meets_at_least(size: int, left: int, right: int) -> Fraction:
    """Return the same share; where both numbers are very large, that of fewer rows, which is less."""
    fewer, more = min(left, right, LARGEST), max(left, right)  # the formula is the same in both numbers
    return 1 - Fraction(comb(size - more, fewer), comb(size, fewer))


@dataclass(frozen=True, eq=False)
class ViewsAudit(FragmentsAudit[ViewsRelease]):
    """In one group all matchings of its rows of `at` with its rows of `st` are equally likely.

    A row of `at` that occurs m times meets a joined value that occurs z times unless all m miss it; presence grows with both, so
    the most frequent of both decide. That it then meets value x, which stands with the joined value in x of its z rows, is
    likelier the larger m is, and equals x/z for m = 1: so the most frequent row decides that too.
    """

    @cached_property
    def presence(self) -> list[Fraction]:
        """For every group the belief in presence for its most frequent row and its most frequent joined value."""
        most = np.maximum.reduceat(self.release.joined.times, self.release.joined.start[:-1])
        known: dict[tuple[int, int, int], Fraction] = {}
        keys = zip(map(int, self.release.sizes), map(int, self._most_kept), map(int, most), strict=True)
        return [known[key] if key in known else known.setdefault(key, meets(*key)) for key in keys]

    def judge_values(self, claim: Claim, bounds: AuditedBounds) -> ClaimResult:
        """Judge every joined value and sensitive value of every group, in exact fractions."""
        fault = unfounded(claim, self.case)
        if fault:
            return ClaimResult(claim, False, note=fault)
        beliefs, known = self._beliefs, bounds.known
        if known is None:
            label, belief = max(beliefs.items(), key=lambda pair: pair[1])
            return ClaimResult(claim, None, belief, None, label, bounds.why)
        label = max(beliefs, key=lambda value: nearest_first(beliefs[value], known[value]))
        return ClaimResult(claim, beliefs[label] <= known[label], beliefs[label], known[label], label, MATCHINGS)

    def weaker_faults(self, alpha: Fraction | None, frequent: int) -> list[str]:
        """Return how many groups are too small for alpha as the paper reads it, and how many counts exceed a bound."""
        faults = []
        small = sum(alpha is not None and Fraction(1, int(size)) > alpha for size in self.release.sizes)
        if small:
            faults.append(f"{small} groups have fewer people than 1/alpha")
        if frequent:
            faults.append(f"{frequent} sensitive values have a larger share of a group than their bound")
        return faults

    def shown(self) -> list[ShownTable]:
        """Return `at`, the joined values of `st`, and `st` as a whole, each with its numbers."""
        release = self.release
        kept, joined = release.cover.parts
        pairs, number = self._pairs
        return [
            ShownTable(AT, kept, release.kept.times),
            ShownTable(ST, joined, release.joined.times),
            ShownTable(ST, ShownPart(len(pairs), release.st_start, number.astype(np.int32)), release.st_count),
        ]

    def people(self, table: Table, some: PeopleCounts | None = None) -> Integers:
        """Return everybody's row of `at`, her joined value, and that together with her sensitive value."""
        if some is not None:
            raise FormatError("views are audited in memory")
        people = table.to_arrow()
        kept, joined = self.release.kept.find(people), self.release.joined.find(people)
        value = true_values(self.histograms.labels, table)
        pairs, _ = self._pairs
        both = joined * len(self.release.domain) + value
        place = np.minimum(np.searchsorted(pairs, both), len(pairs) - 1)
        known = (joined >= 0) & (value >= 0) & (pairs[place] == both)
        return np.stack([kept, joined, np.where(known, place, -1)], axis=1)

    def exposure(self) -> float | None:
        """Return the mean share of people's true values among the rows with their joined value in their groups."""
        count = self.release.st_count
        return float((count**2 / self.release.joined.times[self.release.entry_joined]).sum()) / self.release.rows

    def stronger(self) -> dict[str, Finding]:
        """Return what a reader believes of presence and values who takes all matchings of one group as equally likely."""
        label, belief = max(self._beliefs.items(), key=lambda pair: pair[1])
        alone = int((self.release.joined.times == 1).sum())
        return {
            "presence in one group, by matchings": Finding(
                "worst belief that some row of a group meets a joined value of it", float(max(self.presence))
            ),
            "values in one group, by matchings": Finding(
                f"worst belief in a value ({label}); {alone} joined values occur once in their group, which tells their value",
                float(belief),
            ),
        }

    @cached_property
    def _most_kept(self) -> Integers:
        """How often the most frequent row of `at` occurs in each group."""
        most: Integers = np.maximum.reduceat(self.release.kept.times, self.release.kept.start[:-1])
        return most

    @cached_property
    def _pairs(self) -> tuple[Integers, Integers]:
        """The different pairs of a joined and a sensitive value, and which of them each entry of `st` is."""
        row = self.release.joined.row[self.release.entry_joined].astype(np.int64)
        pairs, number = np.unique(row * len(self.release.domain) + self.release.st_value, return_inverse=True)
        return pairs, number

    @cached_property
    def _beliefs(self) -> dict[str, Fraction]:
        """The worst belief in each sensitive value, given presence."""
        release = self.release
        group = release.st_group
        parts: list[Array] = [
            release.st_value,
            release.sizes[group],
            self._most_kept[group],
            release.joined.times[release.entry_joined],
            release.st_count,
        ]
        different = np.unique(np.stack([part.astype(np.int64) for part in parts]), axis=1)
        worst: dict[str, Fraction] = {}
        for value, size, often, joined, with_it in different.T.tolist():
            label = release.domain.labels[value]
            belief = min(meets(size, often, with_it) / meets_at_least(size, often, joined), Fraction(1))
            worst[label] = max(worst.get(label, Fraction(0)), belief)
        return worst
