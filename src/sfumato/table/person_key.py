"""Columns that probably say which rows are one person's: a patient number that repeats, whatever role the policy gave it.

Only columns that are no secret may be given to these functions: what they find decides whether there is a release.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Array, Integers
from sfumato.table.coding import split
from sfumato.table.parse import guess

_PEOPLE = (
    "patient", "person", "subject", "client", "customer", "member", "user", "employee", "student", "pupil", "respondent",
    "participant", "individual", "insured", "citizen", "resident", "beneficiary", "inmate", "defendant", "offender", "enrollee",
    "proband", "kunde", "kunden", "mitarbeiter", "versicherter", "versicherten", "personne", "persona", "paciente", "cliente",
    "empleado", "asegurado", "assure", "salarie", "pat", "pers", "subj", "resp",
)  # fmt: skip
_NUMBERS = (
    "id", "ids", "uid", "uuid", "guid", "nr", "nbr", "no", "num", "number", "nummer", "numero", "key", "code", "hash",
    "pseudonym", "identifier", "kennung",
)  # fmt: skip
_ALONE = frozenset(("id", "uid", "uuid", "guid", "pseudonym", "identifier", "mrn", "ssn", "nin", "pid", "empi", "pnr", "kennung"))
"""Names that say "the number of a person" by themselves."""

_OFTEN = 50
"""Who has more rows than this on average is no person, but a class of people."""

_FEW_ROWS, _MANY_VALUES = 10, 100
"""Without a name that says so: at most so many rows a value, and at least so many values."""

_SAME, _ORDINARY = 0.98, 0.9
"""A column follows from another one where rows with equal values of that agree so often, and any two rows less than this."""

_DETERMINED = 2
"""How many columns have to follow from one whose name says nothing."""


@dataclass(frozen=True)
class PersonKey:
    """A column that looks like a person's number: `people` different values in `rows` rows, and why it looks so."""

    column: str
    people: int
    rows: int
    why: str

    def __str__(self) -> str:
        return f"{self.column!r} ({self.rows:,} rows, {self.people:,} different values; {self.why})"


def words(name: str) -> frozenset[str]:
    """Return the words of a column's name, without accents: "PatientID" is patient and id."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    plain = "".join(one for one in unicodedata.normalize("NFKD", spaced.casefold()) if not unicodedata.combining(one))
    return frozenset(word for word in re.split(r"[^0-9a-z]+", plain) if word)


def names_a_person(name: str) -> bool:
    """Return whether a column is called like the number of a person: patient_nbr, PersonID, mrn, id."""
    found = words(name)
    if found & {*_PEOPLE} and found & {*_NUMBERS}:
        return True
    joined = any(word.startswith(one) and word[len(one) :] in _NUMBERS for word in found for one in _PEOPLE)
    return joined or bool(found & {"mrn", "ssn", "empi", "pnr"}) or (bool(found) and found <= {*_ALONE, *_PEOPLE})


def person_keys(columns: Mapping[str, pa.ChunkedArray], *, known: Sequence[str] = ()) -> list[PersonKey]:
    """Return the columns whose values repeat as those of people with several rows do, the likeliest first.

    That is so by name, or because other columns follow from them. `known` columns are taken as settled: they are not
    suspected, but may follow. Give no sensitive column.
    """
    coded = {name: _coded(column) for name, column in columns.items()}
    found = []
    for name, (codes, values) in coded.items():
        if name in known:
            continue
        times = np.bincount(codes, minlength=values + 1)[:values]
        people, rows = int(np.count_nonzero(times)), int(times.sum())
        named = names_a_person(name)
        if not may_be_key(name, people, rows) or not _may_be_key(columns[name]):
            continue
        follow = _following(name, coded)
        if named or len(follow) >= _DETERMINED:
            shown = f"rows that share one agree in {', '.join(map(repr, follow[:3]))}"
            why = (["it is called like the number of a person"] if named else []) + ([shown] if follow else [])
            found.append((not named, -len(follow), PersonKey(name, people, rows, " and ".join(why))))
    return [key for _, _, key in sorted(found, key=lambda one: one[:2])]


def may_be_key(name: str, people: int, rows: int) -> bool:
    """Return whether a column with so many different values in so many rows may number people, by its name and these numbers."""
    named = names_a_person(name)
    if people in (0, rows) or rows > _OFTEN * people or (people < 3 and not named):
        return False
    return named or not (rows > _FEW_ROWS * people or people < _MANY_VALUES)


def _may_be_key(column: pa.ChunkedArray) -> bool:
    """Return whether a column may hold numbers of people: whole numbers or text."""
    values = split(column)[0].drop_null()
    kind = values.type
    if pt.is_string(kind) or pt.is_large_string(kind):
        values = guess(pc.utf8_trim_whitespace(pc.cast(values, pa.string()))).values
        kind = values.type
    if pt.is_floating(kind):  # whole numbers with gaps come as floats
        return bool(pc.all(pc.equal(pc.floor(values), values)).as_py())
    return bool(pt.is_integer(kind) or pt.is_string(kind) or pt.is_binary(kind))


def _coded(column: pa.ChunkedArray) -> tuple[Array, int]:
    values, codes = split(column)
    return codes, len(values)


def _following(key: str, coded: Mapping[str, tuple[Array, int]]) -> list[str]:
    """Return the columns that rows with the same key agree in, though other rows often do not."""
    codes, values = coded[key]
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    pairs = np.flatnonzero((ordered[1:] == ordered[:-1]) & (ordered[1:] < values))
    return [
        name for name, (others, size) in coded.items() if name != key and _agrees(others[order], pairs) and _varies(others, size)
    ]


def _agrees(ordered: Array, pairs: Integers) -> bool:
    return bool(len(pairs) and (ordered[pairs] == ordered[pairs + 1]).mean() >= _SAME)


def _varies(codes: Array, size: int) -> bool:
    """Return whether two rows often differ, and values repeat: what differs in every row follows from anything."""
    counts = np.bincount(codes, minlength=size + 1)
    return bool((counts / max(1, len(codes)) @ counts) / max(1, len(codes)) < _ORDINARY)
