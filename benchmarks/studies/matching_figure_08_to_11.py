"""Who errs less and who is told more: β-likeness, or differential privacy at ε = ln(1 + β)?

Naive Bayes, with Laplace's correction, names everybody's likeliest value from what a release teaches. Errors are the median
relative ones of range counts over three quasi columns and the secret, selectivity 10 %, by each release's own estimator. Sweeps
of λ, Θ and prefixes are drawn on the page about attacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks._likeness import WAYS
from benchmarks._show import Cell
from benchmarks.attack_study import USUAL, both
from benchmarks.attack_study import measure as found_of
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Rows, Study, Verdict, weigh
from sfumato.charts import Chart

SCHEMES, OTHERS = ("HG", "SG", "GR"), ("BuReL", "PrivBayes")
QUICK = (*SCHEMES, *OTHERS, "near groups", "soft boxes")


def measure(*, small: bool, betas: Sequence[int], draws: int, ways: Sequence[str]) -> Rows:
    """Return success of naive Bayes and median error of every way and β, on both tables."""
    rows = list[dict[str, Any]]()
    for studied in both(small):
        counts = studied.asked.table.sensitive.counts
        for way in ways:
            for beta, one in zip(betas, found_of(print, studied, way, betas, draws), strict=True):
                if one is not None:
                    right, error = one.right[""], one.errors[USUAL]
                    known = {"table": studied.name, "way": way, "beta": beta, "largest": float(counts.max() / counts.sum())}
                    rows.append({**known, "right": right, "error": error, "exact": one.exact.get(USUAL)})
    return rows


def draw(rows: Rows) -> Chart:
    """Return error and success against β, a panel for each table."""
    both: list[dict[str, Any]] = []
    for name in dict.fromkeys(row["table"] for row in rows):
        for key, what in (("error", "median error"), ("right", "named rightly")):
            both += [{**row, "y": min(row[key], 1.0), "panel": f"{what}, {name}"} for row in rows if row["table"] == name]
    return lines(both, x="beta", y="y", series="way", panel="panel", x_title="β", y_title="", steps=True)


def judge(rows: Rows) -> Verdict:
    """Return whether the schemes err less than BuReL and PrivBayes, and whether they tell naive Bayes less than PrivBayes."""

    def mean(way: str, key: str) -> float:
        mine = [row[key] for row in rows if row["way"] == way]
        return float(sum(mine) / len(mine))

    error = {way: mean(way, "error") for way in (*SCHEMES, *OTHERS, "soft boxes")}
    right = {way: mean(way, "right") for way in (*SCHEMES, *OTHERS, "soft boxes")}
    largest = sum(row["largest"] for row in rows) / len(rows)
    burel = all(error[way] < error["BuReL"] for way in SCHEMES)
    noise = all(error[way] < error["PrivBayes"] for way in SCHEMES)
    safer = all(right[way] < right["PrivBayes"] for way in SCHEMES)
    why = f"Over both tables and all β the median error of HG is {error['HG']:.2f}, of BuReL {error['BuReL']:.2f}, of PrivBayes "
    why += f"{error['PrivBayes']:.2f} and of soft boxes {error['soft boxes']:.2f}; naive Bayes names {100 * right['HG']:.1f} % "
    why += f"of people from HG, {100 * right['BuReL']:.1f} % from BuReL, {100 * right['PrivBayes']:.1f} % from PrivBayes and "
    why += (
        f"{100 * right['soft boxes']:.1f} % from soft boxes; always naming the largest value is right for {100 * largest:.1f} %."
    )
    return Verdict(weigh(burel, noise, safer), why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return every figure."""
    names = {"error": "median error", "exact": "with exact quasi counts", "right": "named rightly"}
    return [
        {"table": r["table"], "way": r["way"], "β": r["beta"], **{words: r[key] for key, words in names.items()}} for r in rows
    ]


STUDY = Study(
    paper="matching",
    figure="Figures 8 to 11",
    says="the schemes err up to 4 times less than BuReL and PrivBayes on the census and 10 times less on COIL 2000, and resist "
    "naive Bayes, which names more people from PrivBayes' records.",
    quick={
        "small": True,
        "betas": (3, 10),
        "draws": 1,
        "ways": QUICK,
    },
    full={"small": False, "betas": (1, 3, 10, 20, 50), "draws": 3, "ways": tuple(WAYS)},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
)
