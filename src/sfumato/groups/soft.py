"""Soft cuts: the accounts of boxes, the coins of their tests, and the public rules by which both are chosen.

A test whether two sides keep their caps looks at where values fell, so a refusal tells something. It is made by coins: a test
that leaves slack s is refused with chance q^(s+1), so that exchanging two people's values changes that chance at most q-fold.
Every refusal multiplies the *account* of a box, 1 for everybody, by q, and its caps shrink with it:
⌊bound·(1 + (n − 1)·account)⌋.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.groups._cover_kernels import CoverRule
from sfumato.groups._soft_kernels import ACCOUNT, COINS, FINE, MADE, OVER, SHOWN, UNDER, WAITS, Soft
from sfumato.groups.grouping import need_table
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness

WHOLE = SHOWN
"""The account of a box in which nothing was refused, in thousandths."""

MOST_PATIENCE = 1_000_000
"""Beyond that every box has the least chance anyway, up to millions of people."""

LEAST_CHANCE = Fraction(7, 10)
"""A refusing coin has at least this chance: no single refusal may cost more than 3/10 of an account."""


@dataclass(frozen=True)
class SoftTests:
    """What is fixed before the first test: patience κ, and how many tests a box may make."""

    patience: int
    tests: int = 7


def soft_rule(bounds: Bounds, patience: int | None = None) -> SoftTests | None:
    """Return how soft cuts are made under these bounds, with the default patience if none is given; None for safe cuts only."""
    if patience == 0:
        return None
    return SoftTests(default_patience(bounds) if patience is None else patience)


def default_patience(bounds: Bounds) -> int:
    """Return κ = ⌈30 / typical bound⌉, the typical bound being the mean over people whose value has one below 1.

    Where no value has, it is the mean over the people of sets. Bounds and counts are published in any case.
    """
    each = [list(zip(band.counts, band.limits, strict=True)) for band in bounds.by_band]
    values = [(count, limit) for events in each for count, limit in events[: bounds.valued] if limit < 1]
    return usual_patience(values or [(count, limit) for events in each for count, limit in events if limit < 1])


def usual_patience(events: Sequence[tuple[int, Fraction]]) -> int:
    """Return κ for these counts and bounds below 1."""
    if not events:
        return 1
    typical = sum((count * limit for count, limit in events), Fraction(0)) / sum(count for count, _ in events)
    return min(max(-(-30 // typical), 1), MOST_PATIENCE)


def affords(bounds: Bounds, rule: SoftTests) -> bool:
    """Return whether everybody's counts keep their caps after one refusal in the box of everybody."""
    account = Fraction(int(refusing(rule.patience, bounds.people) * SHOWN), SHOWN)
    room = 1 + (bounds.people - 1) * account
    events = zip(bounds.counts, bounds.limits, strict=True)
    return all(limit == 1 or count <= limit * room for count, limit in events)


def affordable_from(patience: int, share: Fraction, bound: Fraction) -> Fraction | None:
    """Return from about how many people on a box that has a value with this share affords a refusal; None where none does.

    One of n people costs κ/n of the account, at most 3/10: κ·b/(b − f) people, and any number from f ≤ 7/10·b on.

    >>> affordable_from(60, Fraction(9, 20), Fraction(1, 2)), affordable_from(60, Fraction(1, 4), Fraction(1, 2))
    (Fraction(600, 1), Fraction(0, 1))
    """
    if share <= LEAST_CHANCE * bound:
        return Fraction(0)
    return patience * bound / (bound - share) if bound > share else None


def refusing(patience: int, size: int) -> Fraction:
    """Return q = 1 − κ/size, at least 7/10: the chance of one coin that refuses, in a box of `size` people."""
    return max(1 - Fraction(patience, size), LEAST_CHANCE)


