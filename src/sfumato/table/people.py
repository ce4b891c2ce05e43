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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Array, Integers, counted
from sfumato.errors import InputError
from sfumato.exact import percent
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.table.coding import canonical, kind_of, split
from sfumato.table.column import Column
from sfumato.table.parse import guess, parse_dates
from sfumato.table.people_rule import People

if TYPE_CHECKING:
    from sfumato.table.table import Table

CHOOSING = 2
"""The stream of coins that chooses among rows of one person; a method has others."""


@dataclass(frozen=True)
class Choice:
    """How many rows became how many people, and for how many of them coins decided; `coins` make the same choice again."""

    keep: str
    rows: int
    people: int
    tied: int
    coins: bytes
    facts: int | None = None
    """Where a person has all her rows: how many pairs of a person and a value there are."""
    dropped: int = 0
    """How many rows had no key, and were left out."""
    members: int | None = None
    """Where households are published: how many people they have."""

    def __repr__(self) -> str:
        return f"Choice({self.rows:,} rows of {self.people:,} people, {self.tied:,} by coins)"

    @property
    def sentence(self) -> str:
        """What was done, for the publisher."""
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows"
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        if self.members is not None:
            inside = "1 person" if self.members == 1 else f"{self.members:,} people"
            return self._all(f"{rows} of {inside} in {self.people:,} household{'' if self.people == 1 else 's'}")
        if self.keep == "all":
            return self._all(f"{rows} of {people}")
        if self.rows == self.people:
            return f"{rows} of {people}: nobody has several."
        early = "late" if self.keep.lstrip().startswith("last") else "early"
        tied = f"; for {self.tied:,} of them coins decided among rows that are equally {early}" if self.tied else ""
        return f"{rows} of {people}; kept is one row of each, the {self.keep}{tied}."

    @property
    def without_secrets(self) -> Choice:
        """The same without what follows from sensitive values: how many facts there are, and which rows differ in them."""
        return replace(self, facts=None, tied=self.tied if self.keep == "all" else 0)

    def _all(self, counted: str) -> str:
        facts = "" if self.facts is None else ", 1 fact" if self.facts == 1 else f", {self.facts:,} facts"
        lost = f"; {self.dropped:,} rows without a key were left out" if self.dropped else ""
        whom = "people" if self.members is None else "households"
        tied = f"; for {self.tied:,} {whom} coins decided whose quasi values are shown" if self.tied else ""
        return f"{counted}{facts}{lost}{tied}."


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
    rank = ranks(data.column(rule.by), str(rule.by), last=rule.last)
    kept, tied = earliest(data, person, rank, [*rule.key, *compared], SecureRandomness(coins))
    return np.sort(kept), Choice(rule.keep, rows, len(times), tied, coins)


