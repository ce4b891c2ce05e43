"""Judging the claim of a randomized release with computed parameters: from what the manifest tells, and from where people are."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.auditor.part_counts import PartCounts
from sfumato.auditor.parts import ReadParts
from sfumato.auditor.result import ClaimResult
from sfumato.auditor.shares import Judge
from sfumato.exact import percent
from sfumato.release.manifest import Claim

CONDITIONAL = "conditional on the declared largest share in the part"


def protected_bound(requirement: Mapping[str, Any], bounds: Mapping[str, Fraction] | None) -> Fraction | None:
    """Return the bound of every protected value where that is one number; `bounds` are None where they depend on the table."""
    if bounds is None:
        # `bounds_of` has read the requirement before, so that this is a number.
        return Fraction(str(requirement["rho2"])) if requirement.get("model") == "rho-privacy" else None
    bounded = set(bounds.values()) - {Fraction(1)}
    return bounded.pop() if len(bounded) == 1 else None


def wrong_largest_shares(read: ReadParts, bounds: Mapping[str, Fraction] | None, bound: Fraction | None) -> list[str]:
    """Return the parts whose largest share is not the one that γ allows for: another number would tell something else."""
    problems = []
    labels = read.release.domain.labels
    for number, part in enumerate(read.release.parts, 1):
        if part.gamma is None or part.largest_share is None:
            continue
        own = {bound} if bounds is None else {bounds[labels[code]] for code in part.values} - {Fraction(1)}
        if own == {None}:
            continue
        only = own.pop() if len(own) == 1 else None
        if only is None or part.largest_share != only / (only + part.gamma * (1 - only)):
            problems.append(f"part {number}: the largest share it tells is not the one that its γ allows for")
    return problems


def judge_alone(claim: Claim, read: ReadParts, bound: Fraction | None) -> ClaimResult:
    """Judge a claim without shares: on the largest share of a protected value that each part declares."""
    unknown = "the shares that these retentions were made for are not published: audit it with the table"
    if bound is None or any(part.largest_share is None or len(set(part.retention)) > 1 for part in read.release.parts):
        return ClaimResult(claim, None, note=unknown)
    worst, where = Fraction(0), 0
    for number, part in enumerate(read.release.parts, 1):
        share, p = part.largest_share or Fraction(0), part.retention[0]
        belief = share * (p + (1 - p) / len(part)) / (share * p + (1 - p) / len(part)) if share else Fraction(0)
        worst, where = max((worst, where), (belief, number))
    if worst > bound:
        return ClaimResult(claim, False, worst, bound, f"the most frequent protected one of part {where}", CONDITIONAL)
    return ClaimResult(claim, None, worst, None, None, f"{CONDITIONAL}: with it, belief is at most {percent(worst)}, as promised")


def judge_counts(claim: Claim, judge: Judge, read: ReadParts, counts: PartCounts) -> ClaimResult:
    """Judge a claim on how many people of each value are in each part.

    Exact where these numbers are in no doubt, and where every number that is possible keeps the bounds or none does. Else the
    claim holds if some way to place the table's people keeps all bounds (a linear program), and the note says that it is
    conditional.
    """
    if counts.problems:
        return ClaimResult(claim, False, note="the release is not one of this table")
    least, most = read.by_part(counts.least), read.by_part(counts.most)
    if counts.exact:
        worst = judge.worst(least)
        return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value)
    low, high = judge.range(least, most, read.people.tolist())
    unclear = int(read.people.sum() - counts.least.sum())
    if low.belief > low.bound:
        return ClaimResult(claim, False, low.belief, low.bound, low.value)
    if high.belief <= high.bound:
        return ClaimResult(
            claim, True, high.belief, high.bound, high.value, "at most, wherever people with equal quasi values are"
        )
    note = f"{CONDITIONAL}: the quasi values of {unclear} people leave open in which part they are"
    holds = _some_counts(judge, read, counts)
    return ClaimResult(claim, holds, high.bound if holds else high.belief, high.bound, high.value, note if holds else "")


def _some_counts(judge: Judge, read: ReadParts, counts: PartCounts) -> bool:
    """Return whether numbers of people between the ends, with the right totals, keep every bound: linear in the numbers."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    slots, kept = read.slots, read.kept
    many, parts = len(slots), len(read.people)
    index = np.arange(many)
    lost = (1 - kept) / read.size[slots.part]
    most = np.array([float(bound) for bound in judge.bounds])[slots.value]
    sums = vstack(
        [
            coo_array((np.ones(many), (slots.part, index)), shape=(parts, many + parts)),
            coo_array((np.ones(many), (slots.value, index)), shape=(len(judge.bounds), many + parts)),
            # The last variables are what replacing adds to each value of a part.
            coo_array(
                (
                    np.concatenate([lost, -np.ones(parts)]),
                    (np.concatenate([slots.part, np.arange(parts)]), np.arange(many + parts)),
                )
            ),
        ]
    )
    bounded = np.flatnonzero(most < 1)
    own = (kept + lost - most * kept)[bounded]
    row = np.arange(len(bounded))
    keeps = coo_array(
        (
            np.concatenate([own, -most[bounded]]),
            (np.concatenate([row, row]), np.concatenate([bounded, many + slots.part[bounded]])),
        ),
        shape=(len(bounded), many + parts),
    )
    ends = np.concatenate([np.stack([counts.least, counts.most], axis=1), np.tile([0.0, np.inf], (parts, 1))])
    found = linprog(
        np.zeros(many + parts),
        A_ub=keeps.tocsr(),
        b_ub=np.full(len(bounded), 1e-6),
        A_eq=sums.tocsr(),
        b_eq=np.concatenate([read.people, counts.totals, np.zeros(parts)]),
        bounds=ends,
        method="highs",
    )
    return bool(found.status == 0)
