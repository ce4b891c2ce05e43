"""Audit of buckets with noisy counts: the law of the noise against the claim, exactly; with the table also the noise itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers
from sfumato.auditor.bounds import Several, odds_of
from sfumato.auditor.claims import DROPPED, AuditedBounds, Case, misworded, set_label, unverified
from sfumato.auditor.declaration import exact_share
from sfumato.auditor.held import facts_of
from sfumato.auditor.margins import StatedMargins, other_tables, true_margins, wrong_margins, wrong_ratio
from sfumato.auditor.noise_law import unlike_noise
from sfumato.auditor.original import numbered, quasi_keys, quasi_numbers, true_codes, true_values
from sfumato.auditor.plausible import FALSE_ALARM
from sfumato.auditor.result import Audit, ClaimResult, Finding
from sfumato.errors import FormatError
from sfumato.exact import percent
from sfumato.release.accounts import joins_boxes
from sfumato.release.buckets import BucketsRelease, nearest_shares
from sfumato.release.manifest import Claim, Manifest
from sfumato.table.column import combined
from sfumato.table.table import Table


@dataclass(frozen=True)
class _Stated:
    """What the manifest states: the share of each value (of people who have it), γ, and the ratio of the noise."""

    shares: Mapping[str, Fraction]
    gamma: Fraction
    ratio: Fraction
    counted: int
    """Of how many values, of all columns together, a person is counted: somebody may know how they go together."""
    bundled: bool
    margins: StatedMargins | None
    """The tables beside boxes, which have part of γ."""

    @classmethod
    def of(cls, manifest: Manifest) -> _Stated:
        method, public = manifest.method, manifest.parameters
        try:
            listed, stated = method.get("values"), "has" if manifest.bundled else "shares"
            shares = (
                {str(value): exact_share(share) for value, share in method[stated].items()}
                if listed is None
                else {str(value): Fraction(1, len(listed)) for value in listed}
            )
            counted = int(public["counted"]) if "counted" in public else values_counted(manifest)
            law = exact_share(public["gamma"]), exact_share(public["ratio"])
            return cls(shares, *law, counted, manifest.bundled, StatedMargins.of(manifest))
        except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
            raise FormatError("manifest.json: the declared values, gamma or the ratio of the noise cannot be read") from None

    @property
    def kept(self) -> Fraction:
        """How much odds really grow at most: r⁻² for every value that a person is counted of, in boxes and in every table."""
        boxes = 1 / self.ratio ** (2 * self.counted)
        tables = self.margins
        return boxes if tables is None else boxes / tables.ratio ** (2 * self.counted * len(tables.tables))

    @property
    def left(self) -> Fraction:
        """What tables leave of γ to the boxes."""
        return self.gamma if self.margins is None else self.gamma / self.margins.gamma

    @property
    def counts(self) -> Mapping[str, Fraction]:
        """The shares as bounds are read from them."""
        return Several(self.shares, 1, {}) if self.bundled else self.shares


def values_counted(manifest: Manifest) -> int:
    """Return of how many values, of all secrets together, a person is counted, as the columns of the policy say.

    Another person in her place moves as many counts, and as many again.
    """
    declared = manifest.schema["declared"]
    if "secrets" not in declared:
        return len(manifest.secrets)
    people, total = declared.get("people", {}), 0
    for name, columns in declared["secrets"].items():
        most = people.get("most")
        most = most.get(name) if isinstance(most, Mapping) else most
        room = None if people.get("keep") == "all" else len(columns)
        if most is None and room is None:
            raise FormatError("manifest.json: the largest number of values counted per person is missing")
        total += min(int(limit) for limit in (most, room) if limit is not None)
    return total


class NoisyWalk(NamedTuple):
    """What a walk over equal quasi rows finds: whether some are in two groups, rows that only one side has, true counts."""

    torn: bool
    invented: int = 0
    lost: int = 0
    undeclared: bool = False
    truth: Integers | None = None
    """[groups × values] of the table's people, where nobody is lost or invented."""
    margins: Integers | None = None
    """[bands × values] of the same people, where tables lie beside boxes."""


WalkNoisy = Callable[[BucketsRelease, Table | None], NoisyWalk]


