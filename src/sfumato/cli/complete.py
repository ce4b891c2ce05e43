"""`sfumato complete`: tables for ordinary tools, every one with a value drawn for each person."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._options import Format, ReleaseDirectory, Seed
from sfumato.cli._run import verb
from sfumato.cli._show import console, counted, progress_bar, shown, warn
from sfumato.cli.query import load_remembering


@verb
def complete(
    release: ReleaseDirectory,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new directory for the tables.")],
    *,
    tables: Annotated[int, typer.Option("--tables", "-m", help="How many tables; 5 to 20 are usual.")] = 10,
    format: Annotated[Format, typer.Option(help="How the tables are written.")] = Format.parquet,
    seed: Seed = None,
) -> None:
    """Write completed tables: quasi values as published, and a sensitive value drawn for every person.

    Analyse every table with any tool and combine the results by Rubin's rules: sfumato.combine in Python, pool() of mice in R.
    No drawn value is anybody's, and one table alone does not show what the release leaves open.
    """
    from sfumato.errors import OutputError
    from sfumato.query.complete import Completion, tables_wanted
    from sfumato.randomness import randomness
    from sfumato.release.atomic import write_directory
    from sfumato.table.write import write_table

    count, source = tables_wanted(tables, "--tables"), randomness(seed)
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists already; it is not overwritten", hint="choose another --out")
    with progress_bar() as tell, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        tell("learning", 0.0)
        completion = Completion.of(load_remembering(release))
        completion.tell()
        digits = len(str(count))

        def fill(place: Path) -> None:
            for number in range(count):
                tell("drawing", number / count)
                name = f"completed-{number + 1:0{digits}d}.{format.value}"
                write_table(completion.table(source.spawn(number)), place / name)

        write_directory(out, fill)
    for one in warned:
        warn(str(one.message))
    people = counted(completion.rows)
    console().print(f"Wrote {counted(count, 'completed table', 'completed tables')} of {people} to {shown(out)}")
