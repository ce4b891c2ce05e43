"""One Parquet file per table: every byte follows from the columns' names, types and values.

Parquet leaves its writer much freedom (encodings, pages, statistics, free text); here nothing is left, so a file cannot carry
anything but its table. Any Parquet reader reads it. Ours is no Parquet reader: it knows this one form, and refuses the rest.

The canonical form, in the words of the Parquet format (numbers are little-endian, headers in Thrift's compact protocol):

* `PAR1`, the columns in the table's order, each as one chunk; the footer (FileMetaData), its length in 4 bytes, `PAR1`.
  Nothing lies between. All rows are in one row group; a table without rows has no row group and no pages.
* A chunk is a dictionary page, then data pages (version 1) of 131,072 rows each, the last with the rows that are left. Nothing
  is compressed, and no page has a checksum. A column of booleans has no dictionary page.
* The dictionary page (PLAIN) has the distinct values that occur, strictly ascending: numbers by size, texts by their UTF-8
  bytes. A column of missing values only has one with no values and no bytes. Doubles are finite, and zero is positive;
  days lie in the years 1 to 9999.
* A data page has repetition levels (lists only), definition levels, then for each entry that has a value its place in the
  dictionary (RLE_DICTIONARY), or the boolean itself (PLAIN). Levels and places are each exactly one bit-packed run: header
  2·⌈entries/8⌉ + 1, then the entries, filled up to a multiple of eight with zeros, even where there are no entries. Levels
  follow their length in 4 bytes; places follow their width in one byte: the bits of (number of values - 1), at least 1.
  Booleans are bit-packed without any header, filled up to a byte with zeros.
* Every column is OPTIONAL: level 1 is a value, 0 a missing one. A list is a REQUIRED group (LIST) of a REPEATED group `list`
  of an OPTIONAL text `element`: level 2 is a value, 1 a missing element, 0 an empty list.
* Types are int32 (INT32), int64 (INT64), double (DOUBLE), bool (BOOLEAN), string (BYTE_ARRAY, converted UTF8, logical STRING),
  date32[day] (INT32, converted DATE, logical DATE), timestamp[us] (INT64, logical TIMESTAMP in MICROS, not adjusted to UTC, no
  converted type), and lists of strings (converted LIST, logical LIST).
* Of optional fields, headers and footer have only these: SchemaElement type, repetition_type (not the root's, which is named
  `schema`), num_children of groups, converted_type and logicalType as above; ColumnMetaData dictionary_page_offset where there
  is a dictionary page; FileMetaData created_by = `sfumato`. version = 2, file_offset = 0; encodings are PLAIN, RLE, and
  RLE_DICTIONARY (not for booleans), in this order; total_byte_size is the sum of the chunks' sizes, with page headers.
  Numbers, lengths and field steps take the shortest form the protocol has.

A file to read may come from anybody: each read is within it, and each size is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from sfumato.arrays import Bytes, Flags, Integers, Small
from sfumato.errors import FormatError
from sfumato.release._parquet_kernels import pack, read_texts, unpack, write_texts
from sfumato.release.parquet_meta import (
    DATA,
    DICTIONARY,
    KINDS,
    LIST,
    MAGIC,
    PAGE_ROWS,
    PLAIN,
    RLE_DICTIONARY,
    Chunk,
    Coded,
    check,
    footer,
    frozen,
    numbers_of,
    page_header,
    run_header,
    width,
)

__all__ = ["PAGE_ROWS", "Coded", "decode", "encode"]


def encode(columns: Mapping[str, Coded]) -> bytes:
    """Return the one file of a table; ValueError if a column is not as Coded describes it."""
    rows = {column.rows for column in columns.values()}
    if len(rows) != 1:
        raise ValueError("a table has at least one column, and all have the same number of rows")
    out, at, chunks = [MAGIC], len(MAGIC), []
    for name, column in columns.items():
        check(column)
        dictionary = _dictionary_page(column.values) if column.type != "bool" and column.rows else b""
        pages = [dictionary, *_data_pages(column)]
        size = sum(map(len, pages))
        chunks.append(Chunk(name, column.type, _levels_of(column), at, len(dictionary), size))
        out += pages
        at += size
    out.append(footer(chunks, rows.pop()))
    return b"".join(out)


def _dictionary_page(values: pa.Array) -> bytes:
    if values.type != pa.string():
        body = numbers_of(values).tobytes()
    elif len(values):
        offsets = frozen(values.buffers()[1])[4 * values.offset : 4 * (values.offset + len(values) + 1)].view(np.int32)
        raw = np.zeros(4 * len(values) + int(offsets[-1] - offsets[0]), np.uint8)
        if not write_texts(offsets, frozen(values.buffers()[2] or b""), raw):
            raise ValueError("a column's values are not strictly ascending")
        body = raw.tobytes()
    else:
        body = b""
    return page_header(DICTIONARY, len(body), len(values), PLAIN) + body


def _levels_of(column: Coded) -> int:
    """Return how many entries the column has for Parquet, where an empty list counts as one."""
    return len(column.codes) if column.start is None else len(column.codes) + int((np.diff(column.start) == 0).sum())


def _data_pages(column: Coded) -> Iterator[bytes]:
    for first in range(0, column.rows, PAGE_ROWS):
        last = min(first + PAGE_ROWS, column.rows)
        if column.start is None:
            codes = column.codes[first:last]
            count, levels = len(codes), _run(np.packbits(codes < len(column.values), bitorder="little"), len(codes))
        else:
            start = column.start[first : last + 1]
            codes = column.codes[start[0] : start[-1]]
            count, levels = _list_levels(codes < len(column.values), start - start[0])
        body = levels + _indices(column.values, codes)
        yield page_header(DATA, len(body), count, PLAIN if column.type == "bool" else RLE_DICTIONARY) + body


def _run(packed: Bytes, count: int) -> bytes:
    head = run_header(count)
    return (len(head) + len(packed)).to_bytes(4, "little") + head + packed.tobytes()


def _list_levels(present: Flags, start: Integers) -> tuple[int, bytes]:
    """Return how many entries a page of lists has, its repetition and its definition levels."""
    empty = np.diff(start) == 0
    place = start[:-1] + np.cumsum(empty) - empty  # of each row's first entry
    count = len(present) + int(empty.sum())
    repeated = np.ones(count, np.bool_)
    repeated[place] = False
    element = np.ones(count, np.bool_)
    element[place[empty]] = False
    levels = np.zeros((-(-count // 8) * 8, 2), np.bool_)  # 0: an empty list, 1: a missing element, 2: a value; low bit first
    levels[:count][element] = np.column_stack([~present, present])
    return count, _run(np.packbits(repeated, bitorder="little"), count) + _run(np.packbits(levels, bitorder="little"), count)


def _indices(values: pa.Array, codes: Small) -> bytes:
    codes = np.ascontiguousarray(codes[codes < len(values)])
    if values.type == pa.bool_():
        return np.packbits(numbers_of(values)[codes] if len(codes) else codes, bitorder="little").tobytes()
    bits = width(len(values))
    packed = np.zeros(-(-len(codes) // 8) * bits, np.uint8)
    pack(codes, bits, packed)
    return bytes([bits]) + run_header(len(codes)) + packed.tobytes()


def decode(data: bytes | memoryview, *, rows: int, types: Mapping[str, str]) -> dict[str, Coded]:
    """Return the columns of a table file; FormatError unless the file is, byte for byte, what `encode` writes for them.

    Only pages are read, each as if it were right; whether it was, and the footer with it, is decided by writing the columns
    again. Nothing is allocated that the bytes of the file could not fill.
    """
    whole = frozen(data)
    columns = read_columns(whole, rows=rows, types=types)
    try:
        again = encode(columns)
    except ValueError as fault:
        raise refusal(str(fault)) from None
    if not np.array_equal(np.frombuffer(again, np.uint8), whole):
        raise refusal("the same columns would be written with other bytes")
    return columns


def refusal(why: str) -> FormatError:
    """Return the error for a file that is not in canonical form."""
    return FormatError(f"a table file is not in its canonical form: {why}", hint="it was damaged, or not written by sfumato")


def read_columns(data: Bytes, *, rows: int, types: Mapping[str, str]) -> dict[str, Coded]:
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

    def __init__(self, data: Bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> Bytes:
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
        raise refusal("a page exceeds the largest size")

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

    def run(self, count: int, width: int) -> Bytes:
        """Return the bytes of a bit-packed run."""
        self.take(len(run_header(count)))
        return self.take((count + 7) // 8 * width)

    def bits(self, count: int) -> Flags:
        """Return a run of single bits, after its length."""
        self.take(4)
        return np.unpackbits(self.run(count, 1), count=count, bitorder="little").view(np.bool_)


def _column(reader: _Reader, rows: int, type_: str) -> Coded:
    if type_ not in KINDS and type_ != LIST:
        raise refusal("a column has a type that table files do not support")
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


def _codes(reader: _Reader, present: Flags, values: pa.Array) -> Small:
    """Return the codes of a page, len(values) where no value is present."""
    count = int(np.count_nonzero(present))
    if values.type == pa.bool_():
        places = np.unpackbits(reader.take((count + 7) // 8), count=count, bitorder="little").astype(np.int32)
    else:
        reader.take(1)
        places = np.empty(count, np.int32)
        unpack(reader.run(count, width(len(values))), width(len(values)), places)
        if count and places.max() >= len(values):
            raise refusal("a column has a code without a value")
    if count == len(present):
        return places
    codes = np.full(len(present), len(values), np.int32)
    codes[present] = places
    return codes


def _occurring(values: pa.Array, codes: Small) -> Coded:
    """Return the column with those of its values that occur."""
    seen = np.bincount(codes, minlength=len(values) + 1)[: len(values)] > 0
    place = np.append(np.cumsum(seen) - 1, seen.sum()).astype(np.int32)
    return Coded(values.filter(pa.array(seen)), place[codes])
