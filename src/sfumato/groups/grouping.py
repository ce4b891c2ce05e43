"""What every grouping returns: a group number per person, checked in exact integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Array, Integers, Small, counted
from sfumato.basis import BASES, BasisName
from sfumato.errors import ClaimBroken
from sfumato.privacy.bounds import Bounds


@dataclass(frozen=True, eq=False)
class Histograms:
    """How often each sensitive value occurs in each group: entries sorted by group, then value, counts at least 1."""

    group: Small
    value: Small
    count: Integers


@dataclass(frozen=True, eq=False)
class Grouping:
    """Who shares a group: `group[r]` is the group of row r, numbered 0 … groups−1; −1 for a suppressed row.

    The numbers may tell how groups were made: a release numbers its groups anew, by what they show. `basis` says what was looked
    at. `figures` are about the making and only for the publisher; `public` ones go into the manifest. `complete` is False when a
    clock stopped a search. `shown` is what groups show where that is not just their people's values (decoys). `account` is the
    account of each group, in thousandths rounded down, where groups are `soft`: how far what was refused may have told something.
    """

    group: Small
    groups: int
    basis: BasisName
    figures: Mapping[str, Any] = field(default_factory=dict)
    public: Mapping[str, Any] = field(default_factory=dict)
    complete: bool = True
    shown: Histograms | None = None
    account: Integers | None = None

    def __post_init__(self) -> None:
        if BASES[self.basis].keeps_accounts != (self.account is not None):
            raise ValueError("groups of a basis with accounts, and no others, have them")

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        there = self.group if self.group.min(initial=0) >= 0 else self.group[self.group >= 0]
        return counted(there, self.groups)

    @property
    def suppressed(self) -> int:
        """Number of people in no group."""
        return int(np.count_nonzero(self.group < 0))


def histograms(group: Array, codes: Array, values: int) -> Histograms:
    """Return the histogram of every group, from one group number and one value code per person."""
    groups = int(group.max(initial=-1)) + 1
    if groups * values <= len(group):  # few enough to count them all
        times = np.zeros(groups * values, np.int64)
        step = max(_AT_ONCE, len(times))
        for begin in range(0, len(group), step):
            some = group[begin : begin + step].astype(np.int64) * values + codes[begin : begin + step]
            times += np.bincount(some, minlength=len(times))
        key = np.flatnonzero(times)
        return Histograms((key // values).astype(np.int32), (key % values).astype(np.int32), times[key])
    key = group.astype(np.int64) * values + codes
    key.sort()
    fresh = np.ones(len(key), bool)
    np.not_equal(key[1:], key[:-1], out=fresh[1:])
    people, key = len(key), key[fresh]  # what is no longer needed is let go: these arrays are as long as the table
    value = (key % values).astype(np.int32)
    key //= values
    group = key.astype(np.int32)
    del key
    count = np.flatnonzero(fresh)
    count[:-1] -= count[1:]
    count[-1:] -= people
    np.negative(count, out=count)
    return Histograms(group, value, count)


def require_bounds(histograms: Histograms, sizes: Integers, bounds: Bounds, account: Integers | None = None) -> None:
    """Raise `ClaimBroken` unless count ≤ ⌊bound·size⌋ for every value and set of every group: the last look before publishing.

    With accounts, in thousandths, 1 + (size − 1)·account takes the place of the size where the bound is below 1.
    """
    rooms = 1000 * sizes if account is None else 1000 + (sizes - 1) * account
    distinct, which = np.unique(rooms, return_inverse=True)
    caps = np.stack([_caps(limit, distinct) for limit in bounds.limits[: bounds.valued]])
    broken = int((histograms.count > caps[histograms.value, which[histograms.group]]).sum())
    for members, limit in zip(bounds.members, bounds.limits[bounds.valued :], strict=True):
        if limit < 1:
            member = np.isin(histograms.value, members)
            count = np.bincount(histograms.group[member], weights=histograms.count[member], minlength=len(sizes)).astype(np.int64)
            broken += int((count > _caps(limit, distinct)[which]).sum())
    if broken:
        raise ClaimBroken(f"{broken} group counts exceed their bound: nothing is published")


def require_events(histograms: Histograms, sizes: Integers, bounds: Bounds, account: Integers | None = None) -> None:
    """Raise `ClaimBroken` unless every event of every group keeps its bound, sets being events with counts of their own."""
    rooms = 1000 * sizes if account is None else 1000 + (sizes - 1) * account
    distinct, which = np.unique(rooms, return_inverse=True)
    caps = np.stack([_caps(limit, distinct) for limit in bounds.limits])
    broken = int((histograms.count > caps[histograms.value, which[histograms.group]]).sum())
    if broken:
        raise ClaimBroken(f"{broken} group counts exceed their bound: nothing is published")


_ENDLESS = 1 << 62
"""A need, or a cap, beyond what any table has."""
_AT_ONCE = 1 << 16


def _caps(limit: Fraction, rooms: Integers) -> Integers:
    """Return ⌊limit · room / 1000⌋ for every room, exactly; no cap for a limit of 1."""
    if limit >= 1:
        return np.full(len(rooms), _ENDLESS)
    over, under = limit.numerator, limit.denominator * 1000
    if over * int(rooms.max(initial=0)) < 1 << 63 and under < 1 << 63:
        caps: Integers = rooms * over // under
        return caps
    return np.array([over * room // under for room in rooms.tolist()], dtype=np.int64)


def canonical_order(bounds: Bounds) -> Integers:
    """Return the values by count, then text: the order in which decisions are made, whatever the order of the input."""
    order = sorted(range(len(bounds.values)), key=lambda i: (bounds.counts[i], bounds.values[i]))
    return np.array(order, dtype=np.int64)


def need_table(bounds: Bounds, scale: int = 1, most: int | None = None) -> tuple[Integers, Integers]:
    """Return the smallest group for every count of every event up to its own, exactly, and where each event's entries start.

    That is ⌈scale · count / bound⌉, and 0 for a bound of 1: it may fill any group, so it needs no room of its own. Whoever has
    only some of the people says how many they are at `most`: larger counts are then left out.
    """
    counts = [count if most is None else min(count, most) for count in bounds.counts]
    start = np.concatenate(([0], np.cumsum([count + 1 for count in counts]))).astype(np.int64)
    need = np.zeros(int(start[-1]), np.int64)
    for k, (count, limit) in enumerate(zip(counts, bounds.limits, strict=True)):
        if limit < 1:
            need[start[k] : start[k + 1]] = _ceilings(count, limit / scale)
    return need, start


def _ceilings(count: int, limit: Fraction) -> Integers:
    """Return ⌈k / limit⌉ for k = 0 … count."""
    over, under = limit.denominator, limit.numerator
    if count * over < _ENDLESS and under < _ENDLESS:
        needs: Integers = -(-over * np.arange(count + 1) // under)
        return needs
    return np.array([min(-(-(k * over) // under), _ENDLESS) for k in range(count + 1)], dtype=np.int64)
