"""Looking at a table's columns, and guessing what each of them is. Guesses are for a draft that a person must check."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.errors import InputError
from sfumato.table.coding import Reading, code_column
from sfumato.table.column import Kind
from sfumato.table.header import is_row
from sfumato.table.read import column_names, read_arrow
from sfumato.table.textfile import ReadOptions

_NUMBERING = frozenset(
    (
        "id", "ids", "uid", "uuid", "guid", "key", "nr", "number", "no", "nummer", "numero", "patient", "person", "employee",
        "customer", "client", "member", "user", "mrn", "account", "licence", "license",
    )
)  # fmt: skip
"""What a column of numbers or codes for people is often called; it names people only if its values hardly repeat."""

_PERSONAL = (
    "surname", "firstname", "lastname", "forename", "fullname", "email", "phone", "telephone", "ssn", "passport", "iban",
    "address", "vorname", "nachname", "familienname", "telefon", "handynummer", "adresse", "anschrift", "strasse",
    "sozialversicherungsnummer", "prenom", "courriel", "apellido", "correo", "telefono", "direccion",
)  # fmt: skip
"""Beginnings of words that name a person, or lead to one, however often a value repeats."""

_PERSONAL_WORDS = frozenset(("mail", "mobile", "tel", "nin", "street", "dni", "nif", "nie", "rue", "calle", "nss", "handy"))
_NAMES = frozenset(("name", "names", "nom", "noms", "nombre", "nombres"))
_OF_PEOPLE = frozenset(
    (
        "first", "last", "full", "family", "given", "middle", "maiden", "birth", "legal", "the", "patient", "patients", "person",
        "employee", "customer", "client", "member", "user", "student", "respondent", "de", "famille", "completo", "complet", "du",
    )
)  # fmt: skip
"""With these a name is a person's: a "first name", but not a "drug name"."""

_WEIGHTS = (
    "weight", "weights", "wgt", "wgts", "pweight", "fweight", "aweight", "pwgt", "perwt", "hhwt", "gewicht", "gewichtung",
    "hochrechnungsfaktor", "ponderation", "ponderacion",
)  # fmt: skip
_BODILY = frozenset(("kg", "lb", "lbs", "g", "grams", "pounds", "body", "birth", "koerper", "korper", "height"))
"""With these a weight is a body's, and not a survey's."""

_SENSITIVE = (
    "diagnosis", "diagnoses", "disease", "illness", "condition", "disorder", "icd", "hiv", "infection", "symptom", "medication",
    "drug", "treatment", "therapy", "offence", "offense", "crime", "religion", "party", "orientation", "disability", "debt",
    "salary", "income", "wage", "earnings", "pay", "occupation", "job", "grade", "score", "rating",
)  # fmt: skip
_PLACES = frozenset(["postcode", "postal", "zip", "zipcode", "plz", "postleitzahl", "cap", "npa"])

_FEW = 2

FEWEST, MOST = 5, 200
"""A categorical column with a number of values in this range can be the sensitive one when no name says so."""

MOST_COLUMNS = 5_000
"""A draft is made for tables of so many columns at most."""


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

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the column's name, without accents: "PatientID" is patient and id."""
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.name)
        plain = "".join(one for one in unicodedata.normalize("NFKD", spaced.casefold()) if not unicodedata.combining(one))
        return frozenset(word for word in re.split(r"[^0-9a-z]+", plain) if word)

    @property
    def place(self) -> bool:
        """True for what looks like a postcode."""
        return bool(self.words & _PLACES) or any(word.startswith("postcode") for word in self.words)

    @property
    def personal(self) -> bool:
        """True for what is called like a person's name, number or address; a yes or no is none of these."""
        if self.kind == "date" or self.place or (self.distinct <= _FEW and self.distinct < self.rows):
            return False
        named = bool(self.words & _NAMES) and self.words <= _NAMES | _OF_PEOPLE
        return named or bool(self.words & _PERSONAL_WORDS) or any(word.startswith(_PERSONAL) for word in self.words)

    @property
    def weight(self) -> bool:
        """True for what looks like a survey weight."""
        return self.kind == "numeric" and bool(self.words & set(_WEIGHTS)) and not self.words & _BODILY


