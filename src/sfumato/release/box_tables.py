"""Ranges and value sets as published columns, and back; what is not exactly such is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.boxes import Box, Ranges, Sets
from sfumato.release.coding import code_column, decoded, joined_values
from sfumato.release.parquet_meta import SETS
from sfumato.table.column import Kind

MINIMUM, MAXIMUM, MISSING = "_min", "_max", "_missing"


def possible_columns(name: str, kind: Kind) -> dict[str, str]:
    """Return the columns that may show a quasi column, with the kind of each; the flag only where values are missing."""
    return {name: "set"} if kind == "categorical" else {name + MINIMUM: kind, name + MAXIMUM: kind, name + MISSING: "flag"}


def box_arrays(box: Box, group: Array) -> dict[str, pa.Array]:
    """Return the columns that show each person's group."""
    if isinstance(box, Sets):
        words = pa.concat_arrays([box.values, pa.nulls(1, box.values.type)]).take(pa.array(box.codes))
        lists = pa.ListArray.from_arrays(pa.array(box.start.astype(np.int32)), words, type=SETS)
        return {box.name: lists.take(pa.array(group))}
    low, high = (box.values.take(pa.array(ends[group], mask=ends[group] < 0)) for ends in (box.low, box.high))
    missing = {box.name + MISSING: pa.array(box.missing[group])} if box.has_missing else {}
    return {box.name + MINIMUM: low, box.name + MAXIMUM: high} | missing


def lists_as_text(table: pa.Table) -> pa.Table:
    """Return the table with every list as JSON text, for files that know no lists."""
    for place, column in enumerate(table.schema):
        if pa.types.is_list(column.type):
            texts = [as_json(entry) for entry in table[column.name].to_pylist()]
            table = table.set_column(place, column.name, pa.array(texts, pa.string()))
    return table


def read_box(records: pa.Table, name: str, kind: Kind, group: Small, first: Integers, *, part: bool = False) -> Box:
    """Return a box column from the records; `first` is one row of each group, and all others must show the same.

    Records that are only a `part` of a table may have a flag that is raised in another part.
    """
    if kind == "categorical":
        return _read_sets(name, records[name], group, first)
    ranges = _read_ranges(records, name, kind, group, first)
    if name + MISSING in records.column_names and not part:
        require_flag(ranges)
    return ranges


def require_flag(box: Ranges) -> None:
    """Raise `FormatError` where no group says that values are missing, and a column is there to say it."""
    if not box.has_missing:
        raise FormatError(f"table 'records': column {box.name + MISSING!r} is false everywhere and should be left out")


def _read_ranges(records: pa.Table, name: str, kind: Kind, group: Small, first: Integers) -> Ranges:
    ends = [records[name + suffix] for suffix in (MINIMUM, MAXIMUM)]
    plain = [decoded(column) for column in ends]
    if plain[0].type != plain[1].type:
        raise FormatError(f"table 'records': {name}{MINIMUM} and {name}{MAXIMUM} should have one type")
    both = code_column(name, kind, pa.chunked_array(plain))
    codes = np.where(both.codes == len(both.values), -1, both.codes.astype(np.int64)).astype(np.int32)
    low, high = codes[: len(group)], codes[len(group) :]
    missing = np.zeros(len(group), bool)
    if name + MISSING in records.column_names:
        missing = np.asarray(decoded(records[name + MISSING]).to_numpy(zero_copy_only=False), dtype=bool)
    _require_same(name, [low, high, missing], group, first)
    ranges = Ranges(name, kind, both.values, low[first], high[first], missing[first])
    if ((ranges.low < 0) != (ranges.high < 0)).any() or (ranges.low > ranges.high).any():
        raise FormatError(
            f"table 'records': some groups have a range of {name!r} with one end only, or with a minimum above its maximum"
        )
    if ((ranges.low < 0) & ~ranges.missing).any():
        raise FormatError(f"table 'records': some groups show neither values of {name!r} nor that they are missing")
    return ranges


