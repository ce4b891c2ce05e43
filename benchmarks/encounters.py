"""Who ever had x: what does a release of people with all their rows answer, and what one that keeps a row of each?

Visits of patients, up to three diagnoses each; boxes with the bound 8f+0.02 (and odds of 8) against an engineer. Beside it, with
the same bound, the first visit of everybody and its first diagnosis: what can be published where a person is one row. Asked is
how many people ever had a value, among those with one or two quasi values, where at least ten did. *Error* is |answer − truth| ÷
truth; *held* the share of 95 % intervals with the truth in them, of those that are no certainty. "One of five" and "two values
together" are asked of everybody. Then regressions of having a value on all quasi columns, over completed tables: *held* is the
share of the original coefficients inside the combined 95 % intervals.

`--table FILE` (Parquet) takes visits of one's own: a row a visit, with the columns `patient`, `admitted`, `diag_1`, `diag_2`, …;
all others are quasi columns, those of the first visit. With `--sensitive COLUMN` it is a table of people, a row each, of whom
visits are made: somebody's own value and those of people much like her (`benchmarks/_relations.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._relations import sample, visits_of
from benchmarks._show import Cell, Show
from benchmarks.completed import design, logistic
from sfumato.arrays import Flags
from sfumato.query.complete import Completion
from sfumato.query.language.predicate import And, Condition, In, Query
from sfumato.query.rubin import combine
from sfumato.randomness import SeededRandomness
from sfumato.table.column import Column
from sfumato.table.generators import encounters

SEEDS = (1, 2, 3)
FEWEST = 10
TABLES = 10
OUTCOMES = 12
BANDS = 10
QUASI = 6
ALIKE = "rows"
BOUND = sfumato.FPrivacy(theta=8, offset="0.02", odds=8)
KINDS = ("one quasi value", "two quasi values", "one of five values", "two values together")


@dataclass(frozen=True)
class Asked:
    """A question: who meets a quasi condition and has a value, and how many there are."""

    kind: str
    condition: Condition
    truth: int


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str | None = None) -> None:
    """Show errors, coverage, seconds and boxes of three seeds, and what regressions say."""
    many = 100 if quick else 600
    warm = _people(encounters(1_000, 0).drop_columns(["ward", "insurance"]), 0)
    _regressions(warm, _published(warm, 0)[0], 0)  # kernels are compiled before anything is timed
    for name, frames in _tables(quick, table, sensitive):
        errors: list[list[Cell]] = []
        sizes: list[list[Cell]] = []
        fits: list[list[Cell]] = []
        for seed, frame in frames:
            everything, first = _people(frame, seed), _people(frame, seed, one=True)
            asked = list(_questions(everything, many, seed))
            for way, own in (("all rows", everything), ("one row a person", first)):
                release, seconds = _published(own, seed)
                errors += [[f"seed {seed}, {way}", *row] for row in _errors(release, asked)]
                sizes.append([f"seed {seed}, {way}", own.rows, len(release.sizes), seconds, *_facts(own, everything)])
                if way == "all rows":
                    fits.append([f"seed {seed}", *_regressions(own, release, seed)])
        show.table(
            f"{name}: errors", ["release", "questions", "asked", "error", "mean", "with interval", "held", "seconds"], errors
        )
        show.table(f"{name}: releases", ["release", "people", "boxes", "seconds", "facts", "of all"], sizes)
        show.table(f"{name}: regressions", ["release", "coefficients", "held", "seconds"], fits)


def _tables(quick: bool, table: Path | None, sensitive: str | None) -> Iterator[tuple[str, list[tuple[int, pa.Table]]]]:
    seeds = SEEDS[:1] if quick else SEEDS
    if table is not None and sensitive is not None:
        people, many = pq.read_table(table), 5_000 if quick else 70_000
        quasi = [name for name in people.column_names if not name.startswith(sensitive)][-QUASI:]
        drawn = [(seed, sample(people, many, seed)) for seed in seeds]
        yield table.stem, [(seed, visits_of(one, quasi, sensitive, seed)) for seed, one in drawn]
        return
    if table is not None:
        yield table.stem, [(seed, pq.read_table(table)) for seed in seeds]
        return
    for people in (5_000,) if quick else (20_000, 70_000):
        frames = [(seed, encounters(people, seed).drop_columns(["ward", "insurance"])) for seed in seeds]
        yield f"hospital, {people:,} patients", frames


def _people(frame: pa.Table, seed: int, *, one: bool = False) -> sfumato.Table:
    """Return the people of visits: with all of them, or with the first visit and its first diagnosis alone."""
    secrets = [name for name in frame.column_names if name.startswith("diag_")]
    own = ["patient", "admitted"]
    quasi = [name for name in frame.column_names if name not in (*own, *secrets)]
    recode = {"postcode": {"prefix": 2}} if "postcode" in quasi else {}
    shared: Any = {"quasi": quasi, "identifier": ["patient"], "recode": recode, "types": {"diagnosis": "categorical"}}
    if one:
        people: dict[str, Any] = {"key": "patient", "keep": "first by admitted"}
        frame = frame.drop_columns(secrets[1:]).rename_columns({secrets[0]: "diagnosis"})
        schema = sfumato.Schema(**shared, other=["admitted"], sensitive=["diagnosis"], people=people)
    else:
        people = {"key": "patient", "keep": "all", "quasi": "first by admitted", "alike": ALIKE}
        schema = sfumato.Schema(**shared, other=["admitted"], secrets={"diagnosis": secrets}, people=people)
    return sfumato.Table.from_frame(frame, schema, seed=seed)


def _published(own: sfumato.Table, seed: int) -> tuple[Any, float]:
    start = time.perf_counter()
    release = sfumato.Boxes().run(own, BOUND, random=seed).release
    return release, time.perf_counter() - start


def _facts(own: sfumato.Table, everything: sfumato.Table) -> list[Cell]:
    """Return how many pairs of a person and a value there are, and which share of all."""
    assert everything.bundles is not None
    facts = own.rows if own.bundles is None else own.bundles.facts
    return [facts, facts / everything.bundles.facts]


def _questions(own: sfumato.Table, many: int, seed: int) -> Iterator[Asked]:
    """Yield so many questions of each kind that at least `FEWEST` people meet; people of bands of rows are not asked about."""
    bundles, random = own.bundles, np.random.default_rng(seed)
    assert bundles is not None
    has = [bundles.any_of([value]) for value in range(len(bundles.labels))]
    columns = [column for column in own.quasi if column.name != "rows"]
    for width, kind in enumerate(KINDS[:2], 1):
        made = 0
        for _ in range(200 * many):
            parts = [_level(columns[j], random) for j in random.permutation(len(columns))[:width]]
            value = int(random.integers(len(has)))
            truth = int((np.logical_and.reduce([who for _, who in parts]) & has[value]).sum())
            if truth >= FEWEST:
                yield Asked(kind, And((*(part for part, _ in parts), _has(bundles.labels[value]))), truth)
                made += 1
            if made == many:
                break
    yield from _together(has, bundles.labels, many // 3, random)


def _together(has: list[Flags], labels: Sequence[str], many: int, random: np.random.Generator) -> Iterator[Asked]:
    """Yield questions about several values of one person: one of five, two together."""
    made = 0
    for _ in range(200 * many):
        five = random.permutation(len(has))[:5]
        if made < many:
            any_of = np.logical_or.reduce([has[value] for value in five])
            yield Asked(KINDS[2], _has(*(labels[value] for value in five)), int(any_of.sum()))
        truth = int((has[five[0]] & has[five[1]]).sum())
        if truth >= FEWEST:
            yield Asked(KINDS[3], And((_has(labels[five[0]]), _has(labels[five[1]]))), truth)
            made += 1
        if made == many:
            break


def _has(*values: str) -> Condition:
    return In("diagnosis", values)


def _level(column: Column, random: np.random.Generator) -> tuple[Condition, Flags]:
    """Return a value of a column, or a stretch of one with many, as a condition, and who meets it."""
    if column.size <= BANDS or column.kind == "categorical":
        codes = random.integers(len(column.values), size=1)
    else:
        first = int(random.integers(column.size))
        codes = np.arange(first, min(first + 1 + column.size // BANDS, len(column.values)))
    return In(column.name, tuple(column.values[int(code)].as_py() for code in codes)), np.isin(column.codes, codes)


def _errors(release: Any, asked: list[Asked]) -> Iterator[list[Cell]]:
    """Yield for each kind of question how far off the answers of a release are."""
    for kind in KINDS if release.manifest.bundled else KINDS[:2]:
        mine = [one for one in asked if one.kind == kind]
        start = time.perf_counter()
        found = [release.count(Query(one.condition, terms="published")) for one in mine]
        seconds = time.perf_counter() - start
        truth = np.array([one.truth for one in mine])
        off = np.abs([one.value for one in found] - truth) / truth
        told = [(one, true) for one, true in zip(found, truth, strict=True) if one.low is not None and one.low < one.high]
        held = [bool(one.low <= true <= one.high) for one, true in told]
        yield [kind, len(mine), float(np.median(off)), float(off.mean()), len(told) / len(mine), _mean(held), seconds]


def _regressions(own: sfumato.Table, release: Any, seed: int) -> list[Cell]:
    """Return how many coefficients of having a value there are, how many combined intervals hold them, and seconds."""
    bundles = own.bundles
    assert bundles is not None
    start = time.perf_counter()
    completion = Completion.of(release)
    drawn = [completion.bundles[0].draw(SeededRandomness(seed).spawn(k)) for k in range(TABLES)]
    seconds = time.perf_counter() - start
    before, after = design(own.quasi), design(release.quasi)
    often = np.argsort(-bundles.counts, kind="stable")[:: max(1, len(bundles.counts) // OUTCOMES)][:OUTCOMES]
    held: list[bool] = []
    for value in often.tolist():
        place = release.labels.index(bundles.labels[value])
        right, _ = logistic(before, bundles.any_of([value]))
        low, high = combine([logistic(after, one.has(place)) for one in drawn]).intervals.T
        held += ((low <= right) & (right <= high))[1:].tolist()
    return [len(held), _mean(held), seconds]


def _mean(held: list[bool]) -> float | None:
    return float(np.mean(held)) if held else None


__all__ = ["run"]
