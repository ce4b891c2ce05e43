"""Compiled kernels of the settings: the search over two sizes, and the transportation flow. Plain loops over int64 arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers

NO_LOSS = np.iinfo(np.int64).max
"""Larger than any loss: nothing was found yet."""


@njit(cache=True)
def first_pair(small: int, large: int, total: int) -> tuple[int, int, int, int]:
    """Return (b₁, b₂, Δ₁, Δ₂): the first pair of Γ(S₁, S₂) and the steps to the next; b₁ = −1 when Γ is empty.

    The smallest b₂ with S₂·b₂ ≡ n (mod S₁) comes from the extended Euclidean algorithm [F', equations 7 and 8].
    """
    a, b = large, small
    x, next_x = 1, 0
    while b != 0:
        q = a // b
        a, b = b, a - q * b
        x, next_x = next_x, x - q * next_x
    step_small, step_large = large // a, small // a
    if total % a != 0:
        return -1, 0, step_small, step_large
    # x·S₂ ≡ gcd (mod S₁), so x is the inverse of S₂/gcd modulo S₁/gcd.
    number_large = ((total // a) % step_large) * (x % step_large) % step_large
    rest = total - number_large * large
    if rest < 0:
        return -1, 0, step_small, step_large
    return rest // small, number_large, step_small, step_large


@njit(cache=True)
def is_valid_pair(
    counts: Integers, caps_small: Integers, caps_large: Integers, small: int, large: int, n_small: int, n_large: int
) -> bool:
    """Return whether PC and FC hold for b₁ buckets of S₁ and b₂ of S₂ that fit n, so that CC holds [F', Theorem 3]."""
    fill_small = 0
    fill_large = 0
    for i in range(len(counts)):
        most_small = min(caps_small[i] * n_small, counts[i])
        most_large = min(caps_large[i] * n_large, counts[i])
        if most_small + most_large < counts[i]:
            return False
        fill_small += most_small
        fill_large += most_large
    return fill_small >= small * n_small and fill_large >= large * n_large


@njit(cache=True)
def _can_fill(counts: Integers, caps: Integers, size: int, number: int) -> bool:
    """Return whether FC holds for one size."""
    need = size * number
    for i in range(len(counts)):
        need -= min(caps[i] * number, counts[i])
        if need <= 0:
            return True
    return need <= 0


@njit(cache=True)
def _first_valid_position(
    counts: Integers,
    caps_small: Integers,
    caps_large: Integers,
    small: int,
    large: int,
    pair: tuple[int, int, int, int],
    last: int,
) -> int:
    """Return the first position ≤ last in Γ(S₁, S₂) that is valid, or −1, without visiting the positions before it."""
    b_small, b_large, step_small, step_large = pair
    low, high = 0, last
    for i in range(len(counts)):
        have = caps_small[i] * b_small + caps_large[i] * b_large - counts[i]
        slope = caps_large[i] * step_large - caps_small[i] * step_small
        if have < 0:
            if slope <= 0:
                return -1
            low = max(low, (-have + slope - 1) // slope)
        elif slope < 0:
            high = min(high, have // -slope)
        if low > high:
            return -1
    if not _can_fill(counts, caps_small, small, b_small - low * step_small):
        if not _can_fill(counts, caps_small, small, b_small - high * step_small):
            return -1
        fails = low
        low = high
        while low - fails > 1:
            middle = (low + fails) // 2
            if _can_fill(counts, caps_small, small, b_small - middle * step_small):
                low = middle
            else:
                fails = middle
    return low if _can_fill(counts, caps_large, large, b_large + low * step_large) else -1


@njit(cache=True)
def search_two_sizes(
    counts: Integers, caps_by_size: Integers, sizes: Integers, below: int, search: int
) -> tuple[int, int, int, int, int]:
    """Return (loss, S₁, b₁, S₂, b₂) of the best valid pair that loses less than `below`; loss = NO_LOSS when there is none.

    `search` 0 validates every pair of every Γ, 1 only those before the best loss so far, 2 goes straight to the first
    valid one. `caps_by_size[j, i]` belongs to size j and value i. Of equal losses the first found stays: smallest S₁,
    then smallest S₂.
    """
    total = counts.sum()
    best = below
    best_pair = (NO_LOSS, 0, 0, 0, 0)
    for j in range(len(sizes)):
        for k in range(j + 1, len(sizes)):
            small, large = sizes[j], sizes[k]
            pair = first_pair(small, large, total)
            b_small, b_large, step_small, step_large = pair
            if b_small < 0:
                continue
            loss = b_small * (small - 1) ** 2 + b_large * (large - 1) ** 2
            step = step_large * (large - 1) ** 2 - step_small * (small - 1) ** 2
            last = b_small // step_small
            if search > 0:
                if loss >= best:
                    continue
                last = min(last, (best - 1 - loss) // step)
            if search == 2:
                at = _first_valid_position(counts, caps_by_size[j], caps_by_size[k], small, large, pair, last)
                if at >= 0 and loss + at * step < best:
                    best = loss + at * step
                    best_pair = (best, small, b_small - at * step_small, large, b_large + at * step_large)
                continue
            for at in range(last + 1):
                n_small, n_large = b_small - at * step_small, b_large + at * step_large
                valid = is_valid_pair(counts, caps_by_size[j], caps_by_size[k], small, large, n_small, n_large)
                if valid and loss + at * step < best:
                    best = loss + at * step
                    best_pair = (best, small, n_small, large, n_large)
                if valid and search == 1:
                    break
    return best_pair


class _Flow(NamedTuple):
    """What flows from rows to columns and may, what rows have left, and what columns have room for."""

    flow: Integers
    capacity: Integers
    rest: Integers
    room: Integers


class _FlowLevels(NamedTuple):
    """How far rows and columns are from a row with records left; −1 where they cannot be reached."""

    row: Integers
    column: Integers


@njit(cache=True)
def _levels(state: _Flow, levels: _FlowLevels) -> bool:
    """Label rows and columns by their distance from a row with records left; return whether a column with room is reached."""
    flow, capacity, rest, room = state
    row_level, column_level = levels
    rows, columns = capacity.shape
    row_queue = np.empty(rows, np.int64)
    column_queue = np.empty(columns, np.int64)
    row_level[:] = -1
    column_level[:] = -1
    queued = 0
    for i in range(rows):
        if rest[i] > 0:
            row_level[i] = 0
            row_queue[queued] = i
            queued += 1
    read = 0
    seen = 0
    level = 0
    while read < queued:
        level += 1
        start = seen
        reached = False
        for place in range(read, queued):
            i = row_queue[place]
            for j in range(columns):
                if column_level[j] < 0 and flow[i, j] < capacity[i, j]:
                    column_level[j] = level
                    column_queue[seen] = j
                    seen += 1
                    reached = reached or room[j] > 0
        if reached:
            return True
        read = queued
        level += 1
        for place in range(start, seen):
            j = column_queue[place]
            for i in range(rows):
                if row_level[i] < 0 and flow[i, j] > 0:
                    row_level[i] = level
                    row_queue[queued] = i
                    queued += 1
    return False


@njit(cache=True)
def _find_path(state: _Flow, levels: _FlowLevels, next_column: Integers, next_row: Integers, path: Integers) -> int:
    """Extend path[0] (a row) along the levels to a column with room; return the path's length, 0 when there is no such path."""
    flow, capacity, _, room = state
    row_level, column_level = levels
    rows, columns = capacity.shape
    depth = 1
    while depth > 0:
        here = path[depth - 1]
        moved = False
        if depth % 2 == 1:
            while next_column[here] < columns:
                j = next_column[here]
                if column_level[j] == depth and flow[here, j] < capacity[here, j]:
                    path[depth] = j
                    moved = True
                    break
                next_column[here] += 1
        else:
            if room[here] > 0:
                return depth
            while next_row[here] < rows:
                i = next_row[here]
                if row_level[i] == depth and flow[i, here] > 0:
                    path[depth] = i
                    moved = True
                    break
                next_row[here] += 1
        if moved:
            depth += 1
            continue
        if depth % 2 == 1:
            row_level[here] = -2
            if depth > 1:
                next_row[path[depth - 2]] += 1
        else:
            column_level[here] = -2
            next_column[path[depth - 2]] += 1
        depth -= 1
    return 0


@njit(cache=True)
def transport(supply: Integers, capacity: Integers, demand: Integers) -> tuple[Integers, Integers, Integers]:
    """Return (flow, row level, column level) of a maximum flow from rows to columns through `capacity` (Dinic's algorithm).

    Levels ≥ 0 mark what is still reachable from a row with supply left: the source side of a minimum cut.
    """
    rows, columns = capacity.shape
    flow = np.zeros((rows, columns), np.int64)
    rest = supply.copy()
    room = demand.copy()
    for j in range(columns):
        for i in range(rows - 1, -1, -1):
            amount = min(rest[i], capacity[i, j], room[j])
            flow[i, j] = amount
            rest[i] -= amount
            room[j] -= amount
    state, levels = _Flow(flow, capacity, rest, room), _FlowLevels(np.empty(rows, np.int64), np.empty(columns, np.int64))
    path = np.empty(2 * min(rows, columns) + 4, np.int64)
    while _levels(state, levels):
        next_column = np.zeros(rows, np.int64)
        next_row = np.zeros(columns, np.int64)
        for start in range(rows):
            while rest[start] > 0 and levels.row[start] == 0:
                path[0] = start
                length = _find_path(state, levels, next_column, next_row, path)
                if length == 0:
                    break
                amount = min(rest[start], room[path[length - 1]])
                for d in range(length - 1):
                    if d % 2 == 0:
                        amount = min(amount, capacity[path[d], path[d + 1]] - flow[path[d], path[d + 1]])
                    else:
                        amount = min(amount, flow[path[d + 1], path[d]])
                for d in range(length - 1):
                    if d % 2 == 0:
                        flow[path[d], path[d + 1]] += amount
                    else:
                        flow[path[d + 1], path[d]] -= amount
                rest[start] -= amount
                room[path[length - 1]] -= amount
    return flow, levels.row, levels.column
