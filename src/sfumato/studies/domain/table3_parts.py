"""How many parts does partitioning make, and how small are their domains?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from sfumato.charts import Chart
from sfumato.methods.small_domain import SmallDomain
from sfumato.release.randomized import RandomizedRelease
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED, Census
from sfumato.studies.domain.perturbation import rho
from sfumato.studies.draw import lines
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict

ORDERS: tuple[Literal["paper", "improved"], ...] = ("paper", "improved")
PRINTED = {
    100_000: (17, 15, 15.0, 2.6),
    200_000: (18, 8, 20.9, 2.7),
    300_000: (19, 10, 17.3, 2.6),
    400_000: (20, 11, 17.0, 2.6),
    500_000: (20, 12, 18.4, 2.8),
}
"""Table 3: initial groups, parts, mean m_i, mean γ_i at ρ2 = 1/6."""


def measure(source: Source, *, people: Sequence[int], level: int, seed: int) -> Rows:
    """Return groups, parts, mean domain and mean γ per size and order."""
    rows, secret = [], source.secrets[0]
    for many in people:
        for order in ORDERS:
            outcome = SmallDomain(order=order).run(source.table(secret, many), rho(secret, level), random=seed)
            release = cast("RandomizedRelease", outcome.release)
            rows.append(
                {
                    "people": many,
                    "order": order,
                    "groups": int(outcome.private["initial_groups"]),
                    "parts": len(release.parts),
                    "m": float(np.mean([len(part) for part in release.parts])),
                    "γ": float(np.mean([float(part.gamma or 0) for part in release.parts])),
                }
            )
    return rows


def draw(rows: Rows) -> Chart:
    """Return the mean domain against people."""
    drawn = [{"people": row["people"], "m": row["m"], "what": f"{row['order']} order"} for row in rows]
    drawn += [{"people": many, "m": told[2], "what": "the paper"} for many, told in PRINTED.items()]
    return lines(drawn, x="people", y="m", series="what", y_title="mean values of a part (50 in all)", width=460)


def judge(rows: Rows) -> Verdict:
    """Return whether domains shrink to less than half while γ stays."""
    small = all(row["m"] <= 25 for row in rows)
    same = all(abs(row["γ"] - 2.5) <= 0.5 for row in rows)
    printed = [row for row in rows if row["people"] in PRINTED]
    near = [abs(row["groups"] - PRINTED[row["people"]][0]) <= 2 for row in printed]
    many = [abs(row["parts"] - PRINTED[row["people"]][1]) <= 2 for row in printed if row["order"] == "paper"]

    def span(name: str, form: str) -> str:
        return f"{min(row[name] for row in rows):{form}}–{max(row[name] for row in rows):{form}}"

    why = (
        f"Parts have {span('m', '.1f')} values on average instead of 50 (the paper: 15.0–20.9), with a mean γ of "
        f"{span('γ', '.2f')} "
        f"(2.6–2.8), from {span('groups', 'g')} initial groups (17–20), and there are {span('parts', 'g')} of them (8–15)."
    )
    claims: Claims = {
        "domains of parts are at most half of the whole": small,
        "γ of parts stays close to 2.5 (to 0.5)": same,
        "initial groups are as many as printed, to 2": near,
        "parts are as many as printed, to 2, in the paper's order": many,
    }
    return Verdict(claims, why)


def shown(rows: Rows) -> list[dict[str, Cell]]:
    """Return the table beside the paper's."""
    lined = []
    for row in rows:
        told = PRINTED.get(row["people"])
        cells: dict[str, Cell] = {"people": row["people"], "order": row["order"]}
        for place, name in enumerate(("groups", "parts", "m", "γ")):
            cells |= {f"{name}, paper": told[place] if told else None, name: row[name]}
        lined.append(cells)
    return lined


STUDY = Study(
    paper="002",
    figure="Table 3",
    says="the domains of parts (15 to 21 values) are much smaller than 50, while γ of parts stays close to that of "
    "the whole, 2.5.",
    printed={"people": (100_000, 200_000, 300_000, 400_000, 500_000), "level": 6},
    full={"people": (100_000, 200_000, 300_000, 400_000, 500_000), "level": 6, "seeds": SEEDS},
    quick={"people": (50_000, 100_000), "level": 6, "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=shown,
    source=lambda: Census(secrets=("OCC",)),
    stand_in=(GENERATED,),
)
