"""Mean relative error of PP, UP and Anatomy with 002's queries: Figures 2 and 4 ask the same of two tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.charts import Chart
from sfumato.query import true_answers
from sfumato.studies.cells import Cell
from sfumato.studies.domain.perturbation import answers_of, lineup, pool
from sfumato.studies.draw import lines
from sfumato.studies.results import kept
from sfumato.studies.source import Source
from sfumato.studies.study import Claims, Rows

SELECTIVITIES = (0.001, 0.005, 0.01)


def errors(source: Source, secret: str, level: int, people: int, seed: int) -> list[dict[str, object]]:
    """Return the mean error per method and smallest selectivity."""
    table = source.table(secret, people)
    asked = pool(table, seed=seed)
    truth = true_answers(table, asked).astype(float)
    kept = np.flatnonzero(truth >= min(SELECTIVITIES) * table.rows)
    chosen, actual = [asked[i] for i in kept], truth[kept]
    rows: list[dict[str, object]] = []
    made = {}
    for name, method, requirement, estimator in lineup(secret, level):
        family = name.partition(",")[0]
        if family not in made:
            made[family] = method.run(table, requirement, random=seed).release
        off = np.abs(answers_of(made[family], chosen, estimator) - actual) / actual
        for least in SELECTIVITIES:
            passing = off[actual >= least * table.rows]
            told = {"L": level, "people": people, "method": name, "selectivity": least, "queries": len(passing)}
            rows.append({**told, "error": float(passing.mean()) if len(passing) else None})
    return rows


def study(source: Source, secret: str, levels: Sequence[int], people: int, sizes: Sequence[int], seed: int) -> Rows:
    """Return errors against L at one size, and against people at the first L."""

    def case(level: int, people: int) -> Rows:
        asked = {"secret": secret, "level": level, "people": people}
        return kept(asked, lambda: errors(source, secret, level, people, seed))

    rows = [{**row, "against": "L"} for level in levels for row in case(level, people)]
    for size in sizes:
        known = [row for row in rows if (row["L"], row["people"], row["against"]) == (levels[0], size, "L")]
        again = known or case(levels[0], size)
        rows += [{**row, "against": "|T|"} for row in again]
    return rows


def chart(rows: Rows) -> Chart:
    """Return error against L, and against people, a panel for each smallest selectivity."""
    drawn = [
        {
            "x": f"{row['people'] // 1000}K" if against == "|T|" else str(row["L"]),
            "percent": 100 * row["error"],
            "method": row["method"],
            "panel": f"against {row['against']}, selectivity ≥ {100 * row['selectivity']:g} %",
        }
        for against in ("L", "|T|")
        for least in SELECTIVITIES
        for row in rows
        if row["against"] == against and row["selectivity"] == least and row["error"] is not None
    ]
    return lines(
        drawn,
        x="x",
        y="percent",
        series="method",
        panel="panel",
        steps=True,
        columns=3,
        x_title="",
        y_title="mean relative error, %",
        width=230,
        height=180,
        log_y=True,
    )


def compared(rows: Rows, one: str, other: str) -> list[float]:
    """Return the error of one method as a share of another's, for every case."""
    found = {(row["against"], row["L"], row["people"], row["selectivity"], row["method"]): row["error"] for row in rows}
    cases = dict.fromkeys(key[:4] for key, error in found.items() if error is not None)
    return [found[(*case, one)] / found[(*case, other)] for case in cases]


def gains(rows: Rows) -> Claims:
    """Return whether PP errs less under a larger ρ2 = 1/L, and where answers are larger."""
    mine = [row for row in rows if row["method"] == "PP" and row["against"] == "L" and row["error"] is not None]
    error = {(row["L"], row["selectivity"]): row["error"] for row in mine}
    levels, shares = sorted({level for level, _ in error}), sorted({share for _, share in error})
    return {
        "PP gains from a larger ρ2, at every selectivity": [error[levels[0], s] < error[levels[-1], s] for s in shares],
        "PP gains from larger answers, at every ρ2": [error[one, shares[-1]] < error[one, shares[0]] for one in levels],
    }


def shown(rows: Rows) -> list[dict[str, Cell]]:
    """Return errors in percent against L, a line for each method."""
    lined: dict[str, dict[str, Cell]] = {}
    for row in rows:
        if row["against"] == "L" and row["selectivity"] == min(SELECTIVITIES) and row["error"] is not None:
            line = lined.setdefault(row["method"], {"selectivity ≥ 0.1 %, error in %": row["method"]})
            line[f"L = {row['L']}"] = 100 * row["error"]
    return list(lined.values())
