"""How many combinations of quasi values people cover: a bound on presence wants enough of them on both sides of a cut."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers, Small


class CoverRule(NamedTuple):
    """What both sides of a cut must cover: `covering[people]` combinations of their values or more."""

    codes: Small  # [columns × rows]
    covering: Integers


@njit(cache=True)
def reaches(distinct: Any, needed: int) -> bool:
    """Return whether the product of these positive numbers is at least `needed`, without ever going beyond 64 bits."""
    if needed < 0:
        return False
    product = 1
    for count in distinct:
        if product >= needed or product > (needed - 1) // count:
            return True
        product *= count
    return bool(product >= needed)


@njit(cache=True)
def distinct_codes(mine: Any, column: Any) -> int:
    """Return how many different codes the rows have in a column."""
    low, high = column[mine[0]], column[mine[0]]
    for row in mine:
        low, high = min(low, column[row]), max(high, column[row])
    seen = np.zeros(high - low + 1, np.bool_)
    for row in mine:
        seen[column[row] - low] = True
    return int(seen.sum())


@njit(cache=True)
def covers(mine: Any, codes: Any, covering: Any) -> bool:
    """Return whether these rows cover enough combinations for a group of their number."""
    needed = covering[len(mine)]
    distinct = np.ones(len(codes), np.int64)
    if needed >= 0 and reaches(distinct, needed):
        return True
    for j in range(len(codes)):
        distinct[j] = distinct_codes(mine, codes[j])
        if reaches(distinct[: j + 1], needed):
            return True
    return False
