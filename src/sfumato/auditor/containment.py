"""Ranges beside the original table: who fits which groups, whether they show everybody's value, and what a reader believes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Integers, Unsigned
from sfumato.auditor._group_kernels import walk_fits
from sfumato.auditor.claims import Histograms
from sfumato.auditor.original import true_values
from sfumato.release.boxes import NO_VALUE, Box, Sets
from sfumato.table.table import Table

MOST_FITS = 50_000_000
"""Pairs of person and fitting group that are looked at; where there would be more, beliefs are measured on part of the people."""

_AT_ONCE = 1 << 27
_SAMPLE = 500


@dataclass(frozen=True)
class Contained:
    """What the original shows: differences, and beliefs of a reader who takes every group that fits a person."""

    problems: list[str]
    exposure: float
    worst: float
    groups: float
    measured: int


@dataclass(frozen=True, eq=False)
class People:
    """The different people of the table: positions per column as rows of the bit tables, true value, and how many they are."""

    words: Integers
    positions: tuple[Integers, ...]
    codes: Integers
    truth: Integers
    weight: Integers


class Fits(NamedTuple):
    """Per person the people and the number of the groups that fit her, how often they show her value, and the last of them.

    Per group the people who fit it (`inside`).
    """

    people: Integers
    groups: Integers
    own: Integers
    only: Integers
    inside: Integers


def contain(shown: Histograms, boxes: tuple[Box, ...], table: Table) -> Contained:
    """Compare the published groups with the table they come from, by containment: a group fits who lies in all its ranges."""
    problems = _totals(shown, table) + _foreign(boxes, table)
    people = distinct_people(shown, boxes, table)
    sample = some(people, _scattered(len(people.truth))[:_SAMPLE])
    mean = float(_walk(shown, boxes, sample, enough=False).groups.mean())
    measured = people
    if mean * len(people.truth) <= MOST_FITS:
        fits = seen = _walk(shown, boxes, people, enough=False)
        problems += _crowds(shown, boxes, people, fits)
    else:
        seen = _walk(shown, boxes, people, enough=True)
        measured = some(people, _scattered(len(people.truth))[: max(1, int(MOST_FITS / mean))])
        fits = _walk(shown, boxes, measured, enough=False)
    outside = int(people.weight[seen.groups == 0].sum())
    misplaced = int(people.weight[(seen.own == 0) & (seen.groups > 0)].sum())
    if outside:
        problems.append(f"{outside} people of the table fit no published group")
    if misplaced:
        problems.append(f"{misplaced} people have a sensitive value that no group that fits them shows")
    belief = fits.own / np.maximum(fits.people, 1)
    weight = measured.weight
    return Contained(
        problems,
        float((belief * weight).sum() / weight.sum()),
        float(belief.max()),
        float((fits.groups * weight).sum() / weight.sum()),
        int(weight.sum()),
    )


def some(people: People, rows: Integers) -> People:
    """Return some of the people, in the order of all."""
    rows = np.sort(rows)
    return People(people.words[rows], people.positions, people.codes[rows], people.truth[rows], people.weight[rows])


def _scattered(many: int) -> Integers:
    """Return 0 … many−1 in a fixed order whose beginning lies all over: people are sorted, and neighbours are alike."""
    word = np.arange(1, many + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.argsort(word ^ (word >> np.uint64(27)), kind="stable").astype(np.int64)


def _totals(shown: Histograms, table: Table) -> list[str]:
    problems = []
    if shown.people != table.rows:
        lost = table.rows - shown.people
        problems.append(f"{lost} people of the table are not published" if lost > 0 else f"{-lost} people were invented")
    counts = table.sensitive.histogram()
    wrong = sum(shown.totals.get(label, 0) != counts.get(label, 0) for label in {*shown.totals, *counts})
    if wrong:
        problems.append(f"{wrong} sensitive values are shown another number of times than the table has them")
    return problems


def _foreign(boxes: tuple[Box, ...], table: Table) -> list[str]:
    """Return which columns show values, as ends or in sets, that nobody in the table has."""
    problems = []
    for box in boxes:
        column = table.column(box.name)
        unknown = len(set(box.values.to_pylist()) - set(column.values.to_pylist()))
        if unknown or (box.has_missing and not column.has_missing):
            problems.append(f"{unknown or 1} values published of {box.name} are not values of the table")
    return problems


def distinct_people(shown: Histograms, boxes: tuple[Box, ...], table: Table) -> People:
    """Return the different people of the table by quasi values and true value, sorted by both."""
    truth = true_values(shown.labels, table)
    key = table.quasi_ids() * (len(shown.labels) + 1) + truth + 1
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    columns = [table.column(box.name) for box in boxes]
    codes = np.stack([column.codes[first] for column in columns], axis=1).astype(np.int64)
    positions = tuple(box.positions(column.dictionary()) for box, column in zip(boxes, columns, strict=True))
    offset = np.concatenate(([0], np.cumsum([len(places) for places in positions])[:-1]))
    return People(codes + offset, positions, codes, truth[first], times.astype(np.int64))


def bit_rows(boxes: tuple[Box, ...], people: People, offset: int, width: int) -> Unsigned:
    """Return a row of bits per column and value of people: which of the groups from `offset` on hold it."""
    wanted = [(box, int(place)) for box, places in zip(boxes, people.positions, strict=True) for place in places]
    held = np.zeros((len(wanted), -(-width // 64) * 64), np.uint8)
    for row, (box, place) in enumerate(wanted):
        held[row, :width] = box.holds(place)[offset : offset + width]
    return np.packbits(held, axis=1, bitorder="little").view(np.uint64)


def _walk(shown: Histograms, boxes: tuple[Box, ...], people: People, *, enough: bool) -> Fits:
    """Return what the groups that fit each person show; groups are taken in blocks, so that memory stays small."""
    many, groups = len(people.truth), len(shown.sizes)
    nobody = np.zeros(many, np.int64)
    fits = Fits(nobody, nobody.copy(), nobody.copy(), np.full(many, -1, np.int64), np.zeros(groups, np.int64))
    rows = sum(len(places) for places in people.positions)
    step = max(64, _AT_ONCE // max(rows, 1) // 64 * 64)
    entries = shown.start, shown.value.astype(np.int64), shown.count
    for offset in range(0, groups, step):
        bits = bit_rows(boxes, people, offset, min(step, groups - offset))
        walk_fits(people.words, bits, offset, people.truth, people.weight, shown.sizes, entries, enough, fits)
    return fits


def _crowds(shown: Histograms, boxes: tuple[Box, ...], people: People, fits: Fits) -> list[str]:
    """Return groups that cannot hold the people they say: too few fit, or too many fit no other group."""
    problems = []
    empty = int((fits.inside < shown.sizes).sum())
    if empty:
        problems.append(f"{empty} groups have more people than the table has in their ranges")
    certain = np.zeros(len(shown.count), np.int64)
    alone = np.flatnonzero((fits.groups == 1) & (fits.own > 0))
    key = shown.group.astype(np.int64) * len(shown.labels) + shown.value
    mine = np.searchsorted(key, fits.only[alone] * len(shown.labels) + people.truth[alone])
    np.add.at(certain, mine, people.weight[alone])
    crowded = int((certain > shown.count).sum())
    if crowded:
        problems.append(f"{crowded} counts of groups are smaller than the number of people who must be in them with that value")
    if not empty and (fits.groups == 1).all():
        problems += [f"the ranges of {box.name} are not those of the people in them" for box in _loose(boxes, people, fits)]
    return problems


def _loose(boxes: tuple[Box, ...], people: People, fits: Fits) -> list[Box]:
    """Return the columns whose ranges or sets are not the smallest, when everybody's group is known."""
    loose = []
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
            loose.append(box)
    return loose
