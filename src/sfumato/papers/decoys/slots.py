"""The slots of buckets with decoys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Flags, Integers


@dataclass(frozen=True, eq=False)
class Slots:
    """Every value shown: its bucket, whether it is a decoy; sorted by value. `counts` are the true counts per value."""

    bucket: Integers
    value: Integers
    decoy: Flags
    buckets: int
    decoys: int
    counts: Integers

    @cached_property
    def widths(self) -> Integers:
        """Number of slots in each bucket: its people and its decoys."""
        return np.bincount(self.bucket, minlength=self.buckets).astype(np.int64)

    @cached_property
    def by_bucket(self) -> tuple[Integers, Integers]:
        """Slots sorted by bucket, and where each bucket's begin (one entry more than buckets)."""
        order = np.argsort(self.bucket, kind="stable")
        return order, np.concatenate(([0], np.cumsum(self.widths)))

    def of(self, bucket: int) -> Integers:
        """Return the slots of one bucket."""
        order, start = self.by_bucket
        return order[start[bucket] : start[bucket + 1]]
