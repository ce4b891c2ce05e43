"""Arguments and options that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Data: TypeAlias = Annotated[Path, typer.Argument(help="The table: CSV, TSV, Parquet or Arrow.", show_default=False)]
ReleaseDirectory: TypeAlias = Annotated[Path, typer.Argument(help="A release directory.", show_default=False)]
PolicyFile: TypeAlias = Annotated[Path, typer.Option("--policy", "-p", help="The policy, a TOML file.", show_default=False)]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines, and nothing else.")]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", help="For experiments only: make the result repeatable.", show_default=False)
]
Receipts: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="Where private receipts lie; your own register otherwise (~/.local/share/sfumato/receipts).",
        envvar="SFUMATO_RECEIPTS",
        show_default=False,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers", help="How many processors to use; all of them otherwise. The result is the same.", show_default=False
    ),
]


class Format(StrEnum):
    """How the tables of a release are written."""

    parquet = "parquet"
    csv = "csv"
