"""Audit of the form *randomized*, from `records` and the manifest's matrices; with the original table also beside it.

Randomized values are not the table's, so what is compared with the original is the quasi rows, who may be in which part, and
whether published counts and kept values are plausible under the declared matrices. Where people with equal quasi values are in
several parts, the table does not show who of them is where: their number is then known between two ends only, see
`judge_counts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.auditor.claims import DROPPED, UNKNOWN_SHARES, AuditedBounds, Case, misworded, open_values
from sfumato.auditor.declaration import declared_shares, undeclared
from sfumato.auditor.original import quasi_keys, true_values
from sfumato.auditor.part_beliefs import (
    PartJudge,
    amplification,
    judge_alone,
    judge_counts,
    protected_bound,
    wrong_largest_shares,
)
from sfumato.auditor.parts import PartCounts, ReadParts, count_parts
from sfumato.auditor.plausible import FALSE_ALARM, surprising
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.release.manifest import Claim
from sfumato.release.randomized import RandomizedRelease
from sfumato.table.table import Table

WalkParts = Callable[[ReadParts, Table], PartCounts]


def audit_randomized(case: Case[RandomizedRelease], walk: WalkParts | None = None, slot_people: Integers | None = None) -> Audit:
    """Return every claim judged on `records` and the matrices, what is wrong, and what stronger adversaries would reach.

    The publisher knows in which part each row of the table is, and then no count is in doubt; that is checked with the published
    rows like everything else. With the table there is more to check, and nothing less: what the release alone shows to be wrong
    stays wrong.

    Without `draw` nothing is looked at that depends on how the coins fell: whether counts and kept values are plausible, and the
    exposure. Everything else is the same for every draw that the plan can make.

    `walk` counts people where rows are not in memory; `slot_people` is then what the publisher knows: the people of each slot.
    """
    release, manifest, table = case.release, case.manifest, case.table
    read = ReadParts.of(release)
    counts = None if table is None else _count_people(read, table, case.parts, walk, slot_people)
    declared = declared_shares(manifest) if release.declared else None
    alone = AuditedBounds.read(manifest, declared, release.domain.labels)
    histogram = {} if table is None else table.sensitive.histogram()
    # Not how many people have such a value: where shares are declared, no message may depend on one person's.
    stated = histogram if not release.declared or table is None else declared or {}
    bounds = alone if table is None or release.declared else AuditedBounds.read(manifest, histogram, release.domain.labels)
    unlike = undeclared(manifest, release)
    bound = protected_bound(manifest.requirement, alone.known)
    problems = [*_structure(read), *unlike]
    problems += wrong_largest_shares(read, alone.known, bound) or wrong_largest_shares(read, bounds.known, bound)
    if case.draw:
        problems += _implausible(read, counts)
    problems += counts.problems if counts else ()
    claims = []
    for claim in manifest.claims:
        fault = _unfounded(claim, case) or ("the declared shares do not fit together" if unlike else "")
        claims.append(ClaimResult(claim, False, note=fault) if fault else _judge(claim, read, counts, bounds, bound))
    prior = _priors(read, counts, draw=case.draw)
    known = case.draw and counts is not None and not counts.problems
    return Audit(
        claims=tuple(claims),
        problems=tuple(problems),
        warnings=tuple(open_values(stated, bounds)),
        stronger=_stronger(read, prior),
        exposure=counts.classes.exposure(read.slots, prior, read.kept) if known and counts is not None else None,
    )


def _count_people(
    read: ReadParts, table: Table, parts: Integers | None, walk: WalkParts | None, slot_people: Integers | None
) -> PartCounts:
    """Return how many people may be where."""
    if walk is not None:
        possible, counts = walk(read, table), slot_people
    else:
        code = true_values(read.release.domain.labels, table)
        possible = count_parts(quasi_keys(read.release.quasi, table), read.row_slot, code, read.slots)
        slot = None if parts is None else read.slots.number[parts, code]
        counts = None if slot is None else np.bincount(slot[slot >= 0], minlength=len(read.slots)).astype(np.int64)
    if counts is None or possible.problems:
        return possible
    inside = (possible.least <= counts) & (counts <= possible.most)
    if int(counts.sum()) != table.rows or not inside.all() or not np.array_equal(read.slots.by_part(counts), read.people):
        return replace(possible, faults=possible.faults._replace(unfit=1))
    return replace(possible, least=counts, most=counts)


def _structure(read: ReadParts) -> list[str]:
    """Return what does not fit together in the manifest and the table."""
    release, manifest, problems = read.release, read.release.manifest, []
    if not manifest.claims:
        problems.append("the manifest makes no claim")
    if manifest.values is not None:
        problems.append("the manifest lists counts and bounds, which this form does not publish")
    if manifest.parameters.get("parameters") not in ("computed", "declared"):
        problems.append("the manifest does not say whether parameters were computed or declared")
    if len(set(release.domain.labels)) < len(release.domain):
        problems.append("two different values are spelled alike, so that a reader cannot distinguish them")
    for number, part in enumerate(release.parts, 1):
        if part.gamma is not None and set(part.retention) != {(part.gamma - 1) / (len(part) - 1 + part.gamma)}:
            problems.append(f"part {number}: a retention of {part.retention[0]} is not that of γ = {part.gamma} for its values")
    return problems


def _implausible(read: ReadParts, counts: PartCounts | None) -> list[str]:
    """Return which published counts hardly come from the declared matrices; false alarms at most `FALSE_ALARM` in all.

    Four tests for each value of a part and one for each part share the false alarms, also where the table is not at hand: so
    that with it no count passes that would be found without it.
    """
    slots, kept = read.slots, read.kept
    people = read.people[slots.part]
    lost = (1 - kept) / read.size[slots.part]
    tests = 4 * len(slots) + len(read.people)
    low = np.array([(1 - part.kept).min() / len(part) for part in read.release.parts])[slots.part]
    high = kept + lost
    odd = surprising(read.shown, people, low, high, tests=tests)
    known = counts is not None and not counts.problems
    if known and counts is not None:
        n = np.maximum(people, 1)
        fewest, most = (slots.by_part(count * lost)[slots.part] / n for count in (counts.least, counts.most))
        low = np.maximum(low, fewest) + kept * counts.least / n
        most = np.minimum(most, np.array([(1 - part.kept).max() / len(part) for part in read.release.parts])[slots.part])
        high = np.minimum(high, most + kept * counts.most / n)
        odd |= surprising(read.shown, people, low, np.maximum(low, high), tests=tests)
    problems = []
    rate = f"false alarm at most {FALSE_ALARM:g}"
    if odd.any():
        problems.append(f"{int(odd.sum())} published counts are implausible under the declared matrices ({rate})")
    if known and counts is not None:
        stays = kept + lost
        single = slots.by_part(counts.single)
        mean = slots.by_part(counts.single * stays) / np.maximum(single, 1)
        odd = surprising(counts.kept, counts.single, stays, stays, tests=tests)
        odd_parts = surprising(slots.by_part(counts.kept), single, mean, mean, tests=tests)
        if odd.any() or odd_parts.any():
            problems.append(f"values were kept more or less often than the declared retention ({rate})")
        if read.release.declared and _misplaced(read, counts, tests):
            problems.append(f"the numbers of people in parts do not fit the declared weights and shares ({rate})")
    return problems


def _misplaced(read: ReadParts, counts: PartCounts, tests: int) -> bool:
    """Return whether people of some value are in a part more or less often than by coins with the chances wᵢ·sᵢ(x)/Σ w·s(x)."""
    slots, parts = read.slots, read.release.parts
    weight = np.concatenate([[float((part.weight or 0) * share) for share in part.shares or (0,) * len(part)] for part in parts])
    chance = weight / np.maximum(np.bincount(slots.value, weights=weight)[slots.value], 1e-300)
    people = counts.totals[slots.value]
    nearest = np.clip(people * chance, counts.least, counts.most)  # as far as quasi values leave it open
    return bool(surprising(nearest, people, chance, chance, tests=tests).any())


def _judge(
    claim: Claim, read: ReadParts, counts: PartCounts | None, bounds: AuditedBounds, bound: Fraction | None
) -> ClaimResult:
    """Judge one claim: on declared shares; else on what is stated about the parts, and then on the true shares in them."""
    release, known = read.release, bounds.known
    if known is None and bounds.why != UNKNOWN_SHARES:
        return ClaimResult(claim, None, note=bounds.why)
    judge = None if known is None else PartJudge(release.parts, [known[label] for label in release.labels], release.labels)
    if release.declared and judge is not None:
        worst = judge.worst([part.shares or () for part in release.parts])
        grown = [amplification(part) for part in release.parts]
        factor = (
            "without limit"
            if None in grown
            else f"at most {float(max(factor for factor in grown if factor is not None)):.3g}-fold"
        )
        note = f"with the declared shares as prior; the odds of any other prior inside a part grow {factor}"
        return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value, note)
    alone = judge_alone(claim, read, bound)
    if counts is None or judge is None or alone.holds is False:
        return alone
    return judge_counts(claim, judge, read, counts)


def _unfounded(claim: Claim, case: Case[RandomizedRelease]) -> str:
    """Return why the claim is not one that such a release can make; empty if it is.

    Coins that follow the stated matrices hold against everybody who does not know them, whichever program tossed them.
    """
    release = case.release
    if claim.kind != "association" or claim.adversary == "stranger":
        return "this form cannot support such a claim"
    if claim.adversary == "insider" and not release.declared:
        return "only declared parameters hold against an insider: computed ones depend on other people's values"
    if release.manifest.basis is not None:
        return "the manifest states a basis of groups, but this form has no groups"
    if case.dropped and claim.adversary != "reader":
        return DROPPED
    return misworded(claim, release) or ("" if release.rows else "the release has no records")


def _priors(read: ReadParts, counts: PartCounts | None, *, draw: bool) -> Floats:
    """Return shares per slot for figures that are no claim: the table's as far as known, else declared or likely ones.

    With declared parameters it is drawn who is in which part; without `draw` the declared shares stand there.
    """
    if counts is None or counts.problems or (read.release.declared and not draw):
        return np.concatenate(read.release.priors)
    total = read.slots.by_part(counts.middle)[read.slots.part]
    shares: Floats = counts.middle / np.maximum(total, 1e-300)
    return shares


def _stronger(read: ReadParts, prior: Floats) -> dict[str, Finding]:
    """Return what is measured beside the claims: any prior, the set of a part's values, single columns of a compound value."""
    findings = {}
    grown = [amplification(part) for part in read.release.parts]
    if None not in grown:
        findings["adversary with any prior inside the part"] = Finding(
            "the odds of a value grow at most by this factor, for records that say nothing of each other",
            float(max(factor for factor in grown if factor is not None)),
        )
    findings["reader who asks for sets of values"] = Finding(
        "number of values of the smallest part: that a person has one of them is certain", float(read.size.min())
    )
    names = read.release.domain.names
    for name, column in zip(names, read.release.domain.table.columns, strict=True) if len(names) > 1 else ():
        findings[f"belief in {name} alone"] = Finding(
            f"worst belief in a single value of {name}, over all combinations", _single(read, prior, column.combine_chunks())
        )
    return findings


def _single(read: ReadParts, prior: Floats, column: pa.Array) -> float:
    """Return the largest belief in one value of a column, over parts and published values."""
    slots, kept = read.slots, read.kept
    word = np.asarray(column.dictionary_encode("encode").indices, dtype=np.int64)[slots.value]
    replaced = prior * (1 - kept) / read.size[slots.part]
    seen = prior * kept + slots.by_part(replaced)[slots.part]
    key, where = np.unique(slots.part * (int(word.max()) + 1) + word, return_inverse=True)
    spread = np.bincount(where, weights=replaced, minlength=len(key))
    own = (spread[where] + prior * kept) / np.maximum(seen, 1e-300)
    # Where another value of the part is published, the belief is largest at the least likely of them.
    least = np.minimum.reduceat(seen, np.concatenate(([0], np.cumsum(read.size)[:-1])))
    return float(max(own.max(), (spread / np.maximum(least[key // (int(word.max()) + 1)], 1e-300)).clip(max=1.0).max()))
