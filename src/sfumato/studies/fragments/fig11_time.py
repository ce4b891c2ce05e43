"""How long does it take to make Ambiguity and PriView, against α and β?

Processor seconds, compilation apart. Linear: times at all α (β) lie on a line, to a tenth of their mean; inverse proportion does
not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import sfumato
from sfumato.charts import Chart
from sfumato.methods.base import Method
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.draw import lines
from sfumato.studies.fragments._lineup import METHODS
from sfumato.studies.fragments.ways import CENSUS, IMPOSSIBLE, census_table, made, needs
from sfumato.studies.results import kept
from sfumato.studies.source import Source
from sfumato.studies.study import Rows, Study, Verdict
from sfumato.studies.timing import least_seconds

LINEAR = 0.1


def measure(source: Source, *, people: int, alphas: Sequence[str], betas: Sequence[str], repeats: int) -> Rows:
    """Return seconds per method, α and β, None where the bounds cannot be kept."""
    table = source.table(source.secrets[0], people)
    rows: list[Mapping[str, Any]] = []
    for name in METHODS:
        for beta, alpha in product(betas, alphas):
            case = {"method": name, "α": alpha, "β": beta}
            work = partial(_seconds, METHODS[name], table, needs(alpha, beta), repeats)
            rows += [{**case, **row} for row in kept({**case, "people": people, "of": repeats}, work)]
    return rows


def _seconds(method: Method, table: sfumato.Table, bounds: sfumato.PresenceAssociation, repeats: int) -> Rows:
    made(method, census_table(2_000, "occupation"), needs())  # compiles
    seconds, release = least_seconds(repeats, partial(made, method, table, bounds))
    return [{"seconds": None if release is None else seconds}]


def line_error(places: Sequence[float], took: Sequence[float]) -> float:
    """Return how far times are from the best line through them: the largest deviation as a part of their mean."""
    line = np.polynomial.Polynomial.fit(places, took, 1)
    return float(np.abs(line(np.array(places)) - np.array(took)).max() / np.mean(took))


def draw(rows: Rows) -> Chart:
    """Return seconds against α, a panel for each method."""
    drawn = [{**row, "bound": f"β = {row['β']}"} for row in rows]
    return lines(drawn, x="α", y="seconds", series="bound", panel="method", steps=True, columns=3, width=230)


def judge(rows: Rows) -> Verdict:
    """Return whether the time of Ambiguity as published is linear neither in α nor in β."""
    seconds = {(row["α"], row["β"]): row["seconds"] for row in rows if row["method"] == "Ambiguity" and row["seconds"]}
    claims, told = {}, []
    for name, place in (("α", 0), ("β", 1)):
        given = sorted({key[place] for key in seconds}, key=float)
        took = [sum(value for key, value in seconds.items() if key[place] == step) for step in given]
        off = line_error([float(step) for step in given], took)
        claims[f"the time is not linear in {name}"] = off > LINEAR
        spent = ", ".join(f"{value:.2g} s at {step}" for value, step in zip(took, given, strict=True))
        told.append(f"{spent} ({name}; the best line is off by {100 * off:.0f} %)")
    slowest = max((row for row in rows if row["seconds"]), key=lambda row: row["seconds"])
    why = (
        f"Ambiguity as published takes {' and '.join(told)}. The "
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
    paper="004",
    figure="Figure 11",
    says="the time of making Ambiguity is linear neither in α nor in β: smaller groups are quicker to check, but there are more.",
    printed={"people": 500_000, "betas": ("0.025", "0.05", "0.1")},
    full={"people": 500_000, "alphas": ("0.02", "0.1", "0.3"), "betas": ("0.1", "0.2", "0.3"), "repeats": 1},
    quick={"people": 10_000, "alphas": ("0.02", "0.1", "0.3"), "betas": ("0.1", "0.2", "0.3"), "repeats": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED, IMPOSSIBLE),
)