def _read_sets(name: str, column: pa.ChunkedArray, group: Small, first: Integers) -> Sets:
    offsets, words = _flat(name, column)
    coded = code_column(name, "categorical", pa.chunked_array([words]))
    codes = coded.codes.astype(np.int32)
    length = np.diff(offsets)
    home = first[group]
    _require_same(name, [length.astype(np.int64)], group, first)
    within = np.arange(len(codes)) - np.repeat(offsets[:-1], length)
    if (codes != codes[np.repeat(offsets[:-1][home], length) + within]).any():
        raise _differ(name)
    own = length[first]
    start = np.concatenate(([0], np.cumsum(own))).astype(np.int64)
    entry = np.repeat(offsets[:-1][first] - start[:-1], own) + np.arange(int(start[-1]))
    sets = Sets(name, coded.values, start, codes[entry])
    if (own == 0).any() or (np.diff(sets.codes)[np.diff(sets.owner) == 0] <= 0).any():
        raise FormatError(f"table 'records': the sets of {name!r} should be sorted, without repetitions and never empty")
    return sets


def _flat(name: str, column: pa.ChunkedArray) -> tuple[Integers, pa.Array]:
    """Return where each row's list starts, and all elements in a row: of lists, or of JSON texts of them."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    if pa.types.is_list(array.type):
        lists = array
    else:
        encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        try:
            lists = pa.array([_list_of(text) for text in encoded.dictionary.to_pylist()], SETS).take(encoded.indices)
        except (ValueError, RecursionError, pa.ArrowException):
            raise FormatError(f"table 'records': column {name!r} should hold lists of texts") from None
    length = np.asarray(pc.list_value_length(lists), dtype=np.int64)
    return np.concatenate(([0], np.cumsum(length))).astype(np.int64), lists.flatten()


def _list_of(text: str) -> list[str | None]:
    """Return the list that a text spells, in the one way that a list is spelled."""
    values = json.loads(text)
    if not isinstance(values, list) or as_json(values) != text:
        raise ValueError("not a list as releases write it")
    return values


def as_json(entry: list[str | None]) -> str:
    """Return a list as a release in CSV spells it."""
    return json.dumps(entry, ensure_ascii=False)


def joined_boxes(parts: Sequence[Box], number: Integers) -> Box:
    """Return what groups show in all parts of a table: `number` is the group of each entry, ascending over the parts.

    A group that is continued in the next part must show the same there.
    """
    values, places = joined_values([part.values for part in parts])
    whole: Box
    if isinstance(parts[0], Sets):
        sets = [part for part in parts if isinstance(part, Sets)]
        length = np.concatenate([np.diff(part.start) for part in sets])
        start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
        codes = np.concatenate([place[part.codes] for place, part in zip(places, sets, strict=True)]).astype(np.int32)
        whole = Sets(parts[0].name, values, start, codes)
    else:
        ranges = [part for part in parts if isinstance(part, Ranges)]
        low, high = (
            np.concatenate([np.where(end < 0, -1, place[end]) for place, end in zip(places, ends, strict=True)]).astype(np.int32)
            for ends in ([part.low for part in ranges], [part.high for part in ranges])
        )
        whole = Ranges(parts[0].name, parts[0].kind, values, low, high, np.concatenate([part.missing for part in ranges]))
    again = np.flatnonzero(number[1:] == number[:-1]) + 1
    if len(again) and not _alike(whole.take(again), whole.take(again - 1)):
        raise _differ(parts[0].name)
    return whole.take(np.flatnonzero(np.append(True, number[1:] != number[:-1])))


def _alike(box: Box, other: Box) -> bool:
    if isinstance(box, Sets) and isinstance(other, Sets):
        return np.array_equal(box.start, other.start) and np.array_equal(box.codes, other.codes)
    assert isinstance(box, Ranges)
    assert isinstance(other, Ranges)
    same = (np.array_equal(*pair) for pair in ((box.low, other.low), (box.high, other.high), (box.missing, other.missing)))
    return all(same)


def _require_same(name: str, arrays: list[Array], group: Small, first: Integers) -> None:
    for array in arrays:
        if (array != array[first][group]).any():
            raise _differ(name)


def _differ(name: str) -> FormatError:
    return FormatError(
        f"table 'records': people of one group show different values of {name!r}; a group is shown alike for everybody in it",
        hint="the release was changed, or made by other software; get it again",
    )
