"""What does β-likeness cost in ranges?

BuReL stands here as published (fewest buckets, filled along a Hilbert curve) and as tuned here (roomy buckets, near people).
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.generalization import likeness
from benchmarks.studies._matching import ANNEALED, HG, PUBLISHED, TUNED, along, at, drawn, likely, tables, times
from benchmarks.studies._study import Rows, Study, Verdict, weigh


def measure(*, people: int, betas: Sequence[int], skew: float, effort: float) -> Rows:
    """Return GCP and seconds of every method against β, on three tables."""
    rows = []
    for name, table in tables(people, skew).items():
        rows += along("β", {k: (table, likeness(k)) for k in betas}, likely(effort), table=name)
    return rows


def judge(rows: Rows) -> Verdict:
    """Return whether loss falls with β, and whether HG loses less than BuReL everywhere."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    falls = all(at(rows, HG, table=name)[-1] < at(rows, HG, table=name)[0] for name in names)
    published = [(a, b) for t in names for a, b in zip(at(rows, PUBLISHED, table=t), at(rows, HG, table=t), strict=True)]
    below = all(hg < burel for burel, hg in published)
    census = {who: at(rows, who, table=names[0]) for who in (HG, PUBLISHED, TUNED, ANNEALED)}
    won = sum(hg < burel for burel, hg in published)
    why = f"On the census published BuReL loses {times(census[PUBLISHED], census[HG])} times what HG loses, and HG loses less "
    why += f"in {won} of {len(published)} cases; tuned BuReL loses {times(census[TUNED], census[HG])} times HG's, and groups "
    why += f"made for a reader {times(census[ANNEALED], census[HG])} times."
    return Verdict(weigh(falls, below), why)


STUDY = Study(
    paper="matching",
    figure="Figure 6",
    says="every method loses less as β grows, and HG less than BuReL across the board, more so for small β.",
    quick={"people": 1_000, "betas": (1, 3, 5), "skew": 0.5, "effort": 0.05},
    full={"people": 10_000, "betas": (1, 2, 3, 4, 5), "skew": 0.5, "effort": 0.3},
    measure=measure,
    draw=drawn("table", "β"),
    judge=judge,
)
