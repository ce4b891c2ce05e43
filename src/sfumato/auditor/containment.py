"""Ranges beside the original table: who fits which groups, whether they show everybody's value, and what a reader believes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Integers, Unsigned
from sfumato.auditor._group_kernels import GroupEntries, WalkedPeople, walk_fits
from sfumato.auditor.claims import ShownCounts
from sfumato.auditor.original import Batches, PeopleCounts, true_codes, true_values
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
class DistinctPeople:
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


def contain(shown: ShownCounts, boxes: tuple[Box, ...], table: Table, batches: Batches | None = None) -> Contained:
    """Compare the published groups with the table they come from, by containment: a group fits who lies in all its ranges.

    `batches` are the people of the table where they are not in memory.
    """
    problems = _totals(shown, table) + _foreign(boxes, table)
    truth = true_codes(shown.labels, table).astype(np.int64)
    many_parts = 1 if batches is None else len(batches)
    crowds, every, mean, outside, misplaced = _Crowds(shown, boxes), True, 0.0, 0, 0
    sums, worst = np.zeros(3), 0.0  # over people: of beliefs, of the groups that fit them, of themselves
    for part in (None,) if batches is None else batches:
        people = distinct_people(shown, boxes, table) if part is None else _counted_people(boxes, table, part, truth)
        many = len(people.truth)
        if not many:
            continue
        if not mean:  # of the first ones, who are all over quasi space
            sample = some(people, _scattered(many)[:_SAMPLE])
            mean = float(_walk(shown, boxes, sample, enough=False).groups.mean())
            every = mean * many * many_parts <= MOST_FITS
        measured = people
        if every:
            fits = seen = _walk(shown, boxes, people, enough=False)
            crowds.add(people, fits)
        else:
            seen = _walk(shown, boxes, people, enough=True)
            measured = some(people, _scattered(many)[: max(1, int(MOST_FITS / many_parts / mean))])
            fits = _walk(shown, boxes, measured, enough=False)
        outside += int(people.weight[seen.groups == 0].sum())
        misplaced += int(people.weight[(seen.own == 0) & (seen.groups > 0)].sum())
        belief, weight = fits.own / np.maximum(fits.people, 1), measured.weight
        sums += (belief * weight).sum(), (fits.groups * weight).sum(), weight.sum()
        worst = max(worst, float(belief.max()))
    problems += crowds.problems() if every else []
    if outside:
        problems.append(f"{outside} people of the table fit no published group")
    if misplaced:
        problems.append(f"{misplaced} people have a sensitive value that no group that fits them shows")
    beliefs, groups, measured_people = sums.tolist()
    return Contained(problems, beliefs / measured_people, worst, groups / measured_people, int(measured_people))


def some(people: DistinctPeople, rows: Integers) -> DistinctPeople:
    """Return some of the people, in the order of all."""
    rows = np.sort(rows)
    return DistinctPeople(people.words[rows], people.positions, people.codes[rows], people.truth[rows], people.weight[rows])


def _scattered(many: int) -> Integers:
    """Return 0 … many−1 in a fixed order whose beginning lies all over: people are sorted, and neighbours are alike."""
    word = np.arange(1, many + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.argsort(word ^ (word >> np.uint64(27)), kind="stable").astype(np.int64)


def _totals(shown: ShownCounts, table: Table) -> list[str]:
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


def distinct_people(shown: ShownCounts, boxes: tuple[Box, ...], table: Table) -> DistinctPeople:
    """Return the different people of the table by quasi values and true value, sorted by both."""
    truth = true_values(shown.labels, table)
    key = table.quasi_ids() * (len(shown.labels) + 1) + truth + 1
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    codes = np.stack([table.column(box.name).codes[first] for box in boxes], axis=1).astype(np.int64)
    return people_of(boxes, table, codes, truth[first], times.astype(np.int64))


def _counted_people(boxes: tuple[Box, ...], table: Table, part: PeopleCounts, truth: Integers) -> DistinctPeople:
    names = [column.name for column in table.quasi]
    codes = np.stack([part.codes[names.index(box.name)] for box in boxes], axis=1).astype(np.int64)
    return people_of(boxes, table, codes, truth[part.secret], part.weight)


def people_of(boxes: tuple[Box, ...], table: Table, codes: Integers, truth: Integers, weight: Integers) -> DistinctPeople:
    """Return people with these codes of the table, [people × columns], these true values, and these numbers of them."""
    positions = tuple(box.positions(table.column(box.name).dictionary()) for box in boxes)
    offset = np.concatenate(([0], np.cumsum([len(places) for places in positions])[:-1]))
    return DistinctPeople(codes + offset, positions, codes, truth, weight)


def bit_rows(boxes: tuple[Box, ...], people: DistinctPeople, offset: int, width: int) -> Unsigned:
    """Return a row of bits per column and value of people: which of the groups from `offset` on hold it."""
    wanted = [(box, int(place)) for box, places in zip(boxes, people.positions, strict=True) for place in places]
    held = np.zeros((len(wanted), -(-width // 64) * 64), np.uint8)
    for row, (box, place) in enumerate(wanted):
        held[row, :width] = box.holds(place)[offset : offset + width]
    return np.packbits(held, axis=1, bitorder="little").view(np.uint64)


def _walk(shown: ShownCounts, boxes: tuple[Box, ...], people: DistinctPeople, *, enough: bool) -> Fits:
    """Return what the groups that fit each person show; groups are taken in blocks, so that memory stays small."""
    many, groups = len(people.truth), len(shown.sizes)
    nobody = np.zeros(many, np.int64)
    fits = Fits(nobody, nobody.copy(), nobody.copy(), np.full(many, -1, np.int64), np.zeros(groups, np.int64))
    rows = sum(len(places) for places in people.positions)
    step = max(64, _AT_ONCE // max(rows, 1) // 64 * 64)
    walked = WalkedPeople(people.words, people.truth, people.weight)
    entries = GroupEntries(shown.sizes, shown.start, np.array(shown.value, np.int64), np.array(shown.count, np.int64))
    for offset in range(0, groups, step):
        bits = bit_rows(boxes, people, offset, min(step, groups - offset))
        walk_fits(walked, bits, offset, entries, enough, fits)
    return fits


class OtherGroupsError(Exception):
    """Not just one group fits everybody."""


class GroupedRows:
    """Everybody's codes in every column of the boxes, and the one group that fits her, in blocks; `batches` as for `contain`."""

    def __init__(self, shown: ShownCounts, boxes: tuple[Box, ...], table: Table, batches: Batches | None = None) -> None:
        self.shown, self.boxes, self.table, self.batches = shown, boxes, table, batches

    def __iter__(self) -> Iterator[list[Array]]:
        shown, boxes, table = self.shown, self.boxes, self.table
        truth = true_codes(shown.labels, table).astype(np.int64)
        for part in (None,) if self.batches is None else self.batches:
            people = distinct_people(shown, boxes, table) if part is None else _counted_people(boxes, table, part, truth)
            fits = _walk(shown, boxes, people, enough=False)
            if not (fits.groups == 1).all():
                raise OtherGroupsError
            yield [*np.repeat(people.codes, people.weight, axis=0).T, np.repeat(fits.only, people.weight)]


