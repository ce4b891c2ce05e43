"""What each column of a table looks like: its kind, how many values it has, whom they single out, and what they resemble."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Integers
from sfumato.errors import InputError
from sfumato.policy.vocabulary import FIRST_NAMES, LAST_NAMES
from sfumato.table.coding import Reading, code_column
from sfumato.table.column import Column, Kind
from sfumato.table.read import TablePath, column_names, read_arrow
from sfumato.table.textfile import ReadOptions, is_row

MOST_COLUMNS = 5_000
"""A draft is made for tables of so many columns at most."""

SAMPLE = 2_000
"""From so many different values of a column, evenly chosen, it is judged what they look like."""

_MOSTLY = 0.8
_ISO_DATE = r"^\s*\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?\s*$"
_UNLIKE = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})

ICD = "codes of illnesses (ICD)"
_LOOKS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "web addresses": r"^(https?://|www\.)\S+$",
    "IP addresses": r"^(\d{1,3}\.){3}\d{1,3}$|^[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){5,7}$",
    "account numbers": r"^[A-Z]{2}\d{2}( ?[A-Z0-9]{3,4}){3,8}$",
    "random keys": r"^\{?[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?$|^[0-9a-fA-F]{24,}$",
    "phone numbers": r"^(\+|00?|\()[\d ()/.-]{6,}\d$|^\d{3}[-. ]\d{3}[-. ]\d{4}$",
    "street addresses": r"^\d{1,5},? ([A-Z][\w'.]+ ?){2,5}$|^[A-Z][\w'.ß-]+( [A-Z]?[\w'.ß-]+){0,3},? \d{1,4} ?[a-zA-Z]?(,.*)?$",
    ICD: r"^[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?$",
    "names of people": r"^\p{Lu}[\p{L}'’-]+,? (\p{Lu}\.? )?\p{Lu}[\p{L}'’-]+$",
    "amounts of money": r"^[<>≤≥]=? ?[$€£]? ?\d[\d,.]*[kK]?\.?$|^[$€£] ?\d",
    "numbers with letters": r"^[A-Za-z]{0,4}[-_/. ]?\d[\d-]{3,}[A-Za-z0-9/-]{0,4}$",
}  # fmt: skip
"""What texts may look like, the surest first. Patterns are those of RE2."""


@dataclass(frozen=True)
class Profile:
    """One column as it lies in the file.

    `most` people have the most frequent value, `alone` are the only ones with theirs; `words_each` is the mean number of words
    of texts; `scattered` numbers look like codes.
    """

    name: str
    kind: Kind
    whole: bool
    distinct: int
    missing: int
    rows: int
    low: float | None = None
    high: float | None = None
    most: int = 0
    alone: int = 0
    looks: str = ""
    words_each: float = 0.0
    values: frozenset[str] = frozenset()
    scattered: bool = False

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        """The words of the column's name, without accents: "PatientID" is patient and id."""
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", self.name)
        return tuple(word for word in re.split(r"[^0-9a-z]+", plain(spaced)) if word)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the name, each alone and all of them run together."""
        return frozenset((*self.ordered, "".join(self.ordered)))

    @property
    def present(self) -> int:
        """How many people have a value at all."""
        return self.rows - self.missing

    @property
    def unique(self) -> bool:
        """True when more than nine of ten values differ, or one of five people is alone with hers: nearly a name."""
        return self.present > 1 and (self.distinct > 0.9 * self.present or self.alone > 0.2 * self.present)


def plain(text: str) -> str:
    """Return text in lower case and without accents."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_UNLIKE))
    return "".join(sign for sign in folded if not unicodedata.combining(sign))


def place_name(path: TablePath) -> str:
    """Return what messages call a source: the name of a file, or "the database"."""
    return Path(path).name


def profiles(path: TablePath, options: ReadOptions | None = None) -> tuple[list[Profile], pa.Table]:
    """Return a profile of every column of the file, and the columns."""
    many = len(column_names(path, options))
    if many > MOST_COLUMNS:
        raise InputError(
            f"{place_name(path)}: {many:,} columns are too many for a draft, each of whose roles a person has to check",
            hint=f"leave out what is not published; a draft is made for up to {MOST_COLUMNS:,} columns",
        )
    table = read_arrow(path, options)
    options = options or ReadOptions()
    if options.header and is_row(table.column_names, table, decimal=options.decimal):
        raise InputError(
            f"{place_name(path)}: the header looks like a row of the table",
            hint="put a line of names on top; a name that is a number or a date needs a letter (y2020)",
        )
    return [profile(name, table[name]) for name in table.column_names], table


