"""What groups show beside `st` where people may have several values of a secret, or none.

`sets` has how many people of a group have one of the values of each named set: the counts of its values add up to more, since who
has two of them is counted twice. `numbers` has how many people have 0, 1, 2, … values of each secret. Which values belong to one
person is shown nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.canonical import TableRows
from sfumato.release.coding import decoded, groups_of, require_distinct, some_groups_of, take_table, whole_numbers
from sfumato.release.manifest import Manifest
from sfumato.release.secrets import code_values, value_columns
from sfumato.table.column import Domain, Events

ST, SETS, NUMBERS = "st", "sets", "numbers"
GROUP, SECRET, SET, VALUES, COUNT = "group", "secret", "set", "values", "count"


class HeldEntries(NamedTuple):
    """How many people of a group have a value, sorted by group and value."""

    group: Small
    value: Small
    people: Integers

    def listing(self) -> TableRows:
        """Return the rows of `st` by what they show."""
        most = int(self.people.max(initial=0)) + 1
        return TableRows(ST, self.group, self.value * np.int64(most) + self.people)

    def arranged(self, rows: Array, number: Array) -> HeldEntries:
        """Return the same with rows in this order, and groups that get other numbers."""
        return HeldEntries(number[self.group[rows]], self.value[rows], self.people[rows])

    def of(self, low: int, high: int) -> HeldEntries:
        """Return those of the values from `low` up to `high`, numbered from 0 on."""
        mine = (self.value >= low) & (self.value < high)
        return HeldEntries(self.group[mine], self.value[mine] - np.int32(low), self.people[mine])


class Held(NamedTuple):
    """The entries of both tables, each sorted by group: number of a set among those of the manifest, or secret and number."""

    set_group: Small
    set_place: Small
    set_count: Integers
    group: Small
    secret: Small
    values: Small
    people: Integers

    def tables(self, manifest: Manifest) -> dict[str, pa.Table]:
        """Return `sets` (group, secret, set, count), where there are any, and `numbers` (group, secret, values, count)."""
        shown = {}
        if manifest.sets:
            secrets, names = (pa.array(texts, pa.string()) for texts in zip(*set_names(manifest), strict=True))
            place = pa.array(self.set_place)
            shown[SETS] = pa.table(
                {
                    GROUP: pa.array(self.set_group + 1, pa.int32()),
                    SECRET: secrets.take(place),
                    SET: names.take(place),
                    COUNT: pa.array(self.set_count, pa.int64()),
                }
            )
        shown[NUMBERS] = pa.table(
            {
                GROUP: pa.array(self.group + 1, pa.int32()),
                SECRET: pa.array(manifest.secrets, pa.string()).take(pa.array(self.secret)),
                VALUES: pa.array(self.values, pa.int32()),
                COUNT: pa.array(self.people, pa.int64()),
            }
        )
        return shown

    def listing(self) -> tuple[TableRows, ...]:
        """Return the rows of both tables by what they show."""
        most = int(self.set_count.max(initial=0)) + 1
        sets = self.set_place * np.int64(most) + self.set_count
        room, many = int(self.values.max(initial=0)) + 1, int(self.people.max(initial=0)) + 1
        numbers = (self.secret * np.int64(room) + self.values) * many + self.people
        return TableRows(SETS, self.set_group, sets), TableRows(NUMBERS, self.group, numbers)

    def arranged(self, sets: Array, numbers: Array, number: Array) -> Held:
        """Return the same with rows in these orders, and groups that get other numbers."""
        own = (self.set_place[sets], self.set_count[sets], number[self.group[numbers]], self.secret[numbers])
        return Held(number[self.set_group[sets]], *own, self.values[numbers], self.people[numbers])

    def of(self, place: int, sets: Array) -> Held:
        """Return the same of one secret alone, whose sets have these numbers."""
        mine, own = np.isin(self.set_place, sets), self.secret == place
        renumbered = np.searchsorted(sets, self.set_place[mine]).astype(np.int32)
        zero = np.zeros(int(own.sum()), np.int32)
        kept = (self.set_group[mine], renumbered, self.set_count[mine])
        return Held(*kept, self.group[own], zero, self.values[own], self.people[own])

    def set_totals(self, sets: int) -> Integers:
        """Return how many people have one of the values of each set."""
        return np.bincount(self.set_place, weights=self.set_count, minlength=sets).astype(np.int64)


def two_values(having: Integers, sizes: Integers) -> tuple[Integers, Small, Small]:
    """Return how many people of each group have something and how many have not, the group of each number, and 0 or 1."""
    both = np.stack([having, sizes - having], axis=1).ravel()
    group, value = np.repeat(np.arange(len(sizes), dtype=np.int32), 2), np.tile(np.array([0, 1], np.int32), len(sizes))
    return both, group, value


def set_names(manifest: Manifest) -> list[tuple[str, str]]:
    """Return the secret and the name of each set that the manifest lists."""
    return [(str(entry.get("secret", manifest.secrets[0])), str(entry["set"])) for entry in manifest.sets]


def held_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the tables that a release with such a manifest has beside those of its form."""
    if not manifest.bundled or manifest.rests_on.noisy:  # these would be counts of people too, and need noise of their own
        return ()
    return (SETS, NUMBERS) if manifest.sets else (NUMBERS,)


