"""Audit of the form *randomized*, from the published table `records` and the manifest's matrices; with the original, against it.

Randomized values are not the table's, so what is compared with the original is the quasi rows, who may be in which part, and
whether published counts and kept values are plausible under the declared matrices. Where people with equal quasi values are in
several parts, the table does not tell who of them is where: their number is then known between two ends only, see
`judge_placement`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.auditor.against import quasi_keys
from sfumato.auditor.arranged import arranged
from sfumato.auditor.bounds import bounds_of
from sfumato.auditor.claims import several_rows, warnings_of
from sfumato.auditor.placement import Floats, Integers, Placement, Slots, place
from sfumato.auditor.plausible import FALSE_ALARM, surprising
from sfumato.auditor.published import Published
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.auditor.shares import Judge, amplification
from sfumato.errors import FormatError
from sfumato.exact import percent
from sfumato.release.manifest import Claim, Manifest
from sfumato.release.randomized import RECORDS, RandomizedRelease, randomized_claim
from sfumato.table.table import Table

CONDITIONAL = "conditional on the declared largest share in the part"
METHODS = ("burel-perturbation", "small-domain", "uniform")


@dataclass(frozen=True, eq=False)
class _Read:
    """The release in numbers."""

    release: RandomizedRelease
    records: pa.Table
    slots: Slots
    row_slot: Integers
    kept: Floats
    people: Integers  # of each part
    size: Integers  # values of each part

    @property
    def shown(self) -> Integers:
        """How many published rows each slot has."""
        return np.bincount(self.row_slot, minlength=len(self.slots)).astype(np.int64)

    def by_part(self, numbers: Integers) -> list[list[int]]:
        """Return the numbers of the slots, part by part."""
        return [list(map(int, piece)) for piece in np.split(numbers, np.cumsum(self.size)[:-1])]


def audit_randomized(
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    table: Table | None,
    problems: tuple[str, ...] = (),
    *,
    placed: Integers | None = None,
) -> Audit:
    """Return every claim judged on `records` and the matrices, what is wrong, and what stronger adversaries would reach.

    `placed` says in which part each row of the table is, from 0 on: the publisher knows, and then no count is in doubt. It is
    checked against the published rows like everything else.
    """
    try:
        read = _read(manifest, tables)
        placement = None if table is None else _place(read, table, placed)
        shares = _shares(read, table)
        limits = bounds_of(manifest.requirement, shares, list(read.release.domain.labels))
    except FormatError as error:
        return Audit(claims=(), problems=(*problems, error.message), against_table=table is not None)
    found = [*problems, *_structure(manifest, read), *_implausible(read, placement), *(placement.problems if placement else ())]
    found += several_rows(manifest, table)
    claims = tuple(_judge(claim, manifest, read, placement, limits) for claim in manifest.claims)
    prior = _priors(read, placement)
    return Audit(
        claims=claims,
        problems=tuple(found),
        warnings=(*warnings_of(manifest), *_open(read, table, limits)),
        stronger=_stronger(read, prior),
        exposure=None if placement is None or placement.problems else placement.meetings.exposure(read.slots, prior, read.kept),
        against_table=table is not None,
    )


def _read(manifest: Manifest, tables: Mapping[str, pa.Table]) -> _Read:
    release, ordered = arranged(RandomizedRelease, manifest, tables)
    parts = release.parts
    size = np.array([len(part) for part in parts], dtype=np.int64)
    part, value = np.repeat(np.arange(len(parts)), size), np.concatenate([one.values for one in parts])
    number = np.full((len(parts), len(release.domain)), -1, dtype=np.int64)
    number[part, value] = np.arange(len(part))
    return _Read(
        release,
        ordered[RECORDS],
        Slots(part, value, number),
        number[release.part, release.value],
        np.concatenate([one.kept for one in parts]),
        np.bincount(release.part, minlength=len(parts)).astype(np.int64),
        size,
    )


def _place(read: _Read, table: Table, placed: Integers | None) -> Placement:
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


def _shares(read: _Read, table: Table | None) -> dict[str, Fraction] | None:
    """Return the shares that the bounds are made from: the declared ones, else the table's, None where neither is known."""
    if read.release.declared:
        told = read.release.manifest.method.get("shares")
        if not isinstance(told, Mapping):
            return None
        try:
            shares = {str(value): Fraction(str(share)) for value, share in told.items()}
        except (ValueError, ZeroDivisionError):
            raise FormatError("manifest.json: the declared shares cannot be read") from None
        return shares
    if table is None:
        return None
    return {label: Fraction(count, table.rows) for label, count in table.sensitive.histogram().items()}


