"""What a table file says about itself: the header before each page, and the footer. All of it follows from types and sizes.

Both are written in Thrift's compact protocol, of which only these few values are needed; it is written, never read. A value is a
pair: the number of its type in the protocol, and its bytes.

A published column is `Coded`: its distinct values and a code per entry, which is what table files hold; from Arrow and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Bytes, Flags, Integers, Small, counted, taken
from sfumato.release._parquet_kernels import all_used

ThriftValue = tuple[int, bytes]

_FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 2, 5, 6, 8, 9, 12
_SHORT = 15  # field steps and list lengths below this share a byte with their type

NO: ThriftValue = (_FALSE, b"")


def varint(number: int) -> bytes:
    """Return a whole number ≥ 0 in groups of seven bits, the lowest first; the top bit says that more follow."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return varint(2 * number if number >= 0 else -2 * number - 1)


def i32(number: int) -> ThriftValue:
    """Return a number of 32 bits; ValueError if it has more."""
    if not -(2**31) <= number < 2**31:
        raise ValueError("a page of a table file would be larger than 2 GB")
    return _I32, _zigzag(number)


def i64(number: int) -> ThriftValue:
    """Return a number of 64 bits."""
    return _I64, _zigzag(number)


def text(words: str) -> ThriftValue:
    """Return a text in UTF-8; ValueError if it has half a surrogate pair."""
    try:
        raw = words.encode()
    except UnicodeEncodeError:
        raise ValueError("a name has characters that UTF-8 does not have") from None
    return _BINARY, varint(len(raw)) + raw


def items(values: Sequence[ThriftValue]) -> ThriftValue:
    """Return a list of values of one type (of structs, if there are none)."""
    kind, count = values[0][0] if values else _STRUCT, len(values)
    head = bytes([count << 4 | kind]) if count < _SHORT else bytes([0xF0 | kind]) + varint(count)
    return _LIST, head + b"".join(raw for _, raw in values)


def struct(fields: Mapping[int, ThriftValue]) -> ThriftValue:
    """Return a struct of numbered fields, in ascending order; each less than 16 above the one before."""
    out, last = bytearray(), 0
    for number, (kind, raw) in fields.items():
        out.append(number - last << 4 | kind)
        out += raw
        last = number
    out.append(0)
    return _STRUCT, bytes(out)


MAGIC = b"PAR1"
PAGE_ROWS = 131_072  # rows in every data page but the last
DICTIONARY, DATA = 2, 0  # kinds of pages
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8  # encodings
_REQUIRED, _OPTIONAL, _REPEATED = 0, 1, 2
_EMPTY = struct({})


class ParquetKind(NamedTuple):
    """How Parquet says an Arrow type: the physical type, its width in bytes, and converted and logical type where it has them."""

    physical: int
    numpy: str | None
    converted: int | None = None
    logical: ThriftValue | None = None


KINDS = {
    "bool": ParquetKind(0, None),
    "int32": ParquetKind(1, "<i4"),
    "int64": ParquetKind(2, "<i8"),
    "double": ParquetKind(5, "<f8"),
    "string": ParquetKind(6, None, 0, struct({1: _EMPTY})),
    "date32[day]": ParquetKind(1, "<i4", 6, struct({6: _EMPTY})),
    "timestamp[us]": ParquetKind(2, "<i8", None, struct({8: struct({1: NO, 2: struct({2: _EMPTY})})})),
}
LIST = "list<element: string>"


class Chunk(NamedTuple):
    """A column as the footer describes it: its name and type, its entries, where it begins, and how long its pages are."""

    name: str
    type: str
    entries: int
    at: int
    dictionary: int
    size: int


def page_header(kind: int, size: int, count: int, encoding: int) -> bytes:
    """Return the header of a page of `size` bytes with `count` entries."""
    what = {1: i32(count), 2: i32(encoding)}
    if kind == DATA:
        what |= {3: i32(RLE), 4: i32(RLE)}
    return struct({1: i32(kind), 2: i32(size), 3: i32(size), (5 if kind == DATA else 7): struct(what)})[1]


def run_header(count: int) -> bytes:
    """Return the header of one bit-packed run of `count` entries, filled up to a multiple of eight."""
    return varint((count + 7) // 8 << 1 | 1)


def width(values: int) -> int:
    """Return how many bits a place among so many values takes."""
    return max(1, (values - 1).bit_length())


def _leaf(name: str, kind: ParquetKind) -> ThriftValue:
    fields = {1: i32(kind.physical), 3: i32(_OPTIONAL), 4: text(name)}
    if kind.converted is not None:
        fields[6] = i32(kind.converted)
    if kind.logical is not None:
        fields[10] = kind.logical
    return struct(fields)


def _schema(columns: Sequence[Chunk]) -> list[ThriftValue]:
    out = [struct({4: text("schema"), 5: i32(len(columns))})]
    for column in columns:
        if column.type == LIST:
            out += [
                struct({3: i32(_REQUIRED), 4: text(column.name), 5: i32(1), 6: i32(3), 10: struct({3: _EMPTY})}),
                struct({3: i32(_REPEATED), 4: text("list"), 5: i32(1)}),
                _leaf("element", KINDS["string"]),
            ]
        else:
            out.append(_leaf(column.name, KINDS[column.type]))
    return out


def _chunk(column: Chunk) -> ThriftValue:
    path = [column.name, "list", "element"] if column.type == LIST else [column.name]
    used = [PLAIN, RLE, RLE_DICTIONARY] if column.dictionary else [PLAIN, RLE]
    fields = {
        1: i32(KINDS["string" if column.type == LIST else column.type].physical),
        2: items([i32(encoding) for encoding in used]),
        3: items([text(word) for word in path]),
        4: i32(0),  # not compressed
        5: i64(column.entries),
        6: i64(column.size),
        7: i64(column.size),
        9: i64(column.at + column.dictionary),
    }
    if column.dictionary:
        fields[11] = i64(column.at)
    return struct({2: i64(0), 3: struct(fields)})


def footer(columns: Sequence[Chunk], rows: int) -> bytes:
    """Return everything after the last page."""
    fields = {1: i32(2), 2: items(_schema(columns)), 3: i64(rows)}
    group = {1: items([_chunk(column) for column in columns]), 2: i64(sum(column.size for column in columns)), 3: i64(rows)}
    fields |= {4: items([struct(group)] if rows else []), 6: text("sfumato")}
    raw = struct(fields)[1]
    return raw + len(raw).to_bytes(4, "little") + MAGIC


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
        raise ValueError("a column has a type that table files do not support")
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
