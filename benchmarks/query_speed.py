"""How long do 5,000 count queries take on a release of 300,000 people? (Target: at most 10 s, default estimator.)"""

from __future__ import annotations

import time

import sfumato
from benchmarks._census import OFFSET, SEED
from benchmarks._show import Cell, Show
from benchmarks.query_error import ESTIMATORS, _table, _workloads
from sfumato.query import count_many, true_answers


def run(show: Show, quick: bool) -> None:
    """Show query times for small and for large buckets, drawn at random, and for boxes of near people."""
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
