"""Less loss near a valid setting: two buckets become two whose sizes lie between theirs, as long as the values still fit."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.settings.min_cuts import Cuts

_FURTHEST = 3
"""How far the two sizes approach each other in one step."""

_STEPS = 500


def descended(cuts: Cuts, numbers: Integers) -> Integers:
    """Return numbers of buckets that no such exchange improves, from valid ones; at most 500 are tried.

    The number of people stays: sizes a and b become a + s and b − s. What forbids an exchange is added to the inequalities.
    """
    moves = _exchanges(cuts)
    steps = 0
    while steps < _STEPS:
        rows, bounds = np.array(cuts.rows).T, np.array(cuts.bounds)
        change = rows[moves[:, 2]] + rows[moves[:, 3]] - rows[moves[:, 0]] - rows[moves[:, 1]]
        forbidden = False
        while steps < _STEPS and not forbidden:
            fits = (change >= bounds - numbers @ rows).all(axis=1) & (numbers[moves[:, :2]] > 0).all(axis=1)
            if not fits.any():
                return numbers
            steps += 1
            moved = numbers.copy()
            np.add.at(moved, moves[np.argmax(fits)], [-1, -1, 1, 1])
            forbidden = cuts.separate(moved, scale=1)
            numbers = numbers if forbidden else moved
    return numbers


def _exchanges(cuts: Cuts) -> Integers:
    """Return the places (a, b, a + s, b − s) of all exchanges, those that save most first."""
    usable, costs = cuts.usable, cuts.problem.costs
    places = range(len(costs))
    found = [(a, b, a + s, b - s) for a in places for b in places for s in range(1, _FURTHEST + 1) if a + 2 * s <= b]
    moves = np.array(found, dtype=np.int64).reshape(-1, 4)
    moves = moves[usable[moves[:, 2]] & usable[moves[:, 3]]]
    saved = costs[moves[:, :2]].sum(axis=1) - costs[moves[:, 2:]].sum(axis=1)
    return moves[np.argsort(-saved, kind="stable")]
