"""Do intervals of values that few people have hold the truth, where counts have noise?

Noisy boxes, 8f+0.02. A table made for this: five quasi columns, nine frequent values, and of every size from 5 to 100 people
one value that is spread like everybody and one whose odds a column multiplies by six. Or, with `--table FILE` (and
`--sensitive COLUMN`, else `occupation`), samples of it, with the values that 5 to 100 people of the sample have. Asked: how
many people have the value at all, and how many of those with each of the most frequent quasi values, where independence
expects two or more. Coverage is that of 95 % intervals, by the size of the value, and apart where noise has made the sum over
all boxes 0 or less; widths are those of intervals, in people. Tables and noise are drawn anew each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._releases import people_of, released
from benchmarks._show import Cell, Show
from sfumato.query import And, Estimate, In, Query, count_many, true_answers
from sfumato.query.count import engine_of
from sfumato.query.rows import BucketIndex

SIZES = ((5, 9), (10, 24), (25, 49), (50, 100))
RARE = (5, 8, 12, 20, 30, 45, 60, 80, 100)
ASKED = 0.92


def run(show: Show, quick: bool, table: Path | None = None, sensitive: str = "occupation") -> None:
    """Show coverage and width by size."""
    draws, people = (4, 6_000) if quick else (20, 20_000)
    found = [held for seed in range(draws) for held in _outcomes(*_table(people, seed, table, sensitive), seed)]
    outcomes = np.array(found)
    rows: list[list[Cell]] = []
    for low, high in SIZES:
        size = (low <= outcomes[:, 0]) & (outcomes[:, 0] <= high)
        for name, chosen in (("above 0", size & (outcomes[:, 1] > 0)), ("0 or less", size & (outcomes[:, 1] <= 0))):
            for kind, whole in (("all people", 1.0), ("cells", 0.0)):
                here = outcomes[chosen & (outcomes[:, 2] == whole)]
                told = here[~np.isnan(here[:, 3])]
                if len(told):
                    share = 1 - len(told) / len(here)
                    rows.append([f"{low}–{high}", name, kind, len(here), told[:, 3].mean(), told[:, 4].mean(), share])
    show.table("Values of few people", ["people", "sum shown", "asked of", "questions", "coverage", "width", "no interval"], rows)
    told = outcomes[~np.isnan(outcomes[:, 3])]
    for low, high in SIZES:
        size = told[(low <= told[:, 0]) & (told[:, 0] <= high), 3]
        if len(size) == 0:
            continue
        show.note(f"- {low} to {high} people: coverage {size.mean():.3f} of {len(size):,} (asked: at least {ASKED})")


def _table(people: int, seed: int, table: Path | None, secret: str) -> tuple[pa.Table, str]:
    """Return a table and its secret: a sample of the one given, or one made for this."""
    random = np.random.default_rng(seed)
    if table is not None:
        given = pq.read_table(table)
        rows = np.sort(random.permutation(given.num_rows)[:people])
        return given.take(rows), secret
    return rare_table(people, seed), "illness"


def rare_table(people: int, seed: int) -> pa.Table:
    """Return people with nine frequent illnesses, and for every size of `RARE` two rare ones, the second linked to a column."""
    random = np.random.default_rng(seed)
    columns = {
        "age": random.integers(20, 80, people),
        "sex": random.integers(0, 2, people),
        "region": random.integers(0, 6, people),
        "school": random.binomial(4, 0.4, people),
        "work": random.integers(0, 4, people),
    }
    logs = random.normal(0, 0.5, (9, 4)) @ np.stack([(v - v.mean()) / v.std() for v in list(columns.values())[:4]])
    frequent = (logs + random.gumbel(size=logs.shape) + np.linspace(1, -1, 9)[:, None]).argmax(axis=0)
    illness = np.array([f"v{k}" for k in range(9)], dtype=object)[frequent]
    free = np.ones(people, bool)
    for k, size in enumerate(RARE):
        linked = list(columns.values())[k % 5]
        for name, odds in (("even", np.ones(people)), ("linked", np.where(linked >= np.median(linked), 6.0, 1.0))):
            chance = odds * free
            own = random.choice(people, size, replace=False, p=chance / chance.sum())
            illness[own], free[own] = f"{name} {size}", False
    return pa.table({**columns, "illness": illness.tolist()})


def _outcomes(frame: pa.Table, secret: str, seed: int) -> Iterator[tuple[float, ...]]:
    """Yield size, the sum shown, whether of all people, whether the interval holds (NaN: there is none), and its width."""
    own = people_of(frame, secret)
    release = released(own, frame, "noisy", "8f+0.02", random=seed)
    asked = rare_questions(own, secret)
    queries = [query for _, _, query in asked]
    truth = true_answers(own, queries)
    index: BucketIndex = engine_of(release).index  # type: ignore[attr-defined]
    labels = release.domain.table[secret].to_pylist()
    shown = dict(zip(labels, index.totals.tolist(), strict=True))
    for (value, size, query), right, answer in zip(asked, truth, count_many(release, queries), strict=True):
        assert isinstance(answer, Estimate)
        whole = float(isinstance(query.condition, In))
        if answer.low is None or answer.high is None:
            yield size, shown[value], whole, np.nan, np.nan
        else:
            yield size, shown[value], whole, float(answer.low <= right <= answer.high), answer.high - answer.low


def rare_questions(table: sfumato.Table, secret: str) -> list[tuple[str, int, Query]]:
    """Return value, size and question: of all people, and of those with a quasi value, where two or more are expected."""
    labels = table.sensitive.domain.table[secret].to_pylist()
    made = []
    for label, size in zip(labels, np.bincount(table.sensitive.codes, minlength=len(labels)).tolist(), strict=True):
        if label is None or not SIZES[0][0] <= size <= SIZES[-1][1]:
            continue
        made.append((label, size, Query(In(secret, (label,)), terms="published")))
        for column in table.quasi:
            times = np.bincount(column.codes, minlength=column.size)
            for code in np.argsort(-times, kind="stable")[:3]:
                named = column.dictionary()[int(code)].as_py()
                if named is not None and times[code] / table.rows * size >= 2 and times[code] < table.rows:
                    condition = And((In(column.name, (named,)), In(secret, (label,))))
                    made.append((label, size, Query(condition, terms="published")))
    return made
