"""How does the search for two bucket sizes grow with sensitive values?

Every value is replaced by γ values, at random. "Optimal" is the optimum over all sizes, of which the papers solve the case of
two; with only the numbers of buckets as integers (who goes where is a flow) it is not their program, which takes exponential
time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from benchmarks._census import ATTRIBUTES, MAX_SIZE, bounds
from benchmarks._measure import least_seconds
from benchmarks._show import Cell
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Rows, Study, Verdict
from benchmarks.studies.buckets_fig6_people_time import NAMES, OPTIMAL, THETA, compiled, two_size
from sfumato.charts import Chart
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.two_size import SEARCHES

POLYNOMIAL = 3.0
"""What grows with a smaller power of the values does not explode."""


def measure(*, people: int, splits: Sequence[int]) -> Rows:
    """Return seconds per table, γ and search."""
    compiled()
    rows = []
    for attribute in ATTRIBUTES:
        for split in splits:
            given = bounds(attribute, people, THETA, split=split)
            told = {"table": attribute, "γ": split, "values": len(given.values)}
            for search in SEARCHES:
                seconds, _ = two_size(given, search)
                rows.append({**told, "search": NAMES[search], "seconds": seconds})
            seconds, best = least_seconds(1, partial(plan, given, max_size=MAX_SIZE, time_limit=30.0))
            rows.append({**told, "search": OPTIMAL, "seconds": seconds, "gap": best.gap})
    return rows


def draw(rows: Rows) -> Chart:
    """Return seconds against γ."""
    return lines(
        rows, x="γ", y="seconds", series="search", panel="table", steps=True, log_y=True, y_title="seconds (logarithmic)"
    )


def judge(rows: Rows) -> Verdict:
    """Return whether no pruning falls, the others grow at most as the values do, and the optimum explodes."""
    seconds = {(row["table"], row["γ"], row["search"]): row["seconds"] for row in rows}
    tables = list(dict.fromkeys(key[0] for key in seconds))
    first, last = min(key[1] for key in seconds), max(key[1] for key in seconds)
    grows = {name: max(seconds[t, last, name] / seconds[t, first, name] for t in tables) for name in [*NAMES.values(), OPTIMAL]}
    linear = grows["full pruning"] <= 2 * last / first
    falls = any(seconds[t, last, "no pruning"] < seconds[t, first, "no pruning"] for t in tables)
    power = math.log(grows[OPTIMAL]) / math.log(last / first)
    explodes = power > POLYNOMIAL
    gap = max(row["gap"] or 0 for row in rows if row["search"] == OPTIMAL)
    values = max(row["values"] for row in rows)
    why = (
        f"With {last} times the values full pruning takes {grows['full pruning']:.0f} times as long at most, "
        f"{'no more than in proportion' if linear else 'more than in proportion'}; "
        f"no pruning {'falls' if falls else 'does not fall'} as M grows; the optimum over all sizes takes "
        f"{grows[OPTIMAL]:.0f} times as long "
        f"({max(seconds[t, last, OPTIMAL] for t in tables):.1f} s at most with {values:,} values, proven to within {gap:.1e}): "
        f"{'it explodes' if explodes else f'about as γ to the power {power:.1f}, not exponentially as their program'}."
    )
    claims = {
        "full pruning grows no more than in proportion to the values": linear,
        "the time of no pruning falls": falls,
        "the optimum's time explodes": explodes,
    }
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return milliseconds, a line for each γ."""
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        told: dict[str, Cell] = {"table": row["table"], "γ": row["γ"], "values": row["values"]}
        lined.setdefault((row["table"], row["γ"]), told)[f"{row['search']}, ms"] = 1000 * row["seconds"]
    return list(lined.values())


STUDY = Study(
    paper="buckets",
    figure="Figure 7",
    says="the integer program's time grows exponentially with the values, the others' hardly, and that of no pruning falls.",
    quick={"people": 50_000, "splits": (1, 4, 16)},
    full={"people": 500_000, "splits": (1, 2, 4, 8, 16, 32, 64)},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
)
