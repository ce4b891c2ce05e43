"""What a table file says about itself: the header before each page, and the footer. All of it follows from types and sizes.

Both are written in Thrift's compact protocol, of which only these few values are needed; it is written, never read. A value is a
pair: the number of its type in the protocol, and its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Value = tuple[int, bytes]

_FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 2, 5, 6, 8, 9, 12
_SHORT = 15  # field steps and list lengths below this share a byte with their type

NO: Value = (_FALSE, b"")


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


def i32(number: int) -> Value:
    """Return a number of 32 bits; ValueError if it has more."""
    if not -(2**31) <= number < 2**31:
        raise ValueError("a page of a table file would be larger than 2 GB")
    return _I32, _zigzag(number)


def i64(number: int) -> Value:
    """Return a number of 64 bits."""
    return _I64, _zigzag(number)


def text(words: str) -> Value:
    """Return a text in UTF-8; ValueError if it has half a surrogate pair."""
    try:
        raw = words.encode()
    except UnicodeEncodeError:
        raise ValueError("a name has characters that UTF-8 does not have") from None
    return _BINARY, varint(len(raw)) + raw


def items(values: Sequence[Value]) -> Value:
    """Return a list of values of one type (of structs, if there are none)."""
    kind, count = values[0][0] if values else _STRUCT, len(values)
    head = bytes([count << 4 | kind]) if count < _SHORT else bytes([0xF0 | kind]) + varint(count)
    return _LIST, head + b"".join(raw for _, raw in values)


def struct(fields: Mapping[int, Value]) -> Value:
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


class Kind(NamedTuple):
    """How Parquet says an Arrow type: the physical type, its width in bytes, and converted and logical type where it has them."""

    physical: int
    numpy: str | None
    converted: int | None = None
    logical: Value | None = None


KINDS = {
    "bool": Kind(0, None),
    "int32": Kind(1, "<i4"),
    "int64": Kind(2, "<i8"),
    "double": Kind(5, "<f8"),
    "string": Kind(6, None, 0, struct({1: _EMPTY})),
    "date32[day]": Kind(1, "<i4", 6, struct({6: _EMPTY})),
    "timestamp[us]": Kind(2, "<i8", None, struct({8: struct({1: NO, 2: struct({2: _EMPTY})})})),
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


def _leaf(name: str, kind: Kind) -> Value:
    fields = {1: i32(kind.physical), 3: i32(_OPTIONAL), 4: text(name)}
    if kind.converted is not None:
        fields[6] = i32(kind.converted)
    if kind.logical is not None:
        fields[10] = kind.logical
    return struct(fields)


def _schema(columns: Sequence[Chunk]) -> list[Value]:
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


def _chunk(column: Chunk) -> Value:
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
