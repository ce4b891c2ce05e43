"""How much sooner are partitions done on several processors?

HG in boxes of at least p people, each matched on its own: first with one thread, then with as many as the machine has. Seconds
are those of the clock, for matching and drawing; cutting, showing and auditing are the same for both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numba

from sfumato.charts import Chart
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.scheme import SchemeOptions, heterogeneous_records
from sfumato.privacy import LDiversity
from sfumato.randomness import SeededRandomness
from sfumato.studies.census import GENERATED
from sfumato.studies.draw import lines
from sfumato.studies.matching.tables import CENSUS
from sfumato.studies.source import Source
from sfumato.studies.study import Rows, Study, Verdict


def measure(source: Source, *, people: int, parts: Sequence[int], ell: int) -> Rows:
    """Return seconds and speed-up for every partition size and number of threads."""
    table = source.table(source.secrets[0], people)
    bounds = LDiversity(ell, against="reader").bounds(table.sensitive.histogram())
    costs = Costs.of(table.quasi, table.schema)
    most = numba.get_num_threads()
    rows = []
    for part in (parts[0], *parts):  # the first one twice: kernels are compiled
        choices = SchemeOptions(partition=part, partitions="separate")
        for threads in sorted({1, most}):
            numba.set_num_threads(threads)
            start = time.perf_counter()
            heterogeneous_records(table.quasi, table.sensitive.codes, bounds, costs, choices, random=SeededRandomness(1))
            rows.append({"p": part, "threads": threads, "seconds": time.perf_counter() - start})
    rows = rows[len({1, most}) :]
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
    return Verdict({f"partitions run beside each other: 1.5 times as fast or more on {most} processors": min(ratios) >= 1.5}, why)


STUDY = Study(
    paper="003",
    figure="Section 5.1, partitions",
    says="partitions can be anonymised apart from each other, in a data-parallel environment.",
    printed={"people": 100_000, "ell": 10},
    full={"people": 100_000, "parts": (500, 1_000, 2_500), "ell": 10},
    quick={"people": 4_000, "parts": (500, 1_000), "ell": 10},
    measure=measure,
    draw=draw,
    judge=judge,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
