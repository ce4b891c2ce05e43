"""Audit of buckets with noisy counts: the law of the noise against the claim, exactly; with the table also the noise itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Integers
from sfumato.auditor.bounds import odds_of
from sfumato.auditor.claims import DROPPED, Bounds, Case, misworded, set_label, unseen
from sfumato.auditor.declaration import exact_share
from sfumato.auditor.noise_law import unlike_noise
from sfumato.auditor.original import numbered, quasi_keys, true_values
from sfumato.auditor.plausible import FALSE_ALARM
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.errors import FormatError
from sfumato.exact import percent
from sfumato.release.accounts import joins_boxes
from sfumato.release.buckets import BucketsRelease, nearest_shares
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.column import combined
from sfumato.table.table import Table

_GRID = 1 << 30


@dataclass(frozen=True)
class _Stated:
    """What the manifest states: the share of each value, γ, and the ratio of the noise."""

    shares: Mapping[str, Fraction]
    gamma: Fraction
    ratio: Fraction
    secrets: int
    """How many columns have such noise, each by itself: somebody may know how they go together."""

    @classmethod
    def of(cls, manifest: Manifest) -> _Stated:
        method, public = manifest.method, manifest.parameters
        try:
            listed = method.get("values")
            shares = (
                {str(value): exact_share(share) for value, share in method["shares"].items()}
                if listed is None
                else {str(value): Fraction(1, len(listed)) for value in listed}
            )
            return cls(shares, exact_share(public["gamma"]), exact_share(public["ratio"]), int(public.get("secrets", 1)))
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            raise FormatError("manifest.json: the declared values, gamma or the ratio of the noise cannot be read") from None

    @property
    def kept(self) -> Fraction:
        """How much odds really grow at most: r⁻² for every column with noise, which is at most γ."""
        return 1 / self.ratio ** (2 * self.secrets)


class Walked(NamedTuple):
    """What a walk over equal quasi rows finds: whether some are in two buckets, rows that only one side has, true counts."""

    torn: bool
    invented: int = 0
    lost: int = 0
    undeclared: bool = False
    truth: Integers | None = None
    """[buckets × values] of the table's people, where nobody is lost or invented."""


Walk = Callable[[BucketsRelease, Table | None], Walked]


def audit_noisy(case: Case[BucketsRelease], walk: Walk | None = None) -> Audit:
    """Return every claim judged on what the manifest states, and what is wrong with the tables.

    Without `draw` nothing is looked at that the table and the draw together would tell: neither the noise nor the exposure.
    `walk` compares people with those of the table; given where their rows are not in memory.
    """
    release, manifest = case.release, case.manifest
    stated = _Stated.of(manifest)
    bounds = Bounds.read(manifest, stated.shares, tuple(stated.shares), release.domain.parts())
    faults = [*_undeclared(release, stated), *_wrong_law(manifest, stated, bounds)]
    over = _over_bound(release, bounds)
    found = (walk or walk_noisy)(release, case.table)
    problems = [*faults, *_structure(release, over, torn=found.torn)]
    exposure = None
    if case.table is not None:
        differences = _differences(found)
        problems += differences
        if case.draw and not differences:
            truth = found.truth
            assert truth is not None
            problems += _wrong_noise(release, stated, truth)
            exposure = float((nearest_shares(_shown(release) / release.sizes[:, None]) * truth).sum() / truth.sum())
    return Audit(
        claims=tuple(_judge(claim, case, stated, bounds, faults) for claim in manifest.claims),
        problems=tuple(problems),
        warnings=tuple(_warnings(release, bounds, stated, over)),
        stronger=_stronger(release, stated),
        exposure=exposure,
    )


def _shown(release: BucketsRelease) -> Integers:
    """Return the noisy counts, [buckets × values]."""
    return release.st_count.reshape(len(release.sizes), -1)


def _judge(claim: Claim, case: Case[BucketsRelease], stated: _Stated, bounds: Bounds, faults: list[str]) -> ClaimResult:
    """Judge one claim: a belief of each declared share, of values and sets, its odds grown r⁻²-fold, is within its bound."""
    fault = ""
    if claim.kind != "association" or claim.adversary != "insider":
        fault = "noisy counts hold against an insider, and no other claim is made of them"
    elif misworded(claim, case.release):
        fault = misworded(claim, case.release)
    elif case.dropped:
        fault = DROPPED
    elif faults:
        fault = "what is stated of the noise does not fit the requirement and the declared values"
    if fault:
        return ClaimResult(claim, False, note=fault)
    if bounds.known is None:
        return ClaimResult(claim, None, note=bounds.why)
    shares, known = _with_sets(stated.shares, bounds)
    times = stated.kept
    belief = {value: times * share / (1 - share + times * share) for value, share in shares.items()}
    # A value without a bound is the worst only where no value has one.
    worst = max(belief, key=lambda value: (known[value] < 1, belief[value] - known[value], value))
    before = "the declared share" if case.manifest.method.get("values") is None else f"1 in {len(stated.shares)}, for example"
    note = f"from a belief of {before}; any odds grow at most {float(times):.6g}-fold. {_own_word(case.manifest)}"
    return ClaimResult(claim, belief[worst] <= known[worst], belief[worst], known[worst], worst, note)


