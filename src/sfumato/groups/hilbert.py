"""Records along a Hilbert curve through quasi space: near on the curve is near in every column, though not the reverse."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.groups._burel_kernels import curve_words
from sfumato.groups.cuts import Space

BITS = 10
"""Bits per column: the curve tells 1,024 places of a column apart, wherever these lie."""


def hilbert_order(space: Space) -> Integers:
    """Return the rows along the curve; rows in the same place stay in their order, which must be one of coins."""
    words = curve_words((places(space) * ((1 << BITS) - 1)).astype(np.int64), BITS)
    order: Integers = np.lexsort(words[::-1])
    return order


def places(space: Space) -> Floats:
    """Return [columns × rows]: where on a line from 0 to 1 each row lies; a missing number lies at 0."""
    positions: Floats = space.position[space.codes + space.first[:-1, None]]
    return positions
