"""`sfumato sample`: a made-up table to try things on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._run import verb
from sfumato.cli._show import console, counted, shown


class Name(StrEnum):
    """The tables that can be made."""

    hospital = "hospital"
    census = "census"
    insurance = "insurance"


@verb
def sample(
    name: Annotated[Name, typer.Argument(help="Which table.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new file: .csv, .parquet or .arrow.")],
    *,
    rows: Annotated[int, typer.Option(help="Number of people.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Another seed makes another table.", min=0)] = 0,
) -> None:
    """Make a table about people who do not exist."""
    from sfumato.errors import OutputError
    from sfumato.table.generators import sample as make
    from sfumato.table.write import write_table

    if out.exists():
        raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
    write_table(make(name.value, rows, seed), out)
    console().print(f"Wrote {counted(rows, 'made-up person', 'made-up people')} to {shown(out)}")