def _with_sets(shares: Mapping[str, Fraction], bounds: Bounds) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Return the declared share and the bound of every value and, after the values, of every set."""
    sets = {
        set_label(name): (sum((shares[value] for value in values), Fraction(0)), bound)
        for name, (values, bound) in bounds.sets.items()
    }
    return (
        dict(shares) | {name: share for name, (share, _) in sets.items()},
        dict(bounds.known or {}) | {name: bound for name, (_, bound) in sets.items()},
    )


def _own_word(manifest: Manifest) -> str:
    return unseen(manifest).replace("that people were put together as the basis says", "How boxes were cut and noise was drawn")


def _undeclared(release: BucketsRelease, stated: _Stated) -> list[str]:
    """Return what does not follow from one declaration of values."""
    problems, method = [], release.manifest.method
    if min(stated.shares.values()) <= 0 or sum(stated.shares.values()) != 1 or len(stated.shares) < 2:
        problems.append("the declared shares are not numbers above 0 that add up to 1")
    if set(stated.shares) != set(release.domain.labels):
        problems.append("st does not show exactly the values that were declared")
    declared = release.manifest.schema.get("declared")
    closed = {"values": sorted(stated.shares), "otherwise": method.get("otherwise")}
    read_into = declared.get("closed") if isinstance(declared, Mapping) else None
    if method.get("otherwise") not in stated.shares or read_into != closed:
        problems.append("the table was not read into the declared values, with one of them for whoever has another value")
    if (method.get("shares") is None) == (method.get("values") is None):
        problems.append("either shares or values are declared, not both")
    if method.get("shares") is None and release.manifest.requirement.get("model") != "differential":
        problems.append("the requirement's bounds follow from shares, and none were declared")
    return problems


def _wrong_law(manifest: Manifest, stated: _Stated, bounds: Bounds) -> list[str]:
    """Return where γ does not follow from the requirement, or the ratio of the noise not from γ."""
    problems = []
    follows = _odds_allowed(manifest.requirement, stated.shares, bounds)
    if follows is not None and (follows != stated.gamma if stated.secrets == 1 else follows < stated.gamma):
        problems.append(
            f"odds may grow {float(follows):.9g}-fold under the requirement, the manifest says {float(stated.gamma):.9g}"
        )
    ratio, gamma = stated.ratio, stated.gamma
    power = 2 * stated.secrets
    if not 0 < ratio < 1 or ratio**power * gamma < 1:
        problems.append(f"noise of this ratio is too small for γ: the ratio to the power of −{power} must not exceed it")
    elif (ratio * _GRID).denominator != 1 or (ratio - Fraction(1, _GRID)) ** power * gamma >= 1:
        problems.append("the ratio of the noise is not the smallest multiple of 2^-30 that γ allows")
    return problems


def wrong_split(parts: Sequence[BucketsRelease]) -> list[str]:
    """Return that γ is not the least that any of several columns, each protected by itself, allows; nothing where it is."""
    allowed = []
    for part in parts:
        stated = _Stated.of(part.manifest)
        bounds = Bounds.read(part.manifest, stated.shares, tuple(stated.shares), part.domain.parts())
        allowed.append(_odds_allowed(part.manifest.requirement, stated.shares, bounds))
    known = [one for one in allowed if one is not None]
    if not known or min(known) == _Stated.of(parts[0].manifest).gamma:
        return []
    return ["γ is not the least that the requirement of any sensitive column allows"]


def _odds_allowed(requirement: Mapping[str, Any], shares: Mapping[str, Fraction], bounds: Bounds) -> Fraction | None:
    """Return how much odds may grow: as stated, or so that no declared share's belief exceeds its bound."""
    if requirement.get("model") == "differential":
        return odds_of(requirement)
    if bounds.known is None:
        return None
    every, limits = _with_sets(shares, bounds)
    room = [known / (1 - known) / (share / (1 - share)) for value, share in every.items() if (known := limits[value]) < 1]
    return min(room) if room else None


