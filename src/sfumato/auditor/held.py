"""People who may have several values of a secret, beside the table: what each box shows is what its people have, exactly.

Cuts never part people with equal quasi values, so that the table tells who is in which box. Events are counted here once more,
person by person, and nothing is shared with what published them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers
from sfumato.auditor.banded import AuditedBand, band_columns, bands_of, judge_bands, largest, limits_by_group, open_in_bands
from sfumato.auditor.bounds import Several, members_of
from sfumato.auditor.claims import AuditedBounds, Case, ShownCounts, declared_schema, judge, open_values, structure
from sfumato.auditor.knowing import classes_of, classes_of_counts, share_above
from sfumato.auditor.original import quasi_numbers, true_codes
from sfumato.auditor.result import Audit, Finding
from sfumato.release.boxes import Box, Sets, fitting
from sfumato.release.buckets import BucketsRelease
from sfumato.release.ranges import RangesRelease, positions
from sfumato.table.column import Column
from sfumato.table.table import Table


def facts_of(table: Table) -> tuple[Integers, Array]:
    """Return every pair of a person and a value of hers."""
    bundles = table.bundles
    assert bundles is not None
    length = np.diff(bundles.start)[bundles.codes]
    person = np.repeat(np.arange(table.rows), length)
    place = np.arange(len(person)) - np.repeat(np.cumsum(length) - length, length)
    return person, bundles.value[np.repeat(bundles.start[:-1][bundles.codes], length) + place]


def several_counts(case: Case[Any], shown: ShownCounts, members: Mapping[str, tuple[str, ...]]) -> Several:
    """Return how many people have each value and one of each set: of the table where it is at hand, else as the tables say."""
    held = shown.held
    assert held is not None
    if case.table is None:
        names = [str(entry["set"]) for entry in case.manifest.sets]
        totals = dict(zip(names, held.set_totals(len(names)).tolist(), strict=True))
        return Several(shown.totals, shown.people, {name: totals.get(name, 0) for name in members})
    person, value = facts_of(case.table)
    counts = np.bincount(value, minlength=len(case.table.sensitive.labels)).tolist()
    labels = np.array(case.table.sensitive.labels, dtype=object)
    sets = {name: len(np.unique(person[np.isin(labels[value], list(values))])) for name, values in members.items()}
    return Several(dict(zip(labels.tolist(), counts, strict=True)), case.table.rows, sets)


def held_bounds(case: Case[Any], shown: ShownCounts) -> tuple[AuditedBounds, list[AuditedBand]]:
    """Return the bounds where people may have several values, by shares of people; and those of each band, where it has its own.

    The bounds are then the largest of them.
    """
    manifest = case.manifest
    members = members_of(manifest.requirement, list(shown.labels), declared_schema(manifest).bins_in_order())
    if manifest.by_band:
        bands = bands_of(case.release, shown, members)
        return largest(bands), bands
    return AuditedBounds.read(manifest, several_counts(case, shown, members), shown.labels), []


def event_limits(shown: ShownCounts, bounds: AuditedBounds, bands: list[AuditedBand]) -> Floats:
    """Return [groups × events]: the bound of every value, then of every set, for the people of each group."""
    if bands:
        return limits_by_group(shown.labels, len(shown.sizes), bands)
    known = bounds.known or {}
    single = [float(known.get(label, 1)) for label in shown.labels]
    return np.tile([*single, *(float(limit) for _, limit in bounds.sets.values())], (len(shown.sizes), 1))


def audit_held(case: Case[Any], shown: ShownCounts, mixed: list[str], home: Home, source: str) -> Audit:
    """Return every claim judged on the tables; `home` is who of the table is in which group, `mixed` what is wrong with bands."""
    manifest, (bounds, bands) = case.manifest, held_bounds(case, shown)
    limits = event_limits(shown, bounds, bands)
    problems = structure(manifest, shown, bounds, source) + mixed
    if case.table is not None:
        problems += home.problems or compare_held(shown, case.table, bounds, home.group)
    return Audit(
        claims=tuple(
            judge_bands(claim, case, bands) if bands else judge(claim, case, shown, bounds) for claim in manifest.claims
        ),
        problems=tuple(problems),
        warnings=tuple(open_in_bands(bands) if bands else open_values(shown.totals, bounds, what="what people have is")),
        stronger=shown.stronger("group") | {EVERYBODY: KNOWN} | ({} if problems else _counting(case, shown, limits, home)),
        exposure=None if case.table is None else shown.exposure,
    )


def _counting(case: Case[Any], shown: ShownCounts, bounds: Floats, home: Home) -> dict[str, Finding]:
    """Return what those reach who know how many values, or with the table how many rows, everybody has."""
    held = shown.held
    if held is None or (bounds == 1).all():
        return {}
    group = np.concatenate([shown.group, held.set_group]).astype(np.int64)
    count = np.concatenate([shown.count, held.set_count])
    limits = bounds[group, np.concatenate([shown.value, held.set_place + len(shown.labels)])]
    known = {
        "values of a secret": classes_of_counts(
            held.group.astype(np.int64), held.values.astype(np.int64), held.people, len(shown.sizes)
        )
    }
    times = None if case.table is None else case.table.times
    if times is not None and case.manifest.alike != "number":
        known["rows"] = classes_of(home.group, times, len(shown.sizes))
    return {
        f"who knows how many {what} everybody has": Finding(
            f"share of people in whom she believes something above its bound; nothing is claimed against her ({what})",
            share_above(classes, group, count, limits),
        )
        for what, classes in known.items()
    }


class Home(NamedTuple):
    """The group of everybody in the table, or why it cannot be told."""

    group: Integers
    problems: list[str]


NOWHERE = Home(np.zeros(0, np.int64), [])
EVERYBODY = "insider who knows everybody else in the group"
KNOWN = Finding("share of real values among those that remain when all group mates are known", 1.0)


def mixed_bands(release: BucketsRelease) -> list[str]:
    """Return that a group has people of several bands of numbers of rows, though the release says that none has."""
    mixed = np.zeros(len(release.sizes), bool)
    for band in band_columns(release.manifest, release.quasi):
        least, most = np.full(len(release.sizes), band.size), np.full(len(release.sizes), -1)
        np.minimum.at(least, release.group, band.codes)
        np.maximum.at(most, release.group, band.codes)
        mixed |= least != most
    return _mixed(mixed)


def mixed_boxes(release: RangesRelease) -> list[str]:
    """Return the same of groups that are shown as ranges."""
    bands = band_columns(release.manifest, release.boxes)
    mixed = [np.diff(band.start) != 1 if isinstance(band, Sets) else band.low != band.high for band in bands]
    return _mixed(np.any(mixed, axis=0)) if mixed else []


def _mixed(mixed: Flags) -> list[str]:
    many = int(mixed.sum())
    return [f"{many} groups mix people whose numbers of rows are in different bands"] if many else []


def homes(release: BucketsRelease, table: Table | None) -> Home:
    """Return who is in which group: rows with equal quasi values are in one, since cuts do not part them."""
    if table is None:
        return NOWHERE
    ours, theirs, many = quasi_numbers(release.quasi, table)
    here, there = np.bincount(ours, minlength=many), np.bincount(theirs, minlength=many)
    invented, lost = int(np.maximum(here - there, 0).sum()), int(np.maximum(there - here, 0).sum())
    problems = [f"{invented} published rows are not rows of the table"] if invented else []
    problems += [f"{lost} people of the table are not published"] if lost else []
    home = np.full(many, -1)
    home[ours] = release.group
    if (home[ours] != release.group).any():
        problems.append("people with equal quasi values are in several groups, which cuts never produce")
    return Home(home[theirs], problems)


def homes_in_boxes(release: RangesRelease, table: Table | None) -> Home:
    """Return the same for groups that are shown as ranges: boxes have nobody in common, each the smallest of its people."""
    if table is None:
        return NOWHERE
    quasi = table.to_arrow().select([box.name for box in release.boxes])
    distinct, which = np.unique(positions(release.boxes, quasi), axis=0, return_inverse=True)
    fits = np.array([fitting(release.boxes, row) for row in distinct]).reshape(len(distinct), -1)
    alone = fits.sum(axis=1)[which.reshape(-1)]
    lost, doubtful = int((alone == 0).sum()), int((alone > 1).sum())
    if lost or doubtful:
        problems = [f"{lost} people of the table fit no published group"] if lost else []
        return Home(
            NOWHERE.group, problems + ([f"{doubtful} people fit several groups, which cuts never produce"] if doubtful else [])
        )
    group = fits.argmax(axis=1)[which.reshape(-1)]
    if (np.bincount(group, minlength=len(release.sizes)) != release.sizes).any():
        return Home(NOWHERE.group, ["the sizes of groups differ from the numbers of people that the table has in their ranges"])
    wider = [box.name for box in release.boxes if not _smallest(box, table.column(box.name), group)]
    return Home(group, [f"the ranges of {name} are not those of the people in the groups" for name in wider])


def _smallest(box: Box, column: Column, group: Integers) -> bool:
    """Return whether every group shows just what its people have in a column: the ends, or the set of values."""
    values: list[Any] = column.dictionary().to_pylist()
    pairs = {(g, values[code]) for g, code in set(zip(group.tolist(), column.codes.tolist(), strict=True))}
    known = box.values.to_pylist()
    if isinstance(box, Sets):
        shown = zip(np.repeat(np.arange(len(box.start) - 1), np.diff(box.start)).tolist(), box.codes.tolist(), strict=True)
        return pairs == {(g, known[code] if code < len(known) else None) for g, code in shown}
    own: dict[int, list[Any]] = {g: [] for g in range(len(box.low))}
    for g, value in pairs:
        own[g].append(value)
    for g, (low, high, missing) in enumerate(zip(box.low.tolist(), box.high.tolist(), box.missing.tolist(), strict=True)):
        there = [value for value in own[g] if value is not None]
        ends = (known[low], known[high]) if high >= 0 else (None, None)
        if missing != (None in own[g]) or ends != ((min(there), max(there)) if there else (None, None)):
            return False
    return True


def compare_held(shown: ShownCounts, table: Table, bounds: AuditedBounds, group: Integers) -> list[str]:
    """Return where values, numbers of values or sets of the people of a group are not the table's."""
    person, value = facts_of(table)
    known = true_codes(shown.labels, table).astype(np.int64)[value]
    return [*_values(shown, group[person], person, known), *_numbers(shown, group, person), *_sets(shown, table, bounds, group)]


