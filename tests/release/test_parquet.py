"""A table has exactly one file, anybody's Parquet reader reads it, and makers cannot write another."""

import hashlib
import io

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release._parquet_kernels import all_used, pack, read_texts, unpack, write_texts
from sfumato.release.parquet import PAGE_ROWS, Coded, decode, encode
from sfumato.release.parquet_meta import frozen
from tests.release._parquet import coded, everything, of_lists, plain, read, tables, types_of


def same(one, other):
    assert list(one) == list(other)
    for name in one:
        a, b = one[name], other[name]
        assert a.values.equals(b.values)
        assert a.type == b.type
        assert a.codes.dtype == b.codes.dtype == np.int32
        assert a.codes.tolist() == b.codes.tolist()
        assert (a.start is None and b.start is None) or (b.start.dtype == np.int64 and a.start.tolist() == b.start.tolist())


@given(tables())
def test_what_is_written_is_read_again(columns):
    same(columns, read(encode(columns), columns))


@given(tables())
def test_pyarrow_and_polars_read_the_same_content(columns):
    data = encode(columns)
    arrow = pq.read_table(io.BytesIO(data))
    assert {field.name: str(field.type) for field in arrow.schema} == types_of(columns)
    frame = pl.read_parquet(io.BytesIO(data))
    for name, column in columns.items():
        assert arrow[name].to_pylist() == plain(column)
        assert frame[name].to_list() == plain(column)
    arrow.validate(full=True)


def test_every_kind_of_column_survives_all_readers():
    columns = everything()
    data = encode(columns)
    same(columns, read(data, columns))
    arrow, frame = pq.read_table(io.BytesIO(data)), pl.read_parquet(io.BytesIO(data))
    assert all(arrow[name].to_pylist() == frame[name].to_list() == plain(column) for name, column in columns.items())


def test_the_canonical_form_does_not_change():
    """If these bytes change, releases written before are refused: that is a new format version."""
    assert hashlib.sha256(encode(everything())).hexdigest() == "8b3c4c8b5ecff7c82d2ab7a2c6dddf4cbd3e288e59cf98b2fd6cdc0ad5fe3877"


def test_a_small_file_is_what_the_description_says_byte_for_byte():
    data = encode({"a": coded([7, None, 5], pa.int32())})
    dictionary = bytes.fromhex("1504 1510 1510 4c 1504 1500 00 00") + (5).to_bytes(4, "little") + (7).to_bytes(4, "little")
    levels = bytes.fromhex("02000000 03 05")  # one group of eight; the first and the third entry have values
    places = bytes.fromhex("01 03 01")  # one bit each: 1, 0
    page = bytes.fromhex("1500 1512 1512 2c 1506 1510 1506 1506 00 00") + levels + places
    schema = bytes.fromhex("292c 48 06") + b"schema" + bytes.fromhex("15 02 00  15 02 25 02 18 01") + b"a" + b"\0"
    size = len(dictionary) + len(page)
    chunk = bytes.fromhex("26 00 1c 15 02 19 35 00 06 10 19 18 01") + b"a" + bytes.fromhex("15 00 16 06")
    chunk += bytes([0x16, 2 * size, 0x16, 2 * size, 0x26, 2 * (4 + len(dictionary)), 0x26, 8, 0, 0])
    group = bytes.fromhex("19 1c") + chunk + bytes([0x16, 2 * size, 0x16, 6, 0])
    footer = bytes.fromhex("15 04") + bytes([0x19]) + schema[1:] + bytes.fromhex("16 06 19 1c") + group
    footer += bytes.fromhex("28 07") + b"sfumato" + b"\0"
    assert data == b"PAR1" + dictionary + page + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@given(st.integers(1, 31).flatmap(lambda width: st.tuples(st.just(width), st.lists(st.integers(0, 2**width - 1)))))
def test_bit_packing_is_one_long_number_in_bytes(case):
    width, codes = case
    number = sum(code << (k * width) for k, code in enumerate(codes))
    out = np.zeros(-(-len(codes) // 8) * width, np.uint8)
    pack(np.array(codes, np.int32), width, out)
    assert out.tobytes() == number.to_bytes(len(out), "little")
    back = np.full(len(codes), -1, np.int32)
    unpack(frozen(out), width, back)
    assert back.tolist() == codes


def test_kernels_stay_within_arrays_that_are_too_short():
    out = np.zeros(2, np.uint8)
    pack(np.full(100, 2**31 - 1, np.int32), 31, out[:1])
    assert out.tolist() == [255, 0]
    back = np.full(3, -1, np.int32)
    unpack(frozen(b"\xff"), 7, back)
    assert back.tolist() == [127, 1, 0]
    assert not all_used(frozen(np.array([0, 2**31 - 1], np.int32)).view(np.int32), 1)
    assert not all_used(frozen(np.array([0, -1], np.int32)).view(np.int32), 1)
    assert not read_texts(frozen(b"\x05\0\0\0abc"), np.zeros(2, np.int32), np.zeros(3, np.uint8))
    assert not read_texts(frozen(b"\x03\0\0\0abc"), np.zeros(2, np.int32), np.zeros(2, np.uint8))
    assert not write_texts(frozen(np.array([0, 9], np.int32)).view(np.int32), frozen(b"abc"), np.zeros(99, np.uint8))
    assert not write_texts(frozen(np.array([-1, 2], np.int32)).view(np.int32), frozen(b"abc"), np.zeros(7, np.uint8))
    assert not write_texts(frozen(np.array([0, 3], np.int32)).view(np.int32), frozen(b"abc"), np.zeros(6, np.uint8))


@pytest.mark.parametrize("count", [14, 15, 130])
def test_tables_of_many_columns_with_long_names_are_read_by_everybody(count):
    columns = {f"{k:0200d}": coded([k, None], pa.int64()) for k in range(count)}
    data = encode(columns)
    same(columns, read(data, columns))
    shown = {name: plain(column) for name, column in columns.items()}
    assert pq.read_table(io.BytesIO(data)).to_pydict() == pl.read_parquet(io.BytesIO(data)).to_dict(as_series=False) == shown


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 255, 256, 257, 65_537])
def test_dictionaries_of_any_size_are_packed_in_as_many_bits_as_they_need(size):
    column = coded([*range(size), *range(size)], pa.int64())
    data = encode({"n": column})
    same({"n": column}, decode(data, rows=2 * size, types={"n": "int64"}))
    assert pq.read_table(io.BytesIO(data))["n"].to_pylist() == [*range(size), *range(size)]


