"""The words a query may use: the columns of a release, the values they hold, and what a recoded value stands for.

A condition on one column is put in the column's own terms here: its constants, its codes, and how to write one that fits.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import pyarrow as pa

from sfumato.arrays import Flags, Integers
from sfumato.errors import FormatError, PolicyError, QueryError, did_you_mean
from sfumato.query.language.predicate import Atom, Between, In, Like, Missing, TermsOf, Value
from sfumato.table.column import Column, Domain, as_text
from sfumato.table.recode import Icd
from sfumato.table.schema import Schema

if TYPE_CHECKING:
    from sfumato.table.weight import Weight


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values a column knows, ascending; the code of a missing value comes last."""

    name: str
    type: pa.DataType
    values: tuple[Any, ...]
    has_missing: bool

    @cached_property
    def code(self) -> dict[Any, int]:
        """Return value → code."""
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def kind(self) -> Literal["flags", "texts", "days", "moments", "numbers"]:
        """What the values are, however they are stored."""
        kind = self.type.value_type if pa.types.is_dictionary(self.type) else self.type
        if pa.types.is_boolean(kind):
            return "flags"
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return "texts"
        return "days" if pa.types.is_date(kind) else "moments" if pa.types.is_timestamp(kind) else "numbers"

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self.values) + int(self.has_missing)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts."""
        return self.kind == "texts"

    def decode(self, code: int) -> Any:
        """Return the value of a code, None for the missing one."""
        return self.values[code] if code < len(self.values) else None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The columns a query may speak of: quasi columns, and the parts of the sensitive attribute.

    `part_codes[j][v]` is the code of sensitive value v in the j-th sensitive column. `declared` says how columns were recoded;
    None where conditions speak of the published values themselves, and `original` are then the words for original ones.
    `meanings` keeps what `sfumato.query.language.meaning` made of it.
    """

    quasi: tuple[ColumnValues, ...]
    parts: tuple[ColumnValues, ...]
    part_codes: tuple[Integers, ...]
    declared: Schema | None = None
    original: Vocabulary | None = None
    meanings: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, quasi: Sequence[Column], domain: Domain, declared: Schema | None = None) -> Vocabulary:
        """Return the vocabulary of these columns."""
        words = tuple(ColumnValues(c.name, c.values.type, tuple(c.values.to_pylist()), c.has_missing) for c in quasi)
        parts, codes = [], []
        for name, column in zip(domain.names, domain.table.columns, strict=True):
            listed = column.to_pylist()
            known = tuple(sorted({value for value in listed if value is not None}))
            part = ColumnValues(name, column.type, known, any(value is None for value in listed))
            parts.append(part)
            codes.append(np.array([part.code.get(value, len(known)) for value in listed], dtype=np.int64))
        return cls(words, tuple(parts), tuple(codes), declared)

    @cached_property
    def published(self) -> Vocabulary:
        """The same columns for conditions that speak of the published values themselves."""
        return Vocabulary(self.quasi, self.parts, self.part_codes, original=self) if self.recoded else self

    @property
    def weight(self) -> Weight | None:
        """What the release says of its weight, whatever conditions speak of."""
        declared = (self.original or self).declared
        return None if declared is None else cast("Weight | None", declared.weight)

    def for_terms(self, terms: TermsOf) -> Vocabulary:
        """Return the words of conditions that speak of original values, or of the published values themselves."""
        return self if terms == "original" else self.published

    @cached_property
    def recoded(self) -> frozenset[str]:
        """The columns whose published values stand for several original ones."""
        if self.declared is None:
            return frozenset()
        # Chapters of illnesses are asked about by their names: which codes they hold stands in no manifest.
        coarse = {name for name in self.declared.recode if not isinstance(self.declared.recoding(name), Icd)}
        return frozenset({*coarse, *self.declared.bins} & set(self.place))

    @cached_property
    def place(self) -> dict[str, tuple[bool, int]]:
        """Return column name → (is it sensitive, number among its kind)."""
        places = {words.name: (False, j) for j, words in enumerate(self.quasi)}
        places.update({words.name: (True, j) for j, words in enumerate(self.parts)})
        return places

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Return column name → number of codes."""
        return {words.name: words.size for words in (*self.quasi, *self.parts)}

    def find(self, name: str) -> tuple[bool, int, ColumnValues]:
        """Return where a column is; an unknown one is an error that names the nearest."""
        if name not in self.place:
            raise no_column(name, self.place)
        sensitive, j = self.place[name]
        return sensitive, j, (self.parts if sensitive else self.quasi)[j]


def no_column(name: str, published: Iterable[str]) -> QueryError:
    """Return that a release has no such column: it is misspelt, or was not published, about which a release says nothing."""
    near = did_you_mean(name, published)
    hint = near if near.endswith("?") else f"{near}; a column that a policy drops is not published"
    return QueryError(f"there is no column {name!r} in this release", hint=hint)


def declared_in(schema: Mapping[str, Any]) -> Schema | None:
    """Return what a manifest says about how columns were recoded, None when it says nothing."""
    declared = schema.get("declared")
    if declared is None:
        return None
    try:
        return Schema.from_dict(declared)
    except (PolicyError, TypeError, AttributeError):
        raise FormatError("manifest.json: the schema's declaration of columns cannot be read") from None


MOST_NOTES = 5
"""An answer carries so many remarks; that there are more is one more."""

_LONGEST = 200


def fit(value: Value, words: ColumnValues, atom: Atom) -> Any:
    """Return a constant as the column holds it; one of another type is an error that rewrites the condition."""
    kind = words.kind
    if kind == "flags" and isinstance(value, bool):
        return value
    if kind == "texts":
        if isinstance(value, bool):
            return next((known for known in words.values if known.lower() == str(value).lower()), str(value))
        if isinstance(value, str):
            return value
        if isinstance(atom, Between):  # texts have an order, but not that of the numbers that somebody means
            raise QueryError(
                f"column {words.name!r} holds text; it cannot be compared with {_short(repr(value))}",
                hint=f"name the values that you mean, as {words.name} IN ('…', '…')",
            )
        raise _mismatch(value, words, "text", written(atom, lambda v: f"'{_spelled(v, words)}'"))
    if kind in ("days", "moments"):
        return _moment(value, words, atom, timestamp=kind == "moments")
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return plain_number(value, words.name)
    raise _mismatch(value, words, "numbers", written(atom, _as_number))


def _spelled(value: Value, words: ColumnValues) -> str:
    """Return a constant as a text column spells it: 5 as 5.0, where that is a value of it."""
    text = as_text(value)
    if text in words.code:
        return text
    return next((known for known in words.values if re.fullmatch(rf"{re.escape(text)}\.0+", known)), text)


def plain_number(value: float | Decimal, column: str) -> int | float:
    """Return a number that can be compared with those of a column, which have 64 bits: larger ones are infinite to it."""
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a signalling NaN
        number = math.nan
    if math.isnan(number):
        raise QueryError(f"{column}: nothing is equal to NaN, less or greater", hint=f"write {column} IS NULL for missing values")
    return value if isinstance(value, int) and abs(value) < 1 << 63 else number


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


def _as_number(value: Value) -> str:
    """Return the number that a constant was meant to be, else any one: not one of the column, which may be a person's."""
    text = str(value).strip()
    return text if re.fullmatch(r"[+-]?\d{1,30}(\.\d{1,30})?", text) else "30"


