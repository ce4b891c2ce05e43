"""Orders in which near people follow each other, and who is nearest to whom: plain loops over codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.groups._random_kernels import random_fraction

BLOCK = 800  # neighbours are looked for among so many people who follow each other
_LEAF = 6

FINE = 1 << 30
"""Places in whole numbers: so many steps make up a column's domain."""


class RowScale(NamedTuple):
    """Codes of people [rows × columns], and where they lie: code c of column j at `place[first[j] + c]`, unless unit[j] > 0."""

    codes: Any
    first: Any
    place: Any
    unit: Any


class NearestPeople(NamedTuple):
    """[people × neighbours]: everybody's nearest, in order, and how far they are."""

    near: Any
    apart: Any


@njit(cache=True)
def _variety(mine: Any, codes: Any, j: int, first: Any, steps: Any, unit: Any, times: Any) -> Any:
    """Return how far apart two people of a box are in column j, roughly; sums are whole, the same in any order of the rows."""
    people = len(mine)
    if unit[j] > 0:
        alike = np.int64(0)
        for row in mine:
            times[codes[row, j]] += 1
        for row in mine:
            code = codes[row, j]
            alike += times[code] ** 2
            times[code] = 0
        return unit[j] * (1 - alike / (people * people))
    total = np.int64(0)
    for row in mine:
        total += steps[first[j] + codes[row, j]]
    mean = total // people
    away = np.int64(0)
    for row in mine:
        away += abs(steps[first[j] + codes[row, j]] - mean)
    return 1.3 * away / (people * FINE)


@njit(cache=True)
def _ranked(codes: Any, rank: int) -> Any:
    """Return the code with so many before it in ascending order, and reorder the codes; numpy's compiles for seconds."""
    low, high = 0, len(codes) - 1
    while low < high:
        pivot = codes[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while codes[i] < pivot:
                i += 1
            while codes[j] > pivot:
                j -= 1
            if i <= j:
                codes[i], codes[j] = codes[j], codes[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return codes[rank]


@njit(cache=True)
def _halve(mine: Any, codes: Any, j: int, rank: int) -> int:
    """Put the people with lower codes first, cut at the boundary nearest a rank, and return how many they are."""
    people = len(mine)
    column = np.empty(people, np.int32)
    for k in range(people):
        column[k] = codes[mine[k], j]
    middle = _ranked(column.copy(), rank)
    below, upto = 0, 0
    for code in column:
        below += code < middle
        upto += code <= middle
    last = middle - 1 if below > 0 and (upto == people or rank - below <= upto - rank) else middle
    lefts, rights = 0, 0
    right = np.empty(people, mine.dtype)
    for k in range(people):
        if column[k] <= last:
            mine[lefts] = mine[k]
            lefts += 1
        else:
            right[rights] = mine[k]
            rights += 1
    for k in range(rights):
        mine[lefts + k] = right[k]
    return lefts


@njit(cache=True)
def kd_order(codes: Any, first: Any, steps: Any, unit: Any, wobble: float, word: Any) -> Any:
    """Return the rows in an order that cuts boxes in two across the column in which their people differ most."""
    rows = np.arange(len(codes))
    widest = 0
    for j in range(len(unit)):
        widest = max(widest, first[j + 1] - first[j])
    times = np.zeros(widest, np.int64)
    stack = [(0, len(rows))]
    while len(stack) > 0:
        low, high = stack.pop()
        mine = rows[low:high]
        if high - low <= _LEAF:
            continue
        best, column = 0.0, -1
        for j in range(len(unit)):
            variety = _variety(mine, codes, j, first, steps, unit, times) * np.exp(wobble * (2 * random_fraction(word) - 1))
            if variety > best:
                best, column = variety, j
        if column < 0:
            continue
        share = 0.5 + 0.3 * wobble * (random_fraction(word) - 0.5)
        left = _halve(mine, codes, column, int(share * (high - low)))
        if 0 < left < high - low:
            stack.append((low + left, high))
            stack.append((low, low + left))
    return rows


@njit(cache=True)
def _spots(mine: Any, scale: RowScale) -> Any:
    """Return [columns × people] where on its scale each code lies, the code itself for a category."""
    codes, first, place, unit = scale
    spots = np.empty((len(unit), len(mine)), np.float32)
    for j in range(len(unit)):
        for k in range(len(mine)):
            code = codes[mine[k], j]
            spots[j, k] = np.float32(code) if unit[j] > 0 else np.float32(place[first[j] + code])
    return spots


@njit(cache=True)
def _distances(spots: Any, unit: Any, a: int, away: Any) -> None:
    """Set how far everybody is from person a; column by column, which lets the machine do several people at once."""
    for b in range(len(away)):
        away[b] = 0
    for j in range(len(unit)):
        row, here, step = spots[j], spots[j, a], np.float32(unit[j])
        if step > 0:
            for b in range(len(away)):
                away[b] += step if row[b] != here else np.float32(0)
        else:
            for b in range(len(away)):
                away[b] += abs(row[b] - here)


@njit(cache=True)
def _keep(near: Any, apart: Any, b: int, d: Any) -> None:
    """Put b among somebody's nearest, which are in order, unless it is there already."""
    for known in near:
        if known == b:
            return
    at = len(near) - 1
    while at > 0 and apart[at - 1] > d:
        apart[at], near[at] = apart[at - 1], near[at - 1]
        at -= 1
    apart[at], near[at] = d, b


@njit(cache=True, nogil=True)
def find_neighbours(scale: RowScale, order: Any, turn: int, nearest: NearestPeople, begin: int, end: int) -> None:
    """Add to everybody's nearest those of her block of the order, blocks beginning at a turn, for the blocks begin … end − 1."""
    near, apart = nearest
    people, most = len(order), near.shape[1]
    for block in range(begin, end):
        mine = order[max(block * BLOCK - turn, 0) : min((block + 1) * BLOCK - turn, people)]
        spots = _spots(mine, scale)
        away = np.empty(len(mine), np.float32)
        for k in range(len(mine)):
            a = mine[k]
            _distances(spots, scale.unit, k, away)
            for later in range(1, len(mine)):  # those who follow first: equally near ones would all be the first of the block
                b = k + later if k + later < len(mine) else k + later - len(mine)
                if away[b] < apart[a, most - 1]:
                    _keep(near[a], apart[a], mine[b], away[b])
