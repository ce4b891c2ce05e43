"""One row a person where DuckDB holds the rows: the same choice, by the same coins, as for a table in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.errors import InputError
from sfumato.randomness import Randomness, SecureRandomness, randomness
from sfumato.scale.duck import Duck, quoted
from sfumato.table.people import (
    CHOOSING,
    Choice,
    People,
    PersonKey,
    by_coins,
    may_be_key,
    person_keys,
    persons,
    ranks,
    refuse_several,
)
from sfumato.table.source import comparable

_SAMPLE = 200_000
"""About so many rows are looked at to see what follows from a column that may number people."""


def choose(
    duck: Duck, rule: People, used: Sequence[str], compared: Sequence[str], random: Randomness | int | bytes | None
) -> Choice:
    """Make one row a person the source of the engine, and return what there is to tell about the choice."""
    keys = ", ".join(quoted(name) for name in rule.key)
    source = quoted(duck.source)
    rows = duck.rows()
    for name in rule.key:
        absent = duck.number(f"SELECT count(*) FROM {source} WHERE {quoted(name)} IS NULL")
        if absent:
            raise InputError(
                f"column {name!r}: {absent:,} of {rows:,} rows have no value, so that it is not known whose rows they are",
                hint="give every person a key, or leave these rows out of the table",
            )
    people = duck.number(f"SELECT count(*) FROM (SELECT 1 FROM {source} GROUP BY {keys})")
    coins = random if isinstance(random, bytes) else randomness(random).spawn(CHOOSING).words(4).tobytes()
    if people == rows:
        return Choice(rule.keep, rows, people, 0, coins)
    if rule.by is None:
        refuse_several(rule, *duck.repeated(list(rule.key)))
    values = duck.distinct([str(rule.by)])
    ranked = pa.table({"v": values.column("c0"), "r": pa.array(ranks(values.column("c0"), rule))})
    duck.connection.register("ranked", ranked)
    on = f"s.{quoted(str(rule.by))} IS NOT DISTINCT FROM k.v"
    duck.connection.execute(
        f"CREATE TEMP TABLE early AS SELECT {keys}, min(r) AS best FROM {source} AS s JOIN ranked AS k ON {on} GROUP BY {keys}"
    )
    same = " AND ".join(f"s.{quoted(name)} = e.{quoted(name)}" for name in rule.key)
    listed = ", ".join(f"s.{quoted(name)}" for name in dict.fromkeys([*rule.key, *used, *compared]))
    person = ", ".join(f"s.{quoted(name)}" for name in rule.key)
    duck.connection.execute(
        f"CREATE TEMP VIEW candidates AS SELECT {listed}, count(*) OVER (PARTITION BY {person}) AS times "
        f"FROM {source} AS s JOIN ranked AS k ON {on} JOIN early AS e ON {same} AND k.r = e.best"
    )
    tied_rows = duck.table("SELECT * EXCLUDE (times) FROM candidates WHERE times > 1")
    chosen, tied = by_coins(
        tied_rows,
        np.arange(tied_rows.num_rows),
        persons(tied_rows, tuple(rule.key)) if tied_rows.num_rows else np.zeros(0, np.int64),
        [*rule.key, *compared],
        SecureRandomness(coins),
    )
    duck.connection.register("drawn", tied_rows.take(pa.array(chosen)))
    shown = ", ".join(quoted(name) for name in used)
    duck.connection.execute(
        f"CREATE TEMP TABLE people AS SELECT {shown} FROM candidates WHERE times = 1 UNION ALL SELECT {shown} FROM drawn"
    )
    duck.source = "people"
    return Choice(rule.keep, rows, people, tied, coins)


def suspects(duck: Duck, looked: Sequence[str], known: Sequence[str]) -> tuple[PersonKey, ...]:
    """Return the columns that look like keys of people with several rows; numbers of values are exact, the rest by a sample.

    A sample has all rows of the values that it has, so that what rows of one value agree in is seen as in the whole.
    """
    source, types = quoted(duck.source), {field.name: field.type for field in duck.schema()}
    names = [name for name in looked if comparable(types[name])]
    found = []
    for name in names:
        if name in known:
            continue
        counted = duck.table(f"SELECT count(DISTINCT {quoted(name)}), count({quoted(name)}) FROM {source}")
        people, rows = (int(counted.column(k)[0].as_py()) for k in (0, 1))
        if not may_be_key(name, people, rows):
            continue
        share = max(1, rows // _SAMPLE)
        some = duck.table(
            f"SELECT {', '.join(quoted(one) for one in names)} FROM {source} WHERE hash({quoted(name)}) % {share} = 0"
        )
        columns: dict[str, Any] = {one: some.column(one) for one in names}
        found += [replace(key, people=people, rows=rows) for key in person_keys(columns, known=known) if key.column == name]
    return tuple(found)
