"""Anatomy's grouping (Xiao and Tao, VLDB 2006): groups of ℓ or a few more people, all with different sensitive values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
    groups = int(counts.sum()) // l
    left = counts.copy()
    group, value = (np.concatenate(parts) for parts in zip(*groups_in_turn(left, l, order), strict=True))
    held: dict[int, list[int]] = {}
    for extra, place in left_over(left, order, lambda one: group[value == one], groups, random):
        held.setdefault(extra, []).append(place)
    taken = [[group[value == one], held.get(one, [])] for one in range(len(counts))]
    by_value = np.concatenate([part for one in taken for part in one]).astype(np.int64)
    return Grouping(deal(codes, by_value, random), groups, "blind")


AT_ONCE = 1 << 20
"""Groups are drawn so many at a time."""


def groups_in_turn(left: Integers, l: int, order: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield group and value of the slots of Anatomy's groups, some groups at a time; `left` counts who is left of each value."""
    groups = int(left.sum()) // l
    for begin in range(0, groups, AT_ONCE):
        group, value, left[order] = draw_groups(left[order], l, min(AT_ONCE, groups - begin))
        yield group + begin, order[value]


def left_over(
    left: Integers, order: Integers, slots: Callable[[int], Integers], groups: int, random: Randomness
) -> Iterator[tuple[int, int]]:
    """Yield for everybody left over her value and a uniformly drawn group that does not hold it yet.

    `slots` gives the groups that have a value already.
    """
    drawn, extra = random.spawn(Step.PLACES), dict[int, list[int]]()
    for value in np.repeat(order, left[order]).tolist():
        mine = extra.setdefault(value, [])
        mine.append(places_for(np.append(slots(value), np.array(mine, dtype=np.int64)), groups, drawn))
        yield value, mine[-1]


def places_for(held: Integers, groups: int, random: Randomness) -> int:
    """Return a uniformly drawn group that is none of these."""
    taken = np.zeros(groups, np.bool_)
    taken[held] = True
    free = np.flatnonzero(~taken)
    return int(free[random.below(len(free), 1)[0]])
