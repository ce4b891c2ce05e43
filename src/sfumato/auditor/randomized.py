"""Audit of the form *randomized*, from the published table `records` and the manifest's matrices; with the original, against it.

Randomized values are not the table's, so what is compared with the original is the quasi rows, who may be in which part, and
whether published counts and kept values are plausible under the declared matrices. Where people with equal quasi values are in
several parts, the table does not tell who of them is where: their number is then known between two ends only, see
`judge_placement`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.auditor.against import quasi_keys
from sfumato.auditor.bounds import bounds_of
from sfumato.auditor.claims import several_rows, warnings_of
from sfumato.auditor.computed import judge_alone, judge_placement, protected_bound, wrong_largest_shares
from sfumato.auditor.declaration import told_shares, undeclared
from sfumato.auditor.parts import ReadParts
from sfumato.auditor.placement import Placement, place
from sfumato.auditor.plausible import FALSE_ALARM, surprising
from sfumato.auditor.published import Published
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.auditor.shares import Judge, amplification
from sfumato.errors import FormatError
from sfumato.exact import percent
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.randomized import randomized_claim
from sfumato.table.table import Table

METHODS = ("burel-perturbation", "small-domain", "uniform")

Limits = Mapping[str, Fraction] | None


def audit_randomized(
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    table: Table | None,
    problems: tuple[str, ...] = (),
    *,
    placed: Integers | None = None,
    draw: bool = True,
) -> Audit:
    """Return every claim judged on `records` and the matrices, what is wrong, and what stronger adversaries would reach.

    `placed` says in which part each row of the table is, from 0 on: the publisher knows, and then no count is in doubt. It is
    checked against the published rows like everything else. With the table there is more to check, and nothing less: what the
    release alone shows to be wrong stays wrong.

    Without `draw` nothing is looked at that depends on how the coins fell: whether counts and kept values are plausible, and the
    exposure. Everything else is the same for every draw that the plan can make. A publisher audits so: refusing some draws would
    tell that this one was not refused.
    """
    try:
        read = ReadParts.of(manifest, tables)
        placement = None if table is None else _place(read, table, placed)
        labels = list(read.release.domain.labels)
        alone = bounds_of(manifest.requirement, told_shares(manifest) if read.release.declared else None, labels)
        shares = None if table is None or read.release.declared else _shares_in(table)
        limits = alone if shares is None else bounds_of(manifest.requirement, shares, labels)
        unlike = undeclared(manifest, read.release)
    except FormatError as error:
        return Audit(claims=(), problems=(*problems, error.message), against_table=table is not None)
    bound = protected_bound(manifest.requirement, alone)
    found = [*problems, *_structure(manifest, read), *unlike]
    found += wrong_largest_shares(read, alone, bound) or wrong_largest_shares(read, limits, bound)
    if draw:
        found += _implausible(read, placement)
    found += placement.problems if placement else ()
    found += several_rows(manifest, table)
    claims = []
    for claim in manifest.claims:
        fault = _unfounded(claim, manifest, read) or ("the declared shares do not fit together" if unlike else "")
        claims.append(ClaimResult(claim, False, note=fault) if fault else _judge(claim, read, placement, limits, bound))
    prior = _priors(read, placement, draw=draw)
    known = draw and placement is not None and not placement.problems
    return Audit(
        claims=tuple(claims),
        problems=tuple(found),
        warnings=(*warnings_of(manifest), *_open(table, limits)),
        stronger=_stronger(read, prior),
        exposure=placement.meetings.exposure(read.slots, prior, read.kept) if known and placement is not None else None,
        against_table=table is not None,
    )


def _shares_in(table: Table) -> dict[str, Fraction]:
    return {label: Fraction(count, table.rows) for label, count in table.sensitive.histogram().items()}


def _place(read: ReadParts, table: Table, placed: Integers | None) -> Placement:
    """Return who may be where; other columns than the table's are a `FormatError`."""
    release = read.release
    names = tuple(column.name for column in release.quasi)
    if set(names) != {column.name for column in table.quasi} or release.domain.names != table.sensitive.domain.names:
        raise FormatError("the release and the table do not have the same quasi and sensitive columns")
    empty = np.zeros(0, np.int64)
    published = Published(
        read.records,
        names,
        release.domain.names,
        release.part,
        empty.astype(np.int32),
        empty.astype(np.int32),
        empty,
        (),
        (),
        empty,
        0,
    )
    place_of = {label: k for k, label in enumerate(release.domain.labels)}
    code = np.array([place_of.get(label, -1) for label in table.sensitive.labels], dtype=np.int64)[table.sensitive.codes]
    found = place(quasi_keys(published, table), read.row_slot, code, read.slots)
    if placed is None or found.problems:
        return found
    slot = read.slots.number[placed, code]
    counts = np.bincount(slot[slot >= 0], minlength=len(read.slots)).astype(np.int64)
    inside = (found.least <= counts) & (counts <= found.most)
    if (slot < 0).any() or not inside.all() or not np.array_equal(read.slots.by_part(counts), read.people):
        return replace(found, problems=("where people are said to be does not fit the published rows",))
    return replace(found, least=counts, most=counts)