def audit_noisy(case: Case[BucketsRelease], walk: WalkNoisy | None = None) -> Audit:
    """Return every claim judged on what the manifest states, and what is wrong with the tables.

    Without `draw` nothing is looked at that the table and the draw together would tell: neither the noise nor the exposure.
    `walk` compares people with those of the table; given where their rows are not in memory.
    """
    release, manifest = case.release, case.manifest
    stated = _Stated.of(manifest)
    bounds = AuditedBounds.read(manifest, stated.counts, tuple(stated.shares), release.domain.parts())
    faults = [*_undeclared(release, stated), *_wrong_law(manifest, stated, bounds)]
    over = _over_bound(release, bounds)
    walked = (walk or (walk_held if stated.bundled else walk_noisy))(release, case.table)
    problems = [*faults, *_structure(release, over, torn=walked.torn)]
    exposure = None
    if case.table is not None:
        differences = _differences(walked)
        problems += differences
        if case.draw and not differences and not faults:  # without a law that is stated, nothing has another one
            truth = walked.truth
            assert truth is not None
            if manifest.leaves_out is None:  # else coins decided of which values people are counted, and only they know
                problems += _wrong_noise(release, stated, truth, walked.margins)
            exposure = float((_believed(release) * truth).sum() / max(1, truth.sum()))
    return Audit(
        claims=tuple(_judge(claim, case, stated, bounds, faults) for claim in manifest.claims),
        problems=tuple(problems),
        warnings=tuple(_warnings(release, bounds, stated, over)),
        stronger=_stronger(release, stated),
        exposure=exposure,
    )


def _believed(release: BucketsRelease) -> Floats:
    """Return the shares that groups show, taken as what may be: from 0 to 1, adding up to 1 where everybody has one value."""
    shares: Floats = _shown(release) / release.sizes[:, None]
    return np.clip(shares, 0.0, 1.0) if release.manifest.bundled else nearest_shares(shares)


def _shown(release: BucketsRelease) -> Integers:
    """Return the noisy counts, [groups × values]."""
    return release.st_count.reshape(len(release.sizes), -1)


def _judge(claim: Claim, case: Case[BucketsRelease], stated: _Stated, bounds: AuditedBounds, faults: list[str]) -> ClaimResult:
    """Judge one claim: a belief of each declared share, of values and sets, its odds grown r⁻²-fold, is within its bound."""
    fault = ""
    if claim.kind != "association" or claim.adversary != "insider":
        fault = "noisy counts hold against an insider, and no other claim is made of them"
    elif misworded(claim, case.release):
        fault = misworded(claim, case.release)
    elif case.dropped:
        fault = DROPPED
    elif faults:
        fault = "the stated noise does not match the requirement and the declared values"
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


def _with_sets(shares: Mapping[str, Fraction], bounds: AuditedBounds) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
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
    return f"How boxes were cut and noise was drawn: {unverified(manifest)}"


def _undeclared(release: BucketsRelease, stated: _Stated) -> list[str]:
    """Return what does not follow from one declaration of values."""
    problems, method = [], release.manifest.method
    least, most, many = min(stated.shares.values()), max(stated.shares.values()), len(stated.shares)
    if stated.bundled and not (least > 0 and most < 1 and many > 1):
        problems.append("the declared shares of people who have each value do not lie between 0 and 1")
    elif not stated.bundled and (least <= 0 or sum(stated.shares.values()) != 1 or many < 2):
        problems.append("the declared shares are not numbers above 0 that add up to 1")
    if set(stated.shares) != set(release.domain.labels):
        problems.append("st does not show exactly the values that were declared")
    declared = release.manifest.schema.get("declared")
    closed = {"values": sorted(stated.shares), "otherwise": method.get("otherwise")}
    read_into = declared.get("closed") if isinstance(declared, Mapping) else None
    if method.get("otherwise") not in stated.shares or read_into != closed:
        problems.append("the table was not coded into the declared values with the declared catch-all value")
    if sum(method.get(key) is not None for key in ("shares", "values", "has")) != 1:
        problems.append("either shares or values are declared, not both")
    if method.get("values") is not None and release.manifest.requirement.get("model") != "differential":
        problems.append("the requirement's bounds are computed from shares, but none were declared")
    return problems


