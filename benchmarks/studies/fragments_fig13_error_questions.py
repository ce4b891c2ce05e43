"""How far are answers from the truth, against selectivity and the number of columns asked?

Questions as conditions, and GROUP BY over cells, which is the paper's form; all with the paper's estimator. One-way marginals of
the original stand beside: who knows only them knows nothing of how columns go together.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks._fragments import BETA, Asked, census_table
from benchmarks._show import Cell
from benchmarks.studies._fragments_lineup import GENERALIZATION, MARGINALS, chart, errors, less, shown
from benchmarks.studies._study import Rows, Study, Verdict, weigh
from sfumato.charts import Chart


def measure(*, people: int, queries: int, grouped: int, selectivities: Sequence[float], columns: Sequence[int]) -> Rows:
    """Return errors per question, method and kind."""
    table = census_table(people, "occupation")
    cases = [(3, one) for one in selectivities] + [(many, 0.05) for many in columns if many != 3]
    questions = {
        f"{100 * share:g} %, {many}": Asked.draw(table, queries=queries, grouped=grouped, columns=many, selectivity=share)
        for many, share in cases
    }
    return errors(table, BETA, questions)


def draw(rows: Rows) -> Chart:
    """Return errors against the questions."""
    return chart(rows, x="case", x_title="selectivity, columns")


def judge(rows: Rows) -> Verdict:
    """Return whether PriView beats Ambiguity, and Ambiguity generalization, in every case."""
    priview, ambiguity = less(rows, "PriView", "Ambiguity"), less(rows, "Ambiguity", GENERALIZATION)
    marginals = less(rows, "Ambiguity", MARGINALS)
    why = (
        f"By medians PriView errs less than Ambiguity in {priview[0]} of {priview[1]} cases and Ambiguity less than "
        f"generalization "
        f"in {ambiguity[0]} of {ambiguity[1]} (the paper: always); one-way marginals alone, which say nothing of how "
        f"columns go "
        f"together, err more than Ambiguity in only {marginals[0]} of {marginals[1]}."
    )
    every = priview[0] == priview[1], ambiguity[0] == ambiguity[1]
    some = priview[0] > priview[1] / 2 or ambiguity[0] > ambiguity[1] / 2
    return Verdict("holds in part" if some and not all(every) else weigh(*every), why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return mean and median errors."""
    return shown(rows, across="case")


STUDY = Study(
    paper="fragments",
    figure="Figure 13",
    says="PriView always wins over Ambiguity, and Ambiguity always over generalization; error grows with the columns asked.",
    quick={"people": 10_000, "queries": 60, "grouped": 4, "selectivities": (0.01, 0.05, 0.1), "columns": (3, 4, 5)},
    full={"people": 100_000, "queries": 500, "grouped": 12, "selectivities": (0.01, 0.05, 0.1), "columns": (3, 4, 5)},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
)
