"""Placing a group's values on its people: the share of all placements, each weighed, in which a person has a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit

MOST_STATES = 1024
"""Groups whose values can be used up in more ways are raked instead of summed up exactly."""
_ROUNDS = 60
_NEAR = 1e-6


@njit(cache=True)
def place_all(start: Any, entry: Any, count: Any, weight: Any, offset: Any, exact: bool, out: Any) -> None:
    """Write everybody's beliefs to `out`, group by group; `weight` and `out` are laid out by `offset`."""
    for g in range(len(start) - 1):
        people, many = start[g + 1] - start[g], entry[g + 1] - entry[g]
        if people == 0 or many == 0:
            continue
        low, high = offset[start[g]], offset[start[g + 1]]
        mine = weight[low:high].reshape(people, many)
        beliefs = out[low:high].reshape(people, many)
        shown = count[entry[g] : entry[g + 1]]
        if not (exact and sum_up(mine, shown, beliefs)):
            rake(mine, shown, beliefs)


@njit(cache=True)
def sum_up(weight: Any, count: Any, out: Any) -> bool:
    """Sum over all placements, by how often each value was used so far; False where these are too many, or none is possible.

    Values that are left over, where a group shows more of them than it has people, are taken as decoys.
    """
    people, many = weight.shape
    states = 1
    for v in range(many):
        states *= int(count[v]) + 1
        if states > MOST_STATES:
            return False
    step = np.empty(many, np.int64)
    size = 1
    for v in range(many):
        step[v] = size
        size *= int(count[v]) + 1
    used = np.zeros(states, np.int64)
    for s in range(states):
        for v in range(many):
            used[s] += s // step[v] % (int(count[v]) + 1)
    ahead = np.zeros((people + 1, states))
    for s in range(states):
        ahead[people, s] = 1.0 if used[s] == people else 0.0
    for i in range(people - 1, -1, -1):
        largest = 0.0
        for s in range(states):
            if used[s] != i:
                continue
            total = 0.0
            for v in range(many):
                if s // step[v] % (int(count[v]) + 1) < int(count[v]):
                    total += weight[i, v] * ahead[i + 1, s + step[v]]
            ahead[i, s] = total
            largest = max(largest, total)
        if largest <= 0.0:
            return False
        for s in range(states):
            ahead[i, s] /= largest
    behind, after = np.zeros(states), np.zeros(states)
    behind[0] = 1.0
    for i in range(people):
        after[:] = 0.0
        total = 0.0
        for v in range(many):
            out[i, v] = 0.0
        for s in range(states):
            if used[s] != i or behind[s] == 0.0:
                continue
            for v in range(many):
                if s // step[v] % (int(count[v]) + 1) < int(count[v]):
                    part = behind[s] * weight[i, v]
                    after[s + step[v]] += part
                    out[i, v] += part * ahead[i + 1, s + step[v]]
        for v in range(many):
            total += out[i, v]
        if total <= 0.0:
            return False
        for v in range(many):
            out[i, v] /= total
        largest = 0.0
        for s in range(states):
            largest = max(largest, after[s])
        for s in range(states):
            behind[s] = after[s] / largest
    return True


@njit(cache=True)
def rake(weight: Any, count: Any, out: Any) -> None:
    """Scale weights until every person's add up to one and every value is used as often as it is shown (Sinkhorn)."""
    people, many = weight.shape
    shown = 0.0
    for v in range(many):
        shown += count[v]
    fit = people / max(shown, 1e-300)
    column = np.empty(many)
    for i in range(people):
        total = 0.0
        for v in range(many):
            out[i, v] = weight[i, v] if count[v] > 0 else 0.0
            total += out[i, v]
        for v in range(many):
            out[i, v] = out[i, v] / total if total > 0 else count[v] / max(shown, 1e-300)
    for _ in range(_ROUNDS):
        column[:] = 0.0
        for i in range(people):
            for v in range(many):
                column[v] += out[i, v]
        worst = 0.0
        for v in range(many):
            worst = max(worst, abs(column[v] - fit * count[v]))
            column[v] = fit * count[v] / column[v] if column[v] > 0 else 0.0
        for i in range(people):
            total = 0.0
            for v in range(many):
                out[i, v] *= column[v]
                total += out[i, v]
            for v in range(many):
                out[i, v] = out[i, v] / total if total > 0 else count[v] / max(shown, 1e-300)
        if worst < _NEAR * people:
            break