def _wrong_law(manifest: Manifest, stated: _Stated, bounds: AuditedBounds) -> list[str]:
    """Return where γ does not follow from the requirement, or the ratio of the noise not from γ."""
    problems = []
    alone = "counted" not in manifest.parameters  # of several secrets the least that any allows is γ
    follows = _odds_allowed(manifest.requirement, stated.shares, bounds)
    if follows is not None and (follows != stated.gamma if alone else follows < stated.gamma):
        problems.append(
            f"odds may grow {float(follows):.9g}-fold under the requirement, the manifest says {float(stated.gamma):.9g}"
        )
    problems += wrong_ratio(stated.ratio, stated.left, stated.counted)
    problems += wrong_margins(manifest, stated.margins, stated.gamma, stated.counted)
    return problems if not alone else problems + other_tables(manifest, stated.margins, stated.gamma, stated.counted)


def wrong_split(whole: Manifest, parts: Sequence[BucketsRelease]) -> list[str]:
    """Return that γ is not the least that any of several columns, each protected by itself, allows; nothing where it is."""
    allowed = []
    first = _Stated.of(parts[0].manifest)
    if first.counted != values_counted(whole):
        return ["the number of values counted per person differs from what the columns state"]
    for part in parts:
        stated = _Stated.of(part.manifest)
        bounds = AuditedBounds.read(part.manifest, stated.counts, tuple(stated.shares), part.domain.parts())
        allowed.append(_odds_allowed(part.manifest.requirement, stated.shares, bounds))
    known = [limit for limit in allowed if limit is not None]
    problems = other_tables(whole, first.margins, first.gamma, first.counted)
    if not known or min(known) == first.gamma:
        return problems
    return [*problems, "γ is not the least that the requirement of any sensitive column allows"]


def _odds_allowed(requirement: Mapping[str, Any], shares: Mapping[str, Fraction], bounds: AuditedBounds) -> Fraction | None:
    """Return how much odds may grow: as stated, or so that no declared share's belief exceeds its bound."""
    if requirement.get("model") == "differential":
        return odds_of(requirement)
    if bounds.known is None:
        return None
    every, limits = _with_sets(shares, bounds)
    room = [_room(share, limits[value]) for value, share in every.items() if share > 0 and limits[value] < 1]
    return min(room) if room else None


def _room(share: Fraction, limit: Fraction) -> Fraction:
    """Return how much the odds of a share above 0 may grow up to a limit below 1: not at all those of what everybody has."""
    return limit / (1 - limit) / (share / (1 - share)) if share < 1 else Fraction(0)


def _over_bound(release: BucketsRelease, bounds: AuditedBounds) -> Flags:
    """Return which groups show a noisy share over its bound, exactly; none where bounds are not known."""
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
    if manifest.parameters.get("groups") != len(release.sizes):
        problems.append(f"{len(release.sizes)} groups, the manifest says {manifest.parameters.get('groups')}")
    if len(set(release.domain.labels)) < len(release.domain):
        problems.append("st shows two different values that are spelled alike, so that a reader cannot distinguish them")
    if not manifest.claims:
        problems.append("the manifest makes no claim")
    if manifest.values is not None:
        problems.append("the manifest lists counts, which noisy tables do not publish")
    if torn:
        problems.append("people with equal quasi values are in different groups, so groups depend on more than quasi values")
    if joins_boxes(manifest) and len(over) > 1 and over.any():
        problems.append(f"{int(over.sum())} groups show a share over its bound, although such boxes are joined with others")
    return problems


def walk_noisy(release: BucketsRelease, table: Table | None) -> NoisyWalk:
    """Return how the published people differ from those of the table, and how many of these each group has of each value."""
    key = combined(release.quasi) if table is None else quasi_keys(release.quasi, table)
    truth = None if table is None else true_values(release.domain.labels, table)
    walked = walk_together(key, release.group, truth, len(release.sizes), len(release.domain))
    if release.margins is None or table is None or truth is None or walked.truth is None:
        return walked
    codes = [column.codes for column in table.quasi]
    return walked._replace(margins=true_margins(release, table.quasi, lambda: [(codes, truth)]))


def walk_held(release: BucketsRelease, table: Table | None) -> NoisyWalk:
    """Return the same where people may have several values: how many of each group have each, whether they are counted or not."""
    if table is None:
        return walk_noisy(release, None)
    none = np.zeros(table.rows, np.int64)
    walk = walk_together(quasi_keys(release.quasi, table), release.group, none, len(release.sizes), 1)
    if walk.torn or walk.invented or walk.lost:
        return walk
    person, value = facts_of(table)
    own = true_codes(release.domain.labels, table).astype(np.int64)[value]
    if (own < 0).any():
        return walk._replace(undeclared=True, truth=None)
    ours, theirs, many = quasi_numbers(release.quasi, table)
    home = np.zeros(many, np.int64)
    home[ours] = release.group
    width = len(release.domain)
    truth = np.bincount(home[theirs][person] * width + own, minlength=len(release.sizes) * width)
    return walk._replace(truth=truth.reshape(-1, width).astype(np.int64))


