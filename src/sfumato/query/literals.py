"""The constants of a condition as a column holds them, and messages that show how to write one that fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sfumato.errors import QueryError
from sfumato.query.predicate import Atom, Between, In, Like, Value
from sfumato.query.vocabulary import Words
from sfumato.table.column import as_text


def fit(value: Value, words: Words, atom: Atom) -> Any:
    """Return a constant as the column holds it; one of another type is an error that rewrites the condition."""
    kind = words.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind) and isinstance(value, bool):
        return value
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if isinstance(value, bool):
            return next((known for known in words.values if known.lower() == str(value).lower()), str(value))
        if isinstance(value, str):
            return value
        raise _mismatch(value, words, "text", written(atom, lambda v: f"'{as_text(v)}'"))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _moment(value, words, atom, timestamp=pa.types.is_timestamp(kind))
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return value
    raise _mismatch(value, words, "numbers", written(atom, lambda v: _as_number(v, words)))


def like(pattern: str) -> re.Pattern[str]:
    """Return an SQL pattern as a regular expression."""
    return re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in collapsed(pattern)), re.DOTALL)


def collapsed(pattern: str) -> str:
    """Return the pattern with runs of % as one, which mean the same and keep matching fast."""
    return re.sub("%+", "%", pattern)


def written(atom: Atom, constant: Callable[[Value], str]) -> str:
    """Return the condition as SQL, its constants written by `constant`."""
    if isinstance(atom, In):
        texts = [constant(value) for value in atom.values]
        return f"{atom.column} = {texts[0]}" if len(texts) == 1 else f"{atom.column} IN ({', '.join(texts)})"
    if isinstance(atom, Like):
        return f"{atom.column} LIKE '{atom.pattern}'"
    if isinstance(atom, Between):
        if atom.low is not None and atom.high is not None and not atom.strict_low and not atom.strict_high:
            return f"{atom.column} BETWEEN {constant(atom.low)} AND {constant(atom.high)}"
        ends = []
        if atom.low is not None:
            ends.append(f"{atom.column} {'>' if atom.strict_low else '>='} {constant(atom.low)}")
        if atom.high is not None:
            ends.append(f"{atom.column} {'<' if atom.strict_high else '<='} {constant(atom.high)}")
        return " AND ".join(ends)
    return f"{atom.column} IS NULL"


def _as_number(value: Value, words: Words) -> str:
    """Return the number that a constant was meant to be, else one that the column has."""
    text = str(value).strip()
    return text if re.fullmatch(r"[+-]?\d+(\.\d+)?", text) else _example(words)


def _moment(value: Value, words: Words, atom: Atom, *, timestamp: bool) -> Any:
    moment = _parsed(value)
    if moment is None:
        raise _mismatch(value, words, "dates", written(atom, lambda v: _as_date(v, words)) + " (ISO, year first)")
    if timestamp:
        full = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
        zone = words.values[0].tzinfo if words.values else None
        return full if (full.tzinfo is None) == (zone is None) else full.replace(tzinfo=zone)
    if isinstance(moment, datetime):
        if moment.time() != time():
            raise _mismatch(value, words, "days without a time of day", written(atom, lambda v: _as_date(v, words)))
        return moment.date()
    return moment


def _parsed(value: Value) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _as_date(value: Value, words: Words) -> str:
    moment = _parsed(value)
    return f"'{_example(words) if moment is None else moment.isoformat()[:10]}'"


def _example(words: Words) -> str:
    return as_text(words.values[0]) if words.values else "…"


def _mismatch(value: Value, words: Words, holds: str, example: str) -> QueryError:
    return QueryError(
        f"column {words.name!r} holds {holds}; it cannot be compared with {value!r}", hint=f"for instance {example}"
    )
