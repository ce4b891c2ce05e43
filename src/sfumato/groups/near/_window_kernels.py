"""The first groups, and who is near whom inside a window."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit


@njit(cache=True)
def groups_in(values: Any, need: Any, start: Any, times: Any) -> int:
    """Return into how many groups people with these values can be dealt round robin, 0 for none; `times` is left zero."""
    people, largest = len(values), 1
    for v in values:
        times[v] += 1
        largest = max(largest, need[start[v] + 1])
    groups = people // largest
    while groups > 0:
        fits = True
        for v in values:
            if need[start[v] + -(-times[v] // groups)] > people // groups:
                fits = False
                break
        if fits:
            break
        groups -= max(1, groups // 16)
    for v in values:
        times[v] = 0
    return groups


@njit(cache=True)
def stretches(value: Any, need: Any, start: Any) -> tuple[Any, Any]:
    """Return where stretches of a kd order begin, cut while both sides hold groups, and how many groups each holds."""
    people = len(value)
    times = np.zeros(len(start), np.int64)
    begins, held = np.empty(people, np.int64), np.empty(people, np.int64)
    made = 0
    stack = [(0, people, groups_in(value, need, start, times))]
    while len(stack) > 0:
        low, high, groups = stack.pop()
        cut = False
        for share in (0.5, 0.4, 0.6, 0.3, 0.7):
            middle = low + round(share * groups) * ((high - low) // groups) if groups > 1 else low
            if low < middle < high:
                left = groups_in(value[low:middle], need, start, times)
                right = groups_in(value[middle:high], need, start, times)
                if left > 0 and right > 0 and left + right >= groups:
                    stack.append((middle, high, right))
                    stack.append((low, middle, left))
                    cut = True
                    break
        if not cut:
            begins[made], held[made] = low, groups
            made += 1
    return begins[:made], held[:made]


@njit(cache=True, nogil=True)
def near_inside(rows: Any, window: int, window_of: Any, where: Any, near: Any) -> Any:
    """Return the neighbours of these rows by their places in the window, −1 for one outside."""
    inside = np.empty((len(rows), near.shape[1]), np.int32)
    for k in range(len(rows)):
        for t in range(near.shape[1]):
            other = near[rows[k], t]
            inside[k, t] = where[other] if other >= 0 and window_of[other] == window else -1
    return inside
