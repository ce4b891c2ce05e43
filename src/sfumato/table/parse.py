"""Numbers and dates out of text, on the distinct values of a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Flags
from sfumato.table.column import Kind

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_WHOLE = r"^[+-]?[0-9]{1,18}$"
_TOO_LONG = r"^[+-]?[0-9]{19,}$"
_LEADING_ZERO = r"^[+-]?0[0-9]"
_TIME = r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)[0-9]*(Z|[+-][0-9]{2}:?[0-9]{2})?$"

_ISO = r"^(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})$"
_YEAR_FIRST = r"^(?P<y>[0-9]{4})[/.]?(?P<m>[0-9]{2})[/.]?(?P<d>[0-9]{2})$"
_DAY_FIRST = r"^(?P<d>[0-9]{1,2})[.-](?P<m>[0-9]{1,2})[.-](?P<y>[0-9]{4})$"
_SLASH_DAY_FIRST = r"^(?P<d>[0-9]{1,2})/(?P<m>[0-9]{1,2})/(?P<y>[0-9]{4})$"
_DOTTED = r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$"
_SLASH_MONTH_FIRST = r"^(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?P<y>[0-9]{4})$"


@dataclass(frozen=True, eq=False)
class Parsed:
    """What text means: one value per text, null where `bad`; `ambiguous` when the same text has two readings."""

    values: pa.Array
    bad: Flags
    ambiguous: bool = False


def parse_numbers(text: pa.Array, decimal: str = ".") -> Parsed:
    """Return the numbers that texts write: int64 when all are whole, else float64."""
    trimmed = _plain_number(text, decimal)
    good = _matches(trimmed, _NUMBER)
    written = pc.if_else(pa.array(good), trimmed, pa.scalar(None, pa.string()))
    whole = bool(_matches(trimmed, _WHOLE)[good].all())
    numbers = pc.cast(written, pa.int64() if whole else pa.float64())
    if not whole:
        good &= pc.fill_null(pc.is_finite(numbers), False).to_numpy(zero_copy_only=False)
        numbers = pc.if_else(pa.array(good), numbers, pa.scalar(None, pa.float64()))
    return Parsed(numbers, ~good)


def parse_dates(text: pa.Array) -> Parsed:
    """Return the dates that texts write: date32, or timestamps as soon as one text has a time of day.

    Understood are ISO dates and timestamps (a zone suffix is cut off: the wall clock counts), 2024/12/31, 20241231, day-first
    31.12.2024 and 31-12-2024, and 31/12/2024 or 12/31/2024 when only one of the two readings fits the whole column.
    """
    text = pc.utf8_trim_whitespace(text)
    days = np.full(len(text), np.datetime64("NaT", "D"))
    for pattern in (_ISO, _YEAR_FIRST, _DAY_FIRST):
        days = np.where(np.isnat(days), _days(text, pattern), days)
    day_first, month_first = _days(text, _SLASH_DAY_FIRST), _days(text, _SLASH_MONTH_FIRST)
    slashed = _matches(text, _SLASH_DAY_FIRST)
    as_day, as_month = not np.isnat(day_first[slashed]).any(), not np.isnat(month_first[slashed]).any()
    ambiguous = as_day and as_month and bool((day_first[slashed] != month_first[slashed]).any())
    days = np.where(slashed, month_first if as_month and not as_day else day_first, days)
    timed = _matches(text, _TIME)
    if not timed.any():
        return Parsed(pa.array(days, pa.date32()), np.isnat(days), ambiguous)
    moments = np.where(timed, _moments(text, timed), days.astype("datetime64[us]"))
    return Parsed(pa.array(moments, pa.timestamp("us")), np.isnat(moments), ambiguous)


@dataclass(frozen=True, eq=False)
class ColumnGuess:
    """What a column of text probably is. `mixed` names the kind that at least half of the values have, but not all of them."""

    kind: Kind
    values: pa.Array
    mixed: Kind | None = None
    bad: Flags | None = None


def guess(text: pa.Array, decimal: str = ".") -> ColumnGuess:
    """Return the kind of a column of text: numeric or date if every value is one, else categorical.

    Digits with a leading zero, or more of them than a 64-bit integer holds, are names and not numbers (postcodes, account
    numbers). Guessed dates are ISO dates, and 31.12.2024 when all values are such days; other dates must be declared.
    """
    if len(text) == 0:
        return ColumnGuess("categorical", text)
    trimmed = _plain_number(text, decimal)
    numeric = _matches(trimmed, _NUMBER)
    named = bool(_matches(trimmed, _LEADING_ZERO).any() or _matches(trimmed, _TOO_LONG).any())
    if numeric.all():
        parsed = None if named else parse_numbers(text, decimal)
        if parsed is None or parsed.bad.any():
            return ColumnGuess("categorical", text)
        return ColumnGuess("numeric", parsed.values)
    if numeric.mean() >= 0.5 and not named:
        return ColumnGuess("categorical", text, "numeric", ~numeric)
    trimmed = pc.utf8_trim_whitespace(text)
    if _matches(trimmed, _DOTTED).all():
        days = parse_dates(text)
        return ColumnGuess("categorical", text) if days.bad.any() else ColumnGuess("date", days.values)
    dated = _matches(trimmed, _ISO) | _matches(trimmed, _TIME)
    if dated.mean() < 0.5:
        return ColumnGuess("categorical", text)
    parsed = parse_dates(text)
    bad = parsed.bad | ~dated
    if bad.any():
        return ColumnGuess("categorical", text, "date", bad)
    return ColumnGuess("date", parsed.values)


def _plain_number(text: pa.Array, decimal: str) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(text)
    if decimal != ".":
        # A point is then no decimal sign: make such texts unreadable instead of reading 1.234 as a small number.
        trimmed = pc.replace_substring(pc.replace_substring(trimmed, ".", "?"), decimal, ".")
    return pc.replace_substring_regex(trimmed, r"^\+", "")


def _matches(text: pa.Array, pattern: str) -> Flags:
    return np.asarray(pc.fill_null(pc.match_substring_regex(text, pattern), False).to_numpy(zero_copy_only=False), dtype=bool)


def _days(text: pa.Array, pattern: str) -> Array:
    """Return the day each text names in this pattern, NaT where it does not or the calendar has no such day."""
    matched = pc.extract_regex(text, pattern)
    parts = [pc.fill_null(pc.cast(pc.struct_field(matched, part), pa.int64()), 0) for part in ("y", "m", "d")]
    year, month, day = (part.to_numpy(zero_copy_only=False) for part in parts)
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    real = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    return np.where(real, days, np.datetime64("NaT", "D"))


def _moments(text: pa.Array, timed: Flags) -> Array:
    """Return the microsecond each ISO timestamp names, NaT for other texts and impossible times."""
    bare = pc.replace_substring_regex(text, _TIME, r"\1 \2")
    bare = pc.if_else(pa.array(timed), bare, pa.scalar(None, pa.string()))
    try:
        return np.asarray(pc.cast(bare, pa.timestamp("us")).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return np.array([_moment(moment) for moment in bare.to_pylist()], dtype="datetime64[us]")


def _moment(text: str | None) -> np.datetime64:
    try:
        return np.datetime64(text if text is not None else "NaT", "us")
    except ValueError:
        return np.datetime64("NaT", "us")