def _structure(manifest: Manifest, read: _Read) -> list[str]:
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
        if (part.shares is not None) != release.declared:
            problems.append(f"part {number}: shares are told exactly where they were declared")
        if part.gamma is not None and set(part.retention) != {(part.gamma - 1) / (len(part) - 1 + part.gamma)}:
            problems.append(f"part {number}: a retention of {part.retention[0]} is not that of γ = {part.gamma} for its values")
    return problems


def _implausible(read: _Read, placement: Placement | None) -> list[str]:
    """Return which published counts hardly come from the declared matrices; false alarms at most `FALSE_ALARM` in all."""
    slots, kept = read.slots, read.kept
    people = read.people[slots.part]
    lost = (1 - kept) / read.size[slots.part]
    tests = 2 * len(slots) + len(read.people)
    low = np.array([(1 - one.kept).min() / len(one) for one in read.release.parts])[slots.part]
    high = kept + lost
    if placement is not None and not placement.problems:
        n = np.maximum(people, 1)
        fewest, most = (slots.by_part(count * lost)[slots.part] / n for count in (placement.least, placement.most))
        low = np.maximum(low, fewest) + kept * placement.least / n
        most = np.minimum(most, np.array([(1 - one.kept).max() / len(one) for one in read.release.parts])[slots.part])
        high = np.minimum(high, most + kept * placement.most / n)
    odd = surprising(read.shown, people, low, np.maximum(low, high), tests=tests)
    problems = []
    rate = f"false alarm at most {FALSE_ALARM:g}"
    if odd.any():
        problems.append(f"{int(odd.sum())} published counts are implausible under the declared matrices ({rate})")
    if placement is not None and not placement.problems:
        stays = kept + lost
        single = slots.by_part(placement.single)
        mean = slots.by_part(placement.single * stays) / np.maximum(single, 1)
        odd = surprising(placement.kept, placement.single, stays, stays, tests=tests)
        odd_parts = surprising(slots.by_part(placement.kept), single, mean, mean, tests=tests)
        if odd.any() or odd_parts.any():
            problems.append(f"values were kept more or less often than the declared retention says ({rate})")
    return problems


def _judge(
    claim: Claim, manifest: Manifest, read: _Read, placement: Placement | None, limits: Mapping[str, Fraction] | None
) -> ClaimResult:
    """Judge one claim: on declared shares, on the true shares of the parts, or on what is declared about them."""
    release = read.release
    unfounded = _unfounded(claim, manifest, declared=release.declared)
    if unfounded:
        return ClaimResult(claim, False, note=unfounded)
    if not len(release.part):
        return ClaimResult(claim, False, note="the release shows nobody")
    if limits is None:
        return _judge_alone(claim, read, _rho2(manifest))
    judge = Judge(release.parts, [limits[label] for label in release.domain.labels], release.domain.labels)
    if release.declared:
        worst = judge.worst([part.shares or () for part in release.parts])
        grown = [amplification(part) for part in release.parts]
        factor = "without limit" if None in grown else f"at most {float(max(one for one in grown if one is not None)):.3g}-fold"
        note = f"with the declared shares as prior; the odds of any other prior inside a part grow {factor}"
        return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value, note)
    if placement is None:
        bounded = set(judge.limits) - {Fraction(1)}
        return _judge_alone(claim, read, bounded.pop() if len(bounded) == 1 else None)
    return judge_placement(claim, judge, read, placement)


