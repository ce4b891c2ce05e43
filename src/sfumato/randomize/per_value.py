"""A retention probability for each value: the best under any per-value bounds, by a small linear program. Ours, not the paper's.

With uniform replacement P[x→y] = p_x·[x=y] + (1−p_x)/m, the belief in x after seeing x is at most b_x exactly when

    (m−1)(1−b_x)·f_x·p_x + b_x·Σ_{z≠x} f_z·p_z ≤ b_x − f_x,

which is linear in the retentions; the belief in x after seeing another value is smaller. No coefficient is negative, so rounding
every retention down is safe.

A uniform retention that is as large as the bounds allow makes the row of some value x an equation, and every coefficient of it is
positive: so nothing can rise unless something else falls, and demanding that no value be kept less often than uniformly would
leave the uniform retention as the only solution. The floor is therefore half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.arrays import Floats
from sfumato.errors import SfumatoError
from sfumato.randomize.uniform import retention

GRID = 10**9
"""Retentions are multiples of 1/GRID, so that they can be written down and drawn exactly."""

FLOOR = Fraction(1, 2)
"""The least retention of a value, in terms of the uniform retention that the bounds allow."""

_SHRINK = (0, 1, 10, 100, 10**4, 10**6)


def best_retentions(counts: Sequence[int], limits: Sequence[Fraction], uniform: Fraction, cap: Fraction) -> tuple[Fraction, ...]:
    """Return the retention of each value that maximises Σ f_x·p_x under the bounds.

    `uniform` is an amplification with which a uniform retention keeps the bounds. No value is kept less often than with half of
    that retention, so the matrix stays invertible, nor more often than a uniform retention with the amplification `cap` would
    keep it (both but for rounding to the grid): so P[x→y] ≤ cap·P[z→y] for all values.
    """
    size = len(counts)
    alike = on_grid(retention(uniform, size))
    if len(set(zip(counts, limits, strict=True))) == 1:
        return (Fraction(alike, GRID),) * size  # by symmetry, and the program is concave
    least, most = int(FLOOR * alike), on_grid(retention(max(uniform, cap), size))
    solved = _solve(counts, limits, least, most)
    for shrink in _SHRINK:
        # The solver may break a bound by its tolerance: lower all retentions, step by step, until none is broken.
        lowered = [min(most, max(least, int(value) - shrink)) for value in solved]
        if keeps_bounds(counts, limits, lowered):
            return tuple(Fraction(value, GRID) for value in lowered)
    return (Fraction(alike, GRID),) * size


def keeps_bounds(counts: Sequence[int], limits: Sequence[Fraction], retentions: Sequence[int]) -> bool:
    """Return whether retentions, in multiples of 1/GRID, keep every bound; decided in integers."""
    size, total = len(counts), sum(counts)
    kept = sum(count * value for count, value in zip(counts, retentions, strict=True))
    for count, limit, value in zip(counts, limits, retentions, strict=True):
        s, t = limit.numerator, limit.denominator
        own = count * value
        if s < t and (size - 1) * (t - s) * own + s * (kept - own) > (s * total - t * count) * GRID:
            return False
    return True


def on_grid(number: Fraction) -> int:
    """Return the largest multiple of 1/GRID, as a whole number, that is not above this one."""
    return number.numerator * GRID // number.denominator


def _solve(counts: Sequence[int], limits: Sequence[Fraction], least: int, most: int) -> Floats:
    """Return the linear program's retentions in multiples of 1/GRID, not yet whole.

    The sum Σ f_z·p_z is a variable of its own, so that a row has two entries and thousands of values are no burden.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    size, total = len(counts), sum(counts)
    share = np.array([count / total for count in counts])
    bounded = np.flatnonzero([limit < 1 for limit in limits])
    bound = np.array([float(limits[x]) for x in bounded.tolist()])
    rows = np.arange(len(bounded))
    # Each row divided by its bound: rare values have tiny coefficients otherwise, below the solver's tolerance.
    scale = 1 / bound
    own = share[bounded] * (size * (1 - bound) - 1) * scale
    matrix = coo_array(
        (
            np.concatenate((own, np.ones(len(bounded)))),
            (np.tile(rows, 2), np.concatenate((bounded, np.full(len(bounded), size)))),
        ),
        shape=(len(bounded), size + 1),
    ).tocsr()
    sums = coo_array((np.append(share, -1.0), (np.zeros(size + 1, np.int64), np.arange(size + 1))), shape=(1, size + 1)).tocsr()
    result = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=matrix,
        b_ub=1 - share[bounded] * scale,
        A_eq=sums,
        b_eq=[0.0],
        bounds=[(least / GRID, most / GRID)] * size + [(0.0, 1.0)],
        method="highs",
    )
    if result.x is None:
        raise SfumatoError(f"the linear program of retentions found no solution: {result.message}")
    return np.asarray(result.x[:size] * GRID, dtype=np.float64)
