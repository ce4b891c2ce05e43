"""Safe cuts that may touch, and matching people to groups, one pool after the other, by linear assignment.

What a match costs is what a person would add to a group's box, in whole numbers, so that sums do not depend on an order. Matching
sees no sensitive value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers
from sfumato.groups._cut_kernels import part_otherwise, put, split_rows
from sfumato.groups._rule_kernels import choose, cut_of, histogram_of, implement, least_safely, least_side

FAR = np.int64(1) << 60
PADDED = 2  # at most so many times its own people a side may become by taking in others


class Padded(NamedTuple):
    """A safe cut, the most even one of a column; a side that is too small takes in people of the other side, drawn at random.

    Both sides keep the bounds however the box's values fall, as with `Safe`, but they may touch. It looks at quasi values, at the
    box's histogram, and at the order of the rows, which must come from coins.
    """

    need: Integers
    start: Integers
    floor: int


def _choose_padded(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    return cut_of(histogram_of(column), column.kind, size, -(-least // PADDED))


def _part_padded(acceptance: Any, mine: Any, codes: Any, boundary: int, also: int, left: int, counts: Any) -> Any:
    least = least_side(acceptance, counts, len(mine))
    split_rows(mine, codes, boundary, also)
    if left < least:
        return least
    if len(mine) - left < least:
        lent = left - (len(mine) - least)
        first = mine[:lent].copy()
        put(mine[lent:left], mine)
        put(first, mine[left - lent :])
        return left - lent
    return left


implement(least_side, Padded, least_safely)
implement(choose, Padded, _choose_padded)
part_otherwise(Padded, _part_padded)


@njit(cache=True)
def assign(cost: Any) -> Any:
    """Return for each row of a square matrix its column in an assignment of least total cost (Jonker and Volgenant, 1987)."""
    size = len(cost)
    price = np.empty(size, np.int64)
    column_of = np.full(size, -1, np.int64)
    row_of = np.full(size, -1, np.int64)
    _reduce_columns(cost, price, column_of, row_of)
    _transfer(cost, price, column_of)
    free = np.flatnonzero(column_of < 0)
    for _ in range(2):
        free = _reduce_rows(cost, price, column_of, row_of, free)
    for k in range(len(free)):
        _augment(cost, price, column_of, row_of, free[k])
    return column_of


@njit(cache=True)
def _reduce_columns(cost: Any, price: Any, column_of: Any, row_of: Any) -> None:
    """Price every column by its least cost, and assign it to the row that has it if that row is free."""
    size = len(cost)
    least = np.zeros(size, np.int64)
    put(cost[0], price)
    for row in range(1, size):
        for column in range(size):
            if cost[row, column] < price[column]:
                price[column] = cost[row, column]
                least[column] = row
    for column in range(size - 1, -1, -1):
        row = least[column]
        if column_of[row] < 0:
            column_of[row] = column
            row_of[column] = row


@njit(cache=True)
def _transfer(cost: Any, price: Any, column_of: Any) -> None:
    """Lower the price of every assigned row's column as far as the row would still choose it."""
    for row in range(len(cost)):
        own = column_of[row]
        if own < 0:
            continue
        slack = FAR
        for column in range(len(cost)):
            if column != own:
                slack = min(slack, cost[row, column] - price[column])
        if slack < FAR:
            price[own] -= max(slack - (cost[row, own] - price[own]), 0)


@njit(cache=True)
def _reduce_rows(cost: Any, price: Any, column_of: Any, row_of: Any, free: Any) -> Any:
    """Let free rows bid for their best column, driving others out, and return the rows that are free after one pass."""
    waiting = free.copy()
    still = np.empty(len(free), np.int64)
    left, at = 0, 0
    while at < len(waiting):
        row = waiting[at]
        at += 1
        best, second, first_column, second_column = FAR, FAR, -1, -1
        for column in range(len(cost)):
            reduced = cost[row, column] - price[column]
            if reduced < second:
                if reduced < best:
                    second, second_column = best, first_column
                    best, first_column = reduced, column
                else:
                    second, second_column = reduced, column
        chosen = first_column
        driven = row_of[chosen]
        if best < second:
            price[chosen] -= second - best if second < FAR else 0
        elif driven >= 0 and second_column >= 0:
            chosen = second_column
            driven = row_of[chosen]
        column_of[row] = chosen
        row_of[chosen] = row
        if driven >= 0:
            column_of[driven] = -1
            if best < second:
                at -= 1
                waiting[at] = driven
            else:
                still[left] = driven
                left += 1
    return still[:left].copy()


