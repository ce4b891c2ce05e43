"""Numbers as edges: exact in the policy, compared with the numbers of a column, written as people write them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers


def plain(number: Fraction) -> int | float | str:
    """Return an exact number as JSON can hold it: whole, or a decimal, or a ratio as text where no float is equal to it."""
    if number.denominator == 1:
        return int(number)
    near = float(number)
    return near if Fraction(repr(near)) == number else str(number)


def between(edges: Floats, numbers: Any) -> Integers:
    """Return for each number the position of the last edge that is not above it, −1 where there is none."""
    places: Integers = np.searchsorted(edges, numbers, side="right").astype(np.int64) - 1
    return places
