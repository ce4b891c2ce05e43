"""From Arrow data to coded columns: everything is done on the distinct values, and the rows are touched once.

Whatever the source, a coded column holds one of five Arrow types: int64 or float64 (numeric), string (categorical), date32, or
timestamp in microseconds without a zone (date).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Array, Flags, Integers, counted
from sfumato.arrays import taken as taken_at
from sfumato.errors import InputError
from sfumato.table._sorting_kernels import deal, deal_digit
from sfumato.table.column import Column, Kind, code_type
from sfumato.table.parse import Parsed, guess, parse_dates, parse_numbers
from sfumato.table.source import Memory, require_publishable

_LONGEST = 20
_SEPARATED = re.compile(r"[+-]?9{1,3}([,.' \u00a0\u202f]9{3})*[,.' \u00a0\u202f]9+")
"""How a number with thousands separators, or with another decimal sign, looks."""

_FIRST_DAY, _LAST_DAY = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))
_PER_DAY = {unit: 86_400 * 1000**power for power, unit in enumerate(("s", "ms", "us", "ns"))}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How text is understood: the decimal sign, and whether the kinds were guessed from text (as in a CSV file).

    `known` remembers what was coded of the same rows before.
    """

    decimal: str = "."
    guessed: bool = False
    known: Memory | None = field(default=None, repr=False, compare=False)


def code_column(name: str, data: pa.ChunkedArray, *, kind: Kind | None, show: bool, reading: Reading) -> Column:
    """Return a column of the table as codes; `kind` is the declared one, `show` allows messages to show how values look."""
    require_publishable(name, data.type)
    try:
        values, codes = split(data)
        values = canonical(values, name)
        if kind is None:
            kind = kind_of(values)
            looks = guess(values, reading.decimal) if kind == "categorical" and reading.guessed else None
            if looks is not None and looks.mixed is not None and looks.bad is not None:
                _refuse(name, values, codes, looks.bad, looks.mixed, declared=False, show=show)
        else:
            values = _as_kind(name, values, codes, kind, show=show, decimal=reading.decimal)
    except pa.ArrowException:
        # Not with Arrow's own message, which quotes cells.
        raise InputError(
            f"column {name!r}: its values cannot be read{f' as {kind}' if kind else ''}", hint="check the column's type"
        ) from None
    return build(name, kind, values, codes)


def split(data: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, Array]:
    """Return the distinct values as they come, and for each row the position of its value; past the end where it is missing."""
    if isinstance(data, pa.Array):
        data = pa.chunked_array([data])
    if pt.is_float16(data.type):
        data = data.cast(pa.float32())  # not every Arrow finds the distinct ones of half floats
    if not pt.is_dictionary(data.type):
        # In one piece: of several, each would get the whole dictionary, and to bring these together takes as many times as long.
        data = pa.chunked_array([data.combine_chunks()]).dictionary_encode()
    chunks = data.unify_dictionaries().chunks
    if not chunks:
        return pa.array([], data.type.value_type), np.empty(0, np.int64)
    values = chunks[0].dictionary
    codes = [_positions(chunk.indices, len(values)) for chunk in chunks]
    return values, codes[0] if len(codes) == 1 else np.concatenate(codes)


def build(name: str, kind: Kind, values: pa.Array, codes: Array) -> Column:
    """Return the column whose row r has the value `values[codes[r]]`, or none where the code is past the end.

    `values` may repeat, may hold nulls and values that no row has, and need not be sorted; the column's own are distinct, occur
    and ascend.
    """
    encoded = values.dictionary_encode()
    distinct = encoded.dictionary
    merged = np.append(encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False), len(distinct))
    occurs = np.zeros(len(distinct) + 1, bool)
    occurs[merged[counted(codes, len(merged)) > 0]] = True
    kept = np.flatnonzero(occurs[:-1])
    kept = kept[pc.sort_indices(distinct.take(pa.array(kept))).to_numpy(zero_copy_only=False)]
    has_missing = bool(occurs[-1])
    kind_of_code = code_type(len(kept) + int(has_missing))
    new = np.zeros(len(distinct) + 1, kind_of_code)
    new[kept] = np.arange(len(kept), dtype=kind_of_code)
    if has_missing:
        new[-1] = len(kept)
    return Column(name, kind, distinct.take(pa.array(kept)), taken_at(new[merged], codes), has_missing)


def taken(column: Column, rows: Array) -> Column:
    """Return the column at these rows, without the values that none of them has."""
    return build(column.name, column.kind, column.values, column.codes[rows])


def kind_of(values: pa.Array) -> Kind:
    """Return the kind of canonical values."""
    if pt.is_string(values.type):
        return "categorical"
    return "numeric" if pt.is_integer(values.type) or pt.is_floating(values.type) else "date"