class _Crowds:
    """Who must be in which group, added up over people: groups cannot hold more than fit them, nor fewer than fit no other."""

    def __init__(self, shown: ShownCounts, boxes: tuple[Box, ...]) -> None:
        self.shown, self.boxes = shown, boxes
        self.inside = np.zeros(len(shown.sizes), np.int64)
        self.certain = np.zeros(len(shown.count), np.int64)
        self.alone = True
        self.smallest = [_Smallest(box) for box in boxes]

    def add(self, people: DistinctPeople, fits: Fits) -> None:
        """Add some people, all those with their quasi values."""
        shown = self.shown
        self.inside += fits.inside
        alone = np.flatnonzero((fits.groups == 1) & (fits.own > 0))
        key = shown.group.astype(np.int64) * len(shown.labels) + shown.value
        mine = np.searchsorted(key, fits.only[alone] * len(shown.labels) + people.truth[alone])
        np.add.at(self.certain, mine, people.weight[alone])
        self.alone = self.alone and bool((fits.groups == 1).all())
        if self.alone:
            for j, column in enumerate(self.smallest):
                column.add(people.positions[j][people.codes[:, j]], fits.only)

    def problems(self) -> list[str]:
        """Return groups that cannot hold the people they say: too few fit, or too many fit no other group."""
        problems = []
        empty = int((self.inside < self.shown.sizes).sum())
        if empty:
            problems.append(f"{empty} groups have more people than the table has in their ranges")
        crowded = int((self.certain > self.shown.count).sum())
        if crowded:
            problems.append(
                f"{crowded} counts of groups are smaller than the number of people who must be in them with that value"
            )
        if not empty and self.alone:
            loose = [column.box.name for column in self.smallest if not column.shown()]
            problems += [f"the ranges of {name} are not those of the people in them" for name in loose]
        return problems


class _Smallest:
    """The smallest range or set of every group in a column, when everybody's group is known."""

    def __init__(self, box: Box) -> None:
        self.box = box
        groups = len(box.start) - 1 if isinstance(box, Sets) else len(box.low)
        self.pairs = np.zeros(0, np.int64)
        self.low, self.high = np.full(groups, 1 << 40, np.int64), np.full(groups, -1, np.int64)
        self.some = np.zeros(groups, bool)

    def add(self, place: Integers, group: Integers) -> None:
        """Add people whose values have these positions, in these groups."""
        if isinstance(self.box, Sets):
            code = np.where(place == NO_VALUE, len(self.box.values), place)
            self.pairs = np.union1d(self.pairs, group * (len(self.box.values) + 1) + code)
            return
        valued = place != NO_VALUE
        np.minimum.at(self.low, group[valued], place[valued])
        np.maximum.at(self.high, group[valued], place[valued])
        self.some[group[~valued]] = True

    def shown(self) -> bool:
        """Return whether the groups show just that."""
        if isinstance(self.box, Sets):
            return len(self.pairs) == len(self.box.codes)
        known = self.box.low >= 0
        ends = (self.low == 2 * self.box.low + 1) & (self.high == 2 * self.box.high + 1)
        return bool((ends | ~known).all() and ((self.high < 0) == ~known).all() and (self.some == self.box.missing).all())
