"""Bounds that follow from the shares in each band of numbers of rows, or members: what a release shows of every band, read alone.

Counts are those that groups show. Where the table is at hand, they are compared with it person by person beside this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.auditor.bounds import Several
from sfumato.auditor.claims import AuditedBounds, Case, ShownCounts, judge, set_totals
from sfumato.auditor.result import ClaimResult, nearest_first
from sfumato.exact import percent
from sfumato.release.boxes import Sets
from sfumato.release.held import Held
from sfumato.release.manifest import Claim, Manifest

SetMembers = Mapping[str, tuple[str, ...]]


class AuditedBand(NamedTuple):
    """The groups of one band, what they show, and the bounds of their people."""

    groups: Integers
    shown: ShownCounts
    bounds: AuditedBounds


def band_columns(manifest: Manifest, columns: Iterable[Any]) -> list[Any]:
    """Return the columns by which people share groups, none where they share them whatever their numbers of rows.

    Of households these are numbers of members, and of rows where members may have several.
    """
    if manifest.alike not in ("band", "number"):
        return []
    people = manifest.schema["declared"]["people"]
    names = ("rows",) if "unit" not in people else ("members", "rows") if people["several"] else ("members",)
    return [next(column for column in columns if column.name == name) for name in names]


def strata_of(release: Any) -> tuple[Integers, ...]:
    """Return the groups of each band of numbers of rows; none where people of any number may share a group."""
    own = np.zeros(len(release.sizes), np.int64)
    bands = band_columns(release.manifest, release.boxes if release.shown_as.as_ranges else release.quasi)
    for band in bands:
        code = np.zeros(len(own), np.int64)
        if not release.shown_as.as_ranges:
            code[release.group] = band.codes
        else:
            code[:] = band.codes[band.start[:-1]] if isinstance(band, Sets) else band.low
        own = own * (int(code.max()) + 1) + code
    return tuple(np.flatnonzero(own == number) for number in np.unique(own)) if bands else ()


def bands_of(release: Any, shown: ShownCounts, members: SetMembers) -> list[AuditedBand]:
    """Return every band with bounds of its own; `members` has the values of each set."""
    return [_band(release.manifest, shown, groups, members) for groups in strata_of(release)]


def _band(manifest: Manifest, shown: ShownCounts, groups: Integers, members: SetMembers) -> AuditedBand:
    held = shown.held
    assert held is not None
    place = np.full(len(shown.sizes), -1, np.int32)
    place[groups] = np.arange(len(groups))
    entries, sets, numbers = (place[group] >= 0 for group in (shown.group, held.set_group, held.group))
    own = ShownCounts(
        place[shown.group[entries]],
        shown.value[entries],
        shown.count[entries],
        shown.sizes[groups],
        shown.domain,
        account=None if shown.account is None else shown.account[groups],
        held=Held(
            place[held.set_group[sets]],
            held.set_place[sets],
            held.set_count[sets],
            place[held.group[numbers]],
            held.secret[numbers],
            held.values[numbers],
            held.people[numbers],
        ),
    )
    names = [str(entry["set"]) for entry in manifest.sets]
    totals = dict(zip(names, own.held.set_totals(len(names)).tolist(), strict=True)) if own.held is not None else {}
    counts = Several(own.totals, own.people, {name: totals.get(name, 0) for name in members})
    return AuditedBand(groups, own, AuditedBounds.read(manifest, counts, shown.labels))


def largest(bands: list[AuditedBand]) -> AuditedBounds:
    """Return the largest bound of each value and set among the bands in which somebody has it."""
    first = bands[0].bounds
    known: dict[str, list[Fraction]] = {}
    sets: dict[str, list[Fraction]] = {}
    for band in bands:
        if band.bounds.known is None or band.shown.held is None:
            return band.bounds
        for label, many in band.shown.totals.items():
            known.setdefault(label, []).extend([band.bounds.known[label]] if many else [])
        have = band.shown.held.set_totals(len(first.sets)).tolist()
        for (name, (_, bound)), many in zip(band.bounds.sets.items(), have, strict=True):
            sets.setdefault(name, []).extend([bound] if many else [])
    whole = Fraction(1)
    return AuditedBounds(
        {label: max(bounds, default=whole) for label, bounds in known.items()},
        "",
        {name: (values, max(sets[name], default=whole)) for name, (values, _) in first.sets.items()},
    )


def counted_and_bounded(bands: Sequence[AuditedBand]) -> tuple[list[tuple[int, Fraction]], list[tuple[int, Fraction]]]:
    """Return how many people of each band have each value, and one of each set, each with its bound."""
    values = [(many, (band.bounds.known or {})[label]) for band in bands for label, many in band.shown.totals.items() if many]
    sets = [
        (total, bound)
        for band in bands
        for total, (_, bound) in zip(set_totals(band.shown, band.bounds), band.bounds.sets.values(), strict=True)
    ]
    return values, sets


def open_in_bands(bands: Sequence[AuditedBand]) -> list[str]:
    """Return how much of what people have has no bound in their band, in a sentence; nothing if all has one."""
    free = 0
    for band in bands:
        known, sets = band.bounds.known or {}, band.bounds.sets.values()
        held = {value for values, bound in sets if bound < 1 for value in values}
        free += sum(many for label, many in band.shown.totals.items() if known.get(label) == 1 and label not in held)
    facts = sum(sum(band.shown.totals.values()) for band in bands)
    return (
        [f"{percent(Fraction(free, facts))} of what people have has no bound in their band, and may be shown openly"]
        if free
        else []
    )


def judge_bands(claim: Claim, case: Case[Any], bands: list[AuditedBand]) -> ClaimResult:
    """Return the judgement on one claim: it holds if it does in every band, and the band nearest to a bound speaks for all."""
    judged = [judge(claim, case, band.shown, band.bounds) for band in bands if band.shown.largest]
    if not judged:
        return ClaimResult(claim, False, note="the release shows no sensitive value")
    broken = [claim for claim in judged if claim.holds is False]
    unknown = [claim for claim in judged if claim.holds is None]
    return max(broken or unknown or judged, key=_nearness)


def _nearness(claim: ClaimResult) -> Any:
    return claim.worst is not None, nearest_first(claim.worst or Fraction(0), Fraction(1) if claim.bound is None else claim.bound)


def limits_by_group(labels: tuple[str, ...], groups: int, bands: list[AuditedBand]) -> Floats:
    """Return [groups × events]: the bound of every value, then of every set, for the people of each group."""
    limits = np.ones((groups, len(labels) + len(bands[0].bounds.sets)))
    for band in bands:
        known = band.bounds.known or {}
        limits[band.groups] = [
            *(float(known.get(label, 1)) for label in labels),
            *(float(bound) for _, bound in band.bounds.sets.values()),
        ]
    return limits