def profile(name: str, column: pa.ChunkedArray) -> Profile:
    """Return what one column looks like."""
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if pt.is_uint64(kind) and (pc.max(column.cast(kind)).as_py() or 0) >= 1 << 63:
        column = column.cast(kind).cast(pa.string())  # a column of numbers has no room for these: they are names
    coded = code_column(name, column, kind=None, show=False, reading=Reading())
    if coded.kind == "categorical" and len(coded.values) and _share(coded.values.cast(pa.string()), _ISO_DATE) == 1.0:
        coded = code_column(name, column, kind="date", show=False, reading=Reading())
    counts = np.bincount(coded.codes, minlength=coded.size)
    facts: dict[str, Any] = {
        "distinct": len(coded.values),
        "missing": int(counts[len(coded.values)]) if coded.has_missing else 0,
        "rows": len(coded),
        "most": int(counts[: len(coded.values)].max(initial=0)),
        "alone": int((counts[: len(coded.values)] == 1).sum()),
    }
    if coded.kind == "numeric" and len(coded.values):
        facts |= {"low": float(coded.values[0].as_py()), "high": float(coded.values[-1].as_py())}
        facts["scattered"] = _whole(coded.values) and _scattered(coded.values, counts[: len(coded.values)])
    if coded.kind == "categorical" and len(coded.values):
        facts |= _texts(coded)
    return Profile(name, coded.kind, whole=_whole(coded.values), **facts)


def _whole(values: pa.Array) -> bool:
    """Return whether numbers are whole, also where a file writes them as 1.0."""
    if pt.is_floating(values.type):
        return len(values) > 0 and bool(pc.all(pc.equal(pc.floor(values), values)).as_py())
    return bool(pt.is_integer(values.type))


_MANY, _SHARED, _FILLED, _MIDDLE = 20, 20, 0.5, 0.1
"""So many numbers at least, and so many people to each, of fewer than half of the steps between the 10 % and 90 % points."""


def _scattered(values: pa.Array, counts: Integers) -> bool:
    """Return whether ascending whole numbers look like codes: shared by many people each, and with gaps all the same.

    A quantity that so many people share leaves hardly a number out between its 10 % and 90 % points, counted in the steps to
    which it is rounded; of codes fewer than half occur.
    """
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    reached = np.cumsum(counts) / counts.sum()
    middle = (reached >= _MIDDLE) & (reached - counts / counts.sum() <= 1 - _MIDDLE)
    inside = numbers[middle]
    if len(inside) < _MANY or counts[middle].sum() < _SHARED * len(inside) or abs(inside).max() > 1 << 53:
        return False
    whole = (inside - inside[0]).astype(np.int64)
    step = int(np.gcd.reduce(whole))
    return bool(len(inside) < _FILLED * (whole[-1] // step + 1))


def _texts(coded: Column) -> dict[str, Any]:
    """Return what texts look like, judged by a sample of the different ones."""
    step = -(-len(coded.values) // SAMPLE)
    texts = pc.utf8_trim_whitespace(coded.values.take(pa.array(range(0, len(coded.values), step))).cast(pa.string()))
    alike = [called for called, pattern in _LOOKS.items() if _share(texts, pattern) >= _MOSTLY]
    if ICD in alike and _numbered(coded, texts):
        alike.remove(ICD)
    looks = alike[0] if alike else ""
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(texts))).as_py() or 0.0
    values = frozenset(re.sub(r"[^0-9a-z ]+", "", plain(text)) for text in texts.to_pylist())
    if not looks and _named(values):
        looks = "names of people"
    return {"looks": looks, "words_each": float(words), "values": values}


def _numbered(coded: Column, texts: pa.Array) -> bool:
    """Return whether codes number people rather than illnesses: long ones of one length without a point, that few share."""
    lengths = pc.unique(pc.utf8_length(texts))
    many = len(coded.values) > max(_ILLNESSES, _OWN * len(coded))
    return many and len(lengths) == 1 and lengths[0].as_py() > _CATEGORY and not pc.any(pc.match_substring(texts, ".")).as_py()


_ILLNESSES, _OWN, _CATEGORY = 100, 0.1, 4
"""Codes of illnesses are shared: so many at most are many in a small table, so large a share of rows in a large one; the
category of a code has three characters, and with a digit more four."""


def _share(texts: pa.Array, pattern: str) -> float:
    return float(pc.mean(pc.match_substring_regex(texts, pattern).cast(pa.float64())).as_py())


def _named(values: frozenset[str]) -> bool:
    """Return whether several frequent names of people, and enough of all values, are among these."""
    short = [value.split() for value in values if value.count(" ") <= 2]
    known = sum(any(word in FIRST_NAMES or word in LAST_NAMES for word in words) for words in short)
    return known >= max(4, len(values) / 250)


def nice_width(low: float, high: float) -> float:
    """Return a band width of 1, 2 or 5 times a power of ten that makes about twenty bands."""
    rough = high / 20 - low / 20  # not their difference, which may be no float
    power = 10 ** math.floor(math.log10(rough))
    return float(min((step * power for step in (1, 2, 5, 10)), key=lambda width: abs(math.log(width / rough))))
