"""Who a row is about: the key of a person, and which of a person's rows is kept.

Claims are about people, so that a table has one row for each. Where somebody has several, the policy says by which column the
first or last is kept. Among rows that are equally early a coin decides, each being as likely: not the order of the input, and
not what a row says, since a rule that looked at a secret would tell something about it. Rows that are not kept decide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Array, Integers
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.table.coding import canonical, kind_of, split
from sfumato.table.parse import guess, parse_dates

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
        f"{_listed(rule.key)}: {several:,} {'person has' if several == 1 else 'people have'} several rows "
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


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
