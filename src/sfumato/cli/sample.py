"""`sfumato sample`: a made-up table to try things on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._run import verb
from sfumato.cli._show import console, counted, shown
from sfumato.cli._state import writing


class SampleChoice(StrEnum):
    """The tables that can be made."""

    hospital = "hospital"
    census = "census"
    insurance = "insurance"


@verb
def sample(
    name: Annotated[SampleChoice, typer.Argument(help="Which table.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A new file: .csv, .parquet or .arrow.")],
    *,
    rows: Annotated[int, typer.Option(help="Number of people.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Another seed makes another table.", min=0)] = 0,
    encounters: Annotated[bool, typer.Option("--encounters", help="All visits of a hospital's people.")] = False,
) -> None:
    """Make a table about people who do not exist."""
    from sfumato.errors import OutputError, PolicyError
    from sfumato.release.atomic import let_in, move_new, workshop
    from sfumato.table import generators
    from sfumato.table.write import write_table

    if out.exists():
        raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
    if not out.parent.is_dir():
        raise OutputError(f"cannot write {out}: there is no directory {out.parent}", hint="make it first")
    if encounters and name is not SampleChoice.hospital:
        raise PolicyError(f"--encounters: {name.value} has none", hint="sfumato sample hospital --encounters")
    table = generators.encounters(rows, seed) if encounters else generators.sample(name.value, rows, seed)
    with writing(out), workshop(out) as hidden:
        write_table(table, hidden / out.name)
        let_in()
        move_new(hidden / out.name, out)
    visits = f"{counted(table.num_rows, 'visit', 'visits')} of " if encounters else ""
    console().print(f"Wrote {visits}{counted(rows, 'made-up person', 'made-up people')} to {shown(out)}")
