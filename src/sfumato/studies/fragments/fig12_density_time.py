"""How long does it take to make Ambiguity and PriView, against density?

A density of d: N people share the quasi values of N/d. Processor seconds, compilation apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.draw import lines
from sfumato.studies.fragments._lineup import METHODS, PAPERS
from sfumato.studies.fragments.ways import ALPHA, CENSUS, IMPOSSIBLE, census_table, made, needs
from sfumato.studies.source import Source
from sfumato.studies.study import Rows, Study, Verdict
from sfumato.studies.timing import least_seconds


def measure(source: Source, *, people: int, densities: Sequence[int], betas: Sequence[str], repeats: int) -> Rows:
    """Return seconds per method, density and β, None where the bounds cannot be kept."""
    for method in METHODS.values():
        made(method, census_table(2_000, "occupation"), needs())  # compiles
    rows = []
    for density in densities:
        table = replace(source, density=density).table("OCC", people)  # type: ignore[type-var]
        for name, method in METHODS.items():
            for beta in betas:
                seconds, release = least_seconds(repeats, partial(made, method, table, needs(ALPHA, beta)))
                told = {"method": name, "density": density, "β": beta}
                rows.append({**told, "seconds": None if release is None else seconds})
    return rows


def draw(rows: Rows) -> Chart:
    """Return seconds against density, a panel for each β."""
    drawn = [{**row, "panel": f"β = {row['β']}"} for row in rows]
    return lines(drawn, x="density", y="seconds", series="method", panel="panel", steps=True)


def judge(rows: Rows) -> Verdict:
    """Return whether a sparser table is done sooner, for each method."""
    told, claims = [], {}
    for name in METHODS:
        found = [row for row in rows if row["method"] == name and row["seconds"] is not None]
        if not found:
            told.append(f"{name} is impossible")
            continue
        few, many = (end(row["density"] for row in found) for end in (min, max))
        mean = [sum(row["seconds"] for row in found if row["density"] == density) for density in (few, many)]
        if name in PAPERS:
            claims[f"{name} takes longer on dense data (a tenth or more)"] = mean[1] > 1.1 * mean[0]
        told.append(f"{name} takes {mean[1] / mean[0]:.1f} times as long at d = {many} as at d = {few}")
    return Verdict(claims, f"{'; '.join(told)} (the paper: longer).")


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return seconds, a line for each method and β."""
    lined: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["method"], row["β"]), {"seconds": row["method"], "β": row["β"]})
        line[f"d = {row['density']}"] = row["seconds"]
    return list(lined.values())


STUDY = Study(
    paper="004",
    figure="Figure 12",
    says="the sparser the data, the better the performance, because groups cover more values and reach α-presence sooner.",
    printed={"people": 100_000, "densities": (1, 2, 3, 4, 5), "betas": ("0.1", "0.05", "0.025")},
    full={"people": 100_000, "densities": (1, 2, 3, 4, 5), "betas": ("0.1", "0.2", "0.3"), "repeats": 2},
    quick={"people": 10_000, "densities": (1, 3, 5), "betas": ("0.1", "0.2"), "repeats": 2},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED, IMPOSSIBLE),
    own=False,
)
