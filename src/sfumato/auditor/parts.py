"""A randomized release in numbers: its parts and values as slots, and how often each is published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Floats, Integers
from sfumato.release.randomized import RandomizedRelease


@dataclass(frozen=True, eq=False)
class Slots:
    """The pairs (part, value) that a release may show, part by part; `number[part, value]` is −1 where there is none."""

    part: Integers
    value: Integers
    number: Integers

    def __len__(self) -> int:
        return len(self.part)

    def by_part(self, numbers: npt.NDArray[np.number]) -> Floats:
        """Return the sum over each part."""
        return np.bincount(self.part, weights=numbers, minlength=len(self.number)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ReadParts:
    """The release in numbers."""

    release: RandomizedRelease
    slots: Slots
    row_slot: Integers
    kept: Floats
    people: Integers  # of each part
    size: Integers  # values of each part

    @classmethod
    def of(cls, release: RandomizedRelease) -> ReadParts:
        """Return the numbers of a release; parts that cannot be such are a `FormatError`."""
        parts = release.parts
        size = np.array([len(part) for part in parts], dtype=np.int64)
        part, value = np.repeat(np.arange(len(parts)), size), np.concatenate([one.values for one in parts])
        number = np.full((len(parts), len(release.domain)), -1, dtype=np.int64)
        number[part, value] = np.arange(len(part))
        return cls(
            release,
            Slots(part, value, number),
            number[release.part, release.value],
            np.concatenate([one.kept for one in parts]),
            np.bincount(release.part, minlength=len(parts)).astype(np.int64),
            size,
        )

    @property
    def shown(self) -> Integers:
        """How many published rows each slot has."""
        return np.bincount(self.row_slot, minlength=len(self.slots)).astype(np.int64)

    def by_part(self, numbers: Integers) -> list[list[int]]:
        """Return the numbers of the slots, part by part."""
        return [list(map(int, piece)) for piece in np.split(numbers, np.cumsum(self.size)[:-1])]