def judge_placement(claim: Claim, judge: Judge, read: _Read, placement: Placement) -> ClaimResult:
    """Judge a claim on how many people of each value are in each part.

    Exact where these numbers are in no doubt, and where every number that is possible keeps the bounds or none does. Else the
    claim holds if some placement of the table's people keeps all bounds (a linear program), and the note says that it is
    conditional.
    """
    if placement.problems:
        return ClaimResult(claim, False, note="the release is not one of this table")
    least, most = read.by_part(placement.least), read.by_part(placement.most)
    if placement.exact:
        worst = judge.worst(least)
        return ClaimResult(claim, worst.belief <= worst.bound, worst.belief, worst.bound, worst.value)
    low, high = judge.range(least, most, read.people.tolist())
    unclear = int(read.people.sum() - placement.least.sum())
    if low.belief > low.bound:
        return ClaimResult(claim, False, low.belief, low.bound, low.value)
    if high.belief <= high.bound:
        return ClaimResult(
            claim, True, high.belief, high.bound, high.value, "at most, wherever people with equal quasi values are"
        )
    note = f"{CONDITIONAL}: the quasi values of {unclear} people leave open in which part they are"
    holds = _some_placement(judge, read, placement)
    return ClaimResult(claim, holds, high.bound if holds else high.belief, high.bound, high.value, note if holds else "")


def _some_placement(judge: Judge, read: _Read, placement: Placement) -> bool:
    """Return whether numbers of people between the ends, with the right totals, keep every bound: linear in the numbers."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    slots, kept = read.slots, read.kept
    many, parts = len(slots), len(read.people)
    index = np.arange(many)
    lost = (1 - kept) / read.size[slots.part]
    limit = np.array([float(bound) for bound in judge.limits])[slots.value]
    sums = vstack(
        [
            coo_array((np.ones(many), (slots.part, index)), shape=(parts, many + parts)),
            coo_array((np.ones(many), (slots.value, index)), shape=(len(judge.limits), many + parts)),
            # The last variables are what replacing adds to each value of a part.
            coo_array(
                (
                    np.concatenate([lost, -np.ones(parts)]),
                    (np.concatenate([slots.part, np.arange(parts)]), np.arange(many + parts)),
                )
            ),
        ]
    )
    bounded = np.flatnonzero(limit < 1)
    own = (kept + lost - limit * kept)[bounded]
    row = np.arange(len(bounded))
    keeps = coo_array(
        (
            np.concatenate([own, -limit[bounded]]),
            (np.concatenate([row, row]), np.concatenate([bounded, many + slots.part[bounded]])),
        ),
        shape=(len(bounded), many + parts),
    )
    ends = np.concatenate([np.stack([placement.least, placement.most], axis=1), np.tile([0.0, np.inf], (parts, 1))])
    found = linprog(
        np.zeros(many + parts),
        A_ub=keeps.tocsr(),
        b_ub=np.full(len(bounded), 1e-6),
        A_eq=sums.tocsr(),
        b_eq=np.concatenate([read.people, placement.totals, np.zeros(parts)]),
        bounds=ends,
        method="highs",
    )
    return bool(found.status == 0)


def _judge_alone(claim: Claim, read: _Read, bound: Fraction | None) -> ClaimResult:
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


def _rho2(manifest: Manifest) -> Fraction | None:
    """Return the bound of every protected value where that is one number whatever the shares."""
    if manifest.requirement.get("model") != "rho-privacy":
        return None
    try:
        return Fraction(str(manifest.requirement["rho2"]))
    except (KeyError, ValueError, ZeroDivisionError):
        raise FormatError("manifest.json: the requirement is not one this audit can read") from None


def _unfounded(claim: Claim, manifest: Manifest, *, declared: bool) -> str:
    """Return why the claim is not one that such a release can make; empty if it is."""
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
    return ""


def _priors(read: _Read, placement: Placement | None) -> Floats:
    """Return shares per slot for figures that are no claim: the table's as far as known, else declared or likely ones."""
    if placement is None or placement.problems:
        return np.concatenate(read.release.priors)
    total = read.slots.by_part(placement.middle)[read.slots.part]
    found: Floats = placement.middle / np.maximum(total, 1e-300)
    return found


def _open(read: _Read, table: Table | None, limits: Mapping[str, Fraction] | None) -> list[str]:
    """Return how many people have a value that the requirement leaves open, in a sentence; nothing if nobody has."""
    if table is None or limits is None:
        return []
    counts = table.sensitive.histogram()
    free = [label for label in counts if limits.get(label) == 1]
    if not free:
        return []
    share = Fraction(sum(counts[label] for label in free), table.rows)
    return [f"{percent(share)} of people have a value without a bound ({len(free)} values), which may be shown openly"]


def _stronger(read: _Read, prior: Floats) -> dict[str, Finding]:
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


def _single(read: _Read, prior: Floats, column: pa.Array) -> float:
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
