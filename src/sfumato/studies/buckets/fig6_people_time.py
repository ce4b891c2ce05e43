"""How does the search for two bucket sizes grow with people?

Processor seconds, the least of several runs, compilation and the caps ⌊bound·S⌋ (computed once, in exact integers) apart.
"Integer program" is the papers' "Optimal", two sizes chosen by `scipy.optimize.milp`; where it is not done in time, the time
stands after which it was stopped. Our optimum over all sizes is beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from sfumato.charts import Chart
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting
from sfumato.groups.settings.two_size import SEARCHES, SizeSearch, best_two_size
from sfumato.privacy.bounds import Bounds
from sfumato.studies.buckets.programs import solve
from sfumato.studies.cells import Cell, text
from sfumato.studies.census import CENSUS, GENERATED, MAX_SIZE
from sfumato.studies.draw import lines
from sfumato.studies.results import kept
from sfumato.studies.source import Source, bounds
from sfumato.studies.study import Claims, Rows, Study, Verdict
from sfumato.studies.timing import least_seconds

REPEATS: dict[SizeSearch, int] = {"none": 2, "loss": 5, "full": 20}
NAMES: dict[SizeSearch, str] = {"none": "no pruning", "loss": "loss pruning", "full": "full pruning"}
OPTIMAL = "optimal, all sizes"
PROGRAM = "integer program, two sizes"
THETA = 8


def measure(source: Source, *, people: Sequence[int], limit: float) -> Rows:
    """Return seconds and loss per table, people and search."""
    rows: list[Mapping[str, Any]] = []
    for secret in source.secrets:
        for many in people:
            given = bounds(source, secret, many, THETA)
            case = {"table": secret, "people": given.people}
            rows += [{**case, **row} for row in kept({**case, "limit": limit}, partial(timed, given, limit))]
    return rows


def timed(given: Bounds, limit: float) -> Rows:
    """Return seconds and loss of every search, of the integer program and of the optimum over all sizes."""
    compiled()
    rows: list[dict[str, Any]] = []
    for search in SEARCHES:
        seconds, setting = two_size(given, search)
        rows.append(
            {"search": NAMES[search], "seconds": seconds, "loss": None if setting is None else setting.loss, "done": True}
        )
    program = solve(Problem.of(given, max_size=MAX_SIZE), most=2, time_limit=limit)
    rows.append({"search": PROGRAM, "seconds": program.seconds, "loss": program.loss, "done": program.proven})
    seconds, best = least_seconds(1, partial(plan, given, max_size=MAX_SIZE, time_limit=limit))
    rows.append({"search": OPTIMAL, "seconds": seconds, "loss": best.loss, "done": True})
    return rows


@cache
def compiled() -> None:
    """Compile every kernel: compilation is not what is measured."""
    small = bounds(CENSUS, "EDU", 10_000, THETA)
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
        len({row["loss"] for row in rows if (row["table"], row["people"]) == c and row["search"] in NAMES.values()}) == 1
        for c in cases
    )
    flat = grows["full pruning"] <= 1.5 < grows["no pruning"]
    faster = [seconds[(*c, PROGRAM)] < seconds[(*c, "no pruning")] for c in cases]
    undone = sum(not row["done"] for row in rows if row["search"] == PROGRAM)
    most = max(cases, key=lambda c: c[1])
    took = [f"{name} {1000 * seconds[(*most, name)]:.2g} ms" for name in NAMES.values()]
    growth = " / ".join(f"{grows[name]:.1f}" for name in NAMES.values())
    why = (
        f"For {most[0]} at {many:,} people {', '.join(took)}, "
        f"{'all with the same loss' if same else 'with different losses'}; from "
        f"{few:,} people on they grow {growth} times (no / loss / full). The integer program for "
        f"two sizes takes {min(seconds[(*c, PROGRAM)] for c in cases):.2g} s or more and is not done after "
        f"{max(seconds[(*c, PROGRAM)] for c in cases):.2g} s in {undone} of {len(cases)} cases; our optimum over all sizes takes "
        f"{max(seconds[(*c, OPTIMAL)] for c in cases):.2g} s at most."
    )
    claims: Claims = {
        "full pruning takes the least time, no pruning the most, loss pruning lies between, in every case": ordered,
        "full pruning hardly grows with people (1.5 times at most), no pruning does": flat,
        "pruning loses no solution": same,
        "the integer program is faster than no pruning": faster,
    }
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return milliseconds, a line for each size."""
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["table"], row["people"]), {"table": row["table"], "people": row["people"]})
        line[f"{row['search']}, ms"] = milliseconds(row)
    return list(lined.values())


def milliseconds(row: Mapping[str, Any]) -> Cell:
    """Return the time of a search, or the time after which it was not done."""
    spent = 1000 * row["seconds"]
    return spent if row["done"] else f"> {text(spent)}"


STUDY = Study(
    paper="001",
    figure="Figure 6",
    says="full pruning takes the least time and hardly grows with people, no pruning the most; loss pruning lies between; "
    "the integer program is faster than no pruning.",
    printed={"people": (100_000, 200_000, 300_000, 400_000, 500_000)},
    full={"people": (100_000, 200_000, 300_000, 400_000, 500_000), "limit": 10.0},
    quick={"people": (50_000, 100_000, 200_000), "limit": 3.0},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
