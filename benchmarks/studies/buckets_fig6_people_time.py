"""How does the search for two bucket sizes grow with people?

Processor seconds, the least of several runs, compilation and the caps ⌊bound·S⌋ (computed once, in exact integers) apart.
"Optimal" is here the optimum over all sizes, of which the papers solve the case of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks._census import ATTRIBUTES, MAX_SIZE, bounds
from benchmarks._measure import least_seconds
from benchmarks._show import Cell
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Claims, Rows, Study, Verdict
from sfumato.charts import Chart
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting
from sfumato.groups.settings.two_size import SEARCHES, SizeSearch, best_two_size
from sfumato.privacy.bounds import Bounds

REPEATS: dict[SizeSearch, int] = {"none": 2, "loss": 5, "full": 20}
NAMES: dict[SizeSearch, str] = {"none": "no pruning", "loss": "loss pruning", "full": "full pruning"}
OPTIMAL = "optimal, all sizes"
THETA = 8


def measure(*, people: Sequence[int]) -> Rows:
    """Return seconds and loss per table, people and search."""
    compiled()
    rows = []
    for attribute in ATTRIBUTES:
        for many in people:
            given = bounds(attribute, many, THETA)
            for search in SEARCHES:
                seconds, setting = two_size(given, search)
                loss = None if setting is None else setting.loss
                rows.append({"table": attribute, "people": many, "search": NAMES[search], "seconds": seconds, "loss": loss})
            seconds, best = least_seconds(3, partial(plan, given, max_size=MAX_SIZE))
            rows.append({"table": attribute, "people": many, "search": OPTIMAL, "seconds": seconds, "loss": best.loss})
    return rows


def compiled() -> None:
    """Compile every kernel: compilation is not what is measured."""
    small = bounds("EDU", 10_000, THETA)
    plan(small)
    for search in SEARCHES:
        two_size(small, search)


def two_size(given: Bounds, search: SizeSearch) -> tuple[float, Setting | None]:
    """Return the seconds that a search takes, and what it finds."""
    problem = Problem.of(given, max_size=MAX_SIZE)
    return least_seconds(REPEATS[search], lambda: best_two_size(problem, search=search))


def draw(rows: Rows) -> Chart:
    """Return seconds against people."""
    return lines(rows, x="people", y="seconds", series="search", panel="table", log_y=True, y_title="seconds (logarithmic)")


def judge(rows: Rows) -> Verdict:
    """Return whether full pruning is fastest and hardly grows, and loss pruning lies between."""
    seconds = {(row["table"], row["people"], row["search"]): row["seconds"] for row in rows}
    cases = list(dict.fromkeys(key[:2] for key in seconds))
    ordered = [seconds[(*c, "full pruning")] < seconds[(*c, "loss pruning")] < seconds[(*c, "no pruning")] for c in cases]
    few, many = min(c[1] for c in cases), max(c[1] for c in cases)
    tables = list(dict.fromkeys(key[0] for key in seconds))
    grows = {name: max(seconds[t, many, name] / seconds[t, few, name] for t in tables) for name in NAMES.values()}
    same = all(
        len({row["loss"] for row in rows if (row["table"], row["people"]) == c and row["search"] != OPTIMAL}) == 1 for c in cases
    )
    flat = grows["full pruning"] <= 1.5 < grows["no pruning"]
    slower = [seconds[(*c, OPTIMAL)] < seconds[(*c, "no pruning")] for c in cases]
    most = max(cases, key=lambda c: c[1])
    took = [f"{name} {1000 * seconds[(*most, name)]:.2g} ms" for name in NAMES.values()]
    growth = " / ".join(f"{grows[name]:.1f}" for name in NAMES.values())
    why = (
        f"For {most[0]} at {many:,} people {', '.join(took)}, "
        f"{'all with the same loss' if same else 'with different losses'}; from "
        f"{few:,} people on they grow {growth} times (no / loss / full). The optimum over all sizes, which finds "
        f"more than theirs of "
        f"two, {'is' if all(slower) else 'is not'} faster than no pruning everywhere."
    )
    claims: Claims = {
        "full pruning takes the least time, no pruning the most, loss pruning lies between, in every case": ordered,
        "full pruning hardly grows with people (1.5 times at most), no pruning does": flat,
        "pruning loses no solution": same,
        "the optimum is faster than no pruning everywhere": slower,
    }
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return milliseconds, a line for each size."""
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["table"], row["people"]), {"table": row["table"], "people": row["people"]})
        line[f"{row['search']}, ms"] = 1000 * row["seconds"]
    return list(lined.values())


STUDY = Study(
    paper="buckets",
    figure="Figure 6",
    says="full pruning takes the least time and hardly grows with people, no pruning the most; loss pruning lies between; "
    "the integer program is faster than no pruning.",
    quick={"people": (50_000, 100_000, 200_000)},
    full={"people": (100_000, 200_000, 300_000, 400_000, 500_000)},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
)
