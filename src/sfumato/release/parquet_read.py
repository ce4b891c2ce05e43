"""Reading the pages of a table file that anybody may have prepared: each read is within the file, each size is checked first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from sfumato.arrays import Bytes, Flags, Integers, Small
from sfumato.errors import FormatError
from sfumato.release._parquet_kernels import read_texts, unpack
from sfumato.release.coded import Coded
from sfumato.release.parquet_meta import DATA, DICTIONARY, KINDS, LIST, MAGIC, PAGE_ROWS, run_header, width

_Bytes = Bytes
_Codes = Small


def refusal(why: str) -> FormatError:
    """Return the error for a file that is not in canonical form."""
    return FormatError(f"a table file is not in its canonical form: {why}", hint="it was damaged, or not written by sfumato")


def read_columns(data: _Bytes, *, rows: int, types: Mapping[str, str]) -> dict[str, Coded]:
    """Return what the pages of a table file say if the file is right; FormatError if it cannot be.

    What is returned is safe to write again, which decides; until then it promises nothing.
    """
    if rows < 0 or rows > 8 * len(data):
        raise refusal("it is too short for its rows")
    reader = _Reader(data)
    reader.take(len(MAGIC))
    return {name: _column(reader, rows, type_) for name, type_ in types.items()}


class _Reader:
    """A place in the file that only moves on, and never beyond the end."""

    def __init__(self, data: _Bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> _Bytes:
        """Return the next bytes."""
        if size > len(self.data) - self.at:
            raise refusal("it ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self) -> int:
        """Return the next varint of at most 32 bits, zigzag undone."""
        out = 0
        for shift in range(0, 35, 7):
            byte = int(self.take(1)[0])
            out |= (byte & 127) << shift
            if byte < 128 and out < 2**32:
                return out >> 1
        raise refusal("a page is larger than pages can be")

    def header(self, kind: int) -> tuple[int, int]:
        """Return the size and the entries of the page that begins here."""
        self.take(3)
        size = self.number()
        self.take(1)
        self.number()
        self.take(2)
        count = self.number()
        self.take(4 if kind == DICTIONARY else 8)
        return size, count

    def run(self, count: int, width: int) -> _Bytes:
        """Return the bytes of a bit-packed run."""
        self.take(len(run_header(count)))
        return self.take((count + 7) // 8 * width)

    def bits(self, count: int) -> Flags:
        """Return a run of single bits, after its length."""
        self.take(4)
        return np.unpackbits(self.run(count, 1), count=count, bitorder="little").view(np.bool_)


def _column(reader: _Reader, rows: int, type_: str) -> Coded:
    if type_ not in KINDS and type_ != LIST:
        raise refusal("a column has a type that table files do not have")
    values = _dictionary(reader, "string" if type_ == LIST else type_, rows)
    codes, start = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    for first in range(0, rows, PAGE_ROWS):
        here = min(PAGE_ROWS, rows - first)
        _, count = reader.header(DATA)
        if type_ == LIST:
            ends, present = _lists(reader, count, here)
            start.append(start[-1][-1] + ends)
        else:
            present = reader.bits(here)
        codes.append(_codes(reader, present, values))
    if type_ == "bool":
        return _occurring(values, np.concatenate(codes))
    return Coded(values, np.concatenate(codes), np.concatenate(start) if type_ == LIST else None)


def _dictionary(reader: _Reader, type_: str, rows: int) -> pa.Array:
    if type_ == "bool":
        return pa.array([False, True])
    if rows == 0:
        return pa.array([], pa.type_for_alias(type_))
    size, count = reader.header(DICTIONARY)
    page = reader.take(size)
    kind = KINDS[type_].numpy
    if kind is not None:
        if size != count * np.dtype(kind).itemsize:
            raise refusal("a dictionary has another size than its values")
        return pa.Array.from_buffers(pa.type_for_alias(type_), count, [None, pa.py_buffer(page.tobytes())])
    if size < 4 * count:
        raise refusal("a dictionary is too short for its values")
    offsets, letters = np.zeros(count + 1, np.int32), np.zeros(size - 4 * count, np.uint8)
    if not read_texts(page, offsets, letters):
        raise refusal("a dictionary has another size than its values")
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(letters)])


def _lists(reader: _Reader, count: int, rows: int) -> tuple[Integers, Flags]:
    """Return where the lists of a page end, and which elements have a value."""
    repeated = reader.bits(count)
    reader.take(4)
    levels = np.unpackbits(reader.run(count, 2), count=2 * count, bitorder="little").reshape(-1, 2)
    first = np.flatnonzero(~repeated)
    if len(first) != rows or first[0] != 0:
        raise refusal("a page has another number of lists than rows")
    element = (levels[:, 0] | levels[:, 1]).view(np.bool_)
    ends = np.cumsum(element, dtype=np.int64)
    return ends[np.append(first[1:], count) - 1], levels[element, 1].astype(np.bool_)


def _codes(reader: _Reader, present: Flags, values: pa.Array) -> _Codes:
    """Return the codes of a page, len(values) where no value is present."""
    count = int(np.count_nonzero(present))
    if values.type == pa.bool_():
        found = np.unpackbits(reader.take((count + 7) // 8), count=count, bitorder="little").astype(np.int32)
    else:
        reader.take(1)
        found = np.empty(count, np.int32)
        unpack(reader.run(count, width(len(values))), width(len(values)), found)
        if count and found.max() >= len(values):
            raise refusal("a column has a code without a value")
    if count == len(present):
        return found
    codes = np.full(len(present), len(values), np.int32)
    codes[present] = found
    return codes


def _occurring(values: pa.Array, codes: _Codes) -> Coded:
    """Return the column with those of its values that occur."""
    seen = np.bincount(codes, minlength=len(values) + 1)[: len(values)] > 0
    place = np.append(np.cumsum(seen) - 1, seen.sum()).astype(np.int32)
    return Coded(values.filter(pa.array(seen)), place[codes])
