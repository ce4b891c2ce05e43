"""What every valid setting obeys, as inequalities on the numbers of buckets alone; found as they are needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.groups.settings.flow import Shortage, solve_flow
from sfumato.groups.settings.problem import Problem

SCALE = 1 << 20
"""Fractional numbers of buckets are examined as multiples of 1/SCALE."""

_DUAL_SCALE = 1 << 40


@dataclass(eq=False)
class Cuts:
    """Inequalities `row · b ≥ bound`, each true for the numbers of buckets b of every valid setting of the problem.

    With b fixed, an allocation is a flow; so by max-flow = min-cut b is valid exactly when, for every set J of sizes
    and A of values, Σ_{j∈J} S_j·b_j ≤ Σ_{i∈A} o_i + Σ_{i∉A} Σ_{j∈J} cap_ij·b_j. Those are too many to list, and few
    matter: one per value (J all sizes), and those in which J is every size up to some S. The others are added when a
    flow shows that they are violated.
    """

    problem: Problem
    rows: list[Integers] = field(default_factory=list)
    bounds: list[int] = field(default_factory=list)
    held_back: list[Flags] = field(default_factory=list)
    _known: set[tuple[bytes, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        rows, group = np.unique(self.problem.caps, axis=0, return_inverse=True)
        for place, row in enumerate(rows):
            members = np.flatnonzero(group.reshape(-1) == place)
            largest = members[np.argmax(self.problem.counts[members])]
            held = np.zeros(len(self.problem.counts), dtype=np.bool_)
            held[largest] = True
            self._add(row, int(self.problem.counts[largest]), held)

    @property
    def usable(self) -> Flags:
        """The sizes that can be filled at all."""
        return np.asarray(self.problem.caps.sum(axis=0) >= self.problem.sizes)

    def _add(self, row: Integers, bound: int, held_back: Flags) -> bool:
        key = (row.tobytes(), bound)
        if key in self._known:
            return False
        self._known.add(key)
        self.rows.append(row)
        self.bounds.append(bound)
        self.held_back.append(held_back)
        return True

    def _inequality(self, cut: Shortage) -> tuple[Integers, int, Flags]:
        problem = self.problem
        row = np.where(cut.sizes, problem.caps[~cut.free].sum(axis=0) - problem.sizes, 0)
        return row, -int(problem.counts[cut.free].sum()), ~cut.free

    def separate(self, numbers: Integers, *, scale: int, tolerance: int = 0) -> bool:
        """Add inequalities that b = numbers/scale violates by more than tolerance/scale people; return whether any was new.

        First every set of sizes "up to S" that is violated more than its neighbours, then, only if none is, a minimum
        cut.
        """
        problem = self.problem
        reach = np.cumsum(problem.caps * numbers, axis=1)
        supply = problem.counts * scale
        slack = np.minimum(reach, supply[:, None]).sum(axis=0) - np.cumsum(problem.sizes * numbers)
        padded = np.concatenate([[0], slack, [0]])
        worst = (slack < -tolerance) & (slack <= padded[:-2]) & (slack < padded[2:])
        places = np.arange(len(slack))
        cuts = (Shortage(sizes=places <= s, free=supply <= reach[:, s]) for s in np.flatnonzero(worst))
        added = [self._add(*self._inequality(cut)) for cut in cuts]
        if any(added):
            return True
        result = solve_flow(problem.counts, problem.caps, problem.sizes, numbers, scale)
        if not isinstance(result, Shortage):
            return False
        row, bound, held_back = self._inequality(result)
        return bound * scale - int(row @ numbers) > tolerance and self._add(row, bound, held_back)

    def matrix(self) -> tuple[Floats, Floats]:
        """Return the inequalities as (rows, bounds) for a solver."""
        return np.array(self.rows, dtype=np.float64), np.array(self.bounds, dtype=np.float64)

    def relax(self) -> Any:
        """Return the solver's answer to the linear relaxation: least loss, b fractional, all inequalities found so far."""
        from scipy.optimize import linprog  # slow to import, and not needed by most commands

        rows, bounds = self.matrix()
        return linprog(
            self.problem.costs.astype(np.float64),
            A_ub=-rows,
            b_ub=-bounds,
            A_eq=self.problem.sizes[None, :].astype(np.float64),
            b_eq=[float(self.problem.total)],
            bounds=[(0, None if usable else 0) for usable in self.usable],
            method="highs-ds",
        )

    def proven(self, answer: Any) -> int:
        """Return a lower bound on the loss that holds in exact arithmetic, from the solver's dual prices.

        Any prices μ ≥ 0 for the inequalities prove a bound: with λ the largest number for which no size has a
        negative reduced cost, loss ≥ λ·n + Σ μ_k·bound_k. So rounding the solver's floats costs tightness, never
        truth. Losses are whole: round up.
        """
        prices = [max(0, round(-float(price) * _DUAL_SCALE)) for price in answer.ineqlin.marginals]
        used = [(price, row, bound) for price, row, bound in zip(prices, self.rows, self.bounds, strict=True) if price]
        usable = np.flatnonzero(self.usable).tolist()
        sizes, costs = self.problem.sizes.tolist(), self.problem.costs.tolist()
        columns = [[(price, int(row[j])) for price, row, _ in used] for j in usable]
        reduced = (
            Fraction(costs[j] * _DUAL_SCALE - sum(price * entry for price, entry in column), sizes[j])
            for j, column in zip(usable, columns, strict=True)
        )
        rent = min(reduced)
        total = rent * self.problem.total + sum(price * bound for price, _, bound in used)
        return max(0, -((-total / _DUAL_SCALE) // 1))

    def blocked_values(self) -> Flags:
        """Return the values held back in the inequalities that cannot be met together; none when the relaxation has a solution.

        The inequalities are met at the least total shortfall, and those that still fall short are read.
        """
        from scipy.optimize import linprog

        rows, bounds = self.matrix()
        count, sizes = rows.shape
        weight = np.maximum(1.0, np.abs(bounds))
        answer = linprog(
            np.concatenate([np.zeros(sizes), 1 / weight]),
            A_ub=-np.hstack([rows, np.eye(count)]),
            b_ub=-bounds,
            A_eq=np.concatenate([self.problem.sizes, np.zeros(count)])[None, :],
            b_eq=[float(self.problem.total)],
            bounds=[(0, None if usable else 0) for usable in self.usable] + [(0, None)] * count,
            method="highs-ds",
        )
        blocked = np.zeros(len(self.problem.counts), dtype=np.bool_)
        if answer.x is not None:
            for place in np.flatnonzero(answer.x[sizes:] > 1e-6 * weight):
                blocked |= self.held_back[place]
        return blocked
