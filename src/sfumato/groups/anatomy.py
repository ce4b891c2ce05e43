"""Anatomy's grouping (Xiao and Tao, VLDB 2006): groups of ℓ or a few more people, all with different sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import Infeasible
from sfumato.exact import percent
from sfumato.groups._anatomy_kernel import draw_groups
from sfumato.groups.blind import Slots, deal
from sfumato.groups.grouping import Grouping
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness


def excess(counts: Sequence[int], l: int) -> list[int]:
    """Return how many people of each value stand in the way of ℓ-diversity: the fewest whose removal makes ℓ·max ≤ n.

    Only values above the final cap lose people. Removing one person of a too frequent value also lowers n, so the cap is found
    as the largest c with ℓ·c ≤ Σ min(count, c).
    """
    low, high = 0, max(counts)
    while low < high:
        cap = (low + high + 1) // 2
        if l * cap <= sum(min(count, cap) for count in counts):
            low = cap
        else:
            high = cap - 1
    return [max(0, count - low) for count in counts]


def too_frequent(bounds: Bounds, most: int, l: int, who: str, hint: str) -> Infeasible:
    """Return the error that the most frequent value has too many people for ℓ-diversity; the hint is given the largest ℓ."""
    value, share = bounds.values[most], bounds.shares[most]
    return Infeasible(
        f"{who} needs every value to have at most 1/{l} of the people; {value} has {percent(share)}",
        hint=hint.format(int(1 / share)),
        values=[value],
        has={value: share},
        needs={value: Fraction(1, l)},
        nearest={"l": int(1 / share)},
    )


def assign_by_anatomy(codes: Array, counts: Integers, l: int, order: Integers, random: Randomness) -> Grouping:
    """Return Anatomy's grouping: ℓ largest values at a time, then each left-over person to a group without her value.

    The composition of the groups follows from counts and coins alone, and people of a value are dealt to its slots at random:
    so, as for blind buckets, every placement of a group's values on its people is equally likely. Ties between equally frequent
    values fall to the first in `order`.
    """
    slots = AnatomySlots(counts, l, order, random, [Listed() for _ in counts])
    return Grouping(deal(codes, slots.all(counts.tolist()), random), slots.groups, "blind")


AT_ONCE = 1 << 20
"""Groups are drawn so many at a time."""


class Shelf(Protocol):
    """Where numbers are kept one after another, in memory or in a file."""

    @property
    def total(self) -> int:
        """How many there are."""

    def add(self, numbers: Integers) -> None:
        """Keep these too."""

    def part(self, begin: int, end: int) -> Integers:
        """Return those from one place up to another."""


class Listed:
    """Numbers in memory."""

    def __init__(self) -> None:
        self.parts: list[Integers] = []
        self.total = 0

    def add(self, numbers: Integers) -> None:
        """Keep these too."""
        self.parts.append(numbers)
        self.total += len(numbers)

    def part(self, begin: int, end: int) -> Integers:
        """Return those from one place up to another."""
        self.parts = [np.concatenate([np.zeros(0, np.int64), *self.parts])]
        return self.parts[0][begin:end]


class AnatomySlots(Slots):
    """The slots of Anatomy's groups, those of each value on a shelf, and then who is left over: drawn some groups at a time."""

    def __init__(self, counts: Integers, l: int, order: Integers, random: Randomness, shelves: Sequence[Shelf]) -> None:
        self.groups, self.shelves = int(counts.sum()) // l, shelves
        left = counts.copy()
        for begin in range(0, self.groups, AT_ONCE):
            group, value, left[order] = draw_groups(left[order], l, min(AT_ONCE, self.groups - begin))
            group, value = group + begin, order[value]
            for one in np.unique(value).tolist():
                shelves[one].add(group[value == one])
        self.extra: list[list[int]] = [[] for _ in counts]
        drawn = random.spawn(Step.PLACES)
        for one in np.repeat(order, left[order]).tolist():
            held = np.append(shelves[one].part(0, shelves[one].total), np.array(self.extra[one], dtype=np.int64))
            self.extra[one].append(places_for(held, self.groups, drawn))

    def take(self, value: int, begin: int, end: int) -> Integers:
        """Return the groups of these people of a value."""
        shelf, extra = self.shelves[value], self.extra[value]
        more = extra[max(begin - shelf.total, 0) : max(end - shelf.total, 0)]
        return np.append(shelf.part(begin, min(end, shelf.total)), np.array(more, dtype=np.int64))


def places_for(held: Integers, groups: int, random: Randomness) -> int:
    """Return a uniformly drawn group that is none of these."""
    taken = np.zeros(groups, np.bool_)
    taken[held] = True
    free = np.flatnonzero(~taken)
    return int(free[random.below(len(free), 1)[0]])
