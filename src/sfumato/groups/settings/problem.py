"""What a search for a setting looks at: counts, candidate sizes, and how often a bucket of a size may hold a value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Integers
from sfumato.privacy.bounds import Bounds


@dataclass(frozen=True, eq=False)
class Problem:
    """Counts o_i, sizes S_j and caps ⌊bound(i)·S_j⌋, the values ordered by count and then by text.

    The order is fixed before anything is decided, so that no decision depends on the order of the input. `order[i]`
    is the place of value i in the bounds this came from.
    """

    counts: Integers
    sizes: Integers
    caps: Integers
    order: Integers

    @classmethod
    def of(cls, bounds: Bounds, *, max_size: int, min_size: int | None = None, once: bool = False) -> Problem:
        """Return the problem with every size from M = min ⌈1/bound⌉ to `max_size` (M').

        `once` allows each value once per bucket at most, so that a bucket larger than the number of values cannot be
        filled; `min_size` starts the sizes higher than M.
        """
        order = sorted(range(len(bounds.values)), key=lambda i: (bounds.counts[i], bounds.values[i]))
        smallest = max(min(bounds.needs), min_size or 1)
        largest = min(max_size, bounds.people, len(order) if once else max_size)
        sizes = range(smallest, largest + 1)
        places = np.array(order, dtype=np.int64)
        caps = bounds.caps(sizes)[places]
        return cls(
            counts=np.array(bounds.counts, dtype=np.int64)[places],
            sizes=np.array(sizes, dtype=np.int64),
            caps=np.ascontiguousarray(np.minimum(caps, 1) if once else caps),
            order=places,
        )

    @cached_property
    def total(self) -> int:
        """Number of people, n."""
        return int(self.counts.sum())

    @cached_property
    def costs(self) -> Integers:
        """(S_j − 1)²: what one bucket of each size loses."""
        return (self.sizes - 1) ** 2

    def caps_of(self, sizes: tuple[int, ...]) -> Integers:
        """Return the caps of these sizes, which must be candidate sizes."""
        return self.caps[:, [size - int(self.sizes[0]) for size in sizes]]

    def restored(self, allocation: Integers) -> Integers:
        """Return an allocation with its rows in the order of the bounds."""
        out = np.empty_like(allocation)
        out[self.order] = allocation
        return out