@njit(cache=True)
def _augment(cost: Any, price: Any, column_of: Any, row_of: Any, start: int) -> None:
    """Assign a free row by a shortest path of exchanges."""
    size = len(cost)
    distance = cost[start] - price
    before = np.full(size, start, np.int64)
    columns = np.arange(size)  # settled, then at the least distance, then the others
    low, up, settled = 0, 0, 0
    least, end = np.int64(0), -1
    while end < 0:
        if up == low:
            settled = low
            least = FAR
            for k in range(up, size):
                column = columns[k]
                if distance[column] <= least:
                    if distance[column] < least:
                        least = distance[column]
                        up = low
                    columns[k], columns[up] = columns[up], column
                    up += 1
            for k in range(low, up):
                if row_of[columns[k]] < 0:
                    end = columns[k]
                    break
        while end < 0 and low < up:
            near = columns[low]
            low += 1
            row = row_of[near]
            offset = cost[row, near] - price[near] - least
            k = up
            while k < size:
                column = columns[k]
                other = cost[row, column] - price[column] - offset
                if other < distance[column]:
                    distance[column] = other
                    before[column] = row
                    if other == least:
                        if row_of[column] < 0:
                            end = column
                            break
                        columns[k], columns[up] = columns[up], column
                        up += 1
                k += 1
    for k in range(settled):
        price[columns[k]] += distance[columns[k]] - least
    while True:
        row = before[end]
        row_of[end] = row
        column_of[row], end = end, column_of[row]
        if row == start:
            return


@njit(cache=True)
def _start_boxes(low: Any, high: Any, extra: Any, unit: Any) -> None:
    low[:] = FAR
    high[:] = -1
    for group in range(len(extra)):
        extra[group] = unit


@njit(cache=True)
def _widen(group: int, person: int, numbers: Any, kinds: Any, low: Any, high: Any, extra: Any) -> None:
    """Let a group's box contain a person."""
    for j in range(numbers.shape[1]):
        number = numbers[person, j]
        if number >= 0:
            low[group, j] = min(low[group, j], number)
            high[group, j] = max(high[group, j], number)
    for j in range(kinds.shape[1]):
        extra[group, kinds[person, j]] = 0


@njit(cache=True)
def _price_of_joining(cost: Any, members: Any, numbers: Any, kinds: Any, low: Any, high: Any, extra: Any) -> None:
    """Fill cost[group, k] with what the box of each group would grow by if it took the k-th member of a pool."""
    size = len(members)
    for group in range(size):
        for k in range(size):
            person = members[k]
            grown = np.int64(0)
            for j in range(numbers.shape[1]):
                number = numbers[person, j]
                if number >= 0 and high[group, j] >= 0:
                    grown += max(low[group, j] - number, 0) + max(number - high[group, j], 0)
            for j in range(kinds.shape[1]):
                grown += extra[group, kinds[person, j]]
            cost[group, k] = grown


@njit(cache=True, nogil=True)
def match_block(people: Any, numbers: Any, kinds: Any, unit: Any, sweeps: int) -> None:
    """Arrange people[pool, :] so that people[:, g] is group g.

    Pools are taken in order, the first as it is. Each sweep then takes one pool after the other out of all groups and
    matches it again.
    """
    pools, size = people.shape
    low = np.empty((size, numbers.shape[1]), np.int64)
    high = np.empty((size, numbers.shape[1]), np.int64)
    extra = np.empty((size, len(unit)), np.int64)
    cost = np.empty((size, size), np.int64)
    _start_boxes(low, high, extra, unit)
    for group in range(size):
        _widen(group, people[0, group], numbers, kinds, low, high, extra)
    for pool in range(1, pools):
        _price_of_joining(cost, people[pool], numbers, kinds, low, high, extra)
        put(people[pool][assign(cost)], people[pool])
        for group in range(size):
            _widen(group, people[pool, group], numbers, kinds, low, high, extra)
    for _ in range(sweeps):
        for pool in range(pools):
            _start_boxes(low, high, extra, unit)
            for group in range(size):
                for other in range(pools):
                    if other != pool:
                        _widen(group, people[other, group], numbers, kinds, low, high, extra)
            _price_of_joining(cost, people[pool], numbers, kinds, low, high, extra)
            put(people[pool][assign(cost)], people[pool])
