"""Merging: neighbours in an order of initial groups become parts, with the least error bound ([SDR §5.3])."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Integers
from sfumato.randomize._kernels import merge_along
from sfumato.randomize.balance import Groups
from sfumato.randomize.problem import Problem


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