@dataclass(frozen=True)
class Roles:
    """The guessed role of every column."""

    identifier: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: str
    other: tuple[str, ...] = ()


def profiles(path: str | Path, options: ReadOptions | None = None) -> tuple[list[Profile], pa.Table]:
    """Return a profile of every column of the file, and the columns."""
    many = len(column_names(path, options))
    if many > MOST_COLUMNS:
        raise InputError(
            f"{Path(path).name}: {many:,} columns are too many for a draft, each of whose roles a person has to check",
            hint=f"leave out what is not published; a draft is made for up to {MOST_COLUMNS:,} columns",
        )
    table = read_arrow(path, options)
    if is_row(table.column_names, table, decimal=(options or ReadOptions()).decimal):
        raise InputError(
            f"{Path(path).name}: what should be the names of its columns looks like a row of the table",
            hint="put a line of names on top; a name that is a number or a date needs a letter (y2020)",
        )
    return [_profile(name, table[name]) for name in table.column_names], table


def guess_roles(columns: Sequence[Profile]) -> Roles:
    """Return the likeliest roles: exactly one sensitive column, and at least one quasi column."""
    if len(columns) < 2:
        raise InputError("the table has only one column", hint="a table needs a quasi and a sensitive column")
    sensitive = _sensitive(columns)
    others = [column for column in columns if column.name != sensitive]
    identifier = [column.name for column in others if _identifies(column)]
    other = [column.name for column in others if not _identifies(column) and column.weight]
    quasi = [column.name for column in others if not _identifies(column) and not column.weight]
    if not quasi:  # a table of names and values: the least distinct of them is what a reader may know
        known = min((column for column in columns if column.name != sensitive), key=lambda column: column.distinct).name
        identifier, other = ([name for name in names if name != known] for names in (identifier, other))
        quasi = [known]
    return Roles(tuple(identifier), tuple(quasi), sensitive, tuple(other))


def _identifies(column: Profile) -> bool:
    mostly = column.distinct > 0.9 * max(1, column.rows - column.missing)
    named = column.personal or bool(column.words & (_NUMBERING | _NAMES))
    if column.place or column.kind == "date" or column.weight:
        return False
    if column.personal:
        return True
    if column.kind == "numeric":
        return column.whole and mostly and (named or column.distinct == column.rows)
    return mostly or (named and column.distinct > 0.5 * column.rows)


def _sensitive(columns: Sequence[Profile]) -> str:
    for word in _SENSITIVE:
        for column in columns:
            if word in column.words and column.distinct > 1 and not (column.kind == "categorical" and _identifies(column)):
                return column.name
    free = [column for column in columns if not _identifies(column) and not column.place and not column.weight]
    likely = [column for column in free if column.kind == "categorical" and FEWEST <= column.distinct <= MOST]
    return (likely or [column for column in free if column.kind != "date"] or list(columns))[-1].name


def _profile(name: str, column: pa.ChunkedArray) -> Profile:
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    if pt.is_uint64(kind) and (pc.max(column.cast(kind)).as_py() or 0) >= 1 << 63:
        column = column.cast(kind).cast(pa.string())  # a column of numbers has no room for these: they are names
    coded = code_column(name, column, kind=None, show=False, reading=Reading())
    missing = int((coded.codes == len(coded.values)).sum()) if coded.has_missing else 0
    facts: dict[str, Any] = {"distinct": len(coded.values), "missing": missing, "rows": len(coded)}
    if coded.kind == "numeric" and len(coded.values):
        facts |= {"low": float(coded.values[0].as_py()), "high": float(coded.values[-1].as_py())}
    return Profile(name, coded.kind, whole=bool(pt.is_integer(coded.values.type)), **facts)


def nice_width(low: float, high: float) -> float:
    """Return a band width of 1, 2 or 5 times a power of ten that makes about twenty bands."""
    rough = high / 20 - low / 20  # not their difference, which may be no float
    power = 10 ** math.floor(math.log10(rough))
    return float(min((step * power for step in (1, 2, 5, 10)), key=lambda width: abs(math.log(width / rough))))
