"""The compiled loop of the threshold mode: everybody into the pool that is most unlike her."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.papers.heterogeneous._match_kernels import NOTHING


@njit(cache=True)
def deal_to_distant(places: Any, codes: Any, weights: Any, order: Any, home: Any, pools: int, size: int) -> Any:
    """Return a pool per row: its `home`, or where that is −1 the one with room whose people differ most from it on average."""
    found = np.full(len(order), -1, np.int64)
    filled = np.zeros(pools, np.int64)
    members = np.empty((pools, size), np.int64)
    for row in order:
        best, farthest = home[row], -1.0
        if best < 0:
            for pool in range(pools):
                if filled[pool] < size:
                    total = 0.0
                    for k in range(filled[pool]):
                        total += _apart(places, codes, weights, row, members[pool, k])
                    mean = total / max(filled[pool], 1)
                    if mean > farthest:
                        best, farthest = pool, mean
        found[row] = best
        members[best, filled[best]] = row
        filled[best] += 1
    return found


@njit(cache=True)
def _apart(places: Any, codes: Any, weights: Any, one: int, two: int) -> float:
    total = 0.0
    for j in range(len(places)):
        if places[j, one] != NOTHING and places[j, two] != NOTHING:
            total += abs(places[j, one] - places[j, two])
    for j in range(len(codes)):
        if codes[j, one] != codes[j, two]:
            total += weights[j]
    return total
