"""How far are answers from the truth, against β?

Selectivity 5 %, three columns, the paper's estimator.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.fragments._lineup import GENERALIZATION, chart, errors, less, shown
from sfumato.studies.fragments.ways import CENSUS, IMPOSSIBLE, Asked
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict

COMPARED = ("Ambiguity", "PriView", GENERALIZATION)


def measure(source: Source, *, people: int, queries: int, grouped: int, betas: Sequence[str], seed: int) -> Rows:
    """Return errors per β, method and kind of question."""
    table = source.table(source.secrets[0], people)
    asked = {"5 %, 3": Asked.draw(table, queries=queries, grouped=grouped, columns=3, selectivity=0.05, seed=seed)}
    return [row for beta in betas for row in errors(table, beta, asked, seed)]


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
    paper="004",
    figure="Figure 14",
    says="a larger β makes groups smaller and errors of all three fall; Ambiguity and PriView are much better than "
    "generalization.",
    printed={"betas": ("0.025", "0.05", "0.1")},
    full={"people": 100_000, "queries": 500, "grouped": 12, "betas": ("0.1", "0.2", "0.3"), "seeds": SEEDS},
    quick={"people": 10_000, "queries": 60, "grouped": 4, "betas": ("0.1", "0.2", "0.3"), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED, IMPOSSIBLE),
)