def _values(shown: ShownCounts, group: Integers, person: Integers, value: Integers) -> list[str]:
    """Return where boxes show other values, or others as often, than their people have."""
    width = len(shown.labels)
    stated = np.zeros(len(shown.sizes) * width, np.int64)
    stated[shown.group.astype(np.int64) * width + shown.value] = shown.count
    key = group.astype(np.int64) * width + value
    unseen = (value < 0) | (stated[np.where(value < 0, 0, key)] == 0)
    outside = len(np.unique(person[unseen]))
    if outside:
        return [f"{outside} people have a value that their group does not show"]
    wrong = int((np.bincount(key, minlength=len(stated)) != stated).sum())
    return [f"{wrong} counts of st differ from those of the people in the group"] if wrong else []


def _numbers(shown: ShownCounts, group: Integers, person: Integers) -> list[str]:
    """Return where boxes say that other numbers of people have so many values."""
    held = shown.held
    assert held is not None
    many = np.bincount(person, minlength=len(group))
    room = 1 + max(int(many.max(initial=0)), int(held.values.max(initial=0)))
    true = np.bincount(group * room + many, minlength=len(shown.sizes) * room)
    stated = np.zeros(len(true), np.int64)
    stated[held.group.astype(np.int64) * room + held.values] = held.people
    wrong = int((true != stated).sum())
    return [f"{wrong} entries of numbers differ from those of the people in the group"] if wrong else []


def _sets(shown: ShownCounts, table: Table, bounds: AuditedBounds, group: Integers) -> list[str]:
    """Return where boxes say that other numbers of people have one of a set."""
    held = shown.held
    assert held is not None
    person, value = facts_of(table)
    labels, wrong = np.array(table.sensitive.labels, dtype=object)[value], 0
    for place, (values, _) in enumerate(bounds.sets.values()):
        has = np.zeros(table.rows, bool)
        has[person[np.isin(labels, list(values))]] = True
        mine, stated = held.set_place == place, np.zeros(len(shown.sizes), np.int64)
        stated[held.set_group[mine]] = held.set_count[mine]
        wrong += int((np.bincount(group[has], minlength=len(stated)) != stated).sum())
    return [f"{wrong} counts of sets differ from those of the people in the group"] if wrong else []
