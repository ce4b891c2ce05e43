"""From Arrow to numpy without pandas: pyarrow's own way loads pandas where it is installed, which takes longer than to answer."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array


def numbers(values: pa.Array) -> Array:
    """Return an array of numbers without nulls as numpy sees the same memory; anything else is converted by pyarrow."""
    kind = values.type
    if values.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or not isinstance(values, pa.Array):
        return np.asarray(values)
    known = np.dtype(kind.to_pandas_dtype())
    if not len(values):
        return np.empty(0, known)
    return np.frombuffer(values.buffers()[1], known, count=len(values), offset=values.offset * known.itemsize)
