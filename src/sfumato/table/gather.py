"""A person is all her rows: which rows are whose, whose quasi values are shown, and by how many rows people are told apart.

Nobody's secrets decide anything here. The values that a person has are those of all her rows, and of all columns that mean the
same; the quasi values that are shown are those of one row, by a rule that looks at no secret. Whoever knows how many rows
somebody has knows something about how many values she has: *bands* of numbers of rows are therefore a quasi column, which is
published, and people of two bands never share a group. Which bands there are follows from the numbers of rows and people alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.arrays import Array, Flags, Integers
from sfumato.errors import InputError, PolicyError
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.table.cells import cell_column
from sfumato.table.coding import split
from sfumato.table.column import Column, code_type
from sfumato.table.people import CHOOSING, Choice, choose, earliest, persons, ranks, refuse_keyless
from sfumato.table.people_rule import BAND, LATE, OWN, SHOW, SIZE, People


@dataclass(frozen=True, eq=False)
class Gathered:
    """Whose each row is, from 0 on, how many rows each person has, and the row whose quasi values are shown, by column.

    `longest` is how many columns the secret with most of them has: so many times the rows are stacked. `entries` says from where
    to where cells of each secret stand in a stacked column; the rest of it is no cell of anybody. A household is a person here,
    and `members` says of how many people it consists.
    """

    person: Integers
    times: Integers
    members: Integers
    row: Mapping[str, Integers]
    longest: int
    entries: Mapping[str, slice]

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.times)

    @property
    def owner(self) -> Integers:
        """Whose each entry of a stacked column is."""
        return np.tile(self.person, self.longest)

    @property
    def first(self) -> Integers:
        """An entry of each person."""
        first = np.empty(self.people, np.int64)
        first[self.person[::-1]] = np.arange(len(self.person))[::-1]
        return first


def gather(
    data: pa.Table,
    rule: People,
    quasi: Sequence[str],
    secrets: Mapping[str, Sequence[str]],
    random: Randomness | int | bytes | None,
) -> tuple[pa.Table, Gathered, Choice]:
    """Return the rows that have a key, whose they are, and what there is to tell of that."""
    coins = random if isinstance(random, bytes) else randomness(random).spawn(CHOOSING).words(4).tobytes()
    require_key(rule)
    if not data.num_rows:
        raise InputError("the table has no rows", hint="expected one row per person")
    data, dropped = _with_key(data, rule)
    choice: Choice | None = None
    if rule.key and not rule.all:  # one row of each person is kept, with all values that it has
        kept, choice = choose(data, rule, [*quasi, *(column for columns in secrets.values() for column in columns)], coins)
        data = data.take(pa.array(kept))
    person = persons(data, tuple(rule.key)) if rule.all else np.arange(data.num_rows)
    row, tied = _shown(data, rule, person, quasi, SecureRandomness(coins))
    longest, rows = max(len(columns) for columns in secrets.values()), data.num_rows
    entries = {name: slice(0, len(columns) * rows) for name, columns in secrets.items()}
    times = np.bincount(person)
    members = _members(data, rule, person) if rule.several else times
    gathered = Gathered(person, times, members, row, longest, entries)
    inside = int(members.sum()) if rule.unit else None
    choice = choice or Choice("all", rows, gathered.people, tied, coins, members=inside)
    return data, gathered, replace(choice, dropped=dropped)


def _members(data: pa.Table, rule: People, household: Integers) -> Integers:
    """Return how many people each household has; somebody in two of them is refused: one would tell of the other."""
    member = persons(data, tuple(rule.member))
    many = int(member.max()) + 1
    pairs = np.unique(household * np.int64(many) + member)
    refuse_two_households(rule, len(pairs) - len(np.unique(pairs % many)))
    return np.bincount(pairs // many)


def refuse_two_households(rule: People, twice: int) -> None:
    """Raise where so many people have rows in several households."""
    if twice:
        raise InputError(
            f"{', '.join(map(repr, rule.member))}: {twice:,} {'person has' if twice == 1 else 'people have'} rows in several "
            "households, and what one household has would tell of another",
            hint="give every person one household, as the last one that she lived in",
        )


def require_key(rule: People) -> None:
    """Raise where a person has all her rows and nothing says which these are."""
    if rule.all and not rule.key:
        raise PolicyError('people: keep = "all" needs a key that says which rows are one person\'s', hint='key = "patient_nbr"')


def _with_key(data: pa.Table, rule: People) -> tuple[pa.Table, int]:
    """Return the rows that say whose they are, and how many others there were, which only a rule leaves out."""
    absent = np.zeros(data.num_rows, bool)
    for name in rule.key if rule.all else ():
        empty = _empty(data.column(name))
        if rule.without_key != "drop" and empty.any():
            refuse_keyless(name, int(empty.sum()), data.num_rows, rule="people" if rule.unit is None else "unit")
        absent |= empty
    if data.num_rows and absent.all():
        raise InputError("no row has a key that says whose it is", hint="is it the right column? [people] key")
    kept = data.filter(pa.array(~absent)) if absent.any() else data
    for name in rule.key if rule.all else ():
        require_one_spelling(name, split(kept.column(name))[0])
    return kept, int(absent.sum())


def _empty(column: pa.ChunkedArray) -> Flags:
    """Return which rows have no key: nothing, an empty text, or no number."""
    values, codes = split(column)
    nothing = np.zeros(len(values), bool)
    if pt.is_string(values.type) or pt.is_large_string(values.type):
        nothing = np.asarray(pc.equal(pc.utf8_trim(values, characters=" "), ""))
    elif pt.is_floating(values.type):
        nothing = np.asarray(pc.is_nan(values))
    return np.append(nothing, True)[codes]


def require_one_spelling(name: str, values: pa.Array) -> None:
    """Raise where keys differ only by case or blanks: whoever has two would be two people, each with half of her values."""
    if not (pt.is_string(values.type) or pt.is_large_string(values.type)):
        return
    plain = pc.utf8_lower(pc.utf8_normalize(pc.utf8_trim_whitespace(values), form="NFKC"))
    twice = len(values) - len(plain.unique())
    if twice:
        raise InputError(
            f"people: key: {twice:,} values of {name!r} differ from another one only by case, blanks or the form of letters, and "
            "somebody with two of them would be two people",
            hint="write every key in one way",
        )


def _shown(
    data: pa.Table, rule: People, person: Integers, quasi: Sequence[str], random: Randomness
) -> tuple[dict[str, Integers], int]:
    """Return for each quasi column the row of each person whose value is shown, and for how many people coins decided."""
    people = int(person.max()) + 1
    chosen: dict[str, Integers] = {}
    tied = 0
    for how, names in shown_by(rule, quasi):
        if how is None or people == len(person):
            row = _any_row(person, people)
            for name in names if people < len(person) else ():
                _require_constant(data, name, person, row, rule)
        else:
            by, late = ordered_by(how, names)
            rank = ranks(data.column(by), by, last=late)
            kept, some = earliest(data, person, rank, [*rule.key, *names], random)
            row = np.empty(people, np.int64)
            row[person[kept]] = kept
            tied = max(tied, some)
        chosen |= dict.fromkeys(names, row)
    return chosen, tied


def shown_by(rule: People, quasi: Sequence[str]) -> list[tuple[str | None, list[str]]]:
    """Return the rules by which rows are shown, and the quasi columns of each; None for those that may not differ."""
    own = {name: how for name, how in rule.shown.items() if name}
    for name in own:
        if name not in quasi:
            raise PolicyError(f"people: quasi: {name!r} is no quasi column", hint=f"one of {', '.join(quasi)}")
    rest = [name for name in quasi if name not in own]
    return [(how, names) for how, names in [(rule.shown.get(""), rest), *((how, [name]) for name, how in own.items())] if names]


def ordered_by(how: str, names: Sequence[str]) -> tuple[str, bool]:
    """Return the column by whose order a row is shown, and whether the last one is."""
    rule = SHOW.fullmatch(how)
    by, late = (names[0], how.strip()) if how.strip() in OWN or rule is None else (rule[2], rule[1])
    return by, late in LATE


def _any_row(person: Integers, people: int) -> Integers:
    row = np.empty(people, np.int64)
    row[person] = np.arange(len(person))
    return row


def _require_constant(data: pa.Table, name: str, person: Integers, row: Integers, rule: People) -> None:
    """Raise where rows of one person have different values of a quasi column: nothing says which is shown."""
    codes = split(data.column(name))[1]
    refuse_differing(name, len(np.unique(person[codes != codes[row][person]])), rule)


def refuse_differing(name: str, differ: int, rule: People) -> None:
    """Raise where so many people have rows with different values of a quasi column."""
    if differ:
        whose = ("person has" if differ == 1 else "people have") if rule.unit is None else "households have"
        where = "people" if rule.unit is None else "unit"
        raise InputError(
            f"quasi column {name!r}: {differ:,} {whose} rows with different values",
            hint=f'{where}={{"quasi": "first by COLUMN"}} says which of them is shown',
        )


def stacked(
    data: pa.Table, gathered: Gathered, kept: Sequence[str], secrets: Mapping[str, Sequence[str]], *, by_cell: bool = False
) -> pa.Table:
    """Return one long table: the columns of each secret one below the other, beside everybody's quasi values and key.

    With declared values secrets are read cell by cell: then no person's value decides of what type a column is, nor a refusal.
    """
    long: dict[str, pa.ChunkedArray] = {}
    for name in kept:
        row = gathered.row.get(name, gathered.first)
        places = np.tile(row[gathered.person], gathered.longest)
        long[name] = data.column(name).take(pa.array(places))
    for name, columns in secrets.items():
        long[name] = below(name, [data.column(column) for column in columns], gathered.longest * data.num_rows, by_cell=by_cell)
    return pa.table(long)


def below(
    name: str, columns: Sequence[pa.ChunkedArray], length: int, *, before: int = 0, by_cell: bool = False
) -> pa.ChunkedArray:
    """Return columns that mean the same as one, with nothing before and where it is to be longer.

    Where cells are read one by one, those of different types are compared as texts.
    """
    if by_cell and len({column.type for column in columns}) > 1:
        columns = [pa.chunked_array([cell_column(name, column, ".").arrow()]) for column in columns]
    coded = any(pt.is_dictionary(column.type) for column in columns)
    plain = [_short(column.cast(column.type.value_type) if pt.is_dictionary(column.type) else column) for column in columns]
    kinds = {column.type for column in plain if not pt.is_null(column.type)} or {pa.string()}
    if len(kinds) > 1:
        if not all(pt.is_integer(kind) or pt.is_floating(kind) for kind in kinds):
            raise InputError(
                f"secret {name!r}: its columns are of different types, so that their values cannot be compared",
                hint="make them one type first",
            )
        kinds = {pa.float64() if any(map(pt.is_floating, kinds)) else pa.int64()}
    (kind,) = kinds
    missing = length - before - sum(len(column) for column in plain)
    chunks = [pa.nulls(before, kind), *(chunk for column in plain for chunk in column.cast(kind).chunks), pa.nulls(missing, kind)]
    whole = pa.chunked_array(chunks, kind)
    if not coded:
        return whole
    return pc.dictionary_encode(pa.chunked_array([whole.combine_chunks()]))


def _short(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return texts as one type, however long they may be together."""
    long = pt.is_large_string(column.type) or column.type == pa.string_view()
    return column.cast(pa.string()) if long else column


