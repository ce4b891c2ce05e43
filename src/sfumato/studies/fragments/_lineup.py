"""What 004's figures share: which methods are compared, and errors as rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sfumato
from sfumato.charts import Chart
from sfumato.methods.base import Method
from sfumato.studies.cells import Cell
from sfumato.studies.draw import lines
from sfumato.studies.fragments.ways import BOXES, PAPER, PRIVIEW, Asked, lineup
from sfumato.studies.study import Rows

METHODS: Mapping[str, Method] = {
    "Ambiguity": replace(PAPER, pick="greedy"),
    "Ambiguity, sampled pick": PAPER,
    "Ambiguity, disjoint boxes": BOXES,
    "PriView": replace(PRIVIEW, pick="pairs"),
    "PriView, sampled pick": PRIVIEW,
}
PAPERS = ("Ambiguity", "PriView")
"""Those of the paper, with the pick that it prints; the others are ours."""

GENERALIZATION = "generalization (Mondrian)"
MARGINALS = "one-way marginals"
KINDS = {"conditions": ("mean", "median"), "GROUP BY": ("grouped_mean", "grouped_median")}


def errors(table: sfumato.Table, beta: str, questions: Mapping[str, Asked], seed: int) -> list[dict[str, Any]]:
    """Return mean and median error per case, method and kind of question, all with the paper's estimator."""
    found = lineup(table, beta, METHODS, seed=seed)
    named = {name.partition(";")[0]: one for name, one in found.items() if one[1] == "paper"}
    rows = []
    for case, asked in questions.items():
        figures = {
            ("generalization (Mondrian)" if "Mondrian" in name else name): asked.errors(*one) for name, one in named.items()
        }
        figures[MARGINALS] = asked.of_marginals()
        for name, error in figures.items():
            for kind, (mean, median) in KINDS.items():
                told = {"case": case, "β": beta, "method": name, "questions": kind}
                rows.append({**told, "mean": getattr(error, mean), "median": getattr(error, median)})
    return rows


def chart(rows: Rows, *, x: str, x_title: str, panels: str = "") -> Chart:
    """Return median errors in percent, a panel for each kind of question."""
    drawn = [
        {**row, "percent": 100 * row["median"], "panel": f"{row[panels] + ', ' if panels else ''}{row['questions']}"}
        for row in rows
    ]
    return lines(
        drawn,
        x=x,
        y="percent",
        series="method",
        panel="panel",
        steps=True,
        log_y=True,
        x_title=x_title,
        y_title="median error, %",
    )


def shown(rows: Rows, *, across: str) -> list[dict[str, Cell]]:
    """Return mean / median in percent, a line for each method and kind of question."""
    lined: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        key = row["questions"], row["method"]
        line = lined.setdefault(key, {"questions": key[0], "mean / median error in %": key[1]})
        line[str(row[across])] = f"{100 * row['mean']:.0f} / {100 * row['median']:.0f}"
    return list(lined.values())


def less(rows: Rows, one: str, other: str, *, figure: str = "median") -> list[bool]:
    """Return case by case whether one method errs less than another."""
    found = {(row["case"], row["β"], row["questions"], row["method"]): row[figure] for row in rows}
    return [value < found[(*key[:3], other)] for key, value in found.items() if key[3] == one and (*key[:3], other) in found]
