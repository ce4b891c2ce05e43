"""Blind assignment: people go to buckets by their sensitive value alone, drawn at random ([F' §4.1], round robin).

Why this holds against the engineer: the plan is made from counts, which the release shows. Given the plan, the people of a value
are dealt in a uniformly random order to the slots of that value. For every way of placing the published values of each bucket on
its people there are the same number Π c! of orders that produce the release, so all placements stay equally likely, also to a
reader who knows the program, the plan and the order of the input.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.groups.grouping import Grouping
from sfumato.groups.streams import Step
from sfumato.randomness import Randomness


def deal(codes: Array, slots: Integers, random: Randomness) -> Small:
    """Return a bucket per row: the rows of each value, in an order of coins by place, take that value's slots.

    `slots` lists the bucket of every slot, all slots of value 0 first, then value 1, …, as many as the value has rows.
    """
    bucket = np.empty(len(codes), np.int32)
    bucket[random.spawn(Step.DEAL).ranked(codes)] = slots
    return bucket


def round_robin(allocation: Integers, numbers: Integers, order: Integers) -> Integers:
    """Return the bucket of every slot, value by value: within a size class the slots go round its buckets.

    `allocation[i, j]` is how many records of value i go to class j, which has `numbers[j]` buckets; `order` is the order in
    which values take their turn. A value gets ⌊·⌋ or ⌈·⌉ of its share in every bucket of a class ([F' §4.1], Lemma 2).
    """
    first = np.cumsum(numbers) - numbers
    turn = np.zeros_like(allocation)
    turn[order] = np.cumsum(allocation[order], axis=0) - allocation[order]
    size = allocation.ravel()
    which = np.repeat(np.tile(np.arange(len(numbers)), len(allocation)), size)
    within = np.arange(len(which)) - np.repeat(np.cumsum(size) - size, size)
    return first[which] + (np.repeat(turn.ravel(), size) + within) % numbers[which]


def assign_blindly(codes: Array, allocation: Integers, numbers: Integers, order: Integers, random: Randomness) -> Grouping:
    """Return a grouping that follows the plan, people at random."""
    return Grouping(deal(codes, round_robin(allocation, numbers, order), random), int(numbers.sum()), "blind")
