"""How far are answers of Ambiguity and of PriView from the truth, against density?

A density of d: N people share the quasi values of N/d. Selectivity 5 %, three columns, the paper's estimator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.fragments._lineup import METHODS, PAPERS, chart, errors, shown
from sfumato.studies.fragments.ways import BETA, CENSUS, Asked
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict


def measure(source: Source, *, people: int, queries: int, grouped: int, densities: Sequence[int], seed: int) -> Rows:
    """Return errors per density, method and kind of question."""
    rows = []
    for density in densities:
        table = replace(source, density=density).table("OCC", people)  # type: ignore[type-var]
        asked = {str(density): Asked.draw(table, queries=queries, grouped=grouped, columns=3, selectivity=0.05, seed=seed)}
        rows += errors(table, BETA, asked, seed)
    return rows


def draw(rows: Rows) -> Chart:
    """Return errors against density."""
    return chart(rows, x="case", x_title="density")


def judge(rows: Rows) -> Verdict:
    """Return whether denser data are answered worse, for each method, by mean and by median."""
    claims, told = {}, []
    for name in METHODS:
        mine = [row for row in rows if row["method"] == name and row["questions"] == "conditions"]
        if not mine:
            told.append(f"{name} is impossible")
            continue
        first, last = (end(mine, key=lambda row: int(row["case"])) for end in (min, max))
        if name in PAPERS:
            for which in ("mean", "median"):
                claims[f"{name} errs more on dense data, by the {which}"] = last[which] > first[which]
        change = f"{100 * first['mean']:.0f} → {100 * last['mean']:.0f} % (median {100 * first['median']:.0f} → "
        told.append(f"{name} {change}{100 * last['median']:.0f} %)")
    return Verdict(claims, f"From sparse to dense the mean error of conditions changes so: {'; '.join(told)}.")


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return mean and median errors."""
    return shown(rows, across="case")


STUDY = Study(
    paper="004",
    figure="Figure 15",
    says="denser data deliver worse accuracy, for Ambiguity and for PriView, because their groups are larger.",
    printed={"people": 100_000, "densities": (1, 2, 3, 4, 5)},
    full={"people": 100_000, "queries": 500, "grouped": 12, "densities": (1, 2, 3, 4, 5), "seeds": SEEDS},
    quick={"people": 10_000, "queries": 60, "grouped": 4, "densities": (1, 3, 5), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
    own=False,
)
