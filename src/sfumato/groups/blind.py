"""Blind assignment: people go to buckets by their sensitive value alone, drawn at random ([F' §4.1], round robin).

Why this holds against the engineer: the plan is made from counts, which the release shows. Given the plan, the people of a value
are dealt in a uniformly random order to the slots of that value. For every way of placing the published values of each bucket on
its people there are the same number Π c! of orders that produce the release, so all placements stay equally likely, also to a
reader who knows the program, the plan and the order of the input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.groups.streams import Step
from sfumato.randomness import Randomness


def deal(codes: Array, slots: Integers, random: Randomness) -> Small:
    """Return a bucket per row: the rows of each value, in an order of coins by place, take that value's slots.

    `slots` lists the bucket of every slot, all slots of value 0 first, then value 1, …, as many as the value has rows.
    """
    bucket = np.empty(len(codes), np.int32)
    bucket[random.spawn(Step.DEAL).ranked(codes)] = slots
    return bucket


class Slots(ABC):
    """Which group takes the people of a value, in the order of their coins."""

    groups: int

    @abstractmethod
    def take(self, value: int, begin: int, end: int) -> Integers:
        """Return the groups of these people of a value."""

    def all(self, counts: Sequence[int]) -> Integers:
        """Return the groups of everybody, value by value, where so many have each."""
        return np.concatenate([self.take(value, 0, int(count)) for value, count in enumerate(counts)])


class RoundRobin(Slots):
    """The slots of a plan: within a size class those of a value, and then those of the next, go round its buckets.

    `allocation[i, j]` is how many people of value i go to class j, which has `numbers[j]` buckets; `order` is the order in which
    values take their turn. A value gets ⌊·⌋ or ⌈·⌉ of its share in every bucket of a class ([F' §4.1], Lemma 2).
    """

    def __init__(self, allocation: Integers, numbers: Integers, order: Integers) -> None:
        self.allocation, self.numbers, self.order, self.groups = allocation, numbers, order, int(numbers.sum())

    def take(self, value: int, begin: int, end: int) -> Integers:
        """Return the groups of these people of a value."""
        ends = np.cumsum(self.allocation[value])
        before = self.order[: int(np.flatnonzero(self.order == value)[0])]
        turn = self.allocation[before].sum(axis=0)
        first = np.cumsum(self.numbers) - self.numbers
        place = np.arange(begin, end)
        which = np.searchsorted(ends, place, side="right")
        within = place - (ends - self.allocation[value])[which]
        groups: Integers = first[which] + (turn[which] + within) % self.numbers[which]
        return groups


def round_robin(allocation: Integers, numbers: Integers, order: Integers) -> Integers:
    """Return the bucket of every slot, value by value: see `RoundRobin`."""
    return RoundRobin(allocation, numbers, order).all(allocation.sum(axis=1).tolist())