def leading(coins: Randomness, chance: Fraction, tests: int) -> Integers:
    """Return for each test how many coins of this chance come up before the first that does not: exact geometric draws."""
    tossed: list[Flags] = []
    stopped = 0
    expected = int(tests / (1 - chance)) + 1
    while stopped < tests:
        tossed.append(coins.chance(chance, expected + expected // 4 + 8))
        stopped += int((~tossed[-1]).sum())
    ends = np.flatnonzero(~np.concatenate(tossed))[:tests]
    return np.diff(ends, prepend=-1) - 1


@dataclass(eq=False)
class Accounts:
    """An acceptance with accounts, of the boxes of one level after another: coins by box, and the accounts of final boxes.

    Whoever cuts only the people from place `begin` on along the cuts says so, with what account (`first`) they come, and how many
    they are (`most`).
    """

    bounds: Bounds
    rule: SoftTests
    floor: int
    random: Randomness
    begin: int = field(default=0, kw_only=True)
    first: int = field(default=SHOWN * FINE, kw_only=True)
    most: int | None = field(default=None, kw_only=True)
    cover: CoverRule | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._final: list[tuple[Integers, Integers]] = []
        self._account = np.array([self.first], dtype=np.int64)
        self._need = need_table(self.bounds, SHOWN, self.most)
        self._coins = self.random.spawn(Step.CUTS)

    def begin_with(self, boxes: int) -> None:
        """Let so many boxes be the first ones, each with the account that is there at first."""
        self._account = np.full(boxes, self.first, dtype=np.int64)

    def level(self, low: Integers, high: Integers) -> Soft:
        """Return the acceptance of the boxes rows[low:high], without coins."""
        self._ledger = self._accounts(self._account, high - low, 0)
        return self._acceptance(self._ledger)

    @property
    def waiting(self) -> Integers:
        """Which boxes of the level came to a test, and wait for coins."""
        return np.flatnonzero(self._ledger[:, MADE] == WAITS)

    def tossed(self, boxes: Integers, low: Integers, high: Integers) -> Soft:
        """Return the acceptance of these boxes of the level, with coins of their own, whoever cuts them."""
        self._late = boxes, self._accounts(self._account[boxes], high - low, self.rule.tests)
        for account, begin, end in zip(self._late[1], low.tolist(), high.tolist(), strict=True):
            chance = refusing(self.rule.patience, end - begin)
            account[COINS:] = leading(self._coins.spawn(self.begin + begin, self.begin + end), chance, self.rule.tests)
        return self._acceptance(self._late[1])

    def settle(self, low: Integers, done: Flags) -> None:
        """Keep the accounts of final boxes; the others hand theirs down to both sides."""
        boxes, accounts = self._late
        self._ledger[boxes, ACCOUNT] = accounts[:, ACCOUNT]
        account = self._ledger[:, ACCOUNT]
        self._final.append((low[done], account[done] // FINE))
        self._account = np.repeat(account[~done], 2)

    def _acceptance(self, ledger: Integers) -> Soft:
        return Soft(*self._need, max(self.floor, 1), ledger, self.cover)

    def _accounts(self, account: Integers, sizes: Integers, tests: int) -> Integers:
        """Return an account for each box, with room for the coins of so many tests."""
        ledger = np.zeros((len(sizes), COINS + tests), np.int64)
        ledger[:, ACCOUNT] = account
        least = (sizes - self.rule.patience) * LEAST_CHANCE.denominator < sizes * LEAST_CHANCE.numerator
        ledger[:, OVER] = np.where(least, LEAST_CHANCE.numerator, sizes - self.rule.patience)
        ledger[:, UNDER] = np.where(least, LEAST_CHANCE.denominator, sizes)
        return ledger

    def leave(self, some: Flags) -> Integers:
        """Return the accounts of these boxes of the level to come, in billionths; somebody else goes on with them."""
        left = self._account[some]
        self._account = self._account[~some]
        return left

    @property
    def account(self) -> Integers:
        """The account of each final box, in thousandths rounded down, boxes from left to right along the cuts."""
        none = np.zeros(0, np.int64)
        low, account = (np.concatenate(parts) for parts in zip((none, none), *self._final, strict=True))
        return account[np.argsort(low)]
