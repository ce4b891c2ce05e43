"""Which of generalization, permutation and Ambiguity hides presence, hides association, and loses how much?

Presence is a stranger's belief that a member is in the table, combined over all groups that cover her; permutation (Anatomy)
shows exact quasi values and so tells it. Association is the belief in a sensitive value of somebody known to be in the table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

import sfumato
from sfumato.charts import Chart
from sfumato.errors import FormatError
from sfumato.methods.base import Method
from sfumato.privacy.requirement import Requirement
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.draw import bars
from sfumato.studies.fragments.ways import ALPHA, BOXES, CENSUS, PAPER, Asked, needs
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict

GENERALIZATION, PERMUTATION, AMBIGUITY, OURS = "generalization", "permutation", "Ambiguity", "Ambiguity, boxes"
PRINTED = {GENERALIZATION: ("yes", "yes", "worst"), PERMUTATION: ("yes", "no", "best"), AMBIGUITY: ("yes", "yes", "between")}
"""Presence, association, loss. The text says of permutation that it protects association and not presence: the row "
"is swapped."""


def measure(source: Source, *, people: int, queries: int, grouped: int, l: int, seed: int) -> Rows:
    """Return presence, association and error of each technique at β = 1/ℓ."""
    table = source.table(source.secrets[0], people)
    asked = Asked.draw(table, queries=queries, grouped=grouped, columns=3, selectivity=0.05, seed=seed)
    beta = f"1/{l}"
    bound = sfumato.FPrivacy(theta=0, offset=beta, against="reader")
    made: dict[str, tuple[Method, Requirement]] = {
        GENERALIZATION: (sfumato.Mondrian(), bound),
        PERMUTATION: (sfumato.Anatomy(l=l), sfumato.LDiversity(l, against="reader")),
        AMBIGUITY: (replace(PAPER, pick="greedy"), needs(ALPHA, beta)),
        OURS: (BOXES, needs(ALPHA, beta)),
    }
    some = np.random.default_rng(7).permutation(table.rows)[:2_000]
    members = pa.table({column.name: column.take(some).arrow() for column in table.quasi})
    rows = []
    for name, (method, requirement) in made.items():
        release = method.run(table, requirement, random=seed).release
        try:
            presence = release.presence(members)
        except FormatError:  # it shows exact quasi values
            presence = np.ones(len(some))
        error = asked.errors(release, "paper")
        rows.append(
            {
                "technique": name,
                "mean presence": float(presence.mean()),
                "over α": float((presence > float(ALPHA) + 1e-12).mean()),
                "association": float(release.mean_beliefs(members).max()),
                "β": 1 / l,
                "mean error": error.mean,
                "median error": error.median,
                "grouped": error.grouped_mean,
            }
        )
    return rows


def draw(rows: Rows) -> Chart:
    """Return presence, association and error of each technique."""
    named = {"over α": f"members over α = {ALPHA}", "association": "largest association", "median error": "median error"}
    drawn = [{"technique": row["technique"], "y": row[key], "what": name} for key, name in named.items() for row in rows]
    return bars(drawn, x="technique", y="y", panel="what", y_title="share", labels=True, width=200)


def judge(rows: Rows) -> Verdict:
    """Return whether Ambiguity protects both, and loses less than generalization and more than permutation."""
    found = {row["technique"]: row for row in rows}
    presence = found[AMBIGUITY]["over α"] == 0
    association = found[AMBIGUITY]["association"] <= found[AMBIGUITY]["β"] + 1e-9
    error = {name: row["median error"] for name, row in found.items()}
    between = error[PERMUTATION] < error[AMBIGUITY] < error[GENERALIZATION]
    why = (
        f"Association {'stays within β everywhere' if association else 'is over β for some'}; "
        f"presence, combined over the groups that cover a person, is believed over "
        f"α = {ALPHA} for {100 * found[AMBIGUITY]['over α']:.0f} % of members under the paper's groups "
        f"({100 * found[OURS]['over α']:.0f} % with disjoint boxes, {100 * found[GENERALIZATION]['over α']:.0f} % with "
        f"generalization), and conditions are off by {100 * error[AMBIGUITY]:.0f} % in the median under Ambiguity, "
        f"{100 * error[GENERALIZATION]:.0f} % under generalization, {100 * error[PERMUTATION]:.0f} % under permutation. "
        f"Permutation's row is printed with its columns swapped: it hides association, not presence."
    )
    claims = {
        "Ambiguity protects presence: nobody is over α": presence,
        "Ambiguity protects association: nobody is over β": association,
        "Ambiguity loses less than generalization and more than permutation": between,
    }
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return the comparison, the paper's words beside."""
    return [
        {
            "technique": row["technique"],
            "paper: presence / association / loss": " / ".join(PRINTED.get(row["technique"], ("–",))),
            "members over α": f"{100 * row['over α']:.1f} %",
            "mean presence": row["mean presence"],
            "largest association": row["association"],
            "conditions, mean / median error": f"{row['mean error']:.2f} / {row['median error']:.2f}",
            "GROUP BY, mean error": row["grouped"],
        }
        for row in rows
    ]


STUDY = Study(
    paper="004",
    figure="Figure 3",
    says="Ambiguity protects presence and association, with a loss between generalization's (worst) and permutation's (best).",
    printed={},
    full={"people": 100_000, "queries": 500, "grouped": 12, "l": 5, "seeds": SEEDS},
    quick={"people": 10_000, "queries": 100, "grouped": 6, "l": 5, "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
