"""Soft cuts, as an acceptance of the engine: a cut that a test of where values fell refuses is refused softly, and accounted for.

Every box has a row of the ledger, an *account*: what its refused tests may have told (`TOLD`), and the coins of the tests to
come. Everything is whole: told is counted in billionths and rounded down, caps follow from it in thousandths, rounded down again,
which is what a release shows. docs/guarantees.md has the proof.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from sfumato._jit import njit
from sfumato.arrays import Integers
from sfumato.groups._cut_kernels import again, divide, least_side, of_box, only_for, split_rows

SHOWN = 1000
"""A release shows what a box told in thousandths."""
FINE = 1_000_000
"""The account is kept a million times finer than that."""

TOLD, OVER, UNDER, MADE, ROUND, COINS = range(6)
"""An account: told in units of 1/(SHOWN·FINE); the chance q of a refusing coin, OVER/UNDER; tests made; round; then for each test
how many coins say "refuse" before the first one that does not."""


class Soft(NamedTuple):
    """The most even cut, if it is safe or if a test of its two sides, with coins, accepts it."""

    need: Integers  # ⌈SHOWN·count / bound⌉
    start: Integers
    floor: int
    rounds: int  # how many boundaries of a column are candidates, the most even first
    least_share: int  # but none that leaves fewer than 1/least_share of the box on a side
    ledger: Integers  # [boxes × accounts]


@njit(cache=True)
def room(size: int, told: int) -> int:
    """Return SHOWN·(1 + (size − 1)·told), `told` in billionths: what takes the place of SHOWN·size in the caps of a box."""
    return int(SHOWN + (size - 1) * (told // FINE))


@njit(cache=True)
def keeps(counts: Any, size: int, told: int, need: Any, start: Any) -> bool:
    """Return whether `size` people with these counts keep the caps of a box that told so much."""
    space = room(size, told)
    for value in range(len(counts)):
        if counts[value] > 0 and need[start[value] + counts[value]] > space:
            return False
    return True


@njit(cache=True)
def cap(value: int, count: int, space: int, need: Any, start: Any) -> int:
    """Return the largest number up to `count` of a value for which there is room."""
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        if need[start[value] + middle] <= space:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True)
def slack(mine: Any, left: int, sensitive: Any, counts: Any, told: int, need: Any, start: Any) -> tuple[bool, int]:
    """Return whether a cut can keep the caps on both sides at all, and how many more people of any one value they would take.

    Only values that could exceed the cap of a side are looked at: which these are follows from the counts of the box.
    """
    here = np.zeros(len(counts), np.int64)
    for row in mine[:left]:
        here[sensitive[row]] += 1
    left_room, right_room = room(left, told), room(len(mine) - left, told)
    least = len(mine)
    for value in range(len(counts)):
        count = counts[value]
        if count == 0:
            continue
        ours = cap(value, count, left_room, need, start)
        theirs = cap(value, count, right_room, need, start)
        if ours + theirs < count:
            return False, 0
        if ours < count:
            least = min(least, ours - here[value])
        if theirs < count:
            least = min(least, theirs - count + here[value])
    return True, least


@njit(cache=True)
def accepts(mine: Any, left: int, sensitive: Any, counts: Any, account: Any, need: Any, start: Any) -> bool:
    """Return whether the first `left` people are cut from the others; a refusal that tells something is put to the account."""
    told, size = account[TOLD], len(mine)
    if keeps(counts, min(left, size - left), told, need, start):
        return True
    if account[MADE] == len(account) - COINS:
        return False
    after = told * account[OVER] // account[UNDER]
    if not keeps(counts, size, after, need, start):
        return False
    possible, free = slack(mine, left, sensitive, counts, told, need, start)
    if not possible:
        return False
    refusing = account[COINS + account[MADE]]
    account[MADE] += 1
    if free >= 0 and refusing <= free:
        return True
    account[TOLD] = after
    return False


@njit(cache=True)
def boundary_of(histogram: Any, missing: int, size: int, turn: int, least: int) -> tuple[int, bool, int]:
    """Return the cut of a column that is the `turn`-th most even of all, from 0 on, as `even_cut` does; side 0: none."""
    values = len(histogram) - missing
    lost = histogram[values] if missing else 0
    smaller = np.zeros(2 * values, np.int64)
    left = 0
    for code in range(values):
        if histogram[code] == 0 and code > 0:
            continue
        left += histogram[code]
        smaller[2 * code] = min(left, size - left)
        if lost > 0:
            smaller[2 * code + 1] = min(left + lost, size - left - lost)
    best = 0
    for _ in range(turn + 1):
        best = int(np.argmax(smaller))
        side = smaller[best]
        if side < least or side == 0:
            return -1, False, 0
        smaller[best] = 0
    return best // 2, best % 2 == 1, side


@njit(cache=True)
def candidate(mine: Any, column: Any, width: int, absent: int, least: int, turn: int, least_share: int) -> int:
    """Put the left side of the column's cut of this turn first and return its size, 0 where there is none: by quasi values."""
    histogram = np.zeros(width, np.int64)
    for row in mine:
        histogram[column[row]] += 1
    fewest = least if turn == 0 else max(least, -(-len(mine) // least_share))
    boundary, joins, smaller = boundary_of(histogram, int(absent >= 0), len(mine), turn, fewest)
    return split_rows(mine, column, boundary, joins, absent) if smaller > 0 else 0


@njit(cache=True)
def next_round(account: Any, rounds: int) -> bool:
    """Go on to the next boundaries of the columns, if there are any and tests are left."""
    account[ROUND] += 1
    return bool(account[ROUND] < rounds and account[MADE] < len(account) - COINS)


def _least_softly(acceptance: Any, counts: Any, size: int) -> Any:
    return acceptance.floor


def _divide_softly(
    acceptance: Any, mine: Any, column: Any, width: int, absent: int, sensitive: Any, counts: Any, least: int
) -> int:
    account = acceptance.ledger[0]
    left = candidate(mine, column, width, absent, least, account[ROUND], acceptance.least_share)
    if left == 0 or not accepts(mine, left, sensitive, counts, account, acceptance.need, acceptance.start):
        return 0
    return left


def _again_softly(acceptance: Any) -> Any:
    return next_round(acceptance.ledger[0], acceptance.rounds)


def _account_of_box(acceptance: Any, box: int) -> Any:
    ledger = acceptance.ledger[box : box + 1]
    return Soft(acceptance.need, acceptance.start, acceptance.floor, acceptance.rounds, acceptance.least_share, ledger)


@overload(least_side)
def _soft_least(acceptance: Any, counts: Any, size: int) -> Any:
    return only_for(Soft, acceptance, _least_softly)


@overload(divide)
def _soft_divide(
    acceptance: Any, mine: Any, column: Any, width: int, absent: int, sensitive: Any, counts: Any, least: int
) -> Any:
    return only_for(Soft, acceptance, _divide_softly)


@overload(again)
def _soft_again(acceptance: Any) -> Any:
    return only_for(Soft, acceptance, _again_softly)


@overload(of_box)
def _soft_box(acceptance: Any, box: int) -> Any:
    return only_for(Soft, acceptance, _account_of_box)
