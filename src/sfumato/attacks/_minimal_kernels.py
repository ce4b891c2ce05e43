"""Walks through the placements of one box that the program would have left as it is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.groups._random_kernels import random_below, random_fraction


class Boundaries(NamedTuple):
    """Where a box could be cut: left are codes of `column` up to `last`, and the code `also`, −1 for none.

    `low` and `high` are [boundaries × values] what the left and right side may hold.
    """

    column: Any
    last: Any
    also: Any
    low: Any
    high: Any


class BoundaryWalk(NamedTuple):
    """How long a walk is: so many sweeps are counted after the first `burn`; and the state of its coins."""

    burn: int
    sweeps: int
    word: Any


@njit(cache=True)
def _is_left(codes: Any, cuts: Any, b: int, i: int) -> bool:
    """Return whether a person is on the left of a boundary."""
    code = codes[i, cuts.column[b]]
    return bool(code <= cuts.last[b] or code == cuts.also[b])


@njit(cache=True)
def _count(codes: Any, cuts: Any, value: Any, left: Any) -> None:
    """Count the values on the left of every boundary."""
    left[:] = 0
    for b in range(len(cuts.column)):
        for i in range(len(value)):
            if _is_left(codes, cuts, b, i):
                left[b, value[i]] += 1


@njit(cache=True)
def _faults(left: Any, total: Any, low: Any, high: Any, b: int) -> int:
    """Return how many values break their cap on a side of a boundary."""
    faults = 0
    for v in range(len(total)):
        faults += int(left[b, v] > low[b, v]) + int(total[v] - left[b, v] > high[b, v])
    return faults


@njit(cache=True)
def _broken(left: Any, total: Any, low: Any, high: Any, b: int, v: int) -> int:
    return int(left[b, v] > low[b, v]) + int(total[v] - left[b, v] > high[b, v])


@njit(cache=True)
def walk_refused(codes: Any, cuts: Boundaries, value: Any, total: Any, walk: BoundaryWalk, tally: Any) -> bool:
    """Walk from placement to placement in which every boundary breaks a cap, and count who has what; False if none is found.

    The walk begins anywhere: until every boundary is refused an exchange is taken if no more of them are open than before. Then
    none that opens one is taken.
    """
    low, high = cuts.low, cuts.high
    burn, sweeps, word = walk
    people, boundaries = len(value), len(cuts.column)
    left = np.zeros((boundaries, len(total)), np.int64)
    _count(codes, cuts, value, left)
    faults = np.empty(boundaries, np.int64)
    opened = 0
    for b in range(boundaries):
        faults[b] = _faults(left, total, low, high, b)
        opened += int(faults[b] == 0)
    counted, sweep, tries = 0, 0, 0
    while counted < sweeps:
        for _ in range(people):
            i, k = random_below(word, people), random_below(word, people)
            v, u = value[i], value[k]
            if v == u:
                continue
            before = opened
            for turn in range(2):
                for b in range(boundaries):
                    here, there = _is_left(codes, cuts, b, i), _is_left(codes, cuts, b, k)
                    if here == there:
                        continue
                    mine, other = (v, u) if here == (turn == 0) else (u, v)  # `mine` leaves the left side
                    was = faults[b]
                    faults[b] -= _broken(left, total, low, high, b, v) + _broken(left, total, low, high, b, u)
                    left[b, mine] -= 1
                    left[b, other] += 1
                    faults[b] += _broken(left, total, low, high, b, v) + _broken(left, total, low, high, b, u)
                    opened += int(faults[b] == 0) - int(was == 0)
                if opened <= before:
                    break
            else:
                continue
            if turn == 0:
                value[i], value[k] = u, v
        sweep += 1
        if opened > 0:
            tries += 1
            if tries > 4 * burn:
                return False
            continue
        if sweep > burn:
            counted += 1
            for i in range(people):
                tally[i, value[i]] += 1.0
    return True


@njit(cache=True)
def _slack(left: Any, total: Any, low: Any, high: Any, b: int) -> int:
    """Return how many more people of any one value both sides of a boundary would take, of those that could be too many."""
    least = 1 << 40
    for v in range(len(total)):
        if total[v] > low[b, v]:
            least = min(least, low[b, v] - left[b, v])
        if total[v] > high[b, v]:
            least = min(least, high[b, v] - total[v] + left[b, v])
    return least


@njit(cache=True)
def walk_tested(codes: Any, cuts: Boundaries, chance: float, value: Any, total: Any, walk: BoundaryWalk, tally: Any) -> None:
    """Walk through placements, each as likely as its tests refuse: with q^(slack + 1), surely where slack is negative."""
    low, high = cuts.low, cuts.high
    burn, sweeps, word = walk
    people, boundaries = len(value), len(cuts.column)
    left = np.zeros((boundaries, len(total)), np.int64)
    _count(codes, cuts, value, left)
    slack, fresh = np.empty(boundaries, np.int64), np.empty(boundaries, np.int64)
    for b in range(boundaries):
        slack[b] = _slack(left, total, low, high, b)
    for sweep in range(burn + sweeps):
        for _ in range(people):
            i, k = random_below(word, people), random_below(word, people)
            v, u = value[i], value[k]
            if v == u:
                continue
            power = 0
            for b in range(boundaries):
                fresh[b] = slack[b]
                here, there = _is_left(codes, cuts, b, i), _is_left(codes, cuts, b, k)
                if here == there:
                    continue
                mine, other = (v, u) if here else (u, v)
                left[b, mine] -= 1
                left[b, other] += 1
                fresh[b] = _slack(left, total, low, high, b)
                power += max(fresh[b] + 1, 0) - max(slack[b] + 1, 0)
            if power <= 0 or random_fraction(word) < chance**power:
                value[i], value[k] = u, v
                slack[:] = fresh
                continue
            for b in range(boundaries):
                here, there = _is_left(codes, cuts, b, i), _is_left(codes, cuts, b, k)
                if here != there:
                    mine, other = (v, u) if here else (u, v)
                    left[b, mine] += 1
                    left[b, other] -= 1
        if sweep >= burn:
            for i in range(people):
                tally[i, value[i]] += 1.0
