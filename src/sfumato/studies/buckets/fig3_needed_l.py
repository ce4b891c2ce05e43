"""Which ℓ would ℓ-diversity need to keep the bounds θ·f + 0.02?

The papers print no ℓ; the ℓ beside ours follows from the smallest shares that they give (0.18 % and 0.44 %).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.charts import Chart
from sfumato.exact import ceil_inverse
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED, OFFSET, THETAS
from sfumato.studies.draw import lines
from sfumato.studies.source import Source, bounds
from sfumato.studies.study import Rows, Study, Verdict

SMALLEST = {"OCC": Fraction("0.0018"), "EDU": Fraction("0.0044")}
LARGEST_L = {"OCC": 13, "EDU": 3}


def measure(source: Source, *, people: int, thetas: Sequence[int]) -> Rows:
    """Return per table and θ the ℓ that is needed and the largest that any bucketization can keep."""
    rows = []
    for secret in source.secrets:
        for theta in thetas:
            given = bounds(source, secret, people, theta)
            smallest = SMALLEST.get(secret)
            paper = None if smallest is None else ceil_inverse(theta * smallest + Fraction(OFFSET))
            possible = int(1 / max(given.shares))
            rows.append({"table": secret, "θ": theta, "needed": max(given.needs), "paper": paper, "possible": possible})
    return rows


def draw(rows: Rows) -> Chart:
    """Return ℓ against θ."""
    named = {"needed": "ℓ needed", "paper": "ℓ needed, the papers' smallest share", "possible": "largest ℓ possible"}
    drawn = [{**row, "ℓ": row[key], "what": name} for row in rows for key, name in named.items()]
    return lines(drawn, x="θ", y="ℓ", series="what", panel="table", steps=True)


def judge(rows: Rows) -> Verdict:
    """Return whether ℓ is large but for θ = 32, and mostly impossible."""
    impossible = sum(row["needed"] > row["possible"] for row in rows)
    large = all(row["needed"] >= 10 for row in rows if row["θ"] < 32)
    apart = max((abs(row["needed"] - row["paper"]) for row in rows if row["paper"] is not None), default=0)
    tops = {row["table"]: row["possible"] for row in rows}
    why = (
        f"ℓ-diversity that keeps these bounds is impossible in {impossible} of {len(rows)} cases (no ℓ above "
        f"{', '.join(f'{top} for {name}' for name, top in tops.items())}; the papers: "
        f"{LARGEST_L['OCC']} and {LARGEST_L['EDU']}); the ℓ needed is "
        f"{min(row['needed'] for row in rows)} to {max(row['needed'] for row in rows)}, at most {apart} from what "
        f"follows from the "
        f"papers' smallest shares."
    )
    claims = {"ℓ is at least 10 for θ below 32": large, "in most cases no ℓ-diverse release exists": impossible > len(rows) / 2}
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return ℓ beside the papers'."""
    return [
        {
            "table": row["table"],
            "θ": row["θ"],
            "ℓ needed, paper's shares": row["paper"],
            "ℓ needed": row["needed"],
            "largest ℓ, paper": LARGEST_L.get(row["table"]),
            "largest ℓ": row["possible"],
            "ℓ-diversity": "possible" if row["needed"] <= row["possible"] else "impossible",
        }
        for row in rows
    ]


STUDY = Study(
    paper="001",
    figure="Figure 3",
    says="except for θ = 32 a rather large ℓ is required, and for most θ no ℓ-diverse release exists (ℓ ≥ 14 for "
    "OCC, ≥ 4 for EDU).",
    printed={"people": 300_000, "thetas": THETAS},
    full={"people": 300_000, "thetas": THETAS},
    quick={"people": 50_000, "thetas": THETAS},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
