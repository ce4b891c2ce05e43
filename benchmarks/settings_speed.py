"""How fast is the search for bucket sizes, and how near the provable optimum does it end?

Beside the papers' Figures 6 and 7 (`make studies STUDY="001-fig6 001-fig7"`), whose figures stand here against targets:
the provable optimum, which they call feasible only for small domains. Times are the least of several runs, compilation apart.
"""

from __future__ import annotations

from functools import partial

from benchmarks._show import Cell, Show
from sfumato.groups.settings.plan import plan
from sfumato.studies.buckets import fig6_people_time, fig7_values_time
from sfumato.studies.census import CENSUS, MAX_SIZE, THETAS
from sfumato.studies.source import bounds
from sfumato.studies.timing import best_of

ROWS = (100_000, 500_000)
FULL, NONE = "full pruning", "no pruning"


def run(show: Show, quick: bool) -> None:
    """Measure the two-size searches at the ends of |T| and |SA|, then the optimum."""
    few, many = (10_000, ROWS[0]) if quick else ROWS
    _against_people(show, few, many)
    _against_values(show, many, 8 if quick else 64)
    _optimum(show, (ROWS[0],) if quick else ROWS)


def _against_people(show: Show, few: int, many: int) -> None:
    found = fig6_people_time.measure(CENSUS, people=(few, many), limit=1.0)
    seconds = {(row["people"], row["search"]): row["seconds"] for row in found if row["table"] == "OCC"}
    show.target(f"full pruning, OCC, {many:,} people, seconds", seconds[many, FULL], 0.15)
    show.target(f"… times its time at {few:,}", seconds[many, FULL] / seconds[few, FULL], 1.5)
    show.target("… no pruning takes times", seconds[many, NONE] / seconds[many, FULL], 50, at_least=True)


def _against_values(show: Show, people: int, split: int) -> None:
    found = fig7_values_time.measure(CENSUS, people=people, splits=(split,), limit=1.0)
    one = next(row for row in found if row["table"] == "OCC" and row["search"] == FULL)
    show.target(f"full pruning, {one['values']:,} values, seconds", one["seconds"], 5.0)


def _optimum(show: Show, rows: tuple[int, ...]) -> None:
    table: list[list[Cell]] = []
    slowest, widest = 0.0, 0.0
    cases = [(attribute, people, 1) for attribute in ("OCC", "EDU") for people in rows] + [("OCC", rows[-1], 64)]
    for attribute, people, split in cases:
        for theta in THETAS:
            given = bounds(CENSUS, attribute, people, theta, split=split)
            seconds, best = best_of(1 if split > 1 else 3, partial(plan, given, max_size=MAX_SIZE))
            down, start = best_of(1, partial(plan, given, max_size=MAX_SIZE, strategy="top-down"))
            gap = best.gap or 0.0
            if split == 1:
                slowest, widest = max(slowest, seconds), max(widest, gap)
            table.append(
                [
                    attribute,
                    people,
                    len(given.values),
                    theta,
                    seconds,
                    best.loss,
                    best.lower_bound,
                    gap,
                    down,
                    start.loss / best.loss,
                ]
            )
    columns = ["table", "people", "values", "θ", "seconds", "loss", "proven bound", "gap", "top-down s", "top-down/optimum"]
    show.table(f"The provable optimum (M' = {MAX_SIZE}, gap asked for 1e-4)", columns, table)
    show.target("slowest at 50 or 14 values, seconds", slowest, 2.0)
    show.target("widest gap at 50 or 14 values", widest, 1e-4)
