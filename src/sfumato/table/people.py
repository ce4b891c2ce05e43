"""Who a row is about: the key of a person, and which of a person's rows is kept.

Claims are about people, so that a table has one row for each. Where somebody has several, the policy says by which column the
first or last is kept. Among rows that are equally early a coin decides, each being as likely: not the order of the input, and
not what a row says, since a rule that looked at a secret would tell something about it. Rows that are not kept decide nothing.

Whatever role the policy gave it, a column may say which rows are one person's: a patient number that repeats. Only columns that
are no secret may be given to the functions that look for one: what they find decides whether there is a release.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Array, Integers, counted
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.exact import percent
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.table.coding import canonical, kind_of, split
from sfumato.table.column import Column
from sfumato.table.parse import guess, parse_dates

if TYPE_CHECKING:
    from sfumato.table.table import Table

CHOOSING = 2
"""The stream of coins that chooses among rows of one person; a method has others."""

_KEEP = re.compile(r"\s*(first|last)\s+by\s+(.*\S)\s*", re.DOTALL)
_KEYS = ("key", "keep", "rows")


@dataclass(frozen=True, kw_only=True)
class People:
    """What the policy says of people: the columns that tell them apart (`key`), and which of somebody's rows is kept.

    `keep` is "first by COLUMN", "last by COLUMN", or "error": several rows are refused. `rows = "people"` states that every row
    is a person, whatever looks like a key of people.
    """

    key: Sequence[str] | str = ()
    keep: str = "error"
    rows: Literal["people"] | None = None

    def __post_init__(self) -> None:
        key = (self.key,) if isinstance(self.key, str) else self.key
        if not isinstance(key, Sequence) or not all(isinstance(name, str) and name for name in key) or len(set(key)) < len(key):
            raise PolicyError(
                f"people: key: expected a column or a list of columns, got {self.key!r}", hint='key = "patient_nbr"'
            )
        object.__setattr__(self, "key", tuple(key))
        if not isinstance(self.keep, str) or (self.keep != "error" and not _KEEP.fullmatch(self.keep)):
            raise PolicyError(
                f"people: keep: expected first by …, last by … or error, got {self.keep!r}", hint='keep = "first by admitted"'
            )
        if self.rows not in (None, "people"):
            raise PolicyError(
                f'people: rows: expected "people" (every row is a person), got {self.rows!r}',
                hint='key = "…" where somebody has several rows; one_row_per_person=False where claims speak of rows',
            )
        if self.keep != "error" and not self.key:
            raise PolicyError("people: keep: it says which row of a person, so it needs a key", hint='key = "patient_nbr"')

    @property
    def by(self) -> str | None:
        """The column whose first or last value decides, None where several rows are refused."""
        found = _KEEP.fullmatch(self.keep)
        return None if found is None else found[2]

    @property
    def last(self) -> bool:
        """True where the last row is kept."""
        return self.keep.lstrip().startswith("last")


def people(spec: People | Mapping[str, Any]) -> People:
    """Return what `[people]` of a policy says."""
    if isinstance(spec, People):
        return spec
    if not isinstance(spec, Mapping):
        raise PolicyError(f"people: expected key, keep or rows, got {spec!r}", hint='{ key = "patient_nbr" }')
    for name in spec:
        if name not in _KEYS:
            raise PolicyError(f"people: {name}: unknown key", hint=did_you_mean(str(name), _KEYS))
    return People(**spec)


@dataclass(frozen=True)
class Choice:
    """How many rows became how many people, and for how many of them coins decided; `coins` make the same choice again."""

    keep: str
    rows: int
    people: int
    tied: int
    coins: bytes

    def __repr__(self) -> str:
        return f"Choice({self.rows:,} rows of {self.people:,} people, {self.tied:,} by coins)"

    @property
    def sentence(self) -> str:
        """What was done, for the publisher."""
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        if self.rows == self.people:
            return f"{rows} of {people}: nobody has several."
        early = "late" if self.keep.lstrip().startswith("last") else "early"
        tied = f"; for {self.tied:,} of them coins decided among rows that are equally {early}" if self.tied else ""
        return f"{rows} of {people}; kept is one row of each, the {self.keep}{tied}."


def choose(
    data: pa.Table, rule: People, compared: Sequence[str], random: Randomness | int | bytes | None
) -> tuple[Integers, Choice]:
    """Return the row of each person that is kept, and what there is to tell about the choice.

    The `compared` columns are those of which something is published: rows that agree in them need no coin.
    """
    person = persons(data, tuple(rule.key))
    rows = len(person)
    times = np.bincount(person)
    several = int((times > 1).sum())
    coins = random if isinstance(random, bytes) else randomness(random).spawn(CHOOSING).words(4).tobytes()
    if not several:
        return np.arange(rows), Choice(rule.keep, rows, len(times), 0, coins)
    if rule.by is None:
        refuse_several(rule, several, int(times[times > 1].sum()))
    rank = ranks(data.column(rule.by), rule)
    best = np.full(len(times), np.iinfo(np.int64).max)
    np.minimum.at(best, person, rank)
    candidate = rank == best[person]
    many = np.bincount(person[candidate], minlength=len(times)) > 1
    clear = candidate & ~many[person]
    open_rows = np.flatnonzero(candidate & many[person])
    chosen, tied = by_coins(data, open_rows, person[open_rows], [*rule.key, *compared], SecureRandomness(coins))
    kept = np.sort(np.concatenate([np.flatnonzero(clear), chosen]))
    return kept, Choice(rule.keep, rows, len(times), tied, coins)


def refuse_several(rule: People, several: int, rows: int) -> None:
    """Raise the error for so many people who have so many rows together."""
    raise InputError(
        f"{', '.join(map(repr, rule.key))}: {several:,} {'person has' if several == 1 else 'people have'} several rows "
        f"({rows:,} rows together), and a bound per row is no bound per person",
        hint='people={"keep": "first by COLUMN"} or "last by COLUMN" keeps one row of each',
    )


def by_coins(
    data: pa.Table, rows: Integers, person: Integers, columns: Sequence[str], random: Randomness
) -> tuple[Integers, int]:
    """Return one of each person's rows, every one as likely, and for how many people that made a difference.

    Rows are brought into the order of what they say before coins are drawn for them, so that the same rows and coins give the
    same choice in any order of the input.
    """
    if not len(rows):
        return rows, 0
    names = list(dict.fromkeys(name for name in columns if not pt.is_null(data.column(name).type)))
    some = pa.table({str(place): _plain(data.column(name).take(pa.array(rows))) for place, name in enumerate(names)})
    order = pc.sort_indices(some, sort_keys=[(name, "ascending") for name in some.column_names]).to_numpy()
    rows, person = rows[order], person[order]
    drawn = random.permutation(len(rows))
    first = np.full(int(person.max()) + 1, len(rows))
    np.minimum.at(first, person, drawn)
    differs = np.zeros(len(rows) - 1, bool)
    for column in some.columns:
        codes = split(column)[1][order]
        differs |= codes[1:] != codes[:-1]
    same = person[1:] == person[:-1]
    return rows[drawn == first[person]], len(np.unique(person[1:][differs & same]))


def persons(data: pa.Table, key: Sequence[str]) -> Integers:
    """Return a number for every row, the same for the rows of one person."""
    whole = np.zeros(data.num_rows, np.int64)
    for name in key:
        values, codes = split(data.column(name))
        absent = int((codes == len(values)).sum())
        if absent:
            raise InputError(
                f"column {name!r}: {absent:,} of {len(codes):,} rows have no value, so that it is not known whose rows they are",
                hint="give every person a key, or leave these rows out of the table",
            )
        whole = np.unique(whole * (len(values) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    return whole


def ranks(column: pa.ChunkedArray, rule: People) -> Integers:
    """Return the place of every row by the column that decides, 0 for what is kept first; a missing value comes last."""
    values, codes = split(column)
    numbers = _in_order(values, str(rule.by))
    _, rank = np.unique(numbers, return_inverse=True)
    rank = rank.astype(np.int64)
    places = rank.max(initial=0) - rank if rule.last else rank
    return np.append(places, len(values) + 1)[codes]


def _in_order(values: pa.Array, name: str) -> Array:
    """Return distinct values as numbers that ascend with them: numbers as they are, dates as moments."""
    if pt.is_binary(values.type):
        values = pc.cast(values, pa.string())
    values = canonical(values, name)
    if kind_of(values) == "categorical":
        guessed = guess(pc.utf8_trim_whitespace(values))
        values = guessed.values
        if guessed.kind == "categorical":
            dates = parse_dates(values)
            if dates.bad.any() or dates.ambiguous:
                raise InputError(
                    f"column {name!r}: it decides which row of a person is kept, so it has to hold numbers or dates",
                    hint="write dates as 2024-12-31, or take another column",
                )
            values = dates.values
    if kind_of(values) == "date":
        values = pc.cast(pc.cast(values, pa.timestamp("us")), pa.int64())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pt.is_dictionary(column.type) else column


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


SHARE, PEOPLE = 0.2, 20
"""Texts nearly name people where so large a share of them, and at least so many, are the only one with their text."""
NUMBERED, MANY = 0.9, 1_000
"""Whole numbers and dates do where so large a share of them, and at least so many, are: they number people."""
OFTEN = 0.25
"""Where so large a share of people are the only one with their number or date, the publisher is told."""


@dataclass(frozen=True)
class NearlyUnique:
    """A quasi column as published, and how many people are the only one with their value."""

    column: str
    alone: int
    rows: int

    def __str__(self) -> str:
        share = percent(self.alone / self.rows, 1)
        return f"{self.column!r}: {self.alone:,} of {self.rows:,} people ({share}) are the only one with their value"

    @property
    def sentence(self) -> str:
        """What stands beside the column."""
        return f"{percent(self.alone / self.rows, 1)} of people are the only one with their value: this is not published."


def nearly_unique(table: Table, counts: Sequence[Integers] | None = None) -> list[NearlyUnique]:
    """Return the quasi columns whose values nearly name people, except those that the schema allows. No secret is looked at.

    `counts` say how often each code of each column occurs, where the table has no rows at hand.
    """
    return _alone(table, counts, NUMBERED, MANY)


def often_alone(table: Table) -> list[str]:
    """Return a sentence for every quasi column of numbers or dates that is published and yet tells many people apart."""
    refused = {one.column for one in nearly_unique(table)}
    return [
        f"{one}, and it is published: make it coarser under [recode] unless that is meant"
        for one in _alone(table, None, OFTEN, PEOPLE)
        if one.column not in refused
    ]


def _alone(table: Table, counts: Sequence[Integers] | None, numbered: float, many: int) -> list[NearlyUnique]:
    """Return the quasi columns of which so many people have their value alone, except those that the schema allows."""
    found = []
    for j, column in enumerate(table.quasi):
        if column.name in table.schema.allow_unique or _measured(column):
            continue
        share, least = (SHARE, PEOPLE) if column.kind == "categorical" else (numbered, many)
        times = counted(column.codes, column.size) if counts is None else counts[j]
        alone = int((times[: len(column.values)] == 1).sum())
        if alone >= max(least, share * table.rows):
            found.append(NearlyUnique(column.name, alone, table.rows))
    return found


def _measured(column: Column) -> bool:
    """Return whether a column has numbers that are not whole: measurements, which name nobody by themselves."""
    return pa.types.is_floating(column.values.type) and bool((np.asarray(column.values) % 1 != 0).any())


def require_shared_texts(table: Table, counts: Sequence[Integers] | None = None) -> None:
    """Raise an `InputError` for quasi columns whose values nearly name people; `counts` as for `nearly_unique`."""
    found = nearly_unique(table, counts)
    if found:
        names = ", ".join(f'"{one.column}"' for one in found)
        raise InputError(
            f"values that nearly name people would be published; {'; '.join(map(str, found))}",
            hint=f"make them identifier or other, or coarser with recode; allow_unique=[{names}] says that it is meant",
        )
