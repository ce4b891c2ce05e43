"""Records along a Hilbert curve through quasi space: near on the curve is near in every column, though not the reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.groups._burel_kernels import curve_words
from sfumato.groups.cuts import Space
from sfumato.randomness import Randomness

BITS = 10
"""Bits per column: the curve tells 1,024 places of a column apart, wherever these lie."""


def hilbert_order(space: Space, sensitive: npt.NDArray[Any], random: Randomness) -> npt.NDArray[np.int64]:
    """Return the rows along the curve; rows in the same place in random order, whatever the order of the input."""
    canonical = np.lexsort((sensitive, *space.codes))
    shuffled = canonical[random.permutation(len(canonical))]
    words = curve_words((places(space)[:, shuffled] * ((1 << BITS) - 1)).astype(np.int64), BITS)
    order: npt.NDArray[np.int64] = shuffled[np.lexsort(words[::-1])]
    return order


def places(space: Space) -> npt.NDArray[np.float64]:
    """Return [columns × rows]: where on a line from 0 to 1 each row lies; a missing number lies at 0."""
    found: npt.NDArray[np.float64] = space.position[space.codes + space.first[:-1, None]]
    return found
