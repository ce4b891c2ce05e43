"""A published column as its distinct values and a code per entry, which is what table files hold; from Arrow and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Bytes, Flags, Integers, Small, counted, taken
from sfumato.release._parquet_kernels import all_used
from sfumato.release.parquet_meta import KINDS, LIST

SETS = pa.list_(pa.field("element", pa.string()))
"""How a set is published: the element's name is the one that Parquet gives it."""

_DAY = 86_400_000_000  # in microseconds
_FIRST, _LAST = -719_162, 2_932_896  # from 0001-01-01 to 9999-12-31, in days since 1970: beyond them Python has no dates
_CALENDAR = {"date32[day]": (_FIRST, _LAST), "timestamp[us]": (_FIRST * _DAY, (_LAST + 1) * _DAY - 1)}


@dataclass(frozen=True, eq=False)
class Coded:
    """One published column: its distinct values, and for every entry which of them it has.

    `values` are strictly ascending, all of them occur, none is missing; a code of len(values) is a missing value. A column of
    lists has `start`: the entries of row i are codes[start[i]:start[i + 1]].
    """

    values: pa.Array
    codes: Small
    start: Integers | None = None

    @property
    def type(self) -> str:
        """The column's Arrow type in words, as `decode` wants it."""
        return str(self.values.type) if self.start is None else f"list<element: {self.values.type}>"

    @property
    def rows(self) -> int:
        """How many rows the column has."""
        return len(self.codes) if self.start is None else len(self.start) - 1


def check(column: Coded) -> None:
    """Raise ValueError unless the column is what Coded promises (that texts ascend is checked as they are written)."""
    values, codes, start = column.values, column.codes, column.start
    if column.type not in KINDS and column.type != LIST:
        raise ValueError("a column has a type that table files do not have")
    if codes.dtype != np.int32 or codes.ndim != 1 or values.null_count:
        raise ValueError("a column's codes are a plain array of int32, and its values are all there")
    if start is not None:
        whole = start.dtype == np.int64 and start.ndim == 1 and len(start) > 0 and start[0] == 0 and start[-1] == len(codes)
        if not whole or (start[1:] < start[:-1]).any():
            raise ValueError("the lists of a column do not follow one another")
    if len(values) > len(codes) or not all_used(frozen(np.ascontiguousarray(codes)).view(np.int32), len(values)):
        raise ValueError("a column has a code without a value, or a value that does not occur")
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:
        raise ValueError("a column has a text that is not UTF-8") from None
    if values.type == pa.string():
        return
    numbers = numbers_of(values)
    if values.type == pa.float64() and (not np.isfinite(numbers).all() or np.signbit(numbers[numbers == 0]).any()):
        raise ValueError("a column has a number that is not finite, or a negative zero")
    first, last = _CALENDAR.get(column.type, (0, 0))
    if column.type in _CALENDAR and len(numbers) and not first <= numbers.min() <= numbers.max() <= last:
        raise ValueError("a column has a day outside the years 1 to 9999")
    if (numbers[1:] <= numbers[:-1]).any():
        raise ValueError("a column's values are not strictly ascending")


def numbers_of(values: pa.Array) -> Array:
    """Return the values of any type but text as numbers."""
    if values.type == pa.bool_():
        return np.asarray(values.to_numpy(zero_copy_only=False), np.uint8)
    kind = np.dtype(KINDS[str(values.type)].numpy)
    if len(values) == 0:
        return np.empty(0, kind)
    return np.frombuffer(values.buffers()[1], kind, len(values), values.offset * kind.itemsize)


def frozen(data: object) -> Bytes:
    """Return the bytes of the data as an array that nobody writes to, so that kernels are compiled for one kind of array."""
    out = np.frombuffer(data, np.uint8)  # type: ignore[call-overload]
    out.flags.writeable = False
    return out  # type: ignore[no-any-return]


def coded(column: pa.ChunkedArray) -> Coded:
    """Return an Arrow column as its ascending distinct values and a code per entry."""
    array = pa.concat_arrays(column.unify_dictionaries().chunks) if column.num_chunks != 1 else column.chunk(0)
    if pa.types.is_list(array.type):
        length = np.asarray(pc.list_value_length(array), dtype=np.int64)
        inside = _coded(array.flatten())
        return Coded(inside.values, inside.codes, np.concatenate(([0], np.cumsum(length))).astype(np.int64))
    return _coded(array)


def _coded(array: pa.Array) -> Coded:
    if pa.types.is_integer(array.type) and not array.null_count:
        numbers = np.asarray(array)
        if not (numbers[1:] < numbers[:-1]).any():  # groups, in every table
            fresh = np.concatenate(([True], numbers[1:] != numbers[:-1]))[: len(numbers)]
            return Coded(pa.array(numbers[fresh], array.type), (np.cumsum(fresh, dtype=np.int32) - np.int32(1)).astype(np.int32))
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    values = encoded.dictionary
    index = encoded.indices
    missing = len(values)
    if index.null_count:
        index = index.cast(pa.int64()).fill_null(missing)
    places = np.asarray(index)
    occurs = np.flatnonzero(counted(places, missing + 1)[:missing])
    kept = occurs[np.asarray(pc.sort_indices(values.take(pa.array(occurs))), dtype=np.int64)]
    code = np.full(missing + 1, len(kept), np.int32)
    code[kept] = np.arange(len(kept), dtype=np.int32)
    return Coded(values.take(pa.array(kept)), taken(code, places))


def arrow(column: Coded) -> pa.Array:
    """Return a coded column as an Arrow array: a dictionary array, or plain lists."""
    if column.start is None:
        return pa.DictionaryArray.from_arrays(_indices(column), column.values)
    words = pa.concat_arrays([column.values, pa.nulls(1, column.values.type)]).take(pa.array(column.codes))
    return pa.ListArray.from_arrays(pa.array(column.start.astype(np.int32)), words, type=SETS)


def _indices(column: Coded) -> pa.Array:
    missing: Flags = column.codes == len(column.values)
    present = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    codes = np.ascontiguousarray(column.codes)
    # Not pa.array: it loads pandas where that is installed, which takes longer than to read a release.
    return pa.Array.from_buffers(pa.from_numpy_dtype(codes.dtype), len(codes), [present, pa.py_buffer(codes)])
