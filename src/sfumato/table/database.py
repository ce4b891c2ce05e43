"""Tables and queries of a database: PostgreSQL, SQLite and DuckDB. One SELECT is read, and nothing else is done.

A query of DuckDB may name other files of this machine (a view of Parquet files does), but nothing is fetched from elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError
from sfumato.table import postgresql, sqlite
from sfumato.table.extras import extra
from sfumato.table.schema import check_unique
from sfumato.table.source import refusal

_SCHEMES = ("postgresql", "postgres", "sqlite", "duckdb")
_HELD = ("another program holds the database", "close it there, or make a copy")
_STATES = (
    ("28", "the database refused the user or the password", "check both; ~/.pgpass keeps a password out of commands"),
    ("3D", "there is no such database on the server", "check the end of the URL"),
    ("08", "there is no connection to the server", "check host and port"),
    ("42P01", "the query names a table that is not there", "check --sql"),
    ("42703", "the query names a column that is not there", "check --sql"),
    ("42501", "the user may not read what the query asks for", "ask for access"),
    ("42", "the database does not understand the query", "give one SELECT"),
    ("0A", sqlite.ONE_SELECT, '--sql "SELECT … FROM …"'),
    ("22", "a value cannot be turned into what the query asks for", "check the casts of --sql"),
    ("25006", "the query would write, and a table is only read", "give a SELECT"),
    ("55P03", *_HELD),
    ("57014", "the database stopped the query", "try again, or ask for less"),
    ("XX", "the database is damaged", "ask who runs it"),
)
_MEANT = {start: (what, hint) for start, what, hint in _STATES}


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

    def read(self, alone: Sequence[str] = ()) -> pa.Table:
        """Return the result of the query, asked for once; nothing in these columns, read cell by cell, is of a wrong type."""
        answer = self._answer
        return answer.table(alone) if isinstance(answer, sqlite.RowBatches) else answer

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
    def _answer(self) -> pa.Table | sqlite.RowBatches:
        try:
            answer = _QUERIES[self._kind](self)
        except (InputError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as problem:
            # Not with the driver's text, which may hold the password, the query or a cell.
            raise self._explained(problem) from None
        names = answer.names if isinstance(answer, sqlite.RowBatches) else answer.column_names
        check_unique(names, self.name)
        if isinstance(answer, sqlite.RowBatches):
            return answer
        return pa.table([_without_views(column) for column in answer.columns], names=names)

    def _explained(self, problem: Exception) -> InputError:
        state = str(getattr(problem, "sqlstate", None) or "")
        words = f"{type(problem).__name__} {problem}".casefold()
        for start, what, hint in _STATES:
            if state.startswith(start):
                return InputError(what, hint=hint)
        for sign, what, hint in (*(_SERVER_SIGNS if self._kind == "postgresql" else ()), *_SIGNS):
            if re.search(sign, words):
                return InputError(what, hint=hint)
        return InputError("the database could not answer the query", hint="try the query in the database's own shell")


_SERVER_SIGNS = (
    ("password", *_MEANT["28"]),
    ("authentication", *_MEANT["28"]),
    ("does not exist", *_MEANT["3D"]),
    ("connect", *_MEANT["08"]),
)
_SIGNS = (
    (r"could not set lock|conflicting lock|database (table )?is locked|different configuration", *_HELD),
    (r"corrupt|checksum|malformed|could not read enough bytes|serialization error|internal error",
     "the file of the database is damaged", "restore it from a copy"),
    (r"not a database|not a valid", "the file is no database of that kind", "check --from"),
    (r"no such table|catalog error", *_MEANT["42P01"]),
    (r"no such column|binder error.*column", *_MEANT["42703"]),
    (r"readonly|read-only", *_MEANT["25006"]),
    (r"conversion error|out of range error", *_MEANT["22"]),
    (r"syntax|parser error|binder error", *_MEANT["42"]),
    (r"no space left|could not write", "there is no room on the disk for what the query needs", "make room, or ask for less"),
)  # fmt: skip


def _postgresql(source: Database) -> pa.Table:
    return postgresql.ask(source.url, source.sql, source.name)


def _sqlite(source: Database) -> sqlite.RowBatches:
    return sqlite.ask(source._file, source.sql)


def _duckdb(source: Database) -> pa.Table:
    duckdb = extra("duckdb")
    offline = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    # By its whole path: DuckDB takes "md:x" and the like for places elsewhere.
    with duckdb.connect(str(Path(source._file).absolute()), read_only=True, config=offline) as connection:
        statements = connection.extract_statements(source.sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InputError(sqlite.ONE_SELECT, hint='--sql "SELECT … FROM …"')
        return connection.sql(source.sql).to_arrow_table()


_QUERIES: dict[str, Callable[[Database], pa.Table | sqlite.RowBatches]] = {
    "postgresql": _postgresql,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
}


def _without_views(column: Any) -> Any:
    """Return a column in a type that every other step knows; text in views is copied, and numbers of any precision are read."""
    if str(column.type) in ("string_view", "large_string"):
        return column.cast(pa.string())
    if isinstance(column.type, pa.BaseExtensionType):  # PostgreSQL's numeric comes as text, so that nothing is lost
        return column.cast(column.type.storage_type)
    return column
