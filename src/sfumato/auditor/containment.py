"""Ranges against the original table: who fits which groups, whether they show everybody's value, and what a reader believes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.auditor._range_kernels import walk_fits
from sfumato.auditor.published import Published
from sfumato.release.boxes import NO_VALUE, Box, Sets
from sfumato.table.table import Table

MOST_FITS = 50_000_000
"""Pairs of person and fitting group that are looked at; where there would be more, beliefs are measured on part of the people."""

_AT_ONCE = 1 << 27
_SAMPLE = 500


@dataclass(frozen=True)
class Contained:
    """What the original tells: differences, true shares, and beliefs of a reader who takes every group that fits a person."""

    problems: tuple[str, ...]
    shares: dict[str, Fraction]
    exposure: float | None = None
    worst: float | None = None
    groups: float | None = None
    measured: int = 0


@dataclass(frozen=True, eq=False)
class _People:
    """The different people of the table: positions per column as rows of the bit tables, true value, and how many they are."""

    words: Integers
    positions: tuple[Integers, ...]
    codes: Integers
    truth: Integers
    weight: Integers


@dataclass(frozen=True, eq=False)
class _Fits:
    people: Integers
    groups: Integers
    own: Integers
    only: Integers
    inside: Integers


def contain(published: Published, boxes: tuple[Box, ...], table: Table) -> Contained:
    """Compare the published groups with the table they come from, by containment: a group fits who lies in all its ranges."""
    labels = table.sensitive.labels
    counts = np.bincount(table.sensitive.codes, minlength=len(labels))
    shares = {label: Fraction(int(count), table.rows) for label, count in zip(labels, counts, strict=True)}
    kinds = {(box.name, box.kind) for box in boxes}
    if kinds != {(c.name, c.kind) for c in table.quasi} or published.sensitive != table.sensitive.domain.names:
        return Contained(("the release and the table do not have the same quasi and sensitive columns",), shares)
    problems = _totals(published, table, dict(zip(labels, map(int, counts), strict=True)))
    problems += _foreign(boxes, table)
    people = _distinct_people(published, boxes, table)
    entries = _entries(published)
    sample = _some(people, _scattered(len(people.truth))[:_SAMPLE])
    mean = float(_walk(published, boxes, sample, entries, enough=False).groups.mean())
    measured = people
    if mean * len(people.truth) <= MOST_FITS:
        fits = seen = _walk(published, boxes, people, entries, enough=False)
        problems += _crowds(published, boxes, people, fits, entries)
    else:
        seen = _walk(published, boxes, people, entries, enough=True)
        measured = _some(people, _scattered(len(people.truth))[: max(1, int(MOST_FITS / mean))])
        fits = _walk(published, boxes, measured, entries, enough=False)
    outside = int(people.weight[seen.groups == 0].sum())
    misplaced = int(people.weight[(seen.own == 0) & (seen.groups > 0)].sum())
    if outside:
        problems.append(f"{outside} people of the table fit no published group")
    if misplaced:
        problems.append(f"{misplaced} people have a sensitive value that no group that fits them shows")
    belief = fits.own / np.maximum(fits.people, 1)
    weight = measured.weight
    return Contained(
        tuple(problems),
        shares,
        float((belief * weight).sum() / weight.sum()),
        float(belief.max()),
        float((fits.groups * weight).sum() / weight.sum()),
        int(weight.sum()),
    )


def _some(people: _People, rows: Integers) -> _People:
    """Return some of the people, in the order of all."""
    rows = np.sort(rows)
    return _People(people.words[rows], people.positions, people.codes[rows], people.truth[rows], people.weight[rows])


def _scattered(many: int) -> Integers:
    """Return 0 … many−1 in a fixed order whose beginning lies all over: people are sorted, and neighbours are alike."""
    word = np.arange(1, many + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.argsort(word ^ (word >> np.uint64(27)), kind="stable").astype(np.int64)


def _totals(published: Published, table: Table, counts: dict[str, int]) -> list[str]:
    problems = []
    if published.people != table.rows:
        lost = table.rows - published.people
        problems.append(f"{lost} people of the table are not published" if lost > 0 else f"{-lost} people were invented")
    shown = dict(zip(published.labels, map(int, published.totals), strict=True))
    wrong = sum(shown.get(label, 0) != counts.get(label, 0) for label in {*shown, *counts})
    if wrong:
        problems.append(f"{wrong} sensitive values are shown another number of times than the table has them")
    return problems


def _foreign(boxes: tuple[Box, ...], table: Table) -> list[str]:
    """Return which columns show values, as ends or in sets, that nobody in the table has."""
    problems = []
    columns = {column.name: column for column in table.quasi}
    for box in boxes:
        column = columns[box.name]
        unknown = len(set(box.values.to_pylist()) - set(column.values.to_pylist()))
        if unknown or (box.has_missing and not column.has_missing):
            problems.append(f"{unknown or 1} values published of {box.name} are not values of the table")
    return problems


def _distinct_people(published: Published, boxes: tuple[Box, ...], table: Table) -> _People:
    columns = {column.name: column for column in table.quasi}
    number = {label: k for k, label in enumerate(published.labels)}
    truth = np.array([number.get(label, -1) for label in table.sensitive.labels], dtype=np.int64)[table.sensitive.codes]
    key = table.quasi_ids() * (len(published.labels) + 1) + truth + 1
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    codes = np.stack([columns[box.name].codes[first] for box in boxes], axis=1).astype(np.int64)
    positions = tuple(box.positions(_values(columns[box.name].dictionary())) for box in boxes)
    offset = np.concatenate(([0], np.cumsum([len(places) for places in positions])[:-1]))
    return _People(codes + offset, positions, codes, truth[first], times.astype(np.int64))


def _values(array: pa.Array) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _entries(published: Published) -> tuple[Integers, Integers, Integers]:
    order = np.lexsort((published.value, published.bucket))
    start = np.searchsorted(published.bucket[order], np.arange(len(published.sizes) + 1)).astype(np.int64)
    return start, published.value[order].astype(np.int64), published.count[order]


def _walk(
    published: Published,
    boxes: tuple[Box, ...],
    people: _People,
    entries: tuple[Integers, Integers, Integers],
    *,
    enough: bool,
) -> _Fits:
    """Return what the groups that fit each person show; groups are taken in blocks, so that memory stays small."""
    many, groups = len(people.truth), len(published.sizes)
    found = _Fits(
        people=np.zeros(many, np.int64),
        groups=np.zeros(many, np.int64),
        own=np.zeros(many, np.int64),
        only=np.full(many, -1, np.int64),
        inside=np.zeros(groups, np.int64),
    )
    rows = sum(len(places) for places in people.positions)
    step = max(64, _AT_ONCE // max(rows, 1) // 64 * 64)
    wanted = [(box, int(place)) for box, places in zip(boxes, people.positions, strict=True) for place in places]
    for offset in range(0, groups, step):
        width = min(step, groups - offset)
        table = np.zeros((rows, -(-width // 64) * 64), np.uint8)
        for row, (box, place) in enumerate(wanted):
            table[row, :width] = box.holds(place)[offset : offset + width]
        bits = np.packbits(table, axis=1, bitorder="little").view(np.uint64)
        walk_fits(
            people.words,
            bits,
            offset,
            people.truth,
            people.weight,
            published.sizes,
            *entries,
            enough,
            found.people,
            found.groups,
            found.own,
            found.only,
            found.inside,
        )
    return found


def _crowds(
    published: Published,
    boxes: tuple[Box, ...],
    people: _People,
    fits: _Fits,
    entries: tuple[Integers, Integers, Integers],
) -> list[str]:
    """Return groups that cannot hold the people they say: too few fit, or too many fit no other group."""
    problems = []
    empty = int((fits.inside < published.sizes).sum())
    if empty:
        problems.append(f"{empty} groups have more people than the table has in their ranges")
    start, value, count = entries
    certain = np.zeros(len(count), np.int64)
    alone = np.flatnonzero((fits.groups == 1) & (fits.own > 0))
    key = np.repeat(np.arange(len(published.sizes)), np.diff(start)) * len(published.labels) + value
    mine = np.searchsorted(key, fits.only[alone] * len(published.labels) + people.truth[alone])
    np.add.at(certain, mine, people.weight[alone])
    crowded = int((certain > count).sum())
    if crowded:
        problems.append(f"{crowded} counts of groups are smaller than the number of people who must be in them with that value")
    if not empty and (fits.groups == 1).all():
        problems += [f"the ranges of {box.name} are not those of the people in them" for box in _loose(boxes, people, fits)]
    return problems


def _loose(boxes: tuple[Box, ...], people: _People, fits: _Fits) -> list[Box]:
    """Return the columns whose ranges or sets are not the smallest, when everybody's group is known."""
    found = []
    for j, box in enumerate(boxes):
        place = people.positions[j][people.codes[:, j]]
        if isinstance(box, Sets):
            code = np.where(place == NO_VALUE, len(box.values), place)
            tight = len(np.unique(fits.only * (len(box.values) + 1) + code)) == len(box.codes)
        else:
            valued = place != NO_VALUE
            low = np.full(len(box.low), 1 << 40, np.int64)
            high = np.full(len(box.low), -1, np.int64)
            np.minimum.at(low, fits.only[valued], place[valued])
            np.maximum.at(high, fits.only[valued], place[valued])
            some = np.zeros(len(box.low), bool)
            some[fits.only[~valued]] = True
            known = box.low >= 0
            ends = (low == 2 * box.low + 1) & (high == 2 * box.high + 1)
            tight = bool((ends | ~known).all() and ((high < 0) == ~known).all() and (some == box.missing).all())
        if not tight:
            found.append(box)
    return found
