"""A release as a DuckDB database: the published tables, completed ones, and macros that count over all of these at once.

| name | what it is |
|---|---|
| each published table (`qit`, `st`, …) | a view of it, bands of numbers as their lower edges |
| `completed` | a view: every completed table one below the other, with its number `imputation` and the `weight` 1/m |
| `completed_1` … `completed_m` | views: one completed table each |
| `weighted_count(weight)` | a macro, for SELECT … FROM completed: the estimated number of people |
| `count_where('condition')` | a table macro: the estimated number of people, its standard error and a 95 % interval |
| `counts_<column>`, `cross_<column>_<column>` | tables, each with a comment: estimated counts with 95 % intervals |

Several secrets that are protected each by itself are drawn independently inside groups: a count over two of them, and its
interval, take them as that. Completed tables have bands of numbers as their middles (`sfumato.query.bands`). Everything lies in
the one file: the tables behind the views are in its schema `stored`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.errors import OutputError, QueryError
from sfumato.query.complete import Completion, tables_wanted
from sfumato.query.crosstab import Crosstab
from sfumato.query.tables import cross_tables, margins, pairs
from sfumato.randomness import Randomness, randomness
from sfumato.release.atomic import let_in, new_file, refuse_taken
from sfumato.release.base import Release
from sfumato.table.extras import extra

_STORED = "stored"


def write_database(release: Release, path: str | Path, *, tables: int = 10, random: Randomness | int | None = None) -> str:
    """Write a release to a new DuckDB file, whole or not at all.

    Returns why it has no completed tables, where the release cannot be completed; "" where it has.
    """
    duckdb, target = extra("duckdb"), Path(path)
    refuse_taken(target)
    if target.stem.casefold() == _STORED:
        raise OutputError(f"{target.name}: this name is that of a schema inside the file", hint="choose another name")
    count, source = tables_wanted(tables), randomness(random)
    completion: Completion | None = None
    try:
        completion, without = Completion.of(release), ""
        completion.tell()
    except QueryError as refused:
        without = str(refused)
    try:
        with new_file(target) as draft:
            # An absolute path: DuckDB takes "md:x" for a place elsewhere.
            database = duckdb.connect(str(draft.absolute()), config={"autoinstall_known_extensions": False})
            try:
                _published(database, release)
                _counted(database, release)
                if completion is not None:
                    _completed(database, completion, count, source)
                database.execute("CHECKPOINT")  # closing would try it too, and say nothing where it fails
            finally:
                database.close()
    except duckdb.Error as error:
        # Not by its words, which quote values: DuckDB has errors of its own for a disk that is full or broken.
        disk = isinstance(error, duckdb.OperationalError)
        why = "the disk refused, or is full" if disk else f"DuckDB refused ({type(error).__name__})"
        raise OutputError(f"{target.name}: cannot be written: {why}", hint="nothing was left behind") from None
    return without


def _published(database: Any, release: Release) -> None:
    database.execute(f"CREATE SCHEMA {_STORED}")
    for name, table in release.tables().items():
        _store(database, name, table)
        database.execute(f"CREATE VIEW {_quoted(name)} AS SELECT * FROM stored.{_quoted(name)}")


MOST_CELLS = 100_000
"""Cells of cross tables that a database holds."""


def _counted(database: Any, release: Release) -> None:
    """Store every column, and every pair of columns, as estimated counts with intervals; each says in its comment what it is."""
    columns, taken = margins(release), list(release.tables())

    def store(wanted: str, table: pa.Table, comment: str) -> None:
        let_in()
        name = _free(wanted, taken)
        taken.append(name)
        database.register("_given", table)
        database.execute(f"CREATE TABLE {_quoted(name)} AS SELECT * FROM _given")
        database.unregister("_given")
        database.execute(f"COMMENT ON TABLE {_quoted(name)} IS '{comment.replace(chr(39), 2 * chr(39))}'")

    what = "estimated numbers of people, with standard errors and 95 % intervals; null where no interval would be honest"
    for one in columns:
        store(f"counts_{one.name}", one.answer.to_arrow(), f"By {one.name}: {what}.")
    for pair, table in cross_tables(release, pairs(columns), most=MOST_CELLS):
        if isinstance(table, Crosstab):
            a, b = pair.names
            more = f"By {a} and {b}: {what}. lift: how many times as many as if the columns were unrelated. {table.test}."
            store(f"cross_{a}_{b}", table.to_arrow(), more)


def _completed(database: Any, completion: Completion, count: int, source: Randomness) -> None:
    """Store the people once and one narrow table of drawn values; views put them together."""
    quasi = completion.quasi()
    taken = [*quasi, *completion.names]
    person, number, weight = (_free(name, taken) for name in ("person", "imputation", "weight"))
    rows = completion.rows
    _store(database, "people", pa.table({person: pa.array(np.arange(rows, dtype=np.int32)), **quasi}))
    for k in range(count):
        let_in()
        drawn = {number: pa.array(np.full(rows, k + 1, np.int32)), person: pa.array(np.arange(rows, dtype=np.int32))}
        values = completion.values(source.spawn(k))
        _store(database, "drawn", pa.table({**drawn, **values}), more=k > 0)
    listed = ", ".join(map(_quoted, [*quasi, *values]))
    database.execute(
        f"CREATE VIEW completed AS SELECT {_quoted(number)}, {1 / count!r}::DOUBLE AS {_quoted(weight)}, {listed} "
        f"FROM stored.people JOIN stored.drawn USING ({_quoted(person)})"
    )
    for k in range(1, count + 1):
        database.execute(f"CREATE VIEW completed_{k} AS SELECT {listed} FROM completed WHERE {_quoted(number)} = {k}")
    database.execute("CREATE MACRO weighted_count(weight) AS sum(weight)")
    spread = f"sqrt({1 + 1 / count!r} * var_samp(n))"
    low, high = (f"avg(n) {sign} {_student(count)} * {spread}" for sign in "-+")
    inner = f"SELECT {_quoted(number)}, count(*) FILTER (WHERE ' || condition || ') AS n FROM completed GROUP BY ALL"
    database.execute(
        "CREATE MACRO count_where(condition) AS TABLE SELECT * FROM query('"
        f"SELECT avg(n) AS count, {spread} AS std_error, {low} AS low, {high} AS high FROM ({inner})')"
    )


def _student(count: int) -> str:
    """Return by how many standard errors a 95 % interval over so many tables reaches; one table leaves that unknown."""
    from scipy.stats import t

    return repr(float(t.ppf(0.975, count - 1))) if count > 1 else "NULL"


def _store(database: Any, name: str, table: pa.Table, *, more: bool = False) -> None:
    database.register("_given", table)
    into = f"INSERT INTO stored.{_quoted(name)}" if more else f"CREATE TABLE stored.{_quoted(name)} AS"
    database.execute(f"{into} SELECT * FROM _given")
    database.unregister("_given")


def _free(name: str, taken: list[str]) -> str:
    """Return a name that no column has, in any spelling: SQL does not tell upper from lower case."""
    lower = {used.lower() for used in taken}
    while name.lower() in lower:
        name += "_"
    return name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
