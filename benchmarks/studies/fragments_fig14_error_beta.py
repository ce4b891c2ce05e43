"""How far are answers from the truth, against β?

Selectivity 5 %, three columns, the paper's estimator. The paper's β = 0.05 and 0.025 are impossible here, where one occupation
has 7.8 % of people.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks._fragments import Asked, census_table
from benchmarks._show import Cell
from benchmarks.studies._fragments_lineup import GENERALIZATION, chart, errors, less, shown
from benchmarks.studies._study import Claims, Rows, Study, Verdict
from sfumato.charts import Chart

COMPARED = ("Ambiguity", "PriView", GENERALIZATION)


def measure(*, people: int, queries: int, grouped: int, betas: Sequence[str]) -> Rows:
    """Return errors per β, method and kind of question."""
    table = census_table(people, "occupation")
    asked = {"5 %, 3": Asked.draw(table, queries=queries, grouped=grouped, columns=3, selectivity=0.05)}
    return [row for beta in betas for row in errors(table, beta, asked)]


def draw(rows: Rows) -> Chart:
    """Return errors against β."""
    return chart(rows, x="β", x_title="β")


def judge(rows: Rows) -> Verdict:
    """Return whether errors fall with β for all three, and Ambiguity and PriView are better than generalization."""
    claims: Claims = {}
    told = []
    for name in COMPARED:
        mine = [row for row in rows if row["method"] == name and row["questions"] == "conditions"]
        least, most = (min(mine, key=lambda r: float(r["β"])), max(mine, key=lambda r: float(r["β"])))
        claims[f"{name} errs less as β grows"] = most["median"] < least["median"]
        told.append(f"{name} {100 * least['median']:.0f} → {100 * most['median']:.0f} %")
    better = {name: less(rows, name, GENERALIZATION) for name in COMPARED[:2]}
    wins, of = sum(map(sum, better.values())), sum(map(len, better.values()))
    why = (
        f"From the smallest to the largest β the median error of conditions changes so: {', '.join(told)}; Ambiguity "
        f"and PriView "
        f"err less than generalization in {wins} of {of} cases (the paper: always)."
    )
    claims |= {f"{name} errs less than generalization": found for name, found in better.items()}
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return mean and median errors."""
    return shown(rows, across="β")


STUDY = Study(
    paper="fragments",
    figure="Figure 14",
    says="a larger β makes groups smaller and errors of all three fall; Ambiguity and PriView are much better than "
    "generalization.",
    quick={"people": 10_000, "queries": 60, "grouped": 4, "betas": ("0.1", "0.2", "0.3")},
    full={"people": 100_000, "queries": 500, "grouped": 12, "betas": ("0.1", "0.2", "0.3")},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
)