def _moment(value: Value, words: ColumnValues, atom: Atom, *, timestamp: bool) -> Any:
    moment = _parsed(value)
    if moment is None:
        raise _mismatch(value, words, "dates", written(atom, _as_date) + " (ISO, year first)")
    if timestamp:
        full = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
        zone = words.values[0].tzinfo if words.values else None
        return full if (full.tzinfo is None) == (zone is None) else full.replace(tzinfo=zone)
    if isinstance(moment, datetime):
        if moment.time() != time():
            raise _mismatch(value, words, "days without a time of day", written(atom, _as_date))
        return moment.date()
    return moment


def _parsed(value: Value) -> date | None:
    if isinstance(value, date):
        return value
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _as_date(value: Value) -> str:
    moment = _parsed(value)
    return f"'{'2024-01-01' if moment is None else moment.isoformat()[:10]}'"


def _mismatch(value: Value, words: ColumnValues, holds: str, example: str) -> QueryError:
    return QueryError(
        f"column {words.name!r} holds {holds}; it cannot be compared with {_short(repr(value))}",
        hint=f"for instance {_short(example)}",
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def note_absent(notes: list[str], words: ColumnValues, value: Value, advice: str = "") -> None:
    """Note that a column has no such value, with the nearest one; not for every one of a long list."""
    if len(notes) > MOST_NOTES:
        return
    near = "" if advice else did_you_mean(str(value)[:_LONGEST], words.values)
    advice = advice or (near if near.startswith("did") else "")
    notes.append(f"{words.name} has no value {_short(repr(value))}" + (f"; {advice}" if advice else ""))


def accepted_codes(atom: Atom, words: ColumnValues, notes: list[str]) -> Flags:
    """Return which codes of a column meet a condition on it; values that do not occur are noted."""
    accepted = np.zeros(words.size, bool)
    if isinstance(atom, Missing):
        if words.has_missing:
            accepted[-1] = True
    elif isinstance(atom, In):
        plain = type(words.values[0]) if words.values else None
        for value in atom.values:
            code = words.code.get(value if type(value) is plain and plain is not float else fit(value, words, atom))
            if code is not None:
                accepted[code] = True
            elif words.is_text:
                note_absent(notes, words, value)
    elif isinstance(atom, Like):
        if not all(isinstance(value, str) for value in words.values):
            raise QueryError(f"LIKE needs a text column; {words.name!r} holds {words.type}", hint="use BETWEEN or IN")
        pattern = like(atom.pattern)
        for code, value in enumerate(words.values):
            accepted[code] = pattern.fullmatch(value) is not None
    else:
        accepted[slice(*_ends(atom, words))] = True
    return accepted


def _ends(atom: Between, words: ColumnValues) -> tuple[int, int]:
    first, last = 0, len(words.values)
    if atom.low is not None:
        first = (bisect_right if atom.strict_low else bisect_left)(words.values, fit(atom.low, words, atom))
    if atom.high is not None:
        last = (bisect_left if atom.strict_high else bisect_right)(words.values, fit(atom.high, words, atom))
    return first, max(first, last)