@pytest.mark.parametrize("rows", [1, PAGE_ROWS - 1, PAGE_ROWS, PAGE_ROWS + 1, 2 * PAGE_ROWS + 77])
def test_tables_of_several_pages_are_read_by_everybody(rows):
    rng = np.random.default_rng(rows)
    codes = rng.integers(0, 4, rows).astype(np.int32)
    codes[: min(rows, 4)] = np.arange(4)[:rows]
    values = pa.array(["a", "b", "c"][:rows])
    sizes = rng.integers(0, 3, rows)
    start = np.append(0, np.cumsum(sizes))
    inner = rng.integers(0, 4, start[-1]).astype(np.int32)
    used, inner = np.unique(inner, return_inverse=True)
    words = pa.array([f"w{k}" for k in used])
    columns = {"flat": Coded(values, codes), "list": Coded(words, inner.astype(np.int32), start)}
    data = encode(columns)
    same(columns, read(data, columns))
    arrow, frame = pq.read_table(io.BytesIO(data)), pl.read_parquet(io.BytesIO(data))
    assert arrow["flat"].to_pylist() == frame["flat"].to_list() == plain(columns["flat"])
    assert arrow["list"].to_pylist() == frame["list"].to_list() == plain(columns["list"])


def test_slices_of_arrays_are_written_like_their_copies():
    for values in (pa.array(["a", "bb", "ccc", "d"]), pa.array([1, 2, 3, 4]), pa.array([1.5, 2.5, 3.5, 4.5])):
        codes = np.array([9, 0, 9, 1, 9, 2], np.int32)[1::2]
        cut = encode({"x": Coded(values.slice(1, 3), codes)})
        assert cut == encode({"x": Coded(pa.array(values.to_pylist()[1:4], values.type), codes.copy())})


def test_a_column_that_is_not_as_promised_is_not_written():
    def refuses(values, codes, start=None, type_=None):
        codes = np.array(codes, np.int32)
        start = None if start is None else np.array(start, np.int64)
        with pytest.raises(ValueError, match=r"column|table"):
            encode({"x": Coded(pa.array(values, type_), codes, start)})

    refuses([2, 1], [0, 1])
    refuses([1, 1], [0, 1])
    refuses(["b", "a"], [0, 1])
    refuses(["a", "a"], [0, 1])
    refuses(["ab", "a"], [0, 1])
    refuses(["\U0001d11e", "\uff41"], [0, 1])  # ascending in UTF-16, not in UTF-8
    refuses([True, False], [0, 1])
    refuses([1, 2], [0, 0])
    refuses([1, 2], [0])
    refuses([1], [0, 2])
    refuses([1], [0, -1])
    refuses([1, None], [0, 1])
    refuses([-0.0], [0])
    refuses([float("nan")], [0])
    refuses([1.0, float("inf")], [0, 1])
    refuses([1], [0], type_=pa.int16())
    refuses(["a"], [0], type_=pa.large_string())
    refuses([1], [0], start=[0, 1])
    refuses(["a"], [0], start=[0, 2])
    refuses(["a"], [0], start=[1, 1])
    refuses(["a"], [0], start=[0, 2, 1])
    refuses(["a"], [0], start=[])
    invalid = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")])
    refuses(invalid, [0])
    with pytest.raises(ValueError, match="int32"):
        encode({"x": Coded(pa.array([1]), np.zeros(1, np.int64))})
    with pytest.raises(ValueError, match="at least one column"):
        encode({})
    with pytest.raises(ValueError, match="same number of rows"):
        encode({"x": coded([1], pa.int64()), "y": of_lists([[], []])})
    with pytest.raises(ValueError, match="UTF-8"):
        encode({"\ud800": coded([1], pa.int64())})


def test_texts_ascend_by_code_points_also_beyond_the_first_plane():
    column = coded(["\U0001d11e", "\uff41", "", "a", "ab"], pa.string())
    assert column.values.to_pylist() == ["", "a", "ab", "\uff41", "\U0001d11e"]
    same({"x": column}, read(encode({"x": column}), {"x": column}))


def test_names_may_have_dots_and_no_letters():
    columns = {"": coded([1, 2], pa.int64()), "a.b": of_lists([["x"], []]), "list.element": coded([1, 2], pa.int64())}
    data = encode(columns)
    same(columns, read(data, columns))
    assert pq.read_table(io.BytesIO(data)).column_names == list(columns)