def canonical(values: pa.Array, name: str) -> pa.Array:
    """Return values in one of the five types a column may have; NaN becomes null, −0.0 becomes 0.0, booleans become text."""
    kind = values.type
    require_publishable(name, kind)
    if pt.is_integer(kind):
        return _whole(values, name)
    if pt.is_floating(kind):
        return _floats(values, name)
    if pt.is_decimal(kind):
        try:
            return pc.cast(values, pa.int64())
        except pa.ArrowInvalid:
            return _floats(pc.cast(values, pa.float64()), name)
    if pt.is_date32(kind):
        _require_calendar(values, name)
    if pt.is_date64(kind) or pt.is_timestamp(kind):
        return _moments(pc.cast(values, pa.timestamp("ms")) if pt.is_date64(kind) else values, name)
    return values if pt.is_string(kind) or pt.is_date32(kind) else pc.cast(values, pa.string())


def texts(values: pa.Array) -> pa.Array:
    """Return canonical values as text, written as a policy or a query writes them: 3.0 is "3", dates are ISO."""
    return pc.cast(values, pa.string())


def doubles(values: pa.Array) -> pa.Array:
    """Return floats of fewer bits as doubles, through text: the float32 0.1 means 0.1, not 0.10000000149011612."""
    return pc.cast(pc.cast(pc.cast(values, pa.float32()), pa.string()), pa.float64())


def rows_with(codes: Array, chosen: Flags) -> int:
    """Return the number of rows whose value is among the chosen distinct ones."""
    return int(counted(codes, len(chosen) + 1)[: len(chosen)][chosen].sum())


def _positions(indices: pa.Array, missing: int) -> Array:
    """Return dictionary indices with `missing` for nulls, which a narrow index type may have no room for."""
    if not indices.null_count:
        return np.asarray(indices.to_numpy())
    if missing > np.iinfo(indices.type.to_pandas_dtype()).max:
        indices = pc.cast(indices, pa.int64())
    return np.asarray(pc.fill_null(indices, missing).to_numpy())


def _whole(values: pa.Array, name: str) -> pa.Array:
    try:
        return pc.cast(values, pa.int64())
    except pa.ArrowInvalid:
        raise InputError(
            f"column {name!r}: whole numbers above 2^63 − 1 cannot be coded as numbers",
            hint=f"store the column as text before reading it (a name rather than a number): {name!r}",
        ) from None


def _floats(values: pa.Array, name: str) -> pa.Array:
    if not pt.is_float64(values.type):
        values = doubles(values)
    numbers = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
    if pc.any(pc.is_inf(numbers)).as_py():
        raise InputError(
            f"column {name!r}: some numbers are infinite, expected finite ones", hint="write them as missing, or as a limit"
        )
    return pc.add(numbers, 0.0)


def _moments(values: pa.Array, name: str) -> pa.Array:
    """Return moments as days where all are at midnight, else in microseconds; on the wall clock, where they have a zone."""
    _require_calendar(values, name)
    if values.type.tz is not None:
        try:
            values = pc.local_timestamp(values)
        except pa.ArrowException:
            raise InputError(
                f"column {name!r}: its time zone is not known here", hint="write local times without a zone"
            ) from None
    moments = pc.cast(values, pa.timestamp("us"), safe=False)
    days = pc.cast(moments, pa.date32(), safe=False)
    at_midnight = pc.all(pc.equal(pc.cast(days, pa.timestamp("us")), moments)).as_py()
    return days if at_midnight in (True, None) else moments


def _require_calendar(values: pa.Array, name: str) -> None:
    """Raise unless all days or moments lie in the years 1 to 9999, which ISO dates can write; Arrow holds far others too."""
    days = pt.is_date(values.type)
    each = 1 if days else _PER_DAY[values.type.unit]
    ends = pc.min_max(values.view(pa.int32() if days else pa.int64())).as_py()
    if ends["min"] is not None and not _FIRST_DAY * each <= ends["min"] <= ends["max"] < (_LAST_DAY + 1) * each:
        raise InputError(f"column {name!r}: some dates lie before year 1 or after year 9999", hint="write them as missing")


def _as_kind(name: str, values: pa.Array, codes: Array, kind: Kind, *, show: bool, decimal: str) -> pa.Array:
    own = kind_of(values)
    if own == kind:
        return values
    if kind == "categorical":
        return texts(values)
    if own == "date" or pt.is_floating(values.type):
        raise InputError(
            f"column {name!r}: declared {kind}, but the table holds {own} values", hint=f'types={{"{name}": "{own}"}}'
        )
    parsed: Parsed = parse_numbers(texts(values), decimal) if kind == "numeric" else parse_dates(texts(values))
    unreadable = parsed.bad & ~np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False), dtype=bool)
    if unreadable.any():
        _refuse(name, values, codes, unreadable, kind, declared=True, show=show)
    if parsed.ambiguous:
        raise InputError(f"column {name!r}: its dates can be read day first and month first", hint="write them as 2024-12-31")
    return _moments(parsed.values, name) if pt.is_timestamp(parsed.values.type) else parsed.values