def read_entries(manifest: Manifest, tables: Mapping[str, pa.Table], groups: int) -> tuple[Domain | Events, HeldEntries]:
    """Return the values that `st` shows of people who may have several, and how many people of each group have each."""
    st = take_table(tables, ST, {GROUP: "group"} | value_columns(manifest) | {COUNT: "count"})
    events, value = code_values(manifest, st)
    group = some_groups_of(st, GROUP, ST, groups)
    require_distinct(group * np.int64(len(events)) + value, f"table {ST!r}")
    return events, HeldEntries(group, value.astype(np.int32), whole_numbers(st, COUNT, ST))


def read_held(
    manifest: Manifest,
    tables: Mapping[str, pa.Table],
    sizes: Integers,
    events: Domain | Events,
    st: HeldEntries,
) -> Held | None:
    """Return what both tables show beside `st`; what people with sets of values cannot have is refused."""
    if not held_names(manifest):
        return None
    none = np.zeros(0, np.int32)
    sets: tuple[Small, Small, Integers] = (none, none, np.zeros(0, np.int64))
    if manifest.sets:
        table = take_table(tables, SETS, {GROUP: "group", SECRET: "categorical", SET: "categorical", COUNT: "count"})
        names = {pair: place for place, pair in enumerate(set_names(manifest))}
        pairs = zip(decoded(table[SECRET]).to_pylist(), decoded(table[SET]).to_pylist(), strict=True)
        place = np.array([names.get(pair, -1) for pair in pairs], dtype=np.int32)
        if (place < 0).any():
            raise FormatError(f"table {SETS!r} shows other sets than the manifest lists")
        group = some_groups_of(table, GROUP, SETS, len(sizes))
        sets = group, place, whole_numbers(table, COUNT, SETS)
        require_distinct(group * np.int64(len(names)) + place, f"table {SETS!r}")
    table = take_table(tables, NUMBERS, {GROUP: "group", SECRET: "categorical", VALUES: "group", COUNT: "count"})
    secret = pc.index_in(decoded(table[SECRET]), value_set=pa.array(manifest.secrets))
    values = np.asarray(decoded(table[VALUES]), dtype=np.int64)
    if secret.null_count or values.min(initial=0) < 0 or values.max(initial=0) > np.iinfo(np.int32).max:
        raise FormatError(f"table {NUMBERS!r} should show numbers of values of {', '.join(manifest.secrets)} and nothing else")
    group, _ = groups_of(table, GROUP, NUMBERS, len(sizes))
    place = np.asarray(secret, dtype=np.int32)
    held = Held(*sets, group, place, values.astype(np.int32), whole_numbers(table, COUNT, NUMBERS))
    key = (group * np.int64(len(manifest.secrets)) + place) * (values.max(initial=0) + 1) + values
    require_distinct(key, f"table {NUMBERS!r}")
    _require_possible(manifest, held, sizes, events, st)
    return held


def _require_possible(manifest: Manifest, held: Held, sizes: Integers, events: Domain | Events, st: HeldEntries) -> None:
    """Raise `FormatError` where no people could have these numbers of values, and so many of them each value and each set."""
    group, value, count = st
    if (count > sizes[group]).any():
        raise FormatError("table 'st': more people have a value than are in the group")
    if (held.people > sizes[held.group]).any():
        raise FormatError(f"table {NUMBERS!r}: the numbers of people do not add up to those of the groups")
    for place, name in enumerate(manifest.secrets):
        low, high = events.first[place : place + 2].tolist()
        mine, own = (value >= low) & (value < high), held.secret == place
        people, facts = (
            np.bincount(held.group[own], weights=weight[own], minlength=len(sizes)).astype(np.int64)
            for weight in (held.people, held.people * held.values)
        )
        if (people != sizes).any():
            raise FormatError(f"table {NUMBERS!r}: the numbers of people do not add up to those of the groups ({name})")
        shown = np.bincount(group[mine], weights=count[mine], minlength=len(sizes)).astype(np.int64)
        if (facts != shown).any():
            raise FormatError(f"table 'st' shows another number of facts than {NUMBERS!r} says people have ({name})")
        different = np.bincount(group[mine], minlength=len(sizes))
        if (held.values[own] > different[held.group[own]]).any():
            raise FormatError(f"table {NUMBERS!r}: somebody has more values than her group shows ({name})")
    if (held.set_count > sizes[held.set_group]).any():
        raise FormatError(f"table {SETS!r}: more people have one of a set than are in the group")
