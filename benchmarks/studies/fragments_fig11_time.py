"""How long does it take to make Ambiguity and PriView, against α and β?

The paper's β = 0.05 and 0.025 are impossible here, where one occupation has 7.8 % of people. Processor seconds, compilation
apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import sfumato
from benchmarks._fragments import census_table, made, needs
from benchmarks._measure import least_seconds
from benchmarks._show import Cell
from benchmarks.studies._draw import lines
from benchmarks.studies._fragments_lineup import METHODS
from benchmarks.studies._study import Rows, Study, Verdict, kept
from sfumato.charts import Chart
from sfumato.methods.base import Method


def measure(*, people: int, alphas: Sequence[str], betas: Sequence[str], repeats: int) -> Rows:
    """Return seconds per method, α and β, None where the bounds cannot be kept."""
    table = census_table(people, "occupation")
    rows: list[Mapping[str, Any]] = []
    for name in METHODS:
        for beta, alpha in product(betas, alphas):
            case = {"method": name, "α": alpha, "β": beta}
            work = partial(_seconds, METHODS[name], table, needs(alpha, beta), repeats)
            rows += [{**case, **row} for row in kept("fragments_fig11_time", {**case, "people": people, "of": repeats}, work)]
    return rows


def _seconds(method: Method, table: sfumato.Table, bounds: sfumato.PresenceAssociation, repeats: int) -> Rows:
    made(method, census_table(2_000, "occupation"), needs())  # compiles
    seconds, release = least_seconds(repeats, partial(made, method, table, bounds))
    return [{"seconds": None if release is None else seconds}]


def draw(rows: Rows) -> Chart:
    """Return seconds against α, a panel for each method."""
    drawn = [{**row, "bound": f"β = {row['β']}"} for row in rows]
    return lines(drawn, x="α", y="seconds", series="bound", panel="method", steps=True, columns=3, width=230)


def judge(rows: Rows) -> Verdict:
    """Return whether the time of Ambiguity as published is in proportion to neither α nor β."""
    seconds = {(row["α"], row["β"]): row["seconds"] for row in rows if row["method"] == "Ambiguity" and row["seconds"]}
    claims, told = {}, []
    for name, place in (("α", 0), ("β", 1)):
        given = sorted({key[place] for key in seconds}, key=float)
        ends = [sum(value for key, value in seconds.items() if key[place] == end) for end in (given[0], given[-1])]
        ratio, times = float(given[-1]) / float(given[0]), ends[1] / ends[0]
        linear = any(abs(times * other - 1) < 0.3 for other in (ratio, 1 / ratio))
        claims[f"the time is not in proportion to {name}"] = not linear
        told.append(f"{times:.2f} times as long at {name} = {given[-1]} as at {given[0]}")
    slowest = max((row for row in rows if row["seconds"]), key=lambda row: row["seconds"])
    neither = "neither" if all(claims.values()) else "one of them" if any(claims.values()) else "both"
    why = (
        f"Ambiguity as published takes {' and '.join(told)}: in proportion to {neither}. The "
        f"slowest of all is {slowest['method']} at α = {slowest['α']}, β = {slowest['β']} with {slowest['seconds']:.1f} s."
    )
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return seconds, a line for each method and β."""
    lined: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["method"], row["β"]), {"seconds": row["method"], "β": row["β"]})
        line[f"α = {row['α']}"] = row["seconds"]
    return list(lined.values())


STUDY = Study(
    paper="fragments",
    figure="Figure 11",
    says="the time of making Ambiguity is linear neither in α nor in β: smaller groups are quicker to check, but there are more.",
    quick={"people": 10_000, "alphas": ("0.02", "0.1", "0.3"), "betas": ("0.1", "0.2", "0.3"), "repeats": 1},
    full={"people": 500_000, "alphas": ("0.02", "0.1", "0.3"), "betas": ("0.1", "0.2", "0.3"), "repeats": 2},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
)
