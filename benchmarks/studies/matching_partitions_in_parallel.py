"""How much sooner are partitions done on several processors?

HG in boxes of at least p people, each published on its own: first with one thread, then with as many as the machine has. Seconds
are those of the clock.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numba

from benchmarks.generalization import PAPER
from benchmarks.heterogeneous import census_table
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Rows, Study, Verdict, weigh
from sfumato.charts import Chart
from sfumato.privacy import LDiversity


def measure(*, people: int, parts: Sequence[int], ell: int) -> Rows:
    """Return seconds and speed-up for every partition size and number of threads."""
    table, needs = census_table(people), LDiversity(ell, against="reader")
    most = numba.get_num_threads()
    rows = []
    for part in parts:
        method = replace(PAPER, partition=part, partitions="separate")
        method.run(census_table(1_000), needs, random=1)
        for threads in sorted({1, most}):
            numba.set_num_threads(threads)
            start = time.perf_counter()
            method.run(table, needs, random=1)
            rows.append({"p": part, "threads": threads, "seconds": time.perf_counter() - start})
    numba.set_num_threads(most)
    return rows


def draw(rows: Rows) -> Chart:
    """Return seconds against partition size, a line for each number of threads."""
    told = [{**row, "who": f"{row['threads']} thread{'s' * (row['threads'] > 1)}"} for row in rows]
    return lines(
        told, x="p", y="seconds", series="who", x_title="people of a partition, p", y_title="seconds", steps=True, width=460
    )


def judge(rows: Rows) -> Verdict:
    """Return by how much several threads are faster."""
    most = max(row["threads"] for row in rows)
    spent = {(row["p"], row["threads"]): row["seconds"] for row in rows}
    ratios = [spent[p, 1] / spent[p, most] for p in sorted({row["p"] for row in rows})]
    why = f"On {most} processors partitions are done {min(ratios):.2f} to {max(ratios):.2f} times as fast as on one."
    return Verdict(weigh(min(ratios) > 1.5, max(ratios) > 1.2), why)


STUDY = Study(
    paper="matching",
    figure="Section 5.1, partitions",
    says="partitions can be anonymised apart from each other, in a data-parallel environment.",
    quick={"people": 4_000, "parts": (500, 1_000), "ell": 10},
    full={"people": 100_000, "parts": (500, 1_000, 2_500), "ell": 10},
    measure=measure,
    draw=draw,
    judge=judge,
)
