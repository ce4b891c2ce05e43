"""Posterior bounds: how sure a reader may become of each sensitive value, and of sets of them, as exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.arrays import Integers
from sfumato.exact import ceil_inverse, floor_times


@dataclass(frozen=True)
class SetBound:
    """`limit` bounds the belief that a person has one of the values at these places."""

    name: str
    places: tuple[int, ...]
    limit: Fraction

    @property
    def label(self) -> str:
        """What the set is called beside values."""
        return f"any of {self.name}"


@dataclass(frozen=True)
class Bounds:
    """`limits[i]` bounds the belief in `values[i]`, of which the table has `counts[i]` (all at least 1); `sets` bound more.

    A set of values has a count as a value has: *events* are the values, followed by the sets. Where several columns are protected
    each by itself, `apart` says how many values each has; those of the first come first, and everybody has one of each.
    """

    values: tuple[str, ...]
    counts: tuple[int, ...]
    limits: tuple[Fraction, ...]
    sets: tuple[SetBound, ...] = ()
    apart: tuple[int, ...] = ()

    @cached_property
    def total(self) -> int:
        """Number of people."""
        return sum(self.counts[: self.apart[0]] if self.apart else self.counts)

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """f(x): the share of each value in the table."""
        return tuple(Fraction(count, self.total) for count in self.counts)

    @property
    def protects(self) -> bool:
        """Whether any value is bounded at all: a bound of 1 promises nothing."""
        return any(limit < 1 for limit in self.event_limits)

    @cached_property
    def events(self) -> tuple[str, ...]:
        """The values, then the sets."""
        return (*self.values, *(one.label for one in self.sets))

    @cached_property
    def event_counts(self) -> tuple[int, ...]:
        """How many people have each value, then how many have one of each set."""
        return (*self.counts, *(sum(self.counts[place] for place in one.places) for one in self.sets))

    @cached_property
    def event_limits(self) -> tuple[Fraction, ...]:
        """The bound of each value, then that of each set."""
        return (*self.limits, *(one.limit for one in self.sets))

    @cached_property
    def incidence(self) -> tuple[Integers, Integers]:
        """Where each set begins (one entry more) among the places of the values of all sets, and these places."""
        start = np.concatenate(([0], np.cumsum([len(one.places) for one in self.sets], dtype=np.int64))).astype(np.int64)
        return start, np.array([place for one in self.sets for place in one.places], dtype=np.int64)

    @cached_property
    def open_values(self) -> tuple[int, ...]:
        """The places of values that may be shown openly: their bound is 1, and no set that is bounded has them."""
        held = {place for one in self.sets if one.limit < 1 for place in one.places}
        return tuple(place for place, limit in enumerate(self.limits) if limit == 1 and place not in held)

    @cached_property
    def open_share(self) -> Fraction:
        """Share of the people whose value may be shown openly."""
        return sum((self.shares[place] for place in self.open_values), Fraction(0))

    def limit(self, value: str) -> Fraction:
        """Return the bound of one value."""
        return self.limits[self.values.index(value)]

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """⌈1/bound⌉ for each value: the smallest group that may hold it at all."""
        return tuple(ceil_inverse(limit) for limit in self.limits)

    def caps(self, sizes: Sequence[int]) -> Integers:
        """Return ⌊bound(i)·S⌋ for every value i (rows) and size S (columns), in exact integers."""
        return np.array([[floor_times(limit, size) for size in sizes] for limit in self.limits], dtype=np.int64).reshape(
            len(self.limits), len(sizes)
        )
