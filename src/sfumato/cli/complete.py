"""`sfumato complete`: tables for ordinary tools, every one with a value drawn for each person."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import Format, ReleaseDirectory, Seed
from sfumato.cli._run import verb
from sfumato.cli._show import console, counted, progress_bar, shown, warn
from sfumato.cli._state import writing
from sfumato.cli.query import load_remembering


class Shape(StrEnum):
    """How a completed table shows people with several values."""

    wide = "wide"
    long = "long"


@verb
def complete(
    release: ReleaseDirectory,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new directory for the tables.")],
    *,
    tables: Annotated[int, typer.Option("--tables", "-m", help="How many tables; 5 to 20 are usual.")] = 10,
    format: Annotated[Format, typer.Option(help="How the tables are written.")] = Format.parquet,
    shape: Annotated[
        Shape | None,
        typer.Option(help="Of people with several values: a column of 0 and 1 a value (wide), or a row a value (long)."),
    ] = None,
    seed: Seed = None,
) -> None:
    """Write completed tables: quasi values as published, and a sensitive value drawn for every person.

    Analyse every table with any tool and combine the results by Rubin's rules: sfumato.combine in Python, pool() of mice in R.
    Bands of numbers stand as their middles, beside columns with their edges. No drawn value is anybody's, and one table alone
    does not show what the release leaves open.
    """
    from sfumato.errors import OutputError
    from sfumato.query.complete import Completion, tables_wanted
    from sfumato.randomness import randomness
    from sfumato.release.atomic import let_in, write_directory
    from sfumato.table.write import ENDINGS, write_table

    count, source = tables_wanted(tables, "--tables"), randomness(seed)
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
    if out.suffix.lower() in ENDINGS:
        raise OutputError(
            f"{out}: this is called like a file, and --out is a new directory for completed-01.{format.value} and on",
            hint=f"--out {out.with_suffix('')}, with --format parquet or csv",
        )
    with progress_bar() as tell, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        tell("learning", 0.0)
        completion = Completion.of(load_remembering(release))
        completion.tell()
        digits = max(2, len(str(count)))  # completed-01, as lists of files sort them

        def fill(place: Path) -> None:
            for number in range(count):
                let_in()
                tell("drawing", number / count)
                name = f"completed-{number + 1:0{digits}d}.{format.value}"
                write_table(completion.table(source.spawn(number), None if shape is None else shape.value), place / name)

        with writing(out):
            write_directory(out, fill)
    for warning in warned:
        warn(str(warning.message))
    people = counted(completion.rows)
    console().print(f"Wrote {counted(count, 'completed table', 'completed tables')} of {people} to {shown(out)}")
