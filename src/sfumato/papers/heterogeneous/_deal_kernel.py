"""The compiled loop of the threshold mode: everybody into the bucket that is most unlike her."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.papers.heterogeneous._match_kernels import NOTHING


@njit(cache=True)
def deal_to_distant(places: Any, codes: Any, weights: Any, order: Any, home: Any, buckets: int, size: int) -> Any:
    """Return a bucket per row: its `home`, or where that is −1 the one with room whose people differ most from it on average."""
    found = np.full(len(order), -1, np.int64)
    filled = np.zeros(buckets, np.int64)
    members = np.empty((buckets, size), np.int64)
    for row in order:
        best, farthest = home[row], -1.0
        if best < 0:
            for bucket in range(buckets):
                if filled[bucket] < size:
                    total = 0.0
                    for k in range(filled[bucket]):
                        total += _apart(places, codes, weights, row, members[bucket, k])
                    mean = total / max(filled[bucket], 1)
                    if mean > farthest:
                        best, farthest = bucket, mean
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
