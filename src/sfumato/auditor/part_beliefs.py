"""Beliefs in a randomized release, exact, and its claim judged: on stated shares, and on how many people are in which part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.auditor.parts import PartCounts, ReadParts
from sfumato.auditor.result import ClaimResult, nearest_first
from sfumato.exact import percent
from sfumato.release.manifest import Claim
from sfumato.release.parts import RandomizedPart

PartValueCounts = Sequence[Sequence[int | Fraction]]
"""Per part one number for each of its values."""


@dataclass(frozen=True)
class Belief:
    """How sure a reader is of a value where it is published, and the value's bound."""

    value: str
    belief: Fraction
    bound: Fraction


@dataclass(frozen=True)
class PartJudge:
    """The parts of a release, with the bound and the text of every value of the domain."""

    parts: tuple[RandomizedPart, ...]
    bounds: Sequence[Fraction]
    labels: Sequence[str]

    def worst(self, shares: PartValueCounts) -> Belief:
        """Return the belief with the largest excess over its bound, when the parts have these shares (or counts)."""
        beliefs = []
        for part, own in zip(self.parts, shares, strict=True):
            lost = sum((n * (1 - p) for n, p in zip(own, part.retention, strict=True)), Fraction(0))
            beliefs += [self._belief(part, place, n, lost) for place, n in enumerate(own) if n]
        return _worst(beliefs)

    def range(self, least: PartValueCounts, most: PartValueCounts, people: Sequence[int]) -> tuple[Belief, Belief]:
        """Return the worst of the smallest, and the worst of the largest beliefs that counts between two ends can give."""
        low, high = [], []
        for part, few, many, size in zip(self.parts, least, most, people, strict=True):
            lost = [1 - p for p in part.retention]
            lightest, heaviest = min(lost), max(lost)
            fewest = sum((n * q for n, q in zip(few, lost, strict=True)), Fraction(0))
            largest = sum((n * q for n, q in zip(many, lost, strict=True)), Fraction(0))
            for place, q in enumerate(lost):
                n = few[place]
                if n:
                    others = min(largest - many[place] * q, (size - n) * heaviest)
                    low.append(self._belief(part, place, n, n * q + others))
                n = many[place]
                if n:
                    others = max(fewest - few[place] * q, (size - n) * lightest)
                    high.append(self._belief(part, place, n, n * q + others))
        return _worst(low or high), _worst(high)

    def _belief(self, part: RandomizedPart, place: int, n: int | Fraction, lost: Fraction) -> Belief:
        """Return P[x→x]·f(x) / Σ P[z→x]·f(z): belief in x is largest where x itself is published. `lost` is Σ f(z)·(1 − p_z)."""
        code = int(part.values[place])
        seen = n * part.retention[place] + lost / len(part)
        return Belief(self.labels[code], n * part.chance(place, place) / seen, self.bounds[code])


def _worst(beliefs: Sequence[Belief]) -> Belief:
    return max(beliefs, key=lambda worst: nearest_first(worst.belief, worst.bound))


def amplification(part: RandomizedPart) -> Fraction | None:
    """Return the largest P[x→y] / P[z→y] of a part: odds grow at most so much. None where a value can be excluded outright."""
    if len(part) == 1:
        return Fraction(1)
    first, second = sorted(range(len(part)), key=lambda x: -part.retention[x])[:2]
    if part.retention[first] == 1:
        return None
    # The most kept value is the least likely to turn into another one; into itself, the second most is.
    return max(part.chance(second, second) / part.chance(first, second), part.chance(first, first) / part.chance(second, first))


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
            problems.append(f"part {number}: its stated largest share is not the one that its γ allows")
    return problems


def judge_alone(claim: Claim, read: ReadParts, bound: Fraction | None) -> ClaimResult:
    """Judge a claim without shares: on the largest share of a protected value that each part declares."""
    unknown = "the shares behind these retentions are not published: audit the release with the table"
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


def judge_counts(claim: Claim, judge: PartJudge, read: ReadParts, counts: PartCounts) -> ClaimResult:
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


def _some_counts(judge: PartJudge, read: ReadParts, counts: PartCounts) -> bool:
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
    optimum = linprog(
        np.zeros(many + parts),
        A_ub=keeps.tocsr(),
        b_ub=np.full(len(bounded), 1e-6),
        A_eq=sums.tocsr(),
        b_eq=np.concatenate([read.people, counts.totals, np.zeros(parts)]),
        bounds=ends,
        method="highs",
    )
    return bool(optimum.status == 0)
