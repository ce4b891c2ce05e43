"""Anatomy's grouping (Xiao and Tao, VLDB 2006): groups of ℓ or a few more people, all with different sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import Infeasible
from sfumato.exact import percent
from sfumato.groups._anatomy_kernel import draw_groups
from sfumato.groups.blind import deal
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
    total = int(counts.sum())
    groups = total // l
    slot_group, slot_value, left = draw_groups(counts[order], l, groups)
    slots: list[tuple[Integers, Integers]] = [(slot_group, order[slot_value])]
    members = np.zeros((0,), np.int64)
    if left.any():
        members = order[np.repeat(np.arange(len(left)), left)]
        slots.append((_places_for(members, slot_group, order[slot_value], groups, random.spawn(Step.PLACES)), members))
    group = np.concatenate([pair[0] for pair in slots])
    value = np.concatenate([pair[1] for pair in slots])
    by_value = np.argsort(value, kind="stable")
    return Grouping(deal(codes, group[by_value], random), groups, "blind")


def _places_for(members: Integers, slot_group: Integers, slot_value: Integers, groups: int, random: Randomness) -> Integers:
    """Return, for each left-over value, a uniformly drawn group that does not hold it yet."""
    places = np.empty(len(members), np.int64)
    for k, value in enumerate(members):
        held = np.append(slot_group[slot_value == value], places[:k][members[:k] == value])
        places[k] = places_for(held, groups, random)
    return places


def places_for(held: Integers, groups: int, random: Randomness) -> int:
    """Return a uniformly drawn group that is none of these."""
    taken = np.zeros(groups, np.bool_)
    taken[held] = True
    free = np.flatnonzero(~taken)
    return int(free[random.below(len(free), 1)[0]])
