"""Between Arrow columns and the coded columns that table files hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Flags
from sfumato.release.box_tables import LIST
from sfumato.release.coded import Coded


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
    places = np.asarray(index, dtype=np.int64)
    occurs = np.flatnonzero(np.bincount(places, minlength=missing + 1)[:missing])
    kept = occurs[np.asarray(pc.sort_indices(values.take(pa.array(occurs))), dtype=np.int64)]
    code = np.full(missing + 1, len(kept), np.int32)
    code[kept] = np.arange(len(kept), dtype=np.int32)
    return Coded(values.take(pa.array(kept)), code[places])


def arrow(column: Coded) -> pa.Array:
    """Return a coded column as an Arrow array: a dictionary array, or plain lists."""
    if column.start is None:
        return pa.DictionaryArray.from_arrays(_indices(column), column.values)
    words = pa.concat_arrays([column.values, pa.nulls(1, column.values.type)]).take(pa.array(column.codes))
    return pa.ListArray.from_arrays(pa.array(column.start.astype(np.int32)), words, type=LIST)


def _indices(column: Coded) -> pa.Array:
    missing: Flags = column.codes == len(column.values)
    return pa.array(column.codes, mask=missing) if missing.any() else pa.array(column.codes)
