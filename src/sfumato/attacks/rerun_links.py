"""The program run again where every record has ranges of its own: what minimality comes to on tiny tables of 003's schemes.

A world is a placement of the published values on the people. The program is run with many coins on each; among all runs that
make this release, how often somebody has a value is what an engineer believes, up to the error of that many runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Integers
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable, coded_columns
from sfumato.attacks.rerun import dealt, program_of, run_again, table_of, ways_to_deal
from sfumato.attacks.sight import Sight

RUNS, MOST_RUNS = 200, 20_000
"""How often the program is run on each world, and on all together at most."""
MOST_WORLDS = 500
_ERRORS = 5.0

Shape = tuple[Any, ...]


def rerun_links(sight: Sight) -> Posteriors:
    """Return what somebody believes who runs the program on every table that has these people and these values."""
    release: Any = sight.release
    method, requirement = program_of(release)
    totals = np.bincount(release.value, minlength=len(release.labels))
    worlds = ways_to_deal(totals.tolist())
    if worlds > MOST_WORLDS or release.rows != sight.everybody.num_rows:
        raise NotApplicable(f"{worlds:,} placements fit, or records were left out: too many to rerun the program on each")
    columns = coded_columns(sight)
    if any(column.has_missing for column in columns):
        raise NotApplicable("missing values are not rerun where records have ranges of their own")
    table = table_of(sight, columns)
    own = [release.labels.index(label) for label in table.sensitive.labels]
    wanted = _published(release, columns)
    held, runs = np.zeros((release.rows, len(own))), min(RUNS, MOST_RUNS // worlds)
    for number, values in enumerate(dealt([int(totals[k]) for k in own], release.rows)):
        codes = np.array(values, dtype=np.int64)
        for run in range(runs):
            made = run_again(method.link, requirement, table, codes, number * runs + run)
            if made is not None and _shape(made.links, columns, codes, own) == wanted:
                held[np.arange(len(codes)), codes] += 1
    fitting = float(held[0].sum())
    if not fitting:
        raise NotApplicable("no rerun of the program made this release: it has other parameters than the manifest says")
    beliefs = np.zeros((release.rows, len(release.labels)))
    beliefs[:, own] = held / fitting
    posterior = beliefs[sight.victims]
    error = _ERRORS * np.sqrt(posterior * (1 - posterior) / fitting) + 1 / fitting
    note = f"{int(fitting):,} of {worlds * runs:,} runs on all {worlds:,} placements make this release"
    return Posteriors(posterior, "every placement rerun", note=note, error=error)


def _shape(links: Any, columns: Any, codes: Integers, own: list[int]) -> Shape:
    """Return what records would show, in one order: the codes that each column's range or set spans, and the value."""
    records = []
    for record in range(len(links.carried)):
        behind = links.linked[links.start[record] : links.start[record + 1]]
        spans = tuple(_span(column, column.codes[behind].astype(int).tolist()) for column in columns)
        records.append((*spans, own[int(codes[links.carried[record]])]))
    return tuple(sorted(records))


def _span(column: Any, held: list[int]) -> tuple[int, ...]:
    return tuple(sorted(set(held))) if column.kind == "categorical" else (min(held), max(held))


def _published(release: Any, columns: Any) -> Shape:
    """Return the same of the published records."""
    rows = release.tables()["records"].to_pylist()
    code = [{value: k for k, value in enumerate(column.values.to_pylist())} for column in columns]
    records = []
    for row, value in zip(rows, release.value.tolist(), strict=True):
        spans = tuple(
            tuple(sorted(known[value] for value in row[column.name]))
            if column.kind == "categorical"
            else (known[row[f"{column.name}_min"]], known[row[f"{column.name}_max"]])
            for column, known in zip(columns, code, strict=True)
        )
        records.append((*spans, int(value)))
    return tuple(sorted(records))
