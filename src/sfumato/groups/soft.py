"""Soft cuts: the accounts of boxes, the coins of their tests, and the public rules by which both are chosen.

A test whether two sides keep their caps looks at where values fell, so a refusal tells something. It is made by coins: a test
that leaves slack s is refused with chance q^(s+1), so that exchanging two people's values changes that chance at most q-fold.
Every refusal multiplies what a box *told*, 1 for everybody, by q, and its caps shrink with it: ⌊bound·(1 + (n − 1)·told)⌋.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.groups._cover_kernels import Cover
from sfumato.groups._soft_kernels import COINS, FINE, MADE, OVER, SHOWN, TOLD, UNDER, WAITS, Soft
from sfumato.groups.grouping import need_table
from sfumato.groups.streams import Step
from sfumato.privacy.requirement import Bounds
from sfumato.randomness import Randomness

WHOLE = SHOWN
"""The account of a box in which nothing was refused, in thousandths."""

MOST_PATIENCE = 1_000_000
"""Beyond that every box has the least chance anyway, up to millions of people."""

LEAST_CHANCE = Fraction(7, 10)
"""A refusing coin has at least this chance: no single refusal may cost more than 3/10 of an account."""


@dataclass(frozen=True)
class Rule:
    """What is fixed before the first test: patience κ, and how many tests a box may make."""

    patience: int
    tests: int = 7


def soft_rule(bounds: Bounds, patience: int | None = None) -> Rule | None:
    """Return how soft cuts are made under these bounds, with the default patience if none is given; None for safe cuts only."""
    if patience == 0:
        return None
    return Rule(default_patience(bounds) if patience is None else patience)


def default_patience(bounds: Bounds) -> int:
    """Return κ = ⌈30 / typical bound⌉, the typical bound being the mean over people whose value has one below 1.

    Where no value has, it is the mean over the people of sets. Bounds and counts are published in any case.
    """
    events = list(zip(bounds.event_counts, bounds.event_limits, strict=True))
    values = [(count, limit) for count, limit in events[: len(bounds.values)] if limit < 1]
    kept = values or [(count, limit) for count, limit in events if limit < 1]
    return usual_patience(kept)


def usual_patience(events: Sequence[tuple[int, Fraction]]) -> int:
    """Return κ for these counts and bounds below 1."""
    if not events:
        return 1
    typical = sum((count * limit for count, limit in events), Fraction(0)) / sum(count for count, _ in events)
    return min(max(-(-30 // typical), 1), MOST_PATIENCE)


def affords(bounds: Bounds, rule: Rule) -> bool:
    """Return whether everybody's counts keep their caps after one refusal in the box of everybody."""
    told = Fraction(int(refusing(rule.patience, bounds.total) * SHOWN), SHOWN)
    room = 1 + (bounds.total - 1) * told
    events = zip(bounds.event_counts, bounds.event_limits, strict=True)
    return all(limit == 1 or count <= limit * room for count, limit in events)


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
    """An acceptance with accounts, of the boxes of one level after another: coins by box, and what final boxes told.

    Whoever cuts only the people from place `begin` on along the cuts says so, with what account (`first`) they come, and how many
    they are (`most`).
    """

    bounds: Bounds
    rule: Rule
    floor: int
    random: Randomness
    begin: int = field(default=0, kw_only=True)
    first: int = field(default=SHOWN * FINE, kw_only=True)
    most: int | None = field(default=None, kw_only=True)
    cover: Cover | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._final: list[tuple[Integers, Integers]] = []
        self._told = np.array([self.first], dtype=np.int64)
        self._need = need_table(self.bounds, SHOWN, self.most)
        self._coins = self.random.spawn(Step.CUTS)

    def level(self, low: Integers, high: Integers) -> Soft:
        """Return the acceptance of the boxes rows[low:high], without coins."""
        self._ledger = self._accounts(self._told, high - low, 0)
        return self._acceptance(self._ledger)

    @property
    def waiting(self) -> Integers:
        """Which boxes of the level came to a test, and wait for coins."""
        return np.flatnonzero(self._ledger[:, MADE] == WAITS)

    def tossed(self, boxes: Integers, low: Integers, high: Integers) -> Soft:
        """Return the acceptance of these boxes of the level, with coins of their own, whoever cuts them."""
        self._late = boxes, self._accounts(self._told[boxes], high - low, self.rule.tests)
        for account, begin, end in zip(self._late[1], low.tolist(), high.tolist(), strict=True):
            chance = refusing(self.rule.patience, end - begin)
            account[COINS:] = leading(self._coins.spawn(self.begin + begin, self.begin + end), chance, self.rule.tests)
        return self._acceptance(self._late[1])

    def settle(self, low: Integers, done: Flags) -> None:
        """Keep what final boxes told; the others hand their accounts down to both sides."""
        boxes, accounts = self._late
        self._ledger[boxes, TOLD] = accounts[:, TOLD]
        told = self._ledger[:, TOLD]
        self._final.append((low[done], told[done] // FINE))
        self._told = np.repeat(told[~done], 2)

    def _acceptance(self, ledger: Integers) -> Soft:
        return Soft(*self._need, max(self.floor, 1), ledger, self.cover)

    def _accounts(self, told: Integers, sizes: Integers, tests: int) -> Integers:
        """Return an account for each box, with room for the coins of so many tests."""
        ledger = np.zeros((len(sizes), COINS + tests), np.int64)
        ledger[:, TOLD] = told
        least = (sizes - self.rule.patience) * LEAST_CHANCE.denominator < sizes * LEAST_CHANCE.numerator
        ledger[:, OVER] = np.where(least, LEAST_CHANCE.numerator, sizes - self.rule.patience)
        ledger[:, UNDER] = np.where(least, LEAST_CHANCE.denominator, sizes)
        return ledger

    def leave(self, some: Flags) -> Integers:
        """Return the accounts of these boxes of the level to come, in billionths; somebody else goes on with them."""
        left = self._told[some]
        self._told = self._told[~some]
        return left

    @property
    def told(self) -> Integers:
        """What each final box told, in thousandths rounded down, boxes from left to right along the cuts."""
        none = np.zeros(0, np.int64)
        low, told = (np.concatenate(parts) for parts in zip((none, none), *self._final, strict=True))
        return told[np.argsort(low)]