def earliest(
    data: pa.Table, person: Integers, rank: Integers, compared: Sequence[str], random: Randomness
) -> tuple[Integers, int]:
    """Return the row of each person with the least rank, by coins among equal ones, and for how many these decided."""
    people = int(person.max()) + 1
    best = np.full(people, np.iinfo(np.int64).max)
    np.minimum.at(best, person, rank)
    candidate = rank == best[person]
    many = np.bincount(person[candidate], minlength=people) > 1
    clear = candidate & ~many[person]
    open_rows = np.flatnonzero(candidate & many[person])
    chosen, tied = by_coins(data, open_rows, person[open_rows], compared, random)
    return np.concatenate([np.flatnonzero(clear), chosen]), tied


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
            refuse_keyless(name, absent, len(codes))
        whole = np.unique(whole * (len(values) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    return whole


def refuse_keyless(name: str, absent: int, rows: int, *, rule: str = "") -> NoReturn:
    """Raise the error for so many rows of which nobody knows whose they are; the name of a `rule` that would leave them out."""
    left = f'{rule}={{"without_key": "drop"}} leaves these rows out' if rule else "leave these rows out of the table"
    raise InputError(
        f"column {name!r}: {absent:,} of {rows:,} rows have no value, so that it is not known whose rows they are",
        hint=f"give every person a key, or {left}",
    )


def ranks(column: pa.ChunkedArray, name: str, *, last: bool) -> Integers:
    """Return the place of every row by the column that decides, 0 for what is kept first; a missing value comes last."""
    values, codes = split(column)
    numbers = _in_order(values, name)
    _, rank = np.unique(numbers, return_inverse=True)
    rank = rank.astype(np.int64)
    places = rank.max(initial=0) - rank if last else rank
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
_ALONE = frozenset(
    ("id", "uid", "uuid", "guid", "pseudonym", "identifier", "mrn", "ssn", "nin", "pid", "empi", "pnr", "kennung", "psn", "upid")
)
"""Names that say "the number of a person" by themselves."""

_OTHERS = frozenset(
    ("wage", "wages", "prewage", "salary", "income", "pay", "price", "tax", "taxes", "weight", "wt", "height", "ht", "popul",
     "population", "household", "hid", "hhid", "ihid", "serial", "serialno", "psu", "cluster", "practice", "provider", "site")
)  # fmt: skip
"""What numbers something else than people: amounts, measures, places and households."""

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
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", spaced.casefold()) if not unicodedata.combining(letter))
    return frozenset(word for word in re.split(r"[^0-9a-z]+", plain) if word)


def names_a_person(name: str) -> bool:
    """Return whether a column is called like the number of a person: patient_nbr, PersonID, mrn, id."""
    known = words(name)
    if known & {*_PEOPLE} and known & {*_NUMBERS}:
        return True
    joined = any(word.startswith(stem) and word[len(stem) :] in _NUMBERS for word in known for stem in _PEOPLE)
    return joined or bool(known & {"mrn", "ssn", "empi", "pnr"}) or (bool(known) and known <= {*_ALONE, *_PEOPLE})


def numbers_others(name: str) -> bool:
    """Return whether a column is called like an amount, a measure, or the number of a place or household; wt82_71 is a weight."""
    return bool({re.sub(r"[0-9]+$", "", word) for word in words(name)} & _OTHERS)


def person_keys(columns: Mapping[str, pa.ChunkedArray], *, known: Sequence[str] = ()) -> list[PersonKey]:
    """Return the columns whose values repeat as those of people with several rows do, the likeliest first.

    That is so by name, or because other columns follow from them. `known` columns are taken as settled: they are not
    suspected, but may follow. Give no sensitive column.
    """
    coded = {name: _coded(column) for name, column in columns.items()}
    keys = []
    for name, (codes, values) in coded.items():
        if name in known:
            continue
        times = np.bincount(codes, minlength=values + 1)[:values]
        people, rows = int(np.count_nonzero(times)), int(times.sum())
        named = names_a_person(name)
        if not may_be_key(name, people, rows) or not _may_be_key(columns[name]):
            continue
        follow = _following(name, coded)
        if not follow and words(name) <= _ALONE and rows > _FEW_ROWS * people:
            continue  # so few values number nobody: a PID may be a party, an id that of a place
        if named or len(follow) >= _DETERMINED:
            shown = f"rows that share one agree in {', '.join(map(repr, follow[:3]))}"
            why = (["it is called like the number of a person"] if named else []) + ([shown] if follow else [])
            keys.append((not named, -len(follow), PersonKey(name, people, rows, " and ".join(why))))
    return [key for _, _, key in sorted(keys, key=lambda entry: entry[:2])]


def may_be_key(name: str, people: int, rows: int) -> bool:
    """Return whether a column with so many different values in so many rows may number people, by its name and these numbers."""
    named = names_a_person(name)
    if people in (0, rows) or rows > _OFTEN * people or (people < 3 and not named):
        return False
    return named or not (rows > _FEW_ROWS * people or people < _MANY_VALUES or numbers_others(name))


def _may_be_key(column: pa.ChunkedArray) -> bool:
    """Return whether a column may hold numbers of people: whole numbers or text."""
    values = split(column)[0].drop_null()
    kind = values.type
    if pt.is_string(kind) or pt.is_large_string(kind):
        values = guess(pc.utf8_trim_whitespace(pc.cast(values, pa.string()))).values
        kind = values.type
    if (pt.is_integer(kind) or pt.is_floating(kind)) and (pc.min(values).as_py() or 0) < 0:
        return False  # a difference, and nobody's number
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
    refused = {suspect.column for suspect in nearly_unique(table)}
    return [
        f"{suspect}, and it is published: make it coarser under [recode] unless that is meant"
        for suspect in _alone(table, None, OFTEN, PEOPLE)
        if suspect.column not in refused
    ]


def _alone(table: Table, counts: Sequence[Integers] | None, numbered: float, many: int) -> list[NearlyUnique]:
    """Return the quasi columns of which so many people have their value alone, except those that the schema allows."""
    alone_in = []
    for j, column in enumerate(table.quasi):
        if column.name in table.schema.allow_unique or _measured(column):
            continue
        share, least = (SHARE, PEOPLE) if column.kind == "categorical" else (numbered, many)
        times = counted(column.codes, column.size) if counts is None else counts[j]
        alone = int((times[: len(column.values)] == 1).sum())
        if alone >= max(least, share * table.rows):
            alone_in.append(NearlyUnique(column.name, alone, table.rows))
    return alone_in


def _measured(column: Column) -> bool:
    """Return whether a column has numbers that are not whole: measurements, which name nobody by themselves."""
    return pa.types.is_floating(column.values.type) and bool((np.asarray(column.values) % 1 != 0).any())


def require_shared_texts(table: Table, counts: Sequence[Integers] | None = None) -> None:
    """Raise an `InputError` for quasi columns whose values nearly name people; `counts` as for `nearly_unique`.

    Not where values are declared beforehand and no person's may decide: synthetic records show no more than the declaration.
    """
    suspects = [] if table.schema.by_cell else nearly_unique(table, counts)
    if suspects:
        names = ", ".join(f'"{suspect.column}"' for suspect in suspects)
        raise InputError(
            f"values that nearly name people would be published; {'; '.join(map(str, suspects))}",
            hint=f"make them identifier or other, or coarser with recode; allow_unique=[{names}] says that it is meant",
        )
