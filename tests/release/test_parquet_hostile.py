"""A table file that is not byte for byte what we write is refused with a sentence, at once, whatever was done to it.

A change may turn the file into the one file of another table (another age): then that is the table everybody reads. What must
never be is a second file of the same table.
"""

import io
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import FormatError
from sfumato.release import parquet_meta
from sfumato.release.parquet import Coded, decode, encode
from tests.release._parquet import coded, everything, of_lists, plain, read, types_of

COLUMNS = everything()
DATA = encode(COLUMNS)


def refused(data, *, rows=5, types=None):
    with pytest.raises(FormatError, match="canonical form") as caught:
        decode(data, rows=rows, types=types_of(COLUMNS) if types is None else types)
    assert "\n" not in caught.value.message
    return caught.value.message


def other_table(data, columns):
    """Return whether the file is accepted: then it must be another table than these columns, and pyarrow must read the same."""
    try:
        found = read(data, columns)
    except FormatError:
        return False
    shown = {name: plain(column) for name, column in found.items()}
    assert shown != {name: plain(column) for name, column in columns.items()}
    assert shown == pq.read_table(io.BytesIO(data)).to_pydict()
    return True


@pytest.mark.parametrize("name", list(COLUMNS))
@pytest.mark.parametrize("page", [2, parquet_meta.PAGE_ROWS])
def test_a_flipped_bit_is_refused_or_makes_the_file_of_another_table(name, page, monkeypatch):
    monkeypatch.setattr("sfumato.release.parquet.PAGE_ROWS", page)
    columns = {name: COLUMNS[name]}
    data = encode(columns)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in range(len(data)):
        for bit in range(8):
            accepted = other_table(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :], columns)
            assert not accepted or 4 < place < footer


def test_another_byte_anywhere_in_a_small_file_is_refused_or_makes_the_file_of_another_table():
    columns = {"a": coded(["x", None, "y"], pa.string()), "b": of_lists([["x", None], [], ["y"]])}
    data = encode(columns)
    for place in range(len(data)):
        for byte in (0, 1, 2, 3, 5, 127, 128, 255, data[place] + 1 & 255, data[place] - 1 & 255):
            if byte != data[place]:
                other_table(data[:place] + bytes([byte]) + data[place + 1 :], columns)


def test_every_truncation_and_every_extension_is_refused():
    for size in range(len(DATA)):
        refused(DATA[:size])
        refused(DATA[size + 1 :])
    for more in (b"\0", b"PAR1", DATA):
        refused(DATA + more)
        refused(more + DATA)


def test_a_byte_more_or_less_at_any_place_is_refused():
    for place in range(len(DATA)):
        refused(DATA[:place] + b"\0" + DATA[place:])
        refused(DATA[:place] + DATA[place + 1 :])


def test_random_changes_of_many_bytes_are_refused_or_make_the_file_of_another_table():
    rng = np.random.default_rng(20_240_229)
    for _ in range(2_000):
        data = bytearray(DATA)
        for _ in range(rng.integers(1, 12)):
            place, size = int(rng.integers(len(data))), int(rng.integers(0, 9))
            data[place : place + size] = rng.bytes(int(rng.integers(0, 9)))
        if bytes(data) != DATA:
            other_table(bytes(data), COLUMNS)


def test_noise_of_any_length_is_refused():
    rng = np.random.default_rng(1)
    for size in range(300):
        refused(rng.bytes(size))
        refused(b"PAR1" + rng.bytes(size))


def test_other_rows_and_other_types_than_the_manifest_says_are_refused():
    for rows in (-1, 0, 1, 4, 6, 8, 30_000_000, 2**62):
        refused(DATA, rows=rows)
    names = list(COLUMNS)
    for name in names:
        for type_ in (*parquet_meta.KINDS, parquet_meta.LIST, "int16", "", "list<element: int64>"):
            if type_ != COLUMNS[name].type:
                refused(DATA, types=types_of(COLUMNS) | {name: type_})
        refused(DATA, types={other: COLUMNS[other].type for other in names if other != name})
        refused(DATA, types={("other" if other == name else other): COLUMNS[other].type for other in names})
    refused(DATA, types=dict(reversed(types_of(COLUMNS).items())))
    refused(DATA, types={})
    refused(DATA, types=types_of(COLUMNS) | {"\ud800": "int64"})


def memory(action):
    action()  # what is loaded when first needed
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("type_", ["bool", "int64", "string", "list<element: string>"])
def test_thirty_million_rows_in_a_short_file_are_refused_before_anything_is_allocated(type_):
    body = encode({"a": of_lists([["x"]]) if "list" in type_ else coded([None], pa.type_for_alias(type_))})
    assert memory(lambda: refused(body, rows=30_000_000, types={"a": type_})) < 100_000


