"""Posterior bounds: how sure a reader may become of each sensitive value, as exact rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.arrays import Integers
from sfumato.exact import ceil_inverse, floor_times


@dataclass(frozen=True)
class Bounds:
    """`limits[i]` bounds the belief in `values[i]`, of which the table has `counts[i]` (all at least 1)."""

    values: tuple[str, ...]
    counts: tuple[int, ...]
    limits: tuple[Fraction, ...]

    @cached_property
    def total(self) -> int:
        """Number of people."""
        return sum(self.counts)

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """f(x): the share of each value in the table."""
        return tuple(Fraction(count, self.total) for count in self.counts)

    @property
    def protects(self) -> bool:
        """Whether any value is bounded at all: a bound of 1 promises nothing."""
        return any(limit < 1 for limit in self.limits)

    @cached_property
    def open_share(self) -> Fraction:
        """Share of the people whose value has a bound of 1, so that it may be shown openly."""
        return sum((share for share, limit in zip(self.shares, self.limits, strict=True) if limit == 1), Fraction(0))

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
