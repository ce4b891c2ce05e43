"""A setting: how many buckets of which size. A plan: a setting, and how many records of each value go into each size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from sfumato.arrays import Integers


@dataclass(frozen=True)
class Setting:
    """`classes` holds (size, number of buckets), ascending in size: the papers' ⟨B₁(S₁, b₁), …, B_q(S_q, b_q)⟩."""

    classes: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        sizes = self.sizes
        if any(size < 1 or number < 1 for size, number in self.classes):
            raise ValueError(f"sizes and numbers of buckets must be positive, got {self.classes}")
        if any(small >= large for small, large in pairwise(sizes)):
            raise ValueError(f"sizes must ascend and occur once, got {sizes}")

    @classmethod
    def of(cls, classes: Iterable[tuple[int, int]]) -> Setting:
        """Return the setting with these buckets: equal sizes are merged, sizes without a bucket dropped."""
        merged: dict[int, int] = {}
        for size, number in classes:
            merged[int(size)] = merged.get(int(size), 0) + int(number)
        return cls(tuple((size, merged[size]) for size in sorted(merged) if merged[size]))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes S_j."""
        return tuple(size for size, _ in self.classes)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of buckets b_j."""
        return tuple(number for _, number in self.classes)

    @property
    def total(self) -> int:
        """Number of people: Σ S_j·b_j."""
        return sum(size * number for size, number in self.classes)

    @property
    def buckets(self) -> int:
        """Number of buckets."""
        return sum(self.numbers)

    @property
    def loss(self) -> int:
        """Σ b_j·(S_j − 1)² [F', equation 2]."""
        return sum(number * (size - 1) ** 2 for size, number in self.classes)

    def __str__(self) -> str:
        return ", ".join(f"{number} of {size}" for size, number in self.classes)


@dataclass(frozen=True, eq=False)
class Plan:
    """What is decided on counts before a record is touched.

    `allocation[i, j]` records of value i go into the buckets of size class j. `lower_bound` is proven: no setting
    with sizes in the same range loses less; None when the strategy proves nothing. `complete` is False when a clock
    stopped the search, so that the same input might give another plan on another day.
    """

    setting: Setting
    allocation: Integers
    strategy: str
    lower_bound: int | None = None
    complete: bool = True

    def __post_init__(self) -> None:
        frozen = np.array(self.allocation, dtype=np.int64)
        frozen.setflags(write=False)
        object.__setattr__(self, "allocation", frozen)

    @property
    def loss(self) -> int:
        """The loss of the setting."""
        return self.setting.loss

    @cached_property
    def gap(self) -> float | None:
        """How much of the loss may be avoidable, as a share of it; None when no lower bound is known."""
        if self.lower_bound is None:
            return None
        return (self.loss - self.lower_bound) / self.loss if self.loss else 0.0