def _structure(manifest: Manifest, read: ReadParts) -> list[str]:
    """Return what does not fit together in the manifest and the table."""
    release, problems = read.release, []
    if len(release.part) != manifest.rows:
        problems.append(f"records has {len(release.part)} rows, the manifest says {manifest.rows}")
    if not manifest.claims:
        problems.append("the manifest makes no claim")
    if manifest.values is not None:
        problems.append("the manifest gives counts and bounds although the tables do not show the true counts")
    if manifest.parameters.get("parameters") not in ("computed", "declared"):
        problems.append("the manifest does not say whether parameters were computed or declared")
    if len(set(release.domain.labels)) < len(release.domain):
        problems.append("two different values are written alike, so that each hides behind the other")
    for number, part in enumerate(release.parts, 1):
        if part.gamma is not None and set(part.retention) != {(part.gamma - 1) / (len(part) - 1 + part.gamma)}:
            problems.append(f"part {number}: a retention of {part.retention[0]} is not that of γ = {part.gamma} for its values")
    return problems


def _implausible(read: ReadParts, placement: Placement | None) -> list[str]:
    """Return which published counts hardly come from the declared matrices; false alarms at most `FALSE_ALARM` in all.

    Four tests for each value of a part and one for each part share the false alarms, also where the table is not at hand: so
    that with it no count passes that would be found without it.
    """
    slots, kept = read.slots, read.kept
    people = read.people[slots.part]
    lost = (1 - kept) / read.size[slots.part]
    tests = 4 * len(slots) + len(read.people)
    low = np.array([(1 - one.kept).min() / len(one) for one in read.release.parts])[slots.part]
    high = kept + lost
    odd = surprising(read.shown, people, low, high, tests=tests)
    known = placement is not None and not placement.problems
    if known and placement is not None:
        n = np.maximum(people, 1)
        fewest, most = (slots.by_part(count * lost)[slots.part] / n for count in (placement.least, placement.most))
        low = np.maximum(low, fewest) + kept * placement.least / n
        most = np.minimum(most, np.array([(1 - one.kept).max() / len(one) for one in read.release.parts])[slots.part])
        high = np.minimum(high, most + kept * placement.most / n)
        odd |= surprising(read.shown, people, low, np.maximum(low, high), tests=tests)
    problems = []
    rate = f"false alarm at most {FALSE_ALARM:g}"
    if odd.any():
        problems.append(f"{int(odd.sum())} published counts are implausible under the declared matrices ({rate})")
    if known and placement is not None:
        stays = kept + lost
        single = slots.by_part(placement.single)
        mean = slots.by_part(placement.single * stays) / np.maximum(single, 1)
        odd = surprising(placement.kept, placement.single, stays, stays, tests=tests)
        odd_parts = surprising(slots.by_part(placement.kept), single, mean, mean, tests=tests)
        if odd.any() or odd_parts.any():
            problems.append(f"values were kept more or less often than the declared retention says ({rate})")
        if read.release.declared and _misplaced(read, placement, tests):
            problems.append(f"people are in other parts than the declared weights and shares send them to ({rate})")
    return problems


