"""Cuts that keep a bound on presence, as an acceptance of the engine: the safe or tight cut, if both sides cover enough."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers, Small
from sfumato.groups._cut_kernels import LEAST_SHARE, divide, evenly, implement, least_side, of_box, smallest_group, tightly
from sfumato.groups._soft_kernels import accepts, least_softly


class Covered(NamedTuple):
    """The cut of `Safe` or of `Tight`, if the values of either side make up `covering[people]` combinations or more."""

    need: Integers
    start: Integers
    floor: int
    tight: bool
    codes: Small  # [columns × rows]
    covering: Integers


@njit(cache=True)
def reaches(distinct: Any, needed: int) -> bool:
    """Return whether the product of these positive numbers is at least `needed`, without ever going beyond 64 bits."""
    if needed < 0:
        return False
    product = 1
    for count in distinct:
        if product >= needed or product > (needed - 1) // count:
            return True
        product *= count
    return bool(product >= needed)


@njit(cache=True)
def distinct_codes(mine: Any, column: Any) -> int:
    """Return how many different codes the rows have in a column."""
    low, high = column[mine[0]], column[mine[0]]
    for row in mine:
        low, high = min(low, column[row]), max(high, column[row])
    seen = np.zeros(high - low + 1, np.bool_)
    for row in mine:
        seen[column[row] - low] = True
    return int(seen.sum())


@njit(cache=True)
def covers(mine: Any, codes: Any, covering: Any) -> bool:
    """Return whether these rows cover enough combinations for a group of their number."""
    needed = covering[len(mine)]
    distinct = np.ones(len(codes), np.int64)
    if needed >= 0 and reaches(distinct, needed):
        return True
    for j in range(len(codes)):
        distinct[j] = distinct_codes(mine, codes[j])
        if reaches(distinct[: j + 1], needed):
            return True
    return False


def _least_covered(acceptance: Any, counts: Any, size: int) -> Any:
    if acceptance.tight:
        return max(acceptance.floor, -(-size // LEAST_SHARE))
    return max(acceptance.floor, smallest_group(counts, acceptance.need, acceptance.start))


def _divide_covered(
    acceptance: Any, mine: Any, column: Any, width: int, absent: int, sensitive: Any, counts: Any, least: int
) -> int:
    if acceptance.tight:
        left = tightly(mine, column, width, absent, sensitive, counts, least, acceptance.need, acceptance.start)
    else:
        left = evenly(mine, column, width, absent, least)
    if left == 0:
        return 0
    if covers(mine[:left], acceptance.codes, acceptance.covering) and covers(mine[left:], acceptance.codes, acceptance.covering):
        return left
    return 0


class SoftCovered(NamedTuple):
    """The cut of `Soft`, if the values of either side make up `covering[people]` combinations or more: seen before the test."""

    need: Integers
    start: Integers
    floor: int
    ledger: Integers
    codes: Small  # [columns × rows]
    covering: Integers


def _divide_softly(
    acceptance: Any, mine: Any, column: Any, width: int, absent: int, sensitive: Any, counts: Any, least: int
) -> int:
    account = acceptance.ledger[0]
    left = evenly(mine, column, width, absent, least)
    if left == 0 or not covers(mine[:left], acceptance.codes, acceptance.covering):
        return 0
    if not covers(mine[left:], acceptance.codes, acceptance.covering):
        return 0
    return left if accepts(mine, left, sensitive, counts, account, acceptance.need, acceptance.start) else 0


def _account_of_box(acceptance: Any, box: int) -> Any:
    return SoftCovered(
        acceptance.need,
        acceptance.start,
        acceptance.floor,
        acceptance.ledger[box : box + 1],
        acceptance.codes,
        acceptance.covering,
    )


implement(least_side, SoftCovered, least_softly)
implement(divide, SoftCovered, _divide_softly)
implement(of_box, SoftCovered, _account_of_box)
implement(least_side, Covered, _least_covered)
implement(divide, Covered, _divide_covered)
