"""A person is all her rows, where an engine holds the rows: it gathers them to people and to what each of them has.

What comes to memory are people: their key, their quasi values by the rule, how many rows they have, and each of their values once
(`SELECT DISTINCT person, value`). From there on everything is as for a table in memory, so that releases have the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.errors import InputError
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.scale.outline import typed
from sfumato.scale.people import Sql, require_keys, suspects
from sfumato.table.assemble import Rows, refuse_missing
from sfumato.table.coding import Reading
from sfumato.table.gather import (
    Gathered,
    below,
    ordered_by,
    refuse_differing,
    refuse_two_households,
    require_key,
    require_one_spelling,
    shown_by,
)
from sfumato.table.people import CHOOSING, Choice, by_coins, ranks
from sfumato.table.schema import Schema
from sfumato.table.source import comparable
from sfumato.table.table import Table

_BYTES_A_FACT = 64
"""What one value of somebody takes at most on the way to memory, beside what the person takes."""


def gathered_table(
    engine: Sql, schema: Schema, reading: Reading, random: Randomness | int | bytes | None, *, memory: int, person: int
) -> Table:
    """Return the people of an engine's source with all they have; refused where they take more than `memory`.

    A person takes about so many bytes as `person` says.
    """
    rows, rule = Rows(schema, random), schema.people_rule
    types = {field.name: field.type for field in engine.schema()}
    for name in rule.looked_at:
        if name not in types or not comparable(types[name]):
            raise InputError(f"column {name!r}: its values cannot be compared", hint="make them numbers, text or dates")
    require_key(rule)
    if rule.all:
        long = _Gathering(engine, rows, types, memory, person).long()
    else:
        many = engine.number(f"SELECT count(*) FROM {engine.quoted(engine.source)}")
        _require_room(many, many * sum(map(len, schema.secrets.values())), memory, person)
        beside = [name for name in rows.beside if comparable(types[name])]
        names = ", ".join(map(engine.quoted, dict.fromkeys([*rows.used, *beside])))
        data = engine.table(f"SELECT {names} FROM {engine.quoted(engine.source)}")
        if not data.num_rows:
            raise InputError("the table has no rows", hint="expected one row per person")
        long = rows.pick(data)
    if reading.guessed:
        names = [*schema.quasi, *(schema.sensitive if schema.closed is None else ())]  # declared values are read cell by cell
        for name in (one for one in names if one in long.column_names and one not in schema.types):
            place = long.column_names.index(name)
            long = long.set_column(place, name, typed(long.column(name), reading.decimal))
    return Table.of_rows(long, rows, reading)


class _Gathering:
    """The steps from rows to people; every column of the source has a short name of its own, c0, c1, …"""

    def __init__(self, engine: Sql, rows: Rows, types: Mapping[str, pa.DataType], memory: int, person: int) -> None:
        self.engine, self.rows, self.rule, self.schema = engine, rows, rows.schema.people_rule, rows.schema
        self.memory, self.person = memory, person
        given = rows.random
        self.coins = given if isinstance(given, bytes) else randomness(given).spawn(CHOOSING).words(4).tobytes()
        wanted = [*rows.used, *(name for name in rows.beside if comparable(types[name]))]
        self.short = {name: f"c{k}" for k, name in enumerate(dict.fromkeys(wanted))}

    def long(self) -> pa.Table:
        """Return everybody's values one below the other, beside her key and quasi values, and set what `Rows.pick` sets."""
        dropped = require_keys(self.engine, self.rule, drop=self.rule.without_key == "drop")
        people = self._number()
        times = np.asarray(people.column("times"), dtype=np.int64)
        facts, entries, owner = self._facts()
        shown, tied = self._shown(len(times), int(times.sum()))
        known = {name: people.column(f"k{k}") for k, name in enumerate(self.rule.key)} | shown
        rest = [name for name in self.short if name not in known and name not in self._secret]
        known |= self._any(rest)
        members = self._members() if self.rule.several else times
        inside = int(members.sum()) if self.rule.unit is not None else None
        self.rows.gathered = Gathered(owner, times, members, {}, 1, entries)
        self.rows.choice = Choice("all", int(times.sum()), len(times), tied, self.coins, members=inside, dropped=dropped)
        if self.rule.unit is None or self.rule.several:
            self.rows.suspect(pa.table(known))
        elif self.rows.in_doubt:  # a row is a member, and may be a visit of one
            looked = [name for name in self.short if self.schema.role(name) != "sensitive"]
            self.rows.suspects = suspects(self.engine, looked, tuple(self.rule.key))
        places = pa.array(owner)
        return pa.table({name: known[name].take(places) for name in self.schema.beside_secrets} | facts)

    def _members(self) -> Integers:
        """Return how many people each household has."""
        member = ", ".join(self.short[name] for name in self.rule.member)
        pairs = self.engine.keep("members", f"SELECT DISTINCT i, {member} FROM {self.source}")
        people = self.engine.number(f"SELECT count(*) FROM (SELECT DISTINCT {member} FROM {pairs}) AS p")
        found = self.engine.table(f"SELECT i, count(*) AS many FROM {pairs} GROUP BY i ORDER BY i")
        members = np.asarray(found.column("many"), dtype=np.int64)
        refuse_two_households(self.rule, int(members.sum()) - people)
        return members

    @property
    def _secret(self) -> set[str]:
        return {column for columns in self.schema.secrets.values() for column in columns}

    def _number(self) -> pa.Table:
        """Return the key of everybody and how many rows she has; rows then have the number of their person."""
        engine, quoted = self.engine, self.engine.quoted
        keys = [quoted(name) for name in self.rule.key]
        named = ", ".join(f"{key} AS k{k}" for k, key in enumerate(keys))
        source = quoted(engine.source)
        many = engine.number(f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {', '.join(keys)}) AS p")
        _require_room(many, 0, self.memory, self.person)
        people = engine.table(f"SELECT {named}, count(*) AS times FROM {source} GROUP BY {', '.join(keys)}")
        if not people.num_rows:
            raise InputError("the table has no rows", hint="expected one row per person")
        for k, name in enumerate(self.rule.key):
            require_one_spelling(name, people.column(f"k{k}").combine_chunks().unique())
        whose = engine.lend("whose", people.append_column("i", pa.array(np.arange(people.num_rows))).drop_columns(["times"]))
        on = " AND ".join(f"s.{key} = w.k{k}" for k, key in enumerate(keys))
        listed = ", ".join(f"s.{quoted(name)} AS {short}" for name, short in self.short.items())
        self.source = engine.keep("numbered", f"SELECT w.i AS i, {listed} FROM {source} AS s JOIN {whose} AS w ON {on}")
        return people

    def _facts(self) -> tuple[dict[str, pa.ChunkedArray], dict[str, slice], Integers]:
        """Return the columns of secrets, each pair of a person and a value once, where each stands, and whose entries are."""
        columns = {name: [self._distinct(name, column) for column in columns] for name, columns in self.schema.secrets.items()}
        lengths = {name: sum(table.num_rows for table in tables) for name, tables in columns.items()}
        total, at = sum(lengths.values()), 0
        long, entries, owner = {}, {}, []
        for name, tables in columns.items():
            by_cell = self.schema.closed is not None
            long[name] = below(name, [table.column("v") for table in tables], total, before=at, by_cell=by_cell)
            entries[name] = slice(at, at + lengths[name])
            owner += [np.asarray(table.column("i"), dtype=np.int64) for table in tables]
            at += lengths[name]
        return long, entries, np.concatenate(owner)

    def _distinct(self, secret: str, column: str) -> pa.Table:
        short, engine = self.short[column], self.engine
        if self.schema.missing.get(secret) == "error" and self.schema.closed is None:
            empty = engine.number(f"SELECT count(*) FROM {self.source} WHERE {short} IS NULL")
            if empty:
                refuse_missing(secret, empty, engine.number(f"SELECT count(*) FROM {self.source}"))
        pairs = f"SELECT DISTINCT i, {short} AS v FROM {self.source}"
        _require_room(0, engine.number(f"SELECT count(*) FROM ({pairs}) AS p"), self.memory, self.person)
        return engine.table(pairs)

    def _shown(self, people: int, rows: int) -> tuple[dict[str, pa.ChunkedArray], int]:
        """Return everybody's quasi values by the rules, and for how many people coins decided."""
        columns: dict[str, pa.ChunkedArray] = {}
        tied, random = 0, SecureRandomness(self.coins)
        for how, names in shown_by(self.rule, [name for name in self.schema.quasi if name in self.short]):
            if how is None or people == rows:
                for name in names if people < rows else ():
                    refuse_differing(name, self._differing(self.short[name]), self.rule)
                columns |= self._any(names)
            else:
                values, some = self._first(*ordered_by(how, names), names, random)
                tied = max(tied, some)
                columns |= values
        return columns, tied

    def _differing(self, short: str) -> int:
        several = f"count(DISTINCT {short}) + max(CASE WHEN {short} IS NULL THEN 1 ELSE 0 END) > 1"
        return self.engine.number(f"SELECT count(*) FROM (SELECT i FROM {self.source} GROUP BY i HAVING {several}) AS p")

    def _any(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Return everybody's value of columns in which her rows agree, or in which any will do."""
        if not names:
            return {}
        listed = ", ".join(f"max({self.short[name]}) AS {self.short[name]}" for name in names)
        return self._by_person(self.engine.table(f"SELECT i, {listed} FROM {self.source} GROUP BY i"), names)

    def _first(self, by: str, late: bool, names: Sequence[str], random: Randomness) -> tuple[dict[str, pa.ChunkedArray], int]:
        """Return everybody's values in her first or last row by a column, by coins among equal ones, as in memory."""
        engine, place = self.engine, self.short[by]
        values = engine.table(f"SELECT DISTINCT {place} AS v FROM {self.source}")
        order = pa.array(ranks(values.column("v"), by, last=late))
        ranked = engine.lend(f"order_{place}_{late}", values.append_column("r", order))
        shorts = list(dict.fromkeys(self.short[name] for name in (*self.rule.key, *names)))
        listed = ", ".join(f"s.{short}" for short in shorts)
        best = f"SELECT s.i, {listed}, k.r, min(k.r) OVER (PARTITION BY s.i) AS best FROM {self.source} AS s JOIN {ranked} AS k"
        best += f" ON s.{place} IS NOT DISTINCT FROM k.v"
        plain = ", ".join(shorts)
        early = f"SELECT i, {plain}, count(*) OVER (PARTITION BY i) AS times FROM ({best}) AS b WHERE r = best"
        clear = engine.table(f"SELECT i, {plain} FROM ({early}) AS e WHERE times = 1")
        open_rows = engine.table(f"SELECT i, {plain} FROM ({early}) AS e WHERE times > 1")
        whose = np.asarray(open_rows.column("i"), dtype=np.int64)
        compared = [self.short[name] for name in (*self.rule.key, *names)]
        chosen, tied = by_coins(open_rows, np.arange(len(whose)), whose, compared, random)
        whole = pa.concat_tables([clear, open_rows.take(pa.array(chosen))])
        return self._by_person(whole, names), tied

    def _by_person(self, table: pa.Table, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        order = pa.array(np.argsort(np.asarray(table.column("i"), dtype=np.int64), kind="stable"))
        return {name: table.column(self.short[name]).take(order) for name in names}


def _require_room(people: int, facts: int, memory: int, person: int) -> None:
    """Raise where people and what they have would take more memory than there may be used."""
    needed = people * person + facts * _BYTES_A_FACT
    if needed > memory:
        counted = f"{people:,} people" if people else f"{facts:,} pairs of a person and a value"
        raise InputError(
            f"{counted} take about {needed / (1 << 30):.1f} GB: an engine gathers rows to people, and people who may have "
            "several values of a secret are then cut in memory",
            hint=f"--memory {-(-needed // (1 << 30))}GB, on a machine that has it; or keep one row of each person",
        )
