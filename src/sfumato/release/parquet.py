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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from sfumato.arrays import Bytes, Flags, Integers, Small
from sfumato.release._parquet_kernels import pack, write_texts
from sfumato.release.coded import Coded, check, frozen, numbers_of
from sfumato.release.parquet_meta import (
    DATA,
    DICTIONARY,
    MAGIC,
    PAGE_ROWS,
    PLAIN,
    RLE_DICTIONARY,
    Chunk,
    footer,
    page_header,
    run_header,
    width,
)
from sfumato.release.parquet_read import read_columns, refusal

__all__ = ["PAGE_ROWS", "Coded", "decode", "encode"]

_Bytes = Bytes
_Codes = Small


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


def _run(packed: _Bytes, count: int) -> bytes:
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


def _indices(values: pa.Array, codes: _Codes) -> bytes:
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
