"""A coded column: the values that occur, once each and sorted, and one small integer per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Codes, taken

Kind = Literal["numeric", "categorical", "date"]

MISSING = "(missing)"
"""How a missing value is written where text is needed."""


def code_type(size: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that can hold the codes 0 … size−1."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if size <= np.iinfo(kind).max + 1:
            return np.dtype(kind)
    raise ValueError(f"{size} distinct values are more than a column can hold")


@dataclass(frozen=True, eq=False)
class Column:
    """One column of small integer codes.

    `values` holds the distinct values in ascending order and never a null; a missing entry has the code `len(values)`, which is
    used only when `has_missing`. So every code is below `size`, and the order of codes is the order of values.
    """

    name: str
    kind: Kind
    values: pa.Array
    codes: Codes
    has_missing: bool = False

    @property
    def size(self) -> int:
        """Number of codes: the distinct values, plus one if some are missing."""
        return len(self.values) + int(self.has_missing)

    def __len__(self) -> int:
        return len(self.codes)

    def dictionary(self) -> pa.Array:
        """Return the value of each code, a null for the missing one."""
        if not self.has_missing:
            return self.values
        return pa.concat_arrays([self.values, pa.nulls(1, self.values.type)])

    def arrow(self) -> pa.Array:
        """Return the column decoded, one value (or null) per row."""
        return self.dictionary().take(pa.array(self.codes))

    def take(self, rows: Array) -> Column:
        """Return the column at these rows, with the same dictionary."""
        return Column(self.name, self.kind, self.values, taken(self.codes, rows), self.has_missing)

    def labels(self) -> tuple[str, ...]:
        """Return each code's value as text; a missing value is `(missing)`."""
        return labels(self.dictionary())


def labels(values: pa.Array | pa.ChunkedArray) -> tuple[str, ...]:
    """Return values as text, `(missing)` for a null."""
    return tuple(MISSING if value is None else as_text(value) for value in values.to_pylist())


def as_text(value: Any) -> str:
    """Return a value as a user writes it in a policy or a query: 3.0 is "3", a date is ISO."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def numbers(values: pa.Array) -> Array:
    """Return an array of numbers without nulls as numpy sees the same memory; anything else is converted by pyarrow."""
    kind = values.type
    if values.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)) or not isinstance(values, pa.Array):
        return np.asarray(values)
    known = np.dtype(kind.to_pandas_dtype())
    if not len(values):
        return np.empty(0, known)
    return np.frombuffer(values.buffers()[1], known, count=len(values), offset=values.offset * known.itemsize)
