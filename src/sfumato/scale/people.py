"""One row a person where an engine holds the rows: the same choice, by the same coins, as for a table in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.errors import InputError
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.table.people import (
    CHOOSING,
    Choice,
    PersonKey,
    by_coins,
    may_be_key,
    person_keys,
    persons,
    ranks,
    refuse_keyless,
    refuse_several,
)
from sfumato.table.people_rule import People
from sfumato.table.source import comparable


class Sql(ABC):
    """An engine that understands SQL, and has the source under a name."""

    source: str

    @abstractmethod
    def quoted(self, name: str) -> str:
        """Return a name as its SQL has it."""

    @abstractmethod
    def table(self, sql: str) -> pa.Table:
        """Return the result of a query, which must be small."""

    @abstractmethod
    def lend(self, name: str, table: pa.Table) -> str:
        """Give a small table a name, and return that as SQL has it."""

    @abstractmethod
    def keep(self, name: str, sql: str, *, made: bool = True) -> str:
        """Give the result of a query a name, computed once where it is `made`; return the name as SQL has it."""

    @abstractmethod
    def use(self, name: str) -> None:
        """Make what was kept under a name the source."""

    def schema(self) -> pa.Schema:
        """Return names and Arrow types of the source's columns."""
        return self.table(f"SELECT * FROM {self.quoted(self.source)} LIMIT 0").schema

    def number(self, sql: str) -> int:
        """Return the one number that a query gives."""
        return int(self.table(sql).column(0)[0].as_py())

    def distinct(self, names: Sequence[str]) -> pa.Table:
        """Return the different combinations of these columns (c0, c1, …), and how often each occurs (n)."""
        listed = ", ".join(f"{self.quoted(name)} AS c{k}" for k, name in enumerate(names))
        keys = ", ".join(f"c{k}" for k in range(len(names)))
        return self.table(f"SELECT {keys}, count(*) AS n FROM (SELECT {listed} FROM {self.quoted(self.source)}) GROUP BY {keys}")

    def repeated(self, names: Sequence[str]) -> tuple[int, int]:
        """Return how many combinations of these columns have several rows, and how many rows; without those that are all null."""
        keys = ", ".join(map(self.quoted, names))
        some = " OR ".join(f"{self.quoted(name)} IS NOT NULL" for name in names)
        counts = self.table(
            f"SELECT count(*) AS many, CAST(coalesce(sum(n), 0) AS BIGINT) AS people FROM "
            f"(SELECT count(*) AS n FROM {self.quoted(self.source)} WHERE {some} GROUP BY {keys} HAVING count(*) > 1)"
        )
        return int(counts.column(0)[0].as_py()), int(counts.column(1)[0].as_py())


_SAMPLE = 200_000
"""About so many rows are looked at to see what follows from a column that may number people."""


