"""Merging: neighbours in an order of initial groups become parts, with the least error bound ([SDR §5.3]).

Improving the order by moves that give the merging along it a smaller bound is ours, not the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Integers
from sfumato.randomize._kernels import merge_along
from sfumato.randomize.balance import Groups
from sfumato.randomize.problem import Problem

_ENOUGH = 1e-12


@dataclass(frozen=True, eq=False)
class Merging:
    """An order of the groups, where each part begins in it, and Σ √(|T_i|/|T|)·(m_i/(γ_i−1)+1): the bound in units of a/√|T|."""

    order: Integers
    begins: tuple[int, ...]
    cost: float

    def parts(self) -> list[Integers]:
        """Return the groups of each part."""
        return np.split(self.order, list(self.begins[1:]))


Merger = Callable[[Integers], Merging]


def merger(problem: Problem, groups: Groups, cap: Fraction | None) -> Merger:
    """Return the function that merges the groups optimally along an order; every part has all its γ above 1, or the cost is ∞."""
    which, odds = problem.classes
    limit = np.inf if cap is None else float(cap)

    def along(order: Integers) -> Merging:
        cost, before = merge_along(order, groups.start, groups.value, groups.count, which, odds, problem.total, limit)
        begins: list[int] = []
        place = len(order)
        while place > 0 and np.isfinite(cost):
            place = int(before[place])
            begins.append(place)
        return Merging(order, tuple(reversed(begins)), float(cost))

    return along


def improved(start: Merging, merge: Merger, trials: int) -> Merging:
    """Return a merging whose order no single move improves, or the best found within this many trials.

    A move takes one group elsewhere or turns a run of groups round. The search is a plain descent from the order given, so the
    result is never worse, and it looks at counts alone.
    """
    best = start
    improves = True
    while improves:
        improves = False
        for order in _moves(best.order):
            if trials <= 0:
                return best
            trials -= 1
            tried = merge(order)
            if tried.cost < best.cost * (1 - _ENOUGH):
                best, improves = tried, True
                break
    return best


def _moves(order: Integers) -> Iterator[Integers]:
    groups = len(order)
    for source in range(groups):
        moved, rest = order[source : source + 1], np.concatenate((order[:source], order[source + 1 :]))
        for target in range(groups):
            if target != source:
                yield np.concatenate((rest[:target], moved, rest[target:]))
    for first in range(groups):
        for last in range(first + 3, groups + 1):
            yield np.concatenate((order[:first], order[first:last][::-1], order[last:]))