def fewest(people: int) -> int:
    """Return how many people a band has at least: a twentieth of all from 50 to 100, a two-hundredth up to 1,000.

    By their number alone. A rare value has a bound of little more than the offset, which in a draft is 1/50: in a band of fewer
    than 50 nobody might have it, in one of 100 two people may.
    """
    return max(50, min(100, people // 20), min(1000, people // 200))


def band_columns(gathered: Gathered, rule: People) -> list[Column]:
    """Return the quasi columns that say in which band everybody's number of rows lies; of a household its number of members.

    Where members may have several rows, a household also has a band of these, among households of its size.
    """
    if not rule.stratified:
        return []
    if rule.unit is None:
        return [band_column(gathered.times, rule)]
    sizes = band_column(gathered.members, rule, SIZE, lambda: itertools.count(2))
    return [sizes, _rows_inside(sizes, gathered.times, rule)] if rule.several else [sizes]


def band_column(times: Integers, rule: People, name: str = BAND, steps: Callable[[], Iterator[int]] | None = None) -> Column:
    """Return the quasi column that says in which band everybody's number lies; bands begin at these steps, or doubling ones."""
    if rule.alike == "exact":
        values, codes = np.unique(times, return_inverse=True)
        return Column(name, "numeric", pa.array(values, pa.int64()), codes.astype(code_type(len(values))))
    return _labelled(
        name, _bands(times, _usual(times, (steps or _doubling)()) if isinstance(rule.alike, str) else [1, *(rule.alike or ())])
    )


def _rows_inside(sizes: Column, times: Integers, rule: People) -> Column:
    """Return the bands of numbers of rows, those of households of each size for themselves."""
    if rule.alike == "exact":
        return band_column(times, rule)
    bands = np.empty(len(times), dtype=object)
    for size in range(sizes.size):
        mine = sizes.codes == size
        bands[mine] = _bands(times[mine], _usual(times[mine], _doubling()))
    return _labelled(BAND, bands)


def _bands(times: Integers, edges: Sequence[int]) -> Array:
    """Return what the band of each number is called."""
    place = np.searchsorted(edges, times, side="right") - 1
    ends = [*(edge - 1 for edge in edges[1:]), None]
    return np.array([band_label(low, high) for low, high in zip(edges, ends, strict=True)], dtype=object)[place]


def _labelled(name: str, labels: Array) -> Column:
    values, codes = np.unique(labels, return_inverse=True)
    return Column(name, "categorical", pa.array(values.tolist(), pa.string()), codes.astype(code_type(len(values))))


def band_label(low: int, high: int | None) -> str:
    """Return what a band of numbers of rows is called.

    >>> band_label(1, 1), band_label(5, 8), band_label(9, None)
    ('1', '5 to 8', '9 or more')
    """
    if high is None:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"


def _usual(times: Integers, steps: Iterator[int]) -> list[int]:
    """Return where bands begin: at 1, and of these steps at those that leave enough people in every band.

    The last is open: it begins where fewer would be left beyond.
    """
    least, edges = fewest(len(times)), [1]
    for edge in steps:
        if (times >= edge).sum() < least:
            return edges
        if ((times >= edges[-1]) & (times < edge)).sum() >= least:
            edges.append(edge)
    raise AssertionError("numbers of rows end")


def _doubling() -> Iterator[int]:
    """Yield 2, 3, 4, then 5, 9, 17, …"""
    return itertools.chain((2, 3, 4), (2**power + 1 for power in itertools.count(2)))
