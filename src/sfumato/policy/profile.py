"""Looking at a table's columns, and guessing what each of them is. Guesses are for a draft that a person must check."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.errors import InputError
from sfumato.table.column import Kind
from sfumato.table.read import read_arrow

_IDENTIFYING = frozenset(
    (
        "id", "ids", "uid", "uuid", "guid", "key", "nr", "number", "no", "name", "surname", "firstname", "lastname",
        "forename", "patient", "person", "employee", "customer", "client", "member", "user", "ssn", "nin", "passport",
        "email", "mail", "phone", "mobile", "telephone", "tel", "mrn", "account", "iban", "address", "street", "licence",
        "license"
    )
)  # fmt: skip
_SENSITIVE = (
    "diagnosis", "diagnoses", "disease", "illness", "condition", "disorder", "icd", "hiv", "infection", "symptom", "medication",
    "drug", "treatment", "therapy", "offence", "offense", "crime", "religion", "party", "orientation", "disability", "debt",
    "salary", "income", "wage", "earnings", "pay", "occupation", "job", "grade", "score", "rating",
)  # fmt: skip
_PLACES = frozenset(["postcode", "postal", "zip", "zipcode", "plz", "postleitzahl", "cap", "npa"])

FEWEST, MOST = 5, 200
"""A categorical column with a number of values in this range can be the sensitive one when no name says so."""


@dataclass(frozen=True)
class Profile:
    """One column as it lies in the file."""

    name: str
    kind: Kind
    whole: bool
    distinct: int
    missing: int
    rows: int
    low: float | None = None
    high: float | None = None
    longest: int = 0

    @property
    def words(self) -> frozenset[str]:
        """The words of the column's name: "PatientID" is patient and id."""
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.name)
        return frozenset(word for word in re.split(r"[^0-9a-z]+", spaced.lower()) if word)

    @property
    def place(self) -> bool:
        """True for what looks like a postcode."""
        return bool(self.words & _PLACES) or any(word.startswith("postcode") for word in self.words)


@dataclass(frozen=True)
class Roles:
    """The guessed role of every column."""

    identifier: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: str


def profiles(path: str | Path) -> tuple[list[Profile], pa.Table]:
    """Return a profile of every column of the file, and the columns."""
    table = read_arrow(path)
    return [_profile(name, table[name]) for name in table.column_names], table


def guess_roles(columns: Sequence[Profile]) -> Roles:
    """Return the likeliest roles: exactly one sensitive column, and at least one quasi column."""
    if len(columns) < 2:
        raise InputError("the table has only one column", hint="a table needs a quasi and a sensitive column")
    sensitive = _sensitive(columns)
    identifier = [column.name for column in columns if column.name != sensitive and _identifies(column)]
    quasi = [column.name for column in columns if column.name != sensitive and column.name not in identifier]
    if not quasi:  # a table of names and values: the least distinct of them is what a reader may know
        known = min((column for column in columns if column.name in identifier), key=lambda column: column.distinct).name
        identifier.remove(known)
        quasi = [known]
    return Roles(tuple(identifier), tuple(quasi), sensitive)


def _identifies(column: Profile) -> bool:
    mostly = column.distinct > 0.9 * max(1, column.rows - column.missing)
    named = bool(column.words & _IDENTIFYING)
    if column.place or column.kind == "date":
        return False
    if column.kind == "numeric":
        return column.whole and mostly and (named or column.distinct == column.rows)
    return mostly or (named and column.distinct > 0.5 * column.rows)


def _sensitive(columns: Sequence[Profile]) -> str:
    for word in _SENSITIVE:
        for column in columns:
            if word in column.words and column.distinct > 1 and not (column.kind == "categorical" and _identifies(column)):
                return column.name
    free = [column for column in columns if not _identifies(column) and not column.place]
    likely = [column for column in free if column.kind == "categorical" and FEWEST <= column.distinct <= MOST]
    return (likely or [column for column in free if column.kind != "date"] or list(columns))[-1].name


def _profile(name: str, column: pa.ChunkedArray) -> Profile:
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    plain = column.cast(kind)
    values = pc.unique(plain.combine_chunks() if plain.num_chunks != 1 else plain.chunk(0)).drop_null()
    facts: dict[str, Any] = {"distinct": len(values), "missing": plain.null_count, "rows": len(plain)}
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind):
        numbers = pc.cast(values, pa.float64(), safe=False)
        edge = pc.min_max(numbers).as_py() if len(values) else {"min": None, "max": None}
        return Profile(name, "numeric", pt.is_integer(kind), low=edge["min"], high=edge["max"], **facts)
    if pt.is_temporal(kind):
        return Profile(name, "date", False, **facts)
    texts = pc.cast(values, pa.string())
    longest = pc.max(pc.utf8_length(texts)).as_py() if len(values) else 0
    return Profile(name, "categorical", False, longest=longest or 0, **facts)


def nice_width(low: float, high: float) -> float:
    """Return a band width of 1, 2 or 5 times a power of ten that makes about twenty bands."""
    rough = (high - low) / 20
    power = 10 ** math.floor(math.log10(rough))
    return float(min((step * power for step in (1, 2, 5, 10)), key=lambda width: abs(math.log(width / rough))))