@pytest.mark.parametrize("type_", ["int32", "double", "string", "list<element: string>"])
@pytest.mark.parametrize("count", [2**20, 2**31 - 1])
@pytest.mark.parametrize("size", [0, 8, 2**31 - 1])
def test_a_dictionary_that_claims_more_values_than_bytes_is_refused_before_anything_is_allocated(type_, count, size):
    head = parquet_meta.page_header(parquet_meta.DICTIONARY, size, count, parquet_meta.PLAIN)
    assert memory(lambda: refused(b"PAR1" + head + bytes(200), rows=3, types={"a": type_})) < 100_000


def test_a_list_page_that_claims_more_entries_than_bits_is_refused_before_anything_is_allocated():
    empty = parquet_meta.page_header(parquet_meta.DICTIONARY, 0, 0, parquet_meta.PLAIN)
    head = parquet_meta.page_header(parquet_meta.DATA, 100, 2**31 - 1, parquet_meta.RLE_DICTIONARY)
    data = b"PAR1" + empty + head + bytes(200)
    assert memory(lambda: refused(data, rows=3, types={"a": "list<element: string>"})) < 100_000


@pytest.mark.parametrize("size", ["8080808010", "ffffffff7f", "ffffffffff", "ffffffffffffffffff01"])
def test_a_page_of_two_gigabytes_or_more_is_refused(size):
    head = bytes.fromhex(f"1504 15{size} 15{size} 4c 1502 1500 0000")
    assert "largest size" in refused(b"PAR1" + head + bytes(200), rows=3, types={"a": "string"})


def test_a_text_longer_than_its_page_is_refused():
    data = encode({"a": coded(["xyz", "zzz"], pa.string())})
    for length in (4, 2**31 - 1, 2**31, 2**32 - 1):
        place = data.index(b"\3\0\0\0")
        refused(data[:place] + length.to_bytes(4, "little") + data[place + 4 :], rows=2, types={"a": "string"})


def test_a_text_that_is_not_utf8_is_refused():
    data = encode({"a": coded(["ab", "ü"], pa.string())})
    for bad in (b"\xff\xff", b"\xc3\x28", b"\xed\xa0", b"\x80\x80"):
        assert "UTF-8" in refused(data.replace("ü".encode(), bad), rows=2, types={"a": "string"})


def test_dictionaries_with_unused_unsorted_or_repeated_values_are_refused():
    data = encode({"a": coded([10, 20, 30], pa.int32())})

    def with_values(*numbers):
        old, new = (b"".join(n.to_bytes(4, "little") for n in some) for some in ((10, 20, 30), numbers))
        return refused(data.replace(old, new), rows=3, types={"a": "int32"})

    assert "ascending" in with_values(20, 10, 30)
    assert "ascending" in with_values(10, 10, 30)
    places = data.index(b"\2\3\x24\0") + 2  # two bits each: 0, 1, 2
    assert "does not occur" in refused(data[:places] + b"\x04" + data[places + 1 :], rows=3, types={"a": "int32"})
    assert "without a value" in refused(data[:places] + b"\x34" + data[places + 1 :], rows=3, types={"a": "int32"})


def test_numbers_that_are_not_finite_and_negative_zeros_are_refused():
    data = encode({"a": coded([1.5], pa.float64())})
    for bad in (float("nan"), float("inf"), -float("inf"), -0.0):
        swapped = data.replace(np.float64(1.5).tobytes(), np.float64(bad).tobytes())
        assert "finite" in refused(swapped, rows=1, types={"a": "double"})


@pytest.mark.parametrize("type_", ["date32[day]", "timestamp[us]"])
def test_days_that_no_calendar_of_python_has_are_refused(type_):
    first, last, kind = {
        "date32[day]": (-719_162, 2_932_896, np.int32),
        "timestamp[us]": (-719_162 * 86_400_000_000, 2_932_897 * 86_400_000_000 - 1, np.int64),
    }[type_]
    days = pa.array(np.array([first, last], kind)).view(pa.type_for_alias(type_))
    assert [day.year for day in days.to_pylist()] == [1, 9999]
    data = encode({"a": Coded(days, np.array([0, 1], np.int32))})
    for good, bad in ((first, first - 1), (last, last + 1), (last, np.iinfo(kind).max)):
        swapped = data.replace(kind(good).tobytes(), kind(bad).tobytes())
        assert "years 1 to 9999" in refused(swapped, rows=2, types={"a": type_})


def test_files_of_other_writers_are_refused_even_with_the_same_content():
    table = pq.read_table(io.BytesIO(DATA))
    for version in ("1.0", "2.0"):
        out = io.BytesIO()
        pq.write_table(table, out, compression="none", data_page_version=version, write_statistics=False, store_schema=False)
        refused(out.getvalue())


def test_messages_never_show_a_value():
    data = encode({"a": coded(["Secretitis", "zz"], pa.string())})
    for place in range(len(data)):
        message = refused(data[:place] + b"\xff" + data[place + 1 :], rows=2, types={"a": "string"})
        assert "Secretitis"[:4] not in message


def test_a_memoryview_and_a_bytearray_are_read_like_bytes():
    for data in (memoryview(DATA), bytearray(DATA), memoryview(bytearray(DATA))):
        assert encode(read(data, COLUMNS)) == DATA