def _over_bound(release: BucketsRelease, bounds: Bounds) -> Flags:
    """Return which buckets show a noisy share over its bound, exactly; none where bounds are not known."""
    over = np.zeros(len(release.sizes), bool)
    shown, labels = _shown(release), list(release.domain.labels)
    bounded = [((label,), (bounds.known or {}).get(label, Fraction(1))) for label in labels]
    distinct, which = np.unique(release.sizes, return_inverse=True)
    sizes = distinct.tolist()
    for values, limit in [*bounded, *bounds.sets.values()]:
        if limit < 1:
            share, whole = limit.numerator, limit.denominator
            caps = np.array([share * size // whole for size in sizes], dtype=np.int64)
            over |= shown[:, [labels.index(value) for value in values]].sum(axis=1) > caps[which]
    return over


def _structure(release: BucketsRelease, over: Flags, *, torn: bool) -> list[str]:
    manifest, problems = release.manifest, []
    if manifest.parameters.get("buckets") != len(release.sizes):
        problems.append(f"{len(release.sizes)} buckets, the manifest says {manifest.parameters.get('buckets')}")
    if len(set(release.domain.labels)) < len(release.domain):
        problems.append("st shows two different values that are written alike, so that each hides behind the other")
    if not manifest.claims:
        problems.append("the manifest makes no claim")
    if manifest.values is not None:
        problems.append("the manifest gives counts although the tables show none without noise")
    if torn:
        problems.append("people with equal quasi values are in different buckets: not quasi values alone put them there")
    if joins_boxes(manifest) and len(over) > 1 and over.any():
        problems.append(f"{int(over.sum())} buckets show a share over its bound, although such boxes are joined with others")
    return problems


def walk_noisy(release: BucketsRelease, table: Table | None) -> Walked:
    """Return how the published people differ from those of the table, and how many of these each bucket has of each value."""
    key = combined(release.quasi) if table is None else quasi_keys(release.quasi, table)
    truth = None if table is None else true_values(release.domain.labels, table)
    return walk_together(key, release.bucket, truth, len(release.sizes), len(release.domain))


def walk_together(key: Integers, bucket: Array, truth: Integers | None, buckets: int, values: int) -> Walked:
    """Return the same for people whose quasi values `key` numbers: the published ones, then those of the table, if any."""
    key = numbered(key)
    ours, theirs = key[: len(bucket)], key[len(bucket) :]
    size = int(key.max(initial=-1)) + 1
    place = np.zeros(size, np.int64)
    place[ours] = bucket
    torn = bool((place[ours] != bucket).any())
    if truth is None:
        return Walked(torn)
    gap = np.bincount(ours, minlength=size) - np.bincount(theirs, minlength=size)
    invented, lost = int(gap[gap > 0].sum()), int(-gap[gap < 0].sum())
    if (truth < 0).any():
        return Walked(torn, invented, lost, undeclared=True)
    counts = np.bincount(place[theirs] * values + truth, minlength=buckets * values).reshape(-1, values)
    return Walked(torn, invented, lost, truth=counts.astype(np.int64))


def _differences(found: Walked) -> list[str]:
    """Return where people are not the table's."""
    problems = [f"{found.invented} published rows are not rows of the table"] if found.invented else []
    problems += [f"{found.lost} rows of the table are not published"] if found.lost else []
    return [*problems, *(["the table has values that were not declared"] if found.undeclared else [])]


def _wrong_noise(release: BucketsRelease, stated: _Stated, truth: Integers) -> list[str]:
    """Return that the noise hardly has the law that is stated; false alarms at most `FALSE_ALARM`."""
    noise = _shown(release) - truth
    odd = (
        unlike_noise(noise.ravel(), stated.ratio, 1)
        if release.draws is None
        else unlike_noise(noise.sum(axis=0), stated.ratio, int(release.draws.sum()))
    )
    return [f"the noise hardly has the stated law (false alarm at most {FALSE_ALARM:g})"] if odd else []


def _warnings(release: BucketsRelease, bounds: Bounds, stated: _Stated, over: Flags) -> list[str]:
    warnings = []
    held = {value for values, bound in bounds.sets.values() if bound < 1 for value in values}
    free = [value for value in stated.shares if bounds.known is not None and bounds.known[value] == 1 and value not in held]
    if free:
        share = sum((stated.shares[value] for value in free), Fraction(0))
        warnings.append(f"{len(free)} values, {percent(share)} by the declared shares, have no bound")
    if joins_boxes(release.manifest) and len(over) == 1 and over.any():
        warnings.append("all boxes were joined into one, and a share that it shows still lies over its bound")
    return warnings


def _stronger(release: BucketsRelease, stated: _Stated) -> dict[str, Finding]:
    """Return what is measured beside the claim: any prior, exact totals, and what buckets tell of their people."""
    times = float(stated.kept)
    shares = nearest_shares(_shown(release) / release.sizes[:, None])
    return {
        "insider with any belief before": Finding("odds of any value, or set of values, grow at most by this factor", times),
        "insider who knows the exact totals of all values": Finding("odds grow at most by this factor", times**2),
        "reader who takes a bucket's shares for hers": Finding(
            "largest share that a bucket shows, noise cut off at 0: what is not bounded", float(shares.max())
        ),
    }
