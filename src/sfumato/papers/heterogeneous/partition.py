"""Blocks that are matched apart: all pools cut together, each at the same ranks, so that a block holds near people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.groups.cuts import Space
from sfumato.groups.streams import Step
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.matchers import roomy, split_values
from sfumato.randomness import Randomness
from sfumato.table.column import Column

_COARSE = 1 << 15  # squares of such numbers, added up over 2^31 people, stay below 2^62


def cut_at_ranks(
    slots: Integers,
    columns: Sequence[Column],
    sensitive: Array,
    costs: Costs,
    *,
    largest: int,
    once: bool,
    random: Randomness,
) -> tuple[Integers, Integers]:
    """Return the slots of every pool in another order, and where blocks of at most `largest` slots a pool start.

    A block is cut across the column in which two of its people differ most on average, in NCP, every pool at the same rank;
    people with equal values by the next such column, and at last at random. With `once` a cut is made only if both sides leave
    room for matchings in which no record meets a value twice; so a block can stay larger.
    """
    order, coins = slots.copy(), random.spawn(Step.RANKS)
    people = _Lying(_positions(columns), [column.kind != "categorical" for column in columns], costs, sensitive)
    starts = [0]
    waiting = [(0, slots.shape[1])]
    while waiting:
        begin, end = waiting.pop()
        parts = -(-(end - begin) // largest)
        middle = begin + (end - begin) * (parts // 2) // parts
        if parts > 1 and _cut(order[:, begin:end], people, middle - begin, once, coins):
            waiting += [(middle, end), (begin, middle)]
        else:
            starts.append(end)
    return order, np.array(starts, dtype=np.int64)


class _Lying(NamedTuple):
    """Where people lie in every column, which columns are numeric, what differences cost, and everybody's value."""

    where: Floats
    numeric: Sequence[bool]
    costs: Costs
    value: Array


def _cut(block: Integers, people: _Lying, left: int, once: bool, random: Randomness) -> bool:
    """Sort the slots of a block so that `left` of every pool can be cut off; return False where no column allows that."""
    where, numeric, costs, value = people
    spread = _spread(numeric, costs.of_rows(block[block >= 0]))
    chance = random.permutation(block.size).reshape(block.shape)
    by_spread = np.argsort(-spread, kind="stable")
    for first in by_spread:
        if not spread[first] > 0:
            return False
        keys = [chance] + [_keys(where[j], block, chance) for j in by_spread[::-1] if j != first and spread[j] > 0]
        ranked = np.take_along_axis(block, np.lexsort((*keys, _keys(where[first], block, chance)), axis=1), axis=1)
        sides = ranked[:, :left], ranked[:, left:]
        if not once or all(roomy(split_values(side, value)) for side in sides):
            block[:] = ranked
            return True
    return False


def _spread(numeric: Sequence[bool], costs: Costs) -> Floats:
    """Return about how far two people are apart in each column, in NCP; people without a number or date left out."""
    lines, sets = iter(costs.places), iter(zip(costs.codes, costs.first, costs.weights, strict=False))
    found = []
    for number in numeric:
        if number:
            line = next(lines)
            found.append(_deviation(np.rint(line[~np.isnan(line)] * _COARSE).astype(np.int64)))
        else:
            codes, first, weight = next(sets)
            share = np.bincount(codes - first) / max(len(codes), 1)
            found.append(float(weight * (1 - (share**2).sum())))
    return np.array(found)


def _deviation(places: Integers) -> float:
    """Return the standard deviation of places, from whole sums, which are the same in any order of the people."""
    if not len(places):
        return 0.0
    away = places - int(places.sum()) // len(places)
    return math.sqrt(int((away * away).sum()) / len(places)) / _COARSE


def _keys(where: Floats, block: Integers, chance: Integers) -> Floats:
    """Return the position of every slot; dummies and people without a value are anywhere."""
    found = np.where(block < 0, np.nan, where[block])
    return np.where(np.isnan(found), chance / block.size, found)


def _positions(columns: Sequence[Column]) -> Floats:
    """Return where everybody lies in each column between 0 and 1, categories in the order that cuts give them."""
    space = Space.of(columns)
    position = space.position.copy()
    for j, missing in enumerate(space.missing):
        if missing:
            position[space.first[j + 1] - 1] = np.nan
    found: Floats = position[space.codes + space.first[:-1, None]]
    return found
