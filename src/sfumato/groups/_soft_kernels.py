"""Soft cuts, as an acceptance of the engine: a cut that a test of where values fell refuses is refused softly, and accounted for.

Every box has an entry in the ledger: its *account*, which is 1 at first and shrinks with every refusal, and the
coins of the tests to come. Everything is whole: the account is kept in billionths and rounded down, caps follow from it in
thousandths, rounded down again, which is what a release shows. docs/guarantees.md has the proof,
proofs/soft_cuts.v the procedure as Coq has checked it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sfumato._jit import njit
from sfumato.arrays import Integers
from sfumato.groups._cover_kernels import CoverRule
from sfumato.groups._rule_kernels import (
    both_cover,
    choose,
    cut_of,
    events_left,
    histogram_of,
    implement,
    least_by_floor,
    least_side,
    of_box,
    smallest_group,
)

SHOWN = 1000
"""A release shows the account of a box in thousandths."""
FINE = 1_000_000
"""The account is kept a million times finer than that."""

ACCOUNT, OVER, UNDER, MADE, COINS = range(5)
"""An entry: the account in units of 1/(SHOWN·FINE); the chance q of a refusing coin, OVER/UNDER; tests made; then for each test
how many coins say "refuse" before the first one that does not. Without coins, which few boxes need, MADE becomes WAITS at a
test."""
WAITS = -1


class Soft(NamedTuple):
    """A column's cut, if it is safe or if a test of its two sides, with coins, accepts it; what they cover is seen before."""

    need: Integers  # ⌈SHOWN·count / bound⌉
    start: Integers
    floor: int
    ledger: Integers  # [boxes × entries]
    cover: CoverRule | None = None


@njit(cache=True, inline="always")
def room(size: int, account: int) -> int:
    """Return SHOWN·(1 + (size − 1)·account), `account` in billionths: what takes the place of SHOWN·size in the caps of a box."""
    return SHOWN + (size - 1) * (account // FINE)


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
def possible(left: int, size: int, counts: Any, account: int, need: Any, start: Any) -> bool:
    """Return whether a cut can keep the caps on both sides at all, by the counts of the box."""
    left_room, right_room = room(left, account), room(size - left, account)
    for value in range(len(counts)):
        count = counts[value]
        if count > 0:
            both = cap(value, count, left_room, need, start) + cap(value, count, right_room, need, start)
            if both < count:
                return False
    return True


@njit(cache=True)
def slack(here: Any, left: int, size: int, counts: Any, account: int, need: Any, start: Any) -> int:
    """Return how many more people of any one event both sides would take, `here` being the counts of the left one.

    Only events that could exceed the cap of a side are looked at: which these are follows from the counts of the box. Exchanging
    the values of two people moves the count of a value, and of a set, on a side by at most one.
    """
    left_room, right_room = room(left, account), room(size - left, account)
    least = size
    for value in range(len(counts)):
        count = counts[value]
        if count == 0:
            continue
        ours = cap(value, count, left_room, need, start)
        theirs = cap(value, count, right_room, need, start)
        if ours < count and ours - here[value] < least:
            least = ours - here[value]
        if theirs < count and theirs - count + here[value] < least:
            least = theirs - count + here[value]
    return least


@njit(cache=True)
def before_test(left: int, size: int, counts: Any, entry: Any, need: Any, start: Any) -> int:
    """Return 1 for a cut that is accepted and 0 for one that is refused by counts of the box alone, −1 for one to be tested.

    Without coins a box that comes to a test waits for them, and the cut is taken as accepted meanwhile.
    """
    account, least = entry[ACCOUNT], smallest_group(counts, need, start)
    if least <= room(left if 2 * left < size else size - left, account):
        return 1
    drawn = len(entry) > COINS
    if drawn and entry[MADE] == len(entry) - COINS:
        return 0
    if least > room(size, account * entry[OVER] // entry[UNDER]):
        return 0
    if not possible(left, size, counts, account, need, start):
        return 0
    if not drawn:
        entry[MADE] = WAITS
        return 1
    return -1


@njit(cache=True)
def passes(here: Any, left: int, size: int, counts: Any, entry: Any, need: Any, start: Any) -> bool:
    """Make a test with its coins, `here` being the counts of the left side; a refusal is put to the account."""
    free = slack(here, left, size, counts, entry[ACCOUNT], need, start)
    refusing = entry[COINS + entry[MADE]]
    entry[MADE] += 1
    if free >= 0 and refusing <= free:
        return True
    entry[ACCOUNT] = entry[ACCOUNT] * entry[OVER] // entry[UNDER]
    return False


def _choose_softly(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    boundary, also, left = cut_of(histogram_of(column), column.kind, size, least)
    if left > 0 and not both_cover(column, boundary, also, left, acceptance.cover):
        left = 0
    if left > 0:
        entry, need, start = acceptance.ledger[0], acceptance.need, acceptance.start
        verdict = before_test(left, size, counts, entry, need, start)
        if verdict < 0:
            accepted = passes(events_left(column, boundary, also), left, size, counts, entry, need, start)
        else:
            accepted = verdict == 1
        if not accepted:
            left = 0
    return boundary, also, left


def _account_of_box(acceptance: Any, box: int) -> Any:
    return Soft(acceptance.need, acceptance.start, acceptance.floor, acceptance.ledger[box : box + 1], acceptance.cover)


implement(least_side, Soft, least_by_floor)  # caps are for the test to keep
implement(choose, Soft, _choose_softly)
implement(of_box, Soft, _account_of_box)
