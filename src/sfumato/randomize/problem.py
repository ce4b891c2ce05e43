"""Counts and bounds in the order in which everything is decided, whatever the order of the input."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.errors import Infeasible, PolicyError
from sfumato.exact import percent
from sfumato.privacy.bounds import Bounds


@dataclass(frozen=True, eq=False)
class SortedValues:
    """Sensitive values by falling count, then text: `codes` in the domain, counts and bounds."""

    codes: tuple[int, ...]
    counts: tuple[int, ...]
    limits: tuple[Fraction, ...]

    @classmethod
    def of(cls, bounds: Bounds) -> SortedValues:
        """Return the problem of these bounds, whose values stand in the order of their codes.

        Bounds that protect nothing are refused, and so is a bound that equals a value's share: only a matrix that keeps no value
        would keep it.
        """
        if not bounds.protects:
            raise PolicyError(
                "nothing to keep: every sensitive value has a bound of 1",
                hint="lower theta or offset, or set bounds for single values",
            )
        tight = [i for i, share in enumerate(bounds.shares) if bounds.limits[i] < 1 and share >= bounds.limits[i]]
        if tight:
            raise _no_room(bounds, tight)
        order = sorted(range(len(bounds.values)), key=lambda i: (-bounds.counts[i], bounds.values[i]))
        return cls(
            tuple(order),
            tuple(bounds.counts[i] for i in order),
            tuple(bounds.limits[i] for i in order),
        )

    @cached_property
    def total(self) -> int:
        """Number of records."""
        return sum(self.counts)

    @cached_property
    def protected(self) -> Flags:
        """SA': which values have a bound below 1."""
        return np.array([limit < 1 for limit in self.limits], dtype=np.bool_)

    @cached_property
    def classes(self) -> tuple[Integers, Floats]:
        """For each value the number of its bound among the distinct ones (−1: unbounded), and bound/(1−bound) of those."""
        distinct = sorted({limit for limit in self.limits if limit < 1})
        number = {limit: position for position, limit in enumerate(distinct)}
        which = np.array([number.get(limit, -1) for limit in self.limits], dtype=np.int64)
        return which, np.array([float(limit / (1 - limit)) for limit in distinct])


def _no_room(bounds: Bounds, tight: list[int]) -> Infeasible:
    shown = "; ".join(f"{bounds.values[i]}: {percent(bounds.shares[i])}" for i in tight[:5])
    more = f" (and {len(tight) - 5} more)" if len(tight) > 5 else ""
    return Infeasible(
        f"randomization cannot keep a bound that equals a value's share, unless it keeps no value at all. {shown}{more}",
        hint="raise these bounds above the shares",
        values=[bounds.values[i] for i in tight],
        has={bounds.values[i]: bounds.shares[i] for i in tight},
        needs={bounds.values[i]: bounds.limits[i] for i in tight},
    )
