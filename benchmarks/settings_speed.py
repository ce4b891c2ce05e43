"""How fast is the search for bucket sizes, and how does it grow with people and with values?

The papers' Figures 6 and 7 (run time against |T| and |SA|), which print no numbers; and the provable optimum, which they call
feasible only for small domains. Times are the best of several runs, compilation apart; those of the searches leave out the caps
⌊bound·S⌋, which are computed once in exact integers; "plan" is everything: caps, search, allocation by flow, and the check.
"""

from __future__ import annotations

from functools import partial

from benchmarks._census import MAX_SIZE, THETAS, bounds
from benchmarks._measure import best_of
from benchmarks._show import Cell, Show
from sfumato.groups.settings.plan import plan
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting
from sfumato.groups.settings.two_size import Search, best_two_size
from sfumato.privacy.bounds import Bounds

ROWS = (100_000, 200_000, 300_000, 400_000, 500_000)
SPLITS = (1, 2, 4, 8, 16, 32, 64)
REPEATS: dict[Search, int] = {"none": 2, "loss": 5, "full": 20}
THETA = 8


def run(show: Show, quick: bool) -> None:
    """Measure the two-size searches against |T| and |SA|, then the optimum."""
    plan(bounds("EDU", 10_000, THETA))
    for search in REPEATS:
        _two_size(bounds("EDU", 10_000, THETA), search)
    _against_people(show, ROWS[:2] if quick else ROWS)
    _against_values(show, ROWS[0] if quick else ROWS[-1], SPLITS[::3] if quick else SPLITS)
    _optimum(show, (ROWS[0],) if quick else (ROWS[0], ROWS[-1]))


def _two_size(given: Bounds, search: Search) -> tuple[float, Setting | None]:
    problem = Problem.of(given, max_size=MAX_SIZE)
    return best_of(REPEATS[search], lambda: best_two_size(problem, search=search))


def _against_people(show: Show, rows: tuple[int, ...]) -> None:
    table: list[list[Cell]] = []
    times: dict[tuple[str, int, Search], float] = {}
    for attribute in ("OCC", "EDU"):
        for people in rows:
            given = bounds(attribute, people, THETA)
            found: set[int] = set()
            for search in REPEATS:
                times[attribute, people, search], setting = _two_size(given, search)
                found.add(-1 if setting is None else setting.loss)
            none, loss, full = (times[attribute, people, search] for search in REPEATS)
            first = times[attribute, rows[0], "full"]
            same = "yes" if len(found) == 1 else "NO"
            whole, _ = best_of(3, partial(plan, given, strategy="two-size", max_size=MAX_SIZE))
            figures = [none * 1e3, loss * 1e3, full * 1e3, whole * 1e3, none / full, loss / full, full / first]
            table.append([attribute, people, *figures, same])
    columns = [
        "table",
        "people",
        "none ms",
        "loss ms",
        "full ms",
        "plan ms",
        "none/full",
        "loss/full",
        "full / full at first",
        "same loss",
    ]
    show.table(f"Two sizes against |T| (θ = {THETA}, M' = {MAX_SIZE}; paper: Figure 6)", columns, table)
    last = rows[-1]
    show.target(f"full pruning, OCC, {last:,} people, seconds", times["OCC", last, "full"], 0.15)
    show.target("… times its time at 100,000", times["OCC", last, "full"] / times["OCC", rows[0], "full"], 1.5)
    show.target("… no pruning takes times", times["OCC", last, "none"] / times["OCC", last, "full"], 50, at_least=True)


def _against_values(show: Show, people: int, splits: tuple[int, ...]) -> None:
    table: list[list[Cell]] = []
    full = 0.0
    for split in splits:
        given = bounds("OCC", people, THETA, split=split)
        none, _ = _two_size(given, "none")
        loss, _ = _two_size(given, "loss")
        full, _ = _two_size(given, "full")
        seconds, best = best_of(1, partial(plan, given, max_size=MAX_SIZE, time_limit=30.0))
        whole, _ = best_of(3, partial(plan, given, strategy="two-size", max_size=MAX_SIZE))
        figures = [none * 1e3, loss * 1e3, full * 1e3, whole * 1e3, seconds * 1e3]
        table.append([split, len(given.values), min(given.needs), *figures, best.gap])
    columns = ["γ", "values", "M", "none ms", "loss ms", "full ms", "plan ms", "optimum ms", "optimum gap"]
    show.table(f"Two sizes and the optimum against |SA| (OCC, {people:,} people, θ = {THETA}; paper: Figure 7)", columns, table)
    show.target(f"full pruning, {table[-1][1]} values, seconds", full, 5.0)
    show.note(
        "The papers' integer program grows exponentially with |SA| (Figure 7); with only the sizes as variables it does not."
    )


def _optimum(show: Show, rows: tuple[int, ...]) -> None:
    table: list[list[Cell]] = []
    slowest, widest = 0.0, 0.0
    cases = [(attribute, people, 1) for attribute in ("OCC", "EDU") for people in rows] + [("OCC", rows[-1], 64)]
    for attribute, people, split in cases:
        for theta in THETAS:
            given = bounds(attribute, people, theta, split=split)
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
