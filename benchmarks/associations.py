"""How often does the test of a crosstab find a link that is there, and how often one that is not?

Samples of a table, boxes of every kind, and for each quasi column the test with the secret, that of
`release.crosstab(secret, column)`. A third of the quasi columns, at least three, is shuffled before publishing: these have
nothing to do with anything, and *level* is the share of them that is called associated at 5 %. *Power* is that share among the
other columns with p < 1e-6 in the original table, by Pearson's test; *of those in completed tables* among the ones that also
have a median p < 1e-6 in five completed tables, of releases that can be completed. *Cannot decide* is what is said of linked
columns that were not found.

`--table FILE --sensitive COLUMN` takes a table of one's own. Without it: the bundled census and hospital. The bound is 8f+0.02,
or 2f+0.05 for secrets of fewer than ten values.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import chi2

import sfumato
from benchmarks._releases import AGAINST, BASES, tables
from benchmarks._show import Cell, Show
from sfumato.arrays import Floats, Integers
from sfumato.errors import SfumatoError
from sfumato.query.complete import Completion
from sfumato.query.crosstab import between_groups
from sfumato.randomness import SeededRandomness

CLEAR = 1e-6
LEVEL = 0.05
SIZES = (10_000, 30_000, 100_000)
TABLES = 5
COLUMNS = [
    "release",
    "columns without a link",
    "level",
    "linked columns",
    "power",
    "of those in completed tables",
    "cannot decide",
]


class Tested(NamedTuple):
    """One column of one release: whether it was shuffled, p of the release, of the table, and of completed tables."""

    shuffled: bool
    p: float
    verdict: str
    table: float
    completed: float | None


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str | None = None) -> None:
    """Show level and power by basis and number of people."""
    seeds = range(1, 3 if quick else 7)
    every: list[Tested] = []
    for name, frame, secret in _tables(quick, table, sensitive):
        rows: list[list[Cell]] = []
        for basis in BASES:
            for size in sorted({min(size, frame.num_rows) for size in (SIZES[:1] if quick else SIZES)}):
                found = [
                    one for seed in seeds if size < SIZES[-1] or seed <= 2 for one in _tested(frame, secret, basis, size, seed)
                ]
                if found:
                    rows.append([f"{basis}, {size:,} people", *_judged(found)])
                    every += found
        show.table(f"{name}: {secret}", COLUMNS, rows)
    overall = _judged(every)
    show.target("false alarms at 5 %", float(overall[1] or 0.0), 0.06)
    show.target("power where completed tables have p < 1e-6", float(overall[4] or 0.0), 0.9, at_least=True)


def _tables(quick: bool, table: Path | None, sensitive: str | None) -> Iterator[tuple[str, pa.Table, str]]:
    if table is None:
        yield from tables(quick, None)
        return
    yield table.stem, pq.read_table(table), sensitive or "occupation"


def _judged(found: list[Tested]) -> list[Cell]:
    none = [one for one in found if one.shuffled]
    linked = [one for one in found if not one.shuffled and one.table < CLEAR]
    shown = [one for one in linked if one.completed is not None and one.completed < CLEAR]
    undecided = sum(one.verdict == "cannot decide" for one in linked) / max(len(linked), 1)
    return [len(none), _share(none), len(linked), _share(linked), _share(shown), undecided]


def _share(found: list[Tested]) -> float | None:
    return sum(one.p < LEVEL for one in found) / len(found) if found else None


def _tested(frame: pa.Table, secret: str, basis: str, size: int, seed: int) -> Iterator[Tested]:
    """Yield every quasi column of one release."""
    random = np.random.default_rng(seed)
    frame = frame.take(np.sort(random.permutation(frame.num_rows)[:size])).combine_chunks()
    # What begins with the secret's name says it again, in other words.
    quasi = [name for name in frame.column_names if not name.startswith(secret)]
    shuffled = set(random.permutation(quasi)[: max(3, len(quasi) // 3)].tolist())
    columns = {name: frame[name].take(random.permutation(size)) if name in shuffled else frame[name] for name in quasi}
    frame = pa.table({**columns, secret: frame[secret]})
    own = sfumato.Table.from_frame(frame, sfumato.Schema(quasi=quasi, sensitive=(secret,), types={secret: "categorical"}))
    try:
        release: Any = _released(own, frame, basis, seed)
    except SfumatoError:
        return
    place = {label: code for code, label in enumerate(release.labels)}
    truth = np.array([place[label] for label in own.sensitive.labels])[own.sensitive.codes]
    drawn = _completed(release, seed)
    for before, after in zip(own.quasi, release.quasi, strict=True):
        test = between_groups(release, secret, before.name)
        if test is None or test.p is None:
            yield Tested(before.name in shuffled, 1.0, "cannot decide", pearson(truth, before.codes), None)
            continue
        completed = float(np.median([pearson(one, after.codes) for one in drawn])) if drawn else None
        yield Tested(before.name in shuffled, test.p, test.verdict, pearson(truth, before.codes), completed)


def _released(own: sfumato.Table, frame: pa.Table, basis: str, seed: int) -> sfumato.Release:
    theta, offset = (8, "0.02") if len(own.sensitive.labels) >= 10 else (2, "0.05")
    requirement = sfumato.FPrivacy(theta=theta, offset=offset, against=AGAINST[basis])
    if basis == "noisy":
        shares = own.sensitive.histogram()
        method = sfumato.NoisyBoxes(shares=shares, otherwise=next(iter(shares)))
        own = sfumato.Table.from_frame(frame, method.close(own.schema))
        return method.run(own, requirement, random=seed).release
    return sfumato.Boxes(patience=0 if basis == "safe" else None).run(own, requirement, random=seed).release


def _completed(release: sfumato.Release, seed: int) -> list[Integers]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            completion = Completion.of(release)
    except SfumatoError:
        return []
    return [completion.secrets[0].draw(SeededRandomness(seed).spawn(k)).astype(np.int64) for k in range(TABLES)]


def pearson(a: Integers, b: Integers) -> float:
    """Return p of Pearson's test of two columns of codes."""
    counts: Floats = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(counts, (a, b), 1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, (counts.shape[0] - 1) * (counts.shape[1] - 1)))
