"""How far are answers from the truth, against selectivity and the number of columns asked?

Questions as conditions, and GROUP BY over cells, which is the paper's form; all with the paper's estimator. One-way marginals of
the original stand beside: who knows only them knows nothing of how columns go together.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.fragments._lineup import GENERALIZATION, KINDS, MARGINALS, PAPERS, chart, errors, less, shown
from sfumato.studies.fragments.ways import BETA, CENSUS, Asked
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict


def measure(
    source: Source,
    *,
    people: int,
    queries: int,
    grouped: int,
    selectivities: Sequence[float],
    columns: Sequence[int],
    seed: int,
) -> Rows:
    """Return errors per question, method and kind."""
    table = source.table(source.secrets[0], people)
    cases = [(3, one) for one in selectivities] + [(many, 0.05) for many in columns if many != 3]
    questions = {
        f"{100 * share:g} %, {many}": Asked.draw(
            table, queries=queries, grouped=grouped, columns=many, selectivity=share, seed=seed
        )
        for many, share in cases
    }
    return errors(table, BETA, questions, seed)


def draw(rows: Rows) -> Chart:
    """Return errors against the questions."""
    return chart(rows, x="case", x_title="selectivity, columns")


def judge(rows: Rows) -> Verdict:
    """Return whether PriView beats Ambiguity, and Ambiguity generalization, in every case."""
    priview, ambiguity = less(rows, "PriView", "Ambiguity"), less(rows, "Ambiguity", GENERALIZATION)
    marginals = less(rows, "Ambiguity", MARGINALS)
    why = (
        f"By medians PriView errs less than Ambiguity in {sum(priview)} of {len(priview)} cases and Ambiguity less than "
        f"generalization "
        f"in {sum(ambiguity)} of {len(ambiguity)} (the paper: always); one-way marginals alone, which say nothing of how "
        f"columns go "
        f"together, err more than Ambiguity in only {sum(marginals)} of {len(marginals)}."
    )
    claims: Claims = {
        "PriView errs less than Ambiguity": priview,
        "Ambiguity errs less than generalization": ambiguity,
    }
    return Verdict(claims | grows(rows), why)


def grows(rows: Rows) -> Claims:
    """Return whether more columns asked are answered worse, at the selectivity where they are varied, and more people better."""
    error = {(row["case"], row["method"], row["questions"]): row["median"] for row in rows}
    at = {int(case.split(", ")[1]): case for case, _, _ in error if case.startswith("5 %")}
    few, many = at[min(at)], at[max(at)]
    worse = [error[many, who, kind] > error[few, who, kind] for who in PAPERS for kind in KINDS]
    shares = {float(case.split(" %")[0]): case for case, _, _ in error if case.endswith(f", {min(at)}")}
    rare, frequent = shares[min(shares)], shares[max(shares)]
    falls = [error[frequent, who, kind] < error[rare, who, kind] for who in (*PAPERS, GENERALIZATION) for kind in KINDS]
    return {
        "Ambiguity and PriView err more the more columns are asked": worse,
        "all three err less the more people are asked about (its 'selectivity' of 1, 5 and 10 %)": falls,
    }


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return mean and median errors."""
    return shown(rows, across="case")


STUDY = Study(
    paper="004",
    figure="Figure 13",
    says="PriView always wins over Ambiguity, and Ambiguity always over generalization; error grows with the columns asked and "
    "falls when queries are more selective.",
    printed={"selectivities": (0.01, 0.05, 0.1), "columns": (3, 4, 5)},
    full={
        "people": 100_000,
        "queries": 500,
        "grouped": 12,
        "selectivities": (0.01, 0.05, 0.1),
        "columns": (3, 4, 5),
        "seeds": SEEDS,
    },
    quick={"people": 10_000, "queries": 60, "grouped": 4, "selectivities": (0.01, 0.05, 0.1), "columns": (3, 4, 5), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
