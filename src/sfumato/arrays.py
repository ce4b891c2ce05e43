"""The types of arrays, one name each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Unsigned = npt.NDArray[np.uint64]
Codes = npt.NDArray[Any]
"""Of one column: uint8, uint16 or uint32, the smallest that holds every code."""
