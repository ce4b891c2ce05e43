"""A randomized release in numbers: parts and values as slots, how often each is published, how many people may be there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.release.randomized import RandomizedRelease


@dataclass(frozen=True, eq=False)
class PartPairs:
    """The pairs (part, value) that a release may show, part by part; `number[part, value]` is −1 where there is none."""

    part: Integers
    value: Integers
    number: Integers

    def __len__(self) -> int:
        return len(self.part)

    def by_part(self, numbers: Array) -> Floats:
        """Return the sum over each part."""
        return np.bincount(self.part, weights=numbers, minlength=len(self.number)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ReadParts:
    """The release in numbers."""

    release: RandomizedRelease
    slots: PartPairs
    row_slot: Integers
    kept: Floats
    people: Integers  # of each part
    size: Integers  # values of each part
    shown: Integers  # published rows of each slot

    @classmethod
    def of(cls, release: RandomizedRelease) -> ReadParts:
        """Return the numbers of a release; parts that cannot be such are a `FormatError`."""
        parts = release.parts
        size = np.array([len(part) for part in parts], dtype=np.int64)
        part, value = np.repeat(np.arange(len(parts)), size), np.concatenate([shown.values for shown in parts])
        number = np.full((len(parts), len(release.domain)), -1, dtype=np.int64)
        number[part, value] = np.arange(len(part))
        return cls(
            release,
            PartPairs(part, value, number),
            number[release.part, release.value],
            np.concatenate([shown.kept for shown in parts]),
            release.tally.sum(axis=1),
            size,
            release.tally[part, value],
        )

    def by_part(self, numbers: Integers) -> list[list[int]]:
        """Return the numbers of the slots, part by part."""
        return [list(map(int, piece)) for piece in np.split(numbers, np.cumsum(self.size)[:-1])]


class Faults(NamedTuple):
    """How many rows were invented, how many lost, whose value no part has, and whose no part of people like them.

    `unfit`: where the publisher says that people are does not fit the published rows.
    """

    invented: int = 0
    lost: int = 0
    unknown: int = 0
    stray: int = 0
    unfit: int = 0


class Exposing(Protocol):
    """People by quasi values and part, as far as the mean belief of a reader depends on them."""

    def exposure(self, slots: PartPairs, shares: Floats, kept: Floats) -> float:
        """Return the mean belief in the true value of a reader who takes these shares of each part as prior (per slot)."""


@dataclass(frozen=True, eq=False)
class PartCounts:
    """Per slot at least and at most how many people have that value in that part, and what does not fit.

    `single` counts, per slot, the people whom their quasi values link to one published row, `kept` those of them whose value was
    published unchanged.
    """

    least: Integers
    most: Integers
    single: Integers
    kept: Integers
    totals: Integers  # people of each value
    faults: Faults
    classes: Exposing

    @property
    def problems(self) -> tuple[str, ...]:
        """What does not fit, in sentences."""
        said = (
            "published rows are not rows of the table",
            "rows of the table are not published",
            "people have a sensitive value that no part has",
            "people have a sensitive value that no part with their quasi values has",
        )
        unfit = ("the parts in which people are stated do not fit the published rows",) if self.faults.unfit else ()
        return (*(f"{many} {what}" for many, what in zip(self.faults, said, strict=False) if many), *unfit)

    @property
    def exact(self) -> bool:
        """Whether the quasi values leave no doubt about any count."""
        return bool((self.least == self.most).all())

    @property
    def middle(self) -> Floats:
        """Counts between least and most, for figures that are no claim."""
        between: Floats = (self.least + self.most) / 2
        return between


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """People with equal quasi values make a class; one entry for each part and value of a class that may belong together."""

    rows: Integers  # published rows of each class
    of: Integers  # class of each entry
    slot: Integers
    people: Integers  # with the entry's value in its class
    part_rows: Integers  # published rows of the entry's part in its class
    row_class: Integers
    row_slot: Integers

    def exposure(self, slots: PartPairs, shares: Floats, kept: Floats) -> float:
        """Return the mean belief in the true value of a reader who takes these shares of each part as prior (per slot)."""
        size = slots.by_part(np.ones(len(slots)))
        replaced = shares * (1 - kept) / size[slots.part]
        seen = np.maximum(shares * kept + slots.by_part(replaced)[slots.part], 1e-300)
        parts = len(size)
        key = self.row_class * parts + slots.part[self.row_slot]
        known, where = np.unique(key, return_inverse=True)
        weight = np.bincount(where, weights=1 / seen[self.row_slot])
        mine = weight[np.searchsorted(known, self.of * parts + slots.part[self.slot])]
        total = float((self.people * mine * replaced[self.slot] / self.rows[self.of]).sum())
        # A row whose published value is a person's own adds the chance that it was kept.
        shown, times = np.unique(self.row_class * len(slots) + self.row_slot, return_counts=True)
        entry = self.of * len(slots) + self.slot
        place = np.minimum(np.searchsorted(shown, entry), len(shown) - 1)
        same = np.where(shown[place] == entry, times[place], 0)
        total += float((self.people * same * (shares * kept / seen)[self.slot] / self.rows[self.of]).sum())
        return total / max(1, len(self.row_class))


def count_parts(key: Integers, row_slot: Integers, code: Integers, slots: PartPairs) -> PartCounts:
    """Return how many people are where: `key` numbers equal quasi rows, the published ones first, then those of the table.

    `row_slot` is the slot of each published row, `code` the release's code of each person's value (−1 if it has none).
    """
    rows = len(row_slot)
    classes = np.unique(key, return_inverse=True)[1].astype(np.int64)
    ours, theirs = classes[:rows], classes[rows:]
    many = int(classes.max(initial=-1)) + 1
    here, there = np.bincount(ours, minlength=many), np.bincount(theirs, minlength=many)
    known = code >= 0
    of, slot, people, part_rows = _meet(ours, slots.part[row_slot], theirs[known], code[known], slots)
    by_value, by_part = _sums(of, slots.value[slot], part_rows), _sums(of, slots.part[slot], people)
    least = np.maximum(0, np.maximum(people - (by_value - part_rows), part_rows - (by_part - people)))
    faults = Faults(
        int(np.maximum(here - there, 0).sum()),
        int(np.maximum(there - here, 0).sum()),
        int((code < 0).sum()),
        _strays(theirs[known], code[known], of, slots.value[slot], by_value),
    )
    alone = (here == 1) & (there == 1)
    linked = alone[of]
    shown = np.zeros(many, np.int64)
    shown[ours] = row_slot
    return PartCounts(
        _total(slot, least, len(slots)),
        _total(slot, np.minimum(people, part_rows), len(slots)),
        _total(slot[linked], people[linked], len(slots)),
        _total(slot[linked], (shown[of] == slot)[linked], len(slots)),
        np.bincount(code[known], minlength=slots.number.shape[1]).astype(np.int64),
        faults,
        ClassPairs(here, of, slot, people, part_rows, ours, row_slot),
    )


def added_counts(parts: Iterable[PartCounts], slots: PartPairs, classes: Exposing) -> PartCounts:
    """Return the counts of people who were counted some at a time, those with equal quasi values together."""
    sums = [np.zeros(len(slots), np.int64) for _ in range(4)] + [np.zeros(slots.number.shape[1], np.int64)]
    faults = Faults()
    for part in parts:
        for total, more in zip(sums, (part.least, part.most, part.single, part.kept, part.totals), strict=True):
            total += more
        faults = Faults(*(mine + theirs for mine, theirs in zip(faults, part.faults, strict=True)))
    least, most, single, kept, totals = sums
    return PartCounts(least, most, single, kept, totals, faults, classes)


def _total(slot: Integers, numbers: Array, slots: int) -> Integers:
    return np.bincount(slot, weights=numbers, minlength=slots).astype(np.int64)


def _meet(
    row_class: Integers, row_part: Integers, person_class: Integers, code: Integers, slots: PartPairs
) -> tuple[Integers, Integers, Integers, Integers]:
    """Return class, slot, people with the value and rows of the part for all parts and values that meet in a class."""
    parts, values = slots.number.shape
    in_part, part_rows = np.unique(row_class * parts + row_part, return_counts=True)
    with_value, people = np.unique(person_class * values + code, return_counts=True)
    first = np.searchsorted(with_value // values, in_part // parts, side="left")
    length = np.searchsorted(with_value // values, in_part // parts, side="right") - first
    left = np.repeat(np.arange(len(in_part)), length)
    right = np.repeat(first - (np.cumsum(length) - length), length) + np.arange(len(left))
    slot = slots.number[in_part[left] % parts, with_value[right] % values]
    fits = slot >= 0
    left, right = left[fits], right[fits]
    return in_part[left] // parts, slot[fits], people[right], part_rows[left]


def _sums(of: Integers, second: Integers, numbers: Integers) -> Integers:
    """Return for each entry the sum of `numbers` over the entries with the same class and second key."""
    where = np.unique(of * (int(second.max(initial=0)) + 1) + second, return_inverse=True)[1]
    return np.bincount(where, weights=numbers).astype(np.int64)[where] if len(where) else numbers


def _strays(person_class: Integers, code: Integers, of: Integers, value: Integers, rows: Integers) -> int:
    """Return how many people more have a value in their class than rows there could belong to them."""
    room = int(max(code.max(initial=0), value.max(initial=0))) + 1
    wanted, people = np.unique(person_class * room + code, return_counts=True)
    offered = np.zeros(len(wanted), np.int64)
    offered[np.searchsorted(wanted, of * room + value)] = rows
    return int(np.maximum(people - offered, 0).sum())
