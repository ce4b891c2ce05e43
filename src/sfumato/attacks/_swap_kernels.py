"""Samplers that walk from placement to placement by exchanging the values of two people of a group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.groups._random_kernels import random_below, random_fraction


class SortedGroups(NamedTuple):
    """People sorted by group, start[g] … start[g + 1] − 1, and its values, entry[g] … entry[g + 1] − 1.

    offset[i] is where the figures of person i begin, one for each value of her group.
    """

    start: Any
    entry: Any
    value: Any
    offset: Any


class Placement(NamedTuple):
    """A placement as it stands: which of her group's values each person has, and how often a code and a value are together."""

    held: Any
    joint: Any


class SwapWalk(NamedTuple):
    """How long a walk is: sweeps in all, of which the first `burn` are not counted; and the state of its coins."""

    sweeps: int
    burn: int
    word: Any


class ModelChances(NamedTuple):
    """Chances of a model: by box its cells and goals from `cells[box]` and `goal[box]` on, its chances from `place[box]` on."""

    cells: Any
    goal: Any
    value: Any
    place: Any
    chances: Any


@njit(cache=True)
def scores(codes: Any, first: Any, table: Any, groups: SortedGroups, out: Any) -> None:
    """Write for every person and value of her group the sum of `table` over her codes, made 0 at its largest."""
    start, entry, value, offset = groups
    for g in range(len(start) - 1):
        many = entry[g + 1] - entry[g]
        for i in range(start[g], start[g + 1]):
            largest = -np.inf
            for k in range(many):
                total = 0.0
                for j in range(codes.shape[1]):
                    total += table[first[j] + codes[i, j], value[entry[g] + k]]
                out[offset[i] + k] = total
                largest = max(largest, total)
            for k in range(many):
                out[offset[i] + k] = np.exp(out[offset[i] + k] - largest) if largest > -np.inf else 1.0


@njit(cache=True)
def deal(start: Any, entry: Any, count: Any, word: Any, held: Any) -> None:
    """Give every person of a group one of its values at random: `held` is which of the group's entries."""
    for g in range(len(start) - 1):
        at = start[g]
        for k in range(entry[g + 1] - entry[g]):
            for _ in range(int(count[entry[g] + k])):
                held[at] = k
                at += 1
        for i in range(start[g + 1] - 1, start[g], -1):
            other = start[g] + random_below(word, i - start[g] + 1)
            held[i], held[other] = held[other], held[i]


@njit(cache=True)
def learn_by_swaps(
    codes: Any, first: Any, groups: SortedGroups, placement: Placement, correction: float, walk: SwapWalk, tally: Any
) -> None:
    """Exchange the values of two people with the chance that the others' values give to it, and count who holds what.

    A sweep is one try a person; those after `burn` are counted.
    """
    start, entry, value, offset = groups
    held, joint = placement
    sweeps, burn, word = walk
    columns = codes.shape[1]
    for sweep in range(sweeps):
        for g in range(len(start) - 1):
            people = start[g + 1] - start[g]
            if people < 2:
                continue
            for _ in range(people):
                a = start[g] + random_below(word, people)
                b = start[g] + random_below(word, people)
                va, vb = value[entry[g] + held[a]], value[entry[g] + held[b]]
                if va == vb:
                    continue
                ratio = 1.0
                for j in range(columns):
                    x, y = first[j] + codes[a, j], first[j] + codes[b, j]
                    if x == y:
                        continue
                    ratio *= (joint[y, va] + correction) * (joint[x, vb] + correction)
                    ratio /= (joint[x, va] - 1 + correction) * (joint[y, vb] - 1 + correction)
                if random_fraction(word) * (1.0 + ratio) < ratio:
                    for j in range(columns):
                        x, y = first[j] + codes[a, j], first[j] + codes[b, j]
                        joint[x, va] -= 1
                        joint[y, vb] -= 1
                        joint[y, va] += 1
                        joint[x, vb] += 1
                    held[a], held[b] = held[b], held[a]
        if sweep >= burn:
            for i in range(len(held)):
                tally[offset[i] + held[i]] += 1.0


@njit(cache=True)
def read_chances(cell: Any, box: Any, model: ModelChances, groups: SortedGroups, out: Any) -> None:
    """Write the model's chances of every person in the order of her group's values; 0 for a value without a goal."""
    cells, goal, goal_value, place, chances = model
    _, entry, value, offset = groups
    for i in range(len(cell)):
        b = box[i]
        many, k = cells[b + 1] - cells[b], goal[b]
        for e in range(entry[b], entry[b + 1]):
            while k < goal[b + 1] and goal_value[k] < value[e]:
                k += 1
            if k < goal[b + 1] and goal_value[k] == value[e]:
                out[offset[i] + e - entry[b]] = chances[place[b] + (k - goal[b]) * many + cell[i] - cells[b]]
