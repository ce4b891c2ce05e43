"""How long do 5,000 count queries take on a release of 300,000 people? (Target: at most 10 s, default estimator.)

`--table FILE` takes a table whose secret is `occupation`, and asks in one thread, in processor time: 1,000 counts of soft boxes
at 100,000 people (target: 2 s) and 5,000 at 300,000 (target: 20 s), half of them random sets, half ranges.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import sfumato
from benchmarks._releases import people_of, released
from benchmarks._show import Cell, Show
from benchmarks.query_error import ESTIMATORS, _table, _workloads
from sfumato.query import And, In, Query, count_many, true_answers
from sfumato.studies.census import OFFSET, SEED

OWN = ((100_000, 1_000, 2.0), (300_000, 5_000, 20.0))
"""People, questions and most seconds, for a table of one's own."""


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show query times for small and for large buckets, drawn at random, and for boxes of near people."""
    if table is None:
        _of_census(show, quick)
        return
    given = pq.read_table(table)
    for people, queries, most in OWN:
        rows = np.sort(np.random.default_rng(1).permutation(given.num_rows)[:people])
        frame = given.take(rows)
        own = people_of(frame, "occupation")
        release = released(own, frame, "soft", "8f+0.02")
        asked = [query for workload in _workloads(own, (100 if quick else queries) // 2).values() for query in workload]
        count_many(release, asked[:5] + asked[-5:], workers=1)  # learn, and compile the kernels
        start = time.process_time()
        count_many(release, asked, workers=1)
        seconds = time.process_time() - start
        show.note(f"- {table.stem}, {own.rows:,} people: {1000 * seconds / len(asked):.2f} ms of processor time a question")
        _alone(show, release, own)
        if not quick:
            show.target(f"{queries:,} counts at {people:,} people, seconds of processor time", seconds, most)


def _alone(show: Show, release: sfumato.Release, own: sfumato.Table) -> None:
    """Show what single cells and a GROUP BY cost, asked one after the other."""
    secret, column = own.sensitive.domain.names[0], max(own.quasi, key=lambda one: min(one.size, 50))
    values = own.sensitive.domain.table[secret].to_pylist()[:10]
    named = [name for name in column.dictionary().to_pylist() if name is not None][:50]
    cells = [
        Query(And((In(column.name, (name,)), In(secret, (value,)))), terms="published") for name in named for value in values
    ]
    grouped = Query(And((In(column.name, tuple(named)), In(secret, values[:1]))), group_by=(column.name,), terms="published")
    for what, asked, most in ((f"a cell, of {len(cells)}", cells, 2.0), (f"GROUP BY of {len(named)} cells", [grouped] * 5, 60.0)):
        release.count(asked[0])
        start = time.process_time()
        for query in asked:
            release.count(query)
        show.target(f"{what}, ms of processor time", 1000 * (time.process_time() - start) / len(asked), most)


def _of_census(show: Show, quick: bool) -> None:
    rows, queries = (50_000, 500) if quick else (300_000, 5000)
    table = _table(rows, SEED)
    releases = {
        "Anatomy, ℓ = 5": sfumato.Anatomy(l=5).run(table, sfumato.LDiversity(5), random=SEED).release,
        "optimal, 8f + 0.02": sfumato.MultiSize().run(table, sfumato.FPrivacy(theta=8, offset=OFFSET), random=SEED).release,
        "safe boxes, 8f + 0.02": sfumato.Boxes().run(table, sfumato.FPrivacy(theta=8, offset=OFFSET), random=SEED).release,
        "tight boxes of ≥ 2": sfumato.Boxes(floor=2)
        .run(table, sfumato.FPrivacy(theta=8, offset=OFFSET, against="reader"), random=SEED)
        .release,
    }
    for release in releases.values():
        count_many(release, _workloads(table, 20)["ranges"].queries, workers=2)  # compile the kernels
    shown: list[list[Cell]] = []
    slowest = 0.0
    workloads = _workloads(table, queries)
    for label, release in releases.items():
        for name, workload in workloads.items():
            for estimator in ESTIMATORS:
                start = time.perf_counter()
                count_many(release, workload, estimator=estimator)
                seconds = time.perf_counter() - start
                if estimator == "likelihood":
                    slowest = max(slowest, seconds)
                shown.append([label, name, estimator, len(workload), seconds, 1000 * seconds / len(workload)])
    start = time.perf_counter()
    true_answers(table, workloads["Anatomy-style"])
    shown.append(["the original table", "Anatomy-style", "truth", queries, time.perf_counter() - start, None])
    columns = ["release", "workload", "estimator", "queries", "seconds", "ms a query"]
    show.table(f"Time of count queries, {rows:,} people", columns, shown)
    if not quick:
        show.target("slowest workload with the default estimator, seconds", slowest, 10.0)