def choose(
    engine: Sql, rule: People, used: Sequence[str], compared: Sequence[str], random: Randomness | int | bytes | None
) -> Choice:
    """Make one row a person the source of the engine, and return what there is to tell about the choice."""
    quoted = engine.quoted
    keys = ", ".join(quoted(name) for name in rule.key)
    source = quoted(engine.source)
    rows = engine.number(f"SELECT count(*) FROM {source}")
    require_keys(engine, rule)
    people = engine.number(f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {keys}) AS p")
    coins = random if isinstance(random, bytes) else randomness(random).spawn(CHOOSING).words(4).tobytes()
    if people == rows:
        return Choice(rule.keep, rows, people, 0, coins)
    if rule.by is None:
        refuse_several(rule, *engine.repeated(list(rule.key)))
    values = engine.distinct([str(rule.by)])
    ranked = engine.lend(
        "ranked", pa.table({"v": values.column("c0"), "r": pa.array(ranks(values.column("c0"), str(rule.by), last=rule.last))})
    )
    on = f"s.{quoted(str(rule.by))} IS NOT DISTINCT FROM k.v"
    early = engine.keep("early", f"SELECT {keys}, min(r) AS best FROM {source} AS s JOIN {ranked} AS k ON {on} GROUP BY {keys}")
    same = " AND ".join(f"s.{quoted(name)} = e.{quoted(name)}" for name in rule.key)
    wanted = list(dict.fromkeys([*rule.key, *used, *compared]))
    listed = ", ".join(f"s.{quoted(name)}" for name in wanted)
    person = ", ".join(f"s.{quoted(name)}" for name in rule.key)
    candidates = engine.keep(
        "candidates",
        f"SELECT {listed}, count(*) OVER (PARTITION BY {person}) AS times "
        f"FROM {source} AS s JOIN {ranked} AS k ON {on} JOIN {early} AS e ON {same} AND k.r = e.best",
        made=False,
    )
    tied_rows = engine.table(f"SELECT {', '.join(map(quoted, wanted))} FROM {candidates} WHERE times > 1")
    chosen, tied = by_coins(
        tied_rows,
        np.arange(tied_rows.num_rows),
        persons(tied_rows, tuple(rule.key)) if tied_rows.num_rows else np.zeros(0, np.int64),
        [*rule.key, *compared],
        SecureRandomness(coins),
    )
    drawn = engine.lend("drawn", tied_rows.take(pa.array(chosen)))
    shown = ", ".join(quoted(name) for name in used)
    engine.keep("people", f"SELECT {shown} FROM {candidates} WHERE times = 1 UNION ALL SELECT {shown} FROM {drawn}")
    engine.use("people")
    return Choice(rule.keep, rows, people, tied, coins)


def require_keys(engine: Sql, rule: People, *, drop: bool = False) -> int:
    """Raise where rows have no key, or leave them out of the source where a rule says so; return how many were left out."""
    quoted, source = engine.quoted, engine.quoted(engine.source)
    rows = engine.number(f"SELECT count(*) FROM {source}")
    types = {field.name: field.type for field in engine.schema()}
    empty = {name: f"{quoted(name)} IS NULL" for name in rule.key}
    for name in rule.key if rule.all else ():
        if pa.types.is_string(types[name]) or pa.types.is_large_string(types[name]):
            empty[name] += f" OR trim({quoted(name)}) = ''"
        elif pa.types.is_floating(types[name]):
            empty[name] += f" OR isnan({quoted(name)})"
    if drop:
        whole = " AND ".join(f"NOT ({condition})" for condition in empty.values())
        kept = engine.number(f"SELECT count(*) FROM {source} WHERE {whole}")
        if rows and not kept:
            raise InputError("no row has a key that says whose it is", hint="is it the right column? [people] key")
        engine.keep("with_key", f"SELECT * FROM {source} WHERE {whole}", made=False)
        engine.use("with_key")
        return rows - kept
    for name in rule.key:
        absent = engine.number(f"SELECT count(*) FROM {source} WHERE {empty[name]}")
        if absent:
            refuse_keyless(name, absent, rows, rule="" if not rule.all else "people" if rule.unit is None else "unit")
    return 0


def suspects(engine: Sql, looked: Sequence[str], known: Sequence[str]) -> tuple[PersonKey, ...]:
    """Return the columns that look like keys of people with several rows; numbers of values are exact, the rest by a sample.

    A sample has all rows of the values that it has, so that what rows of one value agree in is seen as in the whole.
    """
    source, types = engine.quoted(engine.source), {field.name: field.type for field in engine.schema()}
    names = [name for name in looked if comparable(types[name])]
    keys = []
    for name in names:
        if name in known:
            continue
        counted = engine.table(f"SELECT count(DISTINCT {engine.quoted(name)}), count({engine.quoted(name)}) FROM {source}")
        people, rows = (int(counted.column(k)[0].as_py()) for k in (0, 1))
        if not may_be_key(name, people, rows):
            continue
        share = max(1, rows // _SAMPLE)
        some = engine.table(
            f"SELECT {', '.join(map(engine.quoted, names))} FROM {source} WHERE hash({engine.quoted(name)}) % {share} = 0"
        )
        columns: dict[str, Any] = {own: some.column(own) for own in names}
        keys += [replace(key, people=people, rows=rows) for key in person_keys(columns, known=known) if key.column == name]
    return tuple(keys)
