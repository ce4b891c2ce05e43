"""Records that have ranges of their own: what the paper's claim needs, and what a reader believes who has seen the release.

Such a release makes no claim about belief. Whether the matches it speaks of were drawn with equal probability cannot be seen in
the tables; that every person fits enough records, and every record enough people with different values, can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.auditor._group_kernels import walk_values
from sfumato.auditor.claims import ShownCounts
from sfumato.auditor.containment import bit_rows, distinct_people, some
from sfumato.auditor.result import Finding
from sfumato.exact import percent
from sfumato.release.boxes import Box
from sfumato.release.manifest import Manifest
from sfumato.release.paper_claims import weaker_claim
from sfumato.table.table import Table

ByValue = Mapping[str, Fraction]
"""The bound of each sensitive value."""

MOST_PAIRS = 4_000_000_000
"""Pairs of person and record that are compared; where there would be more, part of the people are measured."""

_LEFT_OPEN = "not bounded by the claim, which speaks of probabilities before values were allotted"


@dataclass(frozen=True, eq=False)
class Facing:
    """What people face: `times[p, v]` records with value v among those that p fits or is linked with; p is `weight[p]` people."""

    times: Integers
    weight: Integers

    @property
    def records(self) -> Integers:
        """How many records each person faces."""
        many: Integers = self.times.sum(axis=1)
        return many

    def exceeding(self, labels: tuple[str, ...], bounds: ByValue) -> Flags:
        """Return who faces some value with a share above its bound, in integers."""
        over = np.zeros(len(self.times), bool)
        records = self.records
        for v, label in enumerate(labels):
            bound = bounds[label]
            caps = np.array([bound.numerator * int(many) // bound.denominator for many in range(int(records.max()) + 1)])
            over |= self.times[:, v] > caps[records]
        return over

    def worst(self) -> float:
        """Return the largest share that a value has among the records of a person."""
        return float((self.times / np.maximum(self.records, 1)[:, None]).max())


def stated_faults(manifest: Manifest) -> list[str]:
    """Return why the weaker claim is not one that such a release can make: other words, or other claims beside it."""
    faults = []
    if manifest.parameters.get("weaker_claim") != weaker_claim(manifest.method):
        faults.append("the weaker claim is not worded as this version words such claims")
    if manifest.claims:
        faults.append("a release with a weaker claim makes no other")
    if manifest.method.get("accept_weaker_claim") is not True:
        faults.append("the publisher did not accept a weaker claim")
    return faults


def judge_weaker_claim(
    manifest: Manifest, shown: ShownCounts, boxes: tuple[Box, ...], table: Table, bounds: ByValue
) -> tuple[list[str], dict[str, Finding]]:
    """Return what contradicts the paper's claim, and what somebody believes who takes every record that fits a person."""
    least = manifest.parameters.get("matches")
    dummies = manifest.parameters.get("dummies", 0)
    if type(least) is not int or type(dummies) is not int:
        return ["manifest.json: the number of matches or of dummies is not a whole number"], {}
    facing, behind, whole = _contained(shown, boxes, table)
    problems = []
    lonely = int(facing.weight[facing.records < least - dummies].sum())
    if lonely:
        problems.append(f"{lonely} people fit fewer than {least - dummies} records")
    if whole:
        thin = int((_different(behind, shown.labels, bounds, least) < least - dummies).sum())
        if thin:
            problems.append(
                f"{thin} records fit fewer than {least - dummies} people who show each value as often as its bound allows"
            )
    return problems, containment_findings(facing, shown.labels, bounds, shown.people)


def containment_findings(facing: Facing, labels: tuple[str, ...], bounds: ByValue, people: int) -> dict[str, Finding]:
    """Return how many people a reader believes more of than a bound, who takes every record that fits them."""
    measured = int(facing.weight.sum())
    part = "" if measured == people else f", measured on {measured} people"
    over = Fraction(int(facing.weight[facing.exceeding(labels, bounds)].sum()), measured)
    return {
        "reader who takes every record that fits a person": Finding(
            f"share of people ({percent(over, 1)}) in whose records some value is more frequent than its bound; "
            f"the largest share of a value is {facing.worst():.3g}{part}; {_LEFT_OPEN}",
            float(over),
        )
    }


def linked_findings(facing: Facing, labels: tuple[str, ...], bounds: ByValue) -> dict[str, Finding]:
    """Return what somebody believes who knows which records are linked with whom."""
    people = int(facing.weight.sum())
    over = Fraction(int(facing.weight[facing.exceeding(labels, bounds)].sum()), people)
    twice = Fraction(int(facing.weight[facing.times.max(axis=1) > 1].sum()), people)
    gain = max(
        float(Fraction(int(facing.times[:, v].max())) / bounds[label]) if bounds[label] < 1 else 0.0
        for v, label in enumerate(labels)
    ) / float(max(facing.records.max(), 1))
    return {
        "engineer who knows which records are linked with whom": Finding(
            f"share of people ({percent(over, 1)}) in whose linked records some value is more frequent than its bound; the "
            f"largest share of a value is {facing.worst():.3g}, the worst belief {gain:.3g} times its bound; {_LEFT_OPEN}",
            float(over),
        ),
        "a value seen twice among linked records": Finding(
            f"share of people ({percent(twice, 1)}) who see some value twice among the records linked with them", float(twice)
        ),
    }


def record_values(shown: ShownCounts) -> Integers:
    """Return the value that each record carries; every record is a group of its own."""
    own = np.empty(len(shown.sizes), np.int64)
    own[shown.group] = shown.value
    return own


def _different(behind: Integers, labels: tuple[str, ...], bounds: ByValue, least: int) -> Integers:
    """Return how many of the people behind each record count, each value at most ⌊bound·μ⌋ times."""
    caps = np.array([bounds[label].numerator * least // bounds[label].denominator for label in labels], dtype=np.int64)
    counted: Integers = np.minimum(behind, np.maximum(caps, 1)[None, :]).sum(axis=1)
    return counted


def _contained(shown: ShownCounts, boxes: tuple[Box, ...], table: Table) -> tuple[Facing, Integers, bool]:
    """Return what different people face by containment, who is behind each record, and whether everybody was measured."""
    everybody, records = distinct_people(shown, boxes, table), len(shown.sizes)
    many, most = len(everybody.truth), max(1, MOST_PAIRS // records)
    people = everybody if many <= most else some(everybody, np.linspace(0, many - 1, most).astype(np.int64))
    faced = np.zeros((len(people.truth), len(shown.labels)), np.int64)
    behind = np.zeros((records, len(shown.labels)), np.int64)
    bits = bit_rows(boxes, people, 0, records)
    walk_values(people.words, bits, record_values(shown), people.truth, people.weight, faced, behind)
    return Facing(faced, people.weight), behind, many <= most
