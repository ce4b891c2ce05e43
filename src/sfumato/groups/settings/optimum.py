"""The best setting of any number of sizes, with a proof of how far from the best it can be."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.errors import SfumatoError
from sfumato.groups.settings.flow import Shortage, solve_flow
from sfumato.groups.settings.min_cuts import SCALE, Cuts
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting
from sfumato.groups.settings.top_down import top_down

_NEAR = 3
"""How far from the relaxed solution the rounding looks, in buckets of each size."""

_NODES_ROUNDING, _NODES_WHOLE = 20, (50, 250)
"""Steps of branch and bound before the solver gives up on the gap: a budget that is the same on every machine."""

_MOST_DELAY = 20.0
"""The solver looks at a clock on the wall: it may take so many times as long on a busy machine."""

_INFEASIBLE = 2
_SOLVER_ERROR = 4


@dataclass(frozen=True, eq=False)
class Optimum:
    """A setting, its allocation [values × classes], a proven lower bound on the loss, and whether the search ran to its end."""

    setting: Setting
    allocation: Integers
    lower_bound: int
    complete: bool


class _Search:
    """The state of one search: the best setting so far, the best bound so far, the inequalities, the clock."""

    def __init__(self, problem: Problem, gap: float, time_limit: float) -> None:
        self.problem = problem
        self.gap = gap
        self.began, self.deadline = time.monotonic(), time.thread_time() + time_limit
        self.time_limit = time_limit
        self.cuts = Cuts(problem)
        self.best: tuple[Setting, Integers] | None = None
        self.lower = 0
        self.by_clock = False

    @property
    def done(self) -> bool:
        """Whether the gap is reached, or the time is over."""
        if self.best is not None and self.best[0].loss - self.lower <= self.gap * self.best[0].loss:
            return True
        late = self.left <= 0.0
        self.by_clock = self.by_clock or late
        return late

    @property
    def left(self) -> float:
        """Seconds of processor time that are left: how busy the machine is must not decide which setting is found."""
        return self.deadline - time.thread_time()

    @property
    def delay(self) -> float:
        """How many seconds pass for one of processor time, by what was seen so far."""
        spent = self.time_limit - self.left
        return min(max((time.monotonic() - self.began) / spent, 1.0), _MOST_DELAY) if spent > 0 else 1.0

    def offer(self, setting: Setting, allocation: Integers) -> None:
        """Keep a valid setting if it is the best so far."""
        if self.best is None or setting.loss < self.best[0].loss:
            self.best = setting, allocation

    def valid(self, numbers: Integers) -> bool:
        """Return whether these numbers of buckets can hold the table, by a flow; keep them if they are the best so far."""
        flow = solve_flow(self.problem.counts, self.problem.caps, self.problem.sizes, numbers)
        if isinstance(flow, Shortage):
            return False
        self.offer(Setting.of(zip(self.problem.sizes.tolist(), numbers.tolist(), strict=True)), flow[:, numbers > 0])
        return True

    def relaxed(self) -> Floats | None:
        """Return the relaxed solution under all inequalities that it would violate, or None when there is no solution at all."""
        tolerance = int(SCALE * max(1e-3, 1e-7 * self.problem.total))
        while True:
            answer = self.cuts.relax()
            if answer.status == _INFEASIBLE:
                return None
            if answer.status != 0:
                raise SfumatoError(f"the linear solver stopped: {answer.message}", hint='try strategy = "top-down"')
            self.lower = max(self.lower, self.cuts.proven(answer))
            solution: Floats = np.maximum(answer.x, 0.0)
            numbers = np.floor(solution * SCALE).astype(np.int64)
            if self.done or not self.cuts.separate(numbers, scale=SCALE, tolerance=tolerance):
                return solution

    def integers(self, low: Floats, high: Floats, *, nodes: int, whole: bool) -> bool:
        """Look for the best whole numbers of buckets between `low` and `high`; return whether there may be any.

        Each answer of the integer solver is tried by the flow; when the flow fails, what forbids it becomes an
        inequality and the solver starts again. `whole` says that the range holds every setting, so that the solver's
        bound holds for all.
        """
        while nodes > 0 and not self.done:
            answer = self._solve(low, high, nodes=nodes)
            nodes -= max(1, int(answer.mip_node_count or 0)) if self.gap > 0 else 0
            if answer.status == _INFEASIBLE:
                return False
            if whole and answer.mip_dual_bound is not None and math.isfinite(answer.mip_dual_bound):
                # The solver's floats: lowered by a millionth, which is far more than its tolerances amount to.
                bound = float(answer.mip_dual_bound)
                self.lower = max(self.lower, math.ceil(bound - max(1e-3, 1e-6 * abs(bound))))
            if answer.x is None:
                return True
            numbers = np.round(answer.x).astype(np.int64)
            if int(self.problem.sizes @ numbers) != self.problem.total:
                return True
            if self.valid(numbers):
                if not self.done:
                    self.valid(descended(self.cuts, numbers))
                return True
            if not self.cuts.separate(numbers, scale=1):
                return True
        return True

    def _solve(self, low: Floats, high: Floats, *, nodes: int) -> Any:
        from scipy.optimize import Bounds as Box
        from scipy.optimize import LinearConstraint, milp

        rows, bounds = self.cuts.matrix()
        sizes = self.problem.sizes.astype(np.float64)
        start = time.monotonic()
        seconds = max(0.01, self.left * self.delay)
        options: dict[str, float] = {"mip_rel_gap": 0.9 * self.gap, "time_limit": seconds}
        if self.gap > 0:
            options["node_limit"] = nodes
        for presolve in (True, False):  # now and then the solver's simplification fails on small problems
            with _standard_output_aside():
                answer = milp(
                    self.problem.costs.astype(np.float64),
                    constraints=[
                        LinearConstraint(rows, bounds, np.inf),
                        LinearConstraint(sizes[None, :], self.problem.total, self.problem.total),
                    ],
                    integrality=np.ones(len(sizes)),
                    bounds=Box(low, np.where(self.cuts.usable, high, 0.0)),
                    options={**options, "presolve": presolve},
                )
            if answer.status != _SOLVER_ERROR:
                break
        # The solver reports a full clock and a spent budget of nodes alike; only the first makes the result unrepeatable.
        if answer.status != 0 and time.monotonic() - start >= 0.95 * seconds:
            self.by_clock = True
        return answer


@contextmanager
def _standard_output_aside() -> Iterator[None]:
    """Let what the solver prints, whatever its settings, go to standard error: a program may read what this one writes.

    The solver is compiled: it writes to the descriptor, by a buffer of its own, which Python knows nothing of.
    """
    flush = ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush
    try:
        sys.stdout.flush()
        flush(None)
        kept = os.dup(1)
    except (OSError, ValueError, AttributeError):  # nobody listens there
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)


def optimum(problem: Problem, *, gap: float = 1e-4, time_limit: float = 30.0) -> Optimum | None:
    """Return a setting with a proven lower bound on the loss, `gap` (relative) below it if possible; None when none is valid.

    "Optimal" in the papers, an integer program over all b_j and v_ij [F' thesis §6.1]. Here only the at most M' numbers of
    buckets are variables; the allocation is a flow, and enters as inequalities found when needed (see `Cuts`). In
    turn: the top-down setting, so that the result is never worse; the linear relaxation, whose bound is verified in
    exact arithmetic; rounding, by an integer program over the few whole numbers near the relaxed ones and exchanges of two
    buckets (`descended`); and the whole integer program, only if the gap is still open. Its bound is the solver's, lowered by a
    millionth.

    On the census the first three mostly suffice: about a tenth of a second for 50 values, a second for 3,200, whatever
    the number of people. Many values and few people leave a gap of some 1e-4 that branch and bound hardly closes: unless
    `gap` is 0, it then stops after a fixed number of nodes, and the plan states the gap that is left.
    """
    state = _Search(problem, gap, time_limit)
    start = top_down(problem)
    if start is not None:
        state.offer(*start)
    solution = state.relaxed()
    feasible = solution is not None
    if solution is not None and not state.done:
        floor = np.floor(solution + 1e-6)
        state.integers(np.maximum(floor - _NEAR, 0.0), floor + 1 + _NEAR, nodes=_NODES_ROUNDING, whole=False)
        for nodes in _NODES_WHOLE:
            if not state.done:
                feasible = state.integers(np.zeros(len(floor)), np.full(len(floor), np.inf), nodes=nodes, whole=True)
    if state.best is not None:
        setting, allocation = state.best
        return Optimum(setting, allocation, min(state.lower, setting.loss), complete=not state.by_clock)
    if feasible:
        raise SfumatoError(
            f"no setting was found (time_limit = {time_limit:g} s), and none was excluded",
            hint="raise max_size, or set gap = 0 and a longer time_limit",
        )
    return None


# Less loss near a valid setting: two buckets become two whose sizes lie between theirs, as long as the values still fit.

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
        if isinstance(solve_flow(problem.counts, problem.caps, problem.sizes, moved), Shortage):
            left[best] = False
        else:
            numbers = moved
            left[:] = True
    return numbers


def _exchanges(cuts: Cuts) -> Integers:
    """Return the places (a, b, a + s, b − s) of all exchanges, those that save most first."""
    usable, costs = cuts.usable, cuts.problem.costs
    places = range(len(costs))
    exchanges = [(a, b, a + s, b - s) for a in places for b in places for s in range(1, _FURTHEST + 1) if a + 2 * s <= b]
    moves = np.array(exchanges, dtype=np.int64).reshape(-1, 4)
    moves = moves[usable[moves[:, 2]] & usable[moves[:, 3]]]
    saved = costs[moves[:, :2]].sum(axis=1) - costs[moves[:, 2:]].sum(axis=1)
    return moves[np.argsort(-saved, kind="stable")]
