"""How are the sensitive values distributed?"""

from __future__ import annotations

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED
from sfumato.studies.draw import bars
from sfumato.studies.source import Source, counts
from sfumato.studies.study import Rows, Study, Verdict

PRINTED = {"OCC": (0.075, 0.0018), "EDU": (0.273, 0.0044)}
"""The largest and the smallest share that the papers give, at 300,000 people."""


def measure(source: Source, *, people: int) -> Rows:
    """Return the share of every value, the largest first."""
    rows = []
    for secret in source.secrets:
        held = counts(source, secret, people).values()
        shares = sorted((count / sum(held) for count in held), reverse=True)
        rows += [{"table": secret, "rank": rank, "share": share} for rank, share in enumerate(shares, 1)]
    return rows


def draw(rows: Rows) -> Chart:
    """Return the shares as bars."""
    drawn = [{**row, "percent": 100 * row["share"]} for row in rows]
    return bars(drawn, x="rank", y="percent", panel="table", x_title="values, the most frequent first", y_title="people, %")


def ends(rows: Rows) -> dict[str, tuple[int, float, float]]:
    """Return per table how many values there are, the largest share and the smallest."""
    found = {}
    for attribute in dict.fromkeys(row["table"] for row in rows):
        shares = [row["share"] for row in rows if row["table"] == attribute]
        found[attribute] = (len(shares), max(shares), min(shares))
    return found


def judge(rows: Rows) -> Verdict:
    """Return whether the ends of both distributions are near those printed."""
    claims = {}
    told = []
    for attribute, (many, largest, smallest) in ends(rows).items():
        printed = PRINTED.get(attribute, PRINTED["OCC"])
        claims[f"{attribute}: the largest share is as printed, to a tenth"] = abs(largest / printed[0] - 1) <= 0.1
        claims[f"{attribute}: the smallest share is as printed, to a quarter"] = abs(smallest / printed[1] - 1) <= 0.25
        told.append(f"{attribute} has {many} values with shares from {100 * largest:.1f} % to {100 * smallest:.2f} %")
    return Verdict(claims, f"{'; '.join(told)}.")


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return the ends beside those printed."""
    return [
        {
            "table": attribute,
            "values": many,
            "largest, paper": f"{100 * PRINTED[attribute][0]:.1f} %" if attribute in PRINTED else None,
            "largest": f"{100 * largest:.1f} %",
            "smallest, paper": f"{100 * PRINTED[attribute][1]:.2f} %" if attribute in PRINTED else None,
            "smallest": f"{100 * smallest:.2f} %",
        }
        for attribute, (many, largest, smallest) in ends(rows).items()
    ]


STUDY = Study(
    paper="001",
    figure="Figure 2",
    says="Occupation is balanced (at most 7.5 %, at least 0.18 %), Education is skewed (27.3 % and 0.44 %).",
    printed={"people": 300_000},
    full={"people": 300_000},
    quick={"people": 50_000},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
