"""How often does uniform perturbation keep a value, against the size of the domain?"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.charts import Chart
from sfumato.randomize.uniform import retention
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS
from sfumato.studies.draw import lines
from sfumato.studies.source import Source
from sfumato.studies.study import Rows, Study, Verdict

PRINTED = {77: (5, 1), 70: (5, 1), 50: (7, 2), 14: (22, 6), 9: (31, 8), 7: (36, 9), 6: (40, 10), 2: (67, 17)}
"""Table 1: p and q in percent for the domain sizes of eight census columns."""


def measure(_: Source, *, gamma: int, sizes: Sequence[int]) -> Rows:
    """Return p and q per domain size."""
    rows = []
    for size in sizes:
        p = retention(Fraction(gamma), size)
        rows.append({"m": size, "p": float(p), "q": float((1 - p) / size)})
    return rows


def draw(rows: Rows) -> Chart:
    """Return p and q against m."""
    named = {"p": "p, kept", "q": "q, each other value"}
    drawn = [{"m": row["m"], "percent": 100 * row[key], "what": name} for key, name in named.items() for row in rows]
    return lines(drawn, x="m", y="percent", series="what", x_title="values of the domain, m", y_title="%", width=460)


def judge(rows: Rows) -> Verdict:
    """Return whether every printed figure is ours, rounded."""
    same = [(round(100 * row["p"]), round(100 * row["q"])) == PRINTED[row["m"]] for row in rows]
    largest = max(rows, key=lambda row: row["m"])
    why = (
        f"{sum(same)} of {len(same)} columns of the table come out as printed; with {largest['m']} values "
        f"{100 * largest['p']:.0f} % "
        f"of them are kept."
    )
    return Verdict({"every figure of the table comes out as printed": same}, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return p and q beside those printed."""
    return [
        {
            "m": row["m"],
            "p, paper": f"{PRINTED[row['m']][0]} %",
            "p": f"{100 * row['p']:.1f} %",
            "q, paper": f"{PRINTED[row['m']][1]} %",
            "q": f"{100 * row['q']:.1f} %",
        }
        for row in rows
    ]


STUDY = Study(
    paper="002",
    figure="Table 1",
    says="at γ = 5 a value is kept with p = 5 % in a domain of 77 values, 22 % in one of 14 and 67 % in one of 2.",
    printed={"gamma": 5, "sizes": tuple(PRINTED)},
    full={"gamma": 5, "sizes": tuple(PRINTED)},
    quick={"gamma": 5, "sizes": tuple(PRINTED)},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    own=False,
)
