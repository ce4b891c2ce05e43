"""The papers' measures of what bucket sizes cost. They know nothing of queries: see `sfumato.utility.query_error` for that."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.arrays import Integers
from sfumato.errors import InputError


@dataclass(frozen=True)
class BucketLoss:
    """Σ(|g|−1)² over the buckets, and the two normal forms that the papers print."""

    loss: int
    people: int

    @property
    def mse(self) -> float:
        """Loss / (n − 1): the mean squared error of 001 §7.2.1."""
        return self.loss / (self.people - 1) if self.people > 1 else 0.0

    @property
    def il(self) -> float:
        """√loss / (n − 1): the information loss of 000, which is 1 for a single bucket."""
        return math.sqrt(self.loss) / (self.people - 1) if self.people > 1 else 0.0


def bucket_loss(sizes: Iterable[int] | Integers) -> BucketLoss:
    """Return the loss of buckets of these sizes, one entry a bucket."""
    return setting_loss((int(size), 1) for size in sizes)


def setting_loss(classes: Iterable[tuple[int, int]]) -> BucketLoss:
    """Return the loss of a setting: pairs of bucket size and number of such buckets. Exact integers."""
    loss = people = 0
    for size, number in classes:
        if size < 1 or number < 0:
            raise InputError(f"a bucket has at least one person and a setting no negative numbers; got {number} of size {size}")
        loss += number * (size - 1) ** 2
        people += number * size
    return BucketLoss(loss, people)