def _refuse(name: str, values: pa.Array, codes: Array, bad: Flags, kind: Kind, *, declared: bool, show: bool) -> None:
    rows = rows_with(codes, bad)
    noun = {"numeric": "numbers", "date": "dates"}[kind]
    looks = list(dict.fromkeys(pattern(text) for text in texts(values).filter(pa.array(bad)).to_pylist() if text is not None))
    example = f", which look like {', '.join(map(repr, looks[:3]))}" if show and looks else ""
    start = f"declared {kind}, but " if declared else f"most values are {noun}, but "
    hint = f'correct them, list them as missing ([input] null = ["…"]), or declare [types] {name} = "categorical"'
    if kind == "numeric" and any(_SEPARATED.fullmatch(look) for look in looks):
        hint = f"thousands separators are not understood: write 1234567.5 (or set [input] decimal); otherwise {hint}"
    raise InputError(f"column {name!r}: {start}{rows:,} of {len(codes):,} values are not {noun}{example}", hint=hint)


def pattern(text: str) -> str:
    """Return how a value looks without what it says: letters as X and x, digits as 9, "Mr. 7" as "Xx. 9"."""
    shape = "".join(_shape(letter) for letter in text[: _LONGEST + 1])
    return shape if len(shape) <= _LONGEST else shape[:_LONGEST] + "…"


def _shape(letter: str) -> str:
    """Return a character's kind. Only the signs that every keyboard has stand for themselves: any other may be a word."""
    if letter.isnumeric():
        return "9"
    return "X" if letter.isupper() else letter if letter.isascii() and not letter.isalpha() else "x"


_AT_ONCE = 1 << 20
_MANY = 1 << 17
"""From so many numbers on, places are dealt out by counting, in 32 bits; fewer are sorted before compiled code is loaded."""
_DIGIT = 13
"""Bits of a number that are looked at in one pass: so many piles are written to at once as a processor keeps at hand."""


def sorted_with_places(key: Integers, *, used_up: bool = False) -> tuple[Integers, Integers]:
    """Return numbers from 0 on in ascending order, and the places they come from, equal ones as they stand.

    Number and place share a word where that fits: sorting words is several times faster than sorting places by number. An array
    of 64-bit words that is `used_up` is written over, which takes less memory.
    """
    bits = max(len(key) - 1, 1).bit_length()
    if int(key.max(initial=0)) >= 1 << (62 - bits):
        order = np.argsort(key, kind="stable").astype(np.int64, copy=False)
        return key[order], order
    packed: Integers = key if used_up and key.dtype == np.int64 else key.astype(np.int64)
    packed <<= bits
    for begin in range(0, len(packed), _AT_ONCE):
        some = packed[begin : begin + _AT_ONCE]
        some |= np.arange(begin, begin + len(some))
    packed.sort()
    ranked = packed >> bits
    packed &= (1 << bits) - 1
    return ranked, packed


def ascending(key: Array, *, used_up: bool = False) -> Array:
    """Return the places of numbers from 0 on in ascending order, equal ones as they stand."""
    if not falls(key):
        return np.arange(len(key), dtype=place_type(len(key)))
    bits = int(key.max()).bit_length()
    if len(key) < _MANY or bits > 4 * _DIGIT:
        return sorted_with_places(key, used_up=used_up)[1]
    passes = -(-bits // _DIGIT)
    width = -(-bits // passes)
    places = np.empty(len(key), place_type(len(key)))
    if passes == 1:
        deal(key, 1 << width, places)
        return places
    before = np.arange(len(key), dtype=places.dtype)
    for turn in range(passes):
        deal_digit(key, turn * width, 1 << width, before, places)
        before, places = places, before
    return before


class SortedPlaces(NamedTuple):
    """The places of numbers in ascending order, and where each number begins."""

    places: Array
    start: Integers


def dealt(key: Array, room: int) -> SortedPlaces:
    """Return the places of numbers below `room`, equal ones as they stand."""
    places = np.empty(len(key), place_type(len(key)))
    return SortedPlaces(places, deal(key, room, places))


def falls(key: Array) -> bool:
    """Return whether a number comes after a larger one."""
    return any(
        bool((key[begin + 1 : begin + _AT_ONCE + 1] < key[begin : begin + _AT_ONCE][: len(key) - begin - 1]).any())
        for begin in range(0, len(key), _AT_ONCE)
    )


def place_type(rows: int) -> type[np.int32] | type[np.int64]:
    """Return the type for places of so many rows."""
    return np.int32 if rows < 1 << 31 else np.int64
