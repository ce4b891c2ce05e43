"""The inner loop of Anatomy: always the ℓ currently most frequent values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Array


@njit(cache=True)
def draw_groups(counts: Array, l: int, groups: int) -> Any:
    """Return (group of each slot, value of each slot, how many of each value are left over).

    Values are kept sorted by remaining count. Taking one from each of the ℓ largest keeps the order except among equals at
    the edge, where the first of the equals gives way, so one pass restores it.
    """
    left = counts.copy()
    m = len(left)
    ranked = np.argsort(-left, kind="mergesort")
    slot_group = np.empty(groups * l, np.int64)
    slot_value = np.empty(groups * l, np.int64)
    used = 0
    for group in range(groups):
        if m < l or left[ranked[l - 1]] == 0:
            break
        for k in range(l):
            value = ranked[k]
            left[value] -= 1
            slot_group[used] = group
            slot_value[used] = value
            used += 1
        for k in range(l, m):
            moving = ranked[k]
            place = k
            while place > 0 and left[ranked[place - 1]] < left[moving]:
                ranked[place] = ranked[place - 1]
                place -= 1
            if place == k:
                break
            ranked[place] = moving
    return slot_group[:used], slot_value[:used], left
