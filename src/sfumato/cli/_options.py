"""Arguments and options that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from sfumato.table.database import Database

_TABLE = "The table: CSV and other text (also .zip or .gz), Parquet, Arrow, Excel, Stata, SPSS, SAS; - is standard input."
_SEVERAL = "Several files, or a directory, of Parquet or CSV are published beyond memory."
Data: TypeAlias = Annotated[Path | None, typer.Argument(help=_TABLE)]
DataFiles: TypeAlias = Annotated[list[Path] | None, typer.Argument(help=f"{_TABLE} {_SEVERAL}")]
From: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="A database in place of a file: postgresql://user@host/name, sqlite:///FILE or duckdb:///FILE. Needs --sql.",
        envvar="SFUMATO_FROM",
        show_envvar=True,
    ),
]
SqlOption: TypeAlias = Annotated[str | None, typer.Option("--sql", help="The query whose result is the table; needs --from.")]
ReleaseDirectory: TypeAlias = Annotated[Path, typer.Argument(help="A release directory.")]
PolicyFile: TypeAlias = Annotated[Path, typer.Option("--policy", "-p", help="The policy, a TOML file.")]
TablePolicy: TypeAlias = Annotated[
    Path | None, typer.Option("--policy", "-p", help="How to read the table (receipt or manifest otherwise).")
]
Attacks: TypeAlias = Annotated[
    list[str] | None, typer.Option("--attack", "-a", help="An attack by name, several times for several; all otherwise.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else.")]
Seed: TypeAlias = Annotated[int | None, typer.Option("--seed", help="For experiments only: make the result repeatable.")]
Receipts: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Where private receipts lie; your own register otherwise (~/.local/share/sfumato/receipts).",
        envvar="SFUMATO_RECEIPTS",
    ),
]
Workers: TypeAlias = Annotated[
    int | None, typer.Option("--workers", help="How many processors to use; all of them otherwise. The result is the same.")
]


def table_source(data: Path | None, database: str | None, sql: str | None) -> Path | Database:
    """Return where the table is: a file, or a query of a database, and one of the two."""
    from sfumato.errors import InputError
    from sfumato.table.database import Database

    if data is not None and sql is not None:
        raise InputError("both a file and --sql were given", hint="give one of the two")
    if data is not None:
        return data
    if database is None or sql is None:
        raise InputError("no table was given", hint='give a file, - for standard input, or --from DATABASE --sql "SELECT …"')
    return Database(database, sql)


EngineOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="memory|duckdb|spark|…",
        help="Who holds the table: memory, duckdb for one beyond it, spark (Parquet files), or one installed; by size otherwise.",
    ),
]
MemoryOption: TypeAlias = Annotated[str | None, typer.Option("--memory", help="About how much memory an engine may use: 4GB.")]


class Format(StrEnum):
    """How the tables of a release are written."""

    parquet = "parquet"
    csv = "csv"
