"""The integer programs that the papers call "Optimal": 000's v_ij program over all sizes, and the same for two sizes."""

from __future__ import annotations

import time
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from sfumato.groups.settings.problem import Problem

NEARLY = 0.8


class Solved(NamedTuple):
    """What a program found: the least loss, None without one, whether that is proven, and processor seconds spent."""

    loss: int | None
    proven: bool
    seconds: float


def solve(problem: Problem, *, most: int | None = None, time_limit: float = 30.0) -> Solved:
    """Solve min Σ b_j (S_j − 1)² with whole v_ij people of value i in buckets of size j, of at most `most` sizes.

    Σ_j v_ij = o_i, Σ_i v_ij = S_j b_j, v_ij ≤ ⌊bound_i · S_j⌋ b_j; a size in use has a variable of its own where they are few.
    It ends after about `time_limit` processor seconds.
    """
    values, sizes = problem.caps.shape
    people, chosen = values * sizes, sizes if most is not None else 0
    variables = people + sizes + chosen
    cost = np.zeros(variables)
    cost[people : people + sizes] = problem.costs
    i, j = np.divmod(np.arange(people), sizes)
    numbers = people + np.arange(sizes)
    parts = [
        _rows(values, variables, (i, np.arange(people), np.ones(people)), problem.counts, problem.counts),
        _rows(
            sizes,
            variables,
            (np.concatenate([j, np.arange(sizes)]), np.concatenate([np.arange(people), numbers]), _ones(people, -problem.sizes)),
            np.zeros(sizes),
            np.zeros(sizes),
        ),
        _rows(
            people,
            variables,
            (
                np.tile(np.arange(people), 2),
                np.concatenate([np.arange(people), numbers[j]]),
                _ones(people, -problem.caps.ravel()),
            ),
            np.full(people, -np.inf),
            np.zeros(people),
        ),
    ]
    high = np.full(variables, np.inf)
    if most is not None:
        used = people + sizes + np.arange(sizes)
        high[used] = 1
        many = -np.ceil(problem.total / problem.sizes)
        at = np.tile(np.arange(sizes), 2), np.concatenate([numbers, used]), _ones(sizes, many)
        parts.append(_rows(sizes, variables, at, np.full(sizes, -np.inf), np.zeros(sizes)))
        parts.append(_rows(1, variables, (np.zeros(sizes, int), used, np.ones(sizes)), np.zeros(1), np.array([most])))
    solved = partial(milp, cost, integrality=np.ones(variables), bounds=Bounds(0, high), constraints=parts)
    on_the_clock = time_limit
    while True:
        start = time.process_time()
        answer = solved(options={"time_limit": on_the_clock, "mip_rel_gap": 0.0})
        seconds = time.process_time() - start
        proven = answer.status in (0, 2)  # the least, or that there is none
        if proven or seconds >= NEARLY * time_limit:
            break
        on_the_clock *= time_limit / max(seconds, time_limit / 20)  # the solver knows the clock only, and others were busy
    loss = None if answer.x is None else int(np.rint(answer.x[numbers]).astype(np.int64) @ problem.costs)
    return Solved(loss, proven, seconds)


def _ones(many: int, rest: np.ndarray) -> np.ndarray:
    return np.concatenate([np.ones(many), rest])


def _rows(
    rows: int,
    variables: int,
    entries: tuple[np.ndarray, np.ndarray, np.ndarray],
    low: np.ndarray,
    high: np.ndarray,
) -> LinearConstraint:
    """Return sparse constraints low ≤ A x ≤ high, A given as (row, column, value)."""
    row, column, value = entries
    return LinearConstraint(coo_array((value, (row, column)), shape=(rows, variables)).tocsr(), low, high)