def walk_together(key: Integers, group: Array, truth: Integers | None, groups: int, values: int) -> NoisyWalk:
    """Return the same for people whose quasi values `key` numbers: the published ones, then those of the table, if any."""
    key = numbered(key)
    ours, theirs = key[: len(group)], key[len(group) :]
    size = int(key.max(initial=-1)) + 1
    place = np.zeros(size, np.int64)
    place[ours] = group
    torn = bool((place[ours] != group).any())
    if truth is None:
        return NoisyWalk(torn)
    gap = np.bincount(ours, minlength=size) - np.bincount(theirs, minlength=size)
    invented, lost = int(gap[gap > 0].sum()), int(-gap[gap < 0].sum())
    if (truth < 0).any():
        return NoisyWalk(torn, invented, lost, undeclared=True)
    counts = np.bincount(place[theirs] * values + truth, minlength=groups * values).reshape(-1, values)
    return NoisyWalk(torn, invented, lost, truth=counts.astype(np.int64))


def _differences(walked: NoisyWalk) -> list[str]:
    """Return where people are not the table's."""
    problems = [f"{walked.invented} published rows are not rows of the table"] if walked.invented else []
    problems += [f"{walked.lost} rows of the table are not published"] if walked.lost else []
    return [*problems, *(["the table has values that were not declared"] if walked.undeclared else [])]


def _wrong_noise(release: BucketsRelease, stated: _Stated, truth: Integers, margins: Integers | None) -> list[str]:
    """Return that the noise hardly has the law that is stated; false alarms at most `FALSE_ALARM`."""
    noise = _shown(release) - truth
    odd = (
        unlike_noise(noise.ravel(), stated.ratio, 1)
        if release.draws is None
        else unlike_noise(noise.sum(axis=0), stated.ratio, int(release.draws.sum()))
    )
    problems = [f"the noise hardly has the stated law (false alarm at most {FALSE_ALARM:g})"] if odd else []
    if stated.margins is None or release.margins is None:
        return problems
    if margins is None:
        return [*problems, "the tables beside the boxes have other bands than the people of the table"]
    odd = unlike_noise((release.margins.counts - margins).ravel(), stated.margins.ratio, 1)
    beside = f"the noise in tables beside boxes hardly has the stated law (false alarm at most {FALSE_ALARM:g})"
    return [*problems, beside] if odd else problems


def _warnings(release: BucketsRelease, bounds: AuditedBounds, stated: _Stated, over: Flags) -> list[str]:
    warnings = []
    held = {value for values, bound in bounds.sets.values() if bound < 1 for value in values}
    free = [value for value in stated.shares if bounds.known is not None and bounds.known[value] == 1 and value not in held]
    if free:
        share = sum((stated.shares[value] for value in free), Fraction(0))
        warnings.append(f"{len(free)} values, {percent(share)} by the declared shares, have no bound")
    if release.manifest.leaves_out is not None:
        warnings.append(
            f"a person is counted of at most {release.manifest.leaves_out} of her values, drawn by coins: counts leave out others"
        )
    if joins_boxes(release.manifest) and len(over) == 1 and over.any():
        warnings.append("all boxes were joined into one, and a share that it shows still lies over its bound")
    return warnings


_MOST = Fraction(10) ** 150
"""No figure beyond: its square is a number yet."""


def _stronger(release: BucketsRelease, stated: _Stated) -> dict[str, Finding]:
    """Return what is measured beside the claim: any prior, exact totals, and what groups tell of their people."""
    times, shares = float(min(stated.kept, _MOST)), _believed(release)
    return {
        "insider with any belief before": Finding("odds of any value, or set of values, grow at most by this factor", times),
        "insider who knows the exact totals of all values": Finding("odds grow at most by this factor", times**2),
        "reader who takes a group's shares for hers": Finding(
            "largest share that a group shows, noise cut off at 0: what is not bounded", float(shares.max())
        ),
    }
