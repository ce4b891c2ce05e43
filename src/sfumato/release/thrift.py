"""The few values of Thrift's compact protocol that the description of a Parquet file is made of: written, never read.

A value is a pair: the number of its type in the protocol, and its bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