def _misplaced(read: ReadParts, placement: Placement, tests: int) -> bool:
    """Return whether people of some value are in a part more or less often than by coins with the chances wᵢ·sᵢ(x)/Σ w·s(x)."""
    slots, parts = read.slots, read.release.parts
    weight = np.concatenate([[float((part.weight or 0) * share) for share in part.shares or (0,) * len(part)] for part in parts])
    chance = weight / np.maximum(np.bincount(slots.value, weights=weight)[slots.value], 1e-300)
    people = placement.totals[slots.value]
    nearest = np.clip(people * chance, placement.least, placement.most)  # as far as quasi values leave it open
    return bool(surprising(nearest, people, chance, chance, tests=tests).any())


def _judge(claim: Claim, read: ReadParts, placement: Placement | None, limits: Limits, bound: Fraction | None) -> ClaimResult:
    """Judge one claim: on declared shares; else on what is told about the parts, and then on the true shares in them."""
    release = read.release
    if release.declared and limits is not None:
        judge = Judge(release.parts, [limits[label] for label in release.domain.labels], release.domain.labels)
        worst = judge.worst([part.shares or () for part in release.parts])
        grown = [amplification(part) for part in release.parts]
        factor = "without limit" if None in grown else f"at most {float(max(one for one in grown if one is not None)):.3g}-fold"
        note = f"with the declared shares as prior; the odds of any other prior inside a part grow {factor}"
        return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value, note)
    alone = judge_alone(claim, read, bound)
    if placement is None or limits is None or alone.holds is False:
        return alone
    judge = Judge(release.parts, [limits[label] for label in release.domain.labels], release.domain.labels)
    return judge_placement(claim, judge, read, placement)


def _unfounded(claim: Claim, manifest: Manifest, read: ReadParts) -> str:
    """Return why the claim is not one that such a release can make; empty if it is."""
    declared = read.release.declared
    if claim.kind != "association" or claim.adversary == "stranger":
        return "this form cannot support such a claim"
    if claim.adversary == "insider" and not declared:
        return "only declared parameters hold against an insider: computed ones depend on other people's values"
    one_row = manifest.parameters.get("one_row_per_person", True) is not False
    if claim != randomized_claim(claim.adversary, declared=declared, one_row_per_person=one_row):
        return "the claim is not made in the words that such a claim has"
    if claim.adversary != manifest.requirement.get("against"):
        return "the claim names another adversary than the requirement"
    if claim.adversary != "reader" and manifest.method.get("name") not in METHODS:
        return f"the method named in the manifest is not known to hold against an {claim.adversary}"
    return "" if len(read.release.part) else "the release shows nobody"


def _priors(read: ReadParts, placement: Placement | None, *, draw: bool) -> Floats:
    """Return shares per slot for figures that are no claim: the table's as far as known, else declared or likely ones.

    With declared parameters it is drawn who is in which part; without `draw` the declared shares stand there.
    """
    if placement is None or placement.problems or (read.release.declared and not draw):
        return np.concatenate(read.release.priors)
    total = read.slots.by_part(placement.middle)[read.slots.part]
    found: Floats = placement.middle / np.maximum(total, 1e-300)
    return found


def _open(table: Table | None, limits: Limits) -> list[str]:
    """Return how many people have a value that the requirement leaves open, in a sentence; nothing if nobody has."""
    if table is None or limits is None:
        return []
    counts = table.sensitive.histogram()
    free = [label for label in counts if limits.get(label) == 1]
    if not free:
        return []
    share = Fraction(sum(counts[label] for label in free), table.rows)
    return [f"{percent(share)} of people have a value without a bound ({len(free)} values), which may be shown openly"]


def _stronger(read: ReadParts, prior: Floats) -> dict[str, Finding]:
    """Return what is measured beside the claims: any prior, the set of a part's values, single columns of a compound value."""
    findings = {}
    grown = [amplification(part) for part in read.release.parts]
    if None not in grown:
        findings["adversary with any prior inside the part"] = Finding(
            "the odds of a value grow at most by this factor, for records that say nothing of each other",
            float(max(one for one in grown if one is not None)),
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
