"""Tables and queries of a database: PostgreSQL and SQLite by ADBC, DuckDB by its own library. Nothing is written to it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.table.extras import extra
from sfumato.table.source import refusal

_SCHEMES = ("postgresql", "postgres", "sqlite", "duckdb")
_STATES = (
    ("28", "the database refused the user or the password", "check both; ~/.pgpass keeps a password out of commands"),
    ("3D", "there is no such database on the server", "check the end of the URL"),
    ("08", "there is no connection to the server", "check host and port"),
    ("42P01", "the query names a table that is not there", "check --sql"),
    ("42703", "the query names a column that is not there", "check --sql"),
    ("42501", "the user may not read what the query asks for", "ask for access"),
    ("42", "the database does not understand the query", "check --sql"),
    ("22", "a value cannot be turned into what the query asks for", "check the casts of --sql"),
    ("25006", "the query would write, and a table is only read", "give a SELECT"),
    ("57014", "the database stopped the query", "try again, or ask for less"),
)  # fmt: skip


@dataclass(frozen=True)
class Database(os.PathLike[str]):
    """A query whose result is the table. Neither the URL, which may hold a password, nor the query is ever shown.

    It stands wherever a path may: `Table.read(Database("sqlite:///visits.db", "SELECT …"), schema)`.
    """

    url: str = field(repr=False)
    sql: str = field(repr=False)
    name = "the database"

    def __post_init__(self) -> None:
        if not self.sql.strip():
            raise InputError("the query is empty", hint='--sql "SELECT … FROM …"')
        self._kind  # noqa: B018  (raises where the URL is of no known kind)

    def __fspath__(self) -> str:
        return self.name

    def read(self) -> pa.Table:
        """Return the result of the query, asked for once."""
        return self._table

    @cached_property
    def _kind(self) -> str:
        scheme = re.match(r"([a-z0-9+]+):", self.url)
        if scheme is not None and scheme[1] in _SCHEMES:
            return "postgresql" if scheme[1].startswith("postgres") else scheme[1]
        ending = Path(self.url).suffix.lower() if scheme is None else ""
        kind = {".duckdb": "duckdb", ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite"}.get(ending)
        if kind is None:
            raise InputError(
                "--from: a database is postgresql://…, sqlite:///FILE, duckdb:///FILE, or a file .db, .sqlite, .duckdb",
                hint="--from postgresql://user@host/name",
            )
        return kind

    @cached_property
    def _file(self) -> str:
        """The file of a database in one, which must be there: these libraries would make a new one."""
        place = re.sub(r"^(sqlite|duckdb):(//)?(/(?=\.{1,2}/|[^/]))?", "", self.url) if ":" in self.url[:8] else self.url
        if re.match(r"^(sqlite|duckdb):////", self.url):
            place = "/" + place.lstrip("/")
        refused = refusal(place)
        if refused is not None:
            raise InputError(f"{Path(place).name or 'the database'}: {refused}", hint="check --from")
        return place

    @cached_property
    def _table(self) -> pa.Table:
        try:
            table = _QUERIES[self._kind](self)
        except (InputError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as problem:
            # Not with the driver's text, which may hold the password, the query or a cell.
            raise self._explained(problem) from None
        return pa.table({name: _without_views(column) for name, column in zip(table.column_names, table.columns, strict=True)})

    def _explained(self, problem: Exception) -> InputError:
        state = str(getattr(problem, "sqlstate", None) or "")
        words = f"{type(problem).__name__} {problem}".casefold()
        for start, what, hint in _STATES:
            if state.startswith(start):
                return InputError(what, hint=hint)
        for sign, what, hint in (*(_SERVER_SIGNS if self._kind == "postgresql" else ()), *_SIGNS):
            if sign in words:
                return InputError(what, hint=hint)
        return InputError("the database could not answer the query", hint="try the query in the database's own shell")


_SERVER_SIGNS = (
    ("password", *_STATES[0][1:]),
    ("authentication", *_STATES[0][1:]),
    ("does not exist", *_STATES[1][1:]),
    ("connect", *_STATES[2][1:]),
)
_SIGNS = (
    ("no such table", *_STATES[3][1:]),
    ("catalog", *_STATES[3][1:]),
    ("no such column", *_STATES[4][1:]),
    ("binder", *_STATES[4][1:]),
    ("readonly", *_STATES[8][1:]),
    ("read-only", *_STATES[8][1:]),
    ("syntax", *_STATES[6][1:]),
    ("parser", *_STATES[6][1:]),
    ("not a database", "the file is no database of that kind", "check --from"),
    ("not a valid", "the file is no database of that kind", "check --from"),
    ("lock", "another program holds the database", "close it there, or make a copy"),
)


def _postgresql(source: Database) -> pa.Table:
    driver = extra("adbc_driver_postgresql.dbapi")
    with driver.connect(source.url) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
        cursor.execute(source.sql)
        return cursor.fetch_arrow_table()


def _sqlite(source: Database) -> pa.Table:
    driver = extra("adbc_driver_sqlite.dbapi")
    with driver.connect(f"file:{quote(source._file)}?mode=ro") as connection, connection.cursor() as cursor:
        cursor.execute(source.sql)
        return cursor.fetch_arrow_table()


def _duckdb(source: Database) -> pa.Table:
    duckdb = extra("duckdb")
    with duckdb.connect(source._file, read_only=True) as connection:
        found = connection.sql(source.sql)
        if found is None:
            raise InputError("the query gives no table", hint="give a SELECT")
        return found.to_arrow_table()


_QUERIES: dict[str, Callable[[Database], pa.Table]] = {"postgresql": _postgresql, "sqlite": _sqlite, "duckdb": _duckdb}


def _without_views(column: Any) -> Any:
    """Return a column in a type that every other step knows; text in views is copied, and numbers of any precision are read."""
    if str(column.type) in ("string_view", "large_string"):
        return column.cast(pa.string())
    if isinstance(column.type, pa.BaseExtensionType):  # PostgreSQL's numeric comes as text, so that nothing is lost
        return column.cast(column.type.storage_type)
    return column
