"""Less loss near a valid setting: two buckets become two whose sizes lie between theirs, as long as the values still fit."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.settings.flow import Cut, solve_flow
from sfumato.groups.settings.min_cuts import Cuts

_FURTHEST = 3
"""How far the two sizes approach each other in one step."""

_STEPS = 100


def descended(cuts: Cuts, numbers: Integers) -> Integers:
    """Return numbers of buckets that no such exchange improves, from valid ones; at most 100 are tried.

    The number of people stays: sizes a and b become a + s and b − s. An exchange that the inequalities allow and a flow does not
    is tried again after the next one that is made.
    """
    problem, moves = cuts.problem, _exchanges(cuts)
    rows, bounds = np.array(cuts.rows).T, np.array(cuts.bounds)
    change = rows[moves[:, 2]] + rows[moves[:, 3]] - rows[moves[:, 0]] - rows[moves[:, 1]]
    left = np.ones(len(moves), dtype=np.bool_)
    for _ in range(_STEPS):
        fits = left & (change >= bounds - numbers @ rows).all(axis=1) & (numbers[moves[:, :2]] > 0).all(axis=1)
        if not fits.any():
            break
        best = int(np.argmax(fits))
        moved = numbers.copy()
        np.add.at(moved, moves[best], [-1, -1, 1, 1])
        if isinstance(solve_flow(problem.counts, problem.caps, problem.sizes, moved), Cut):
            left[best] = False
        else:
            numbers = moved
            left[:] = True
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
