"""Does a differentially private pair of counts still reveal a share?

Two counts x (a group) and y ≤ x (those of it with a value) are answered with Laplace noise of scale b = 1/ε; their ratio
estimates the share y/x. The theorem's mean and variance are Taylor values: X has density at 0, so the true moments do not
exist. Median and moments of the ratio clipped to [0, 1] do, and stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.attacks.differential import theorem
from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS
from sfumato.studies.draw import lines
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict

KNOWN = 0.05
"""A share is known when the clipped ratio strays from it by this much or less."""


def measure(source: Source, *, epsilon: float, share: float, draws: int, repeats: int, people: Sequence[int], seed: int) -> Rows:
    """Return the theorem's mean and variance of the ratio beside drawn ones."""
    coins = np.random.default_rng(seed)
    b = 1 / epsilon
    rows = []
    for x in people:
        y = share * x
        variances = []
        for _ in range(repeats):
            ratio = (y + coins.laplace(0, b, draws)) / (x + coins.laplace(0, b, draws))
            variances.append(float(ratio.var()))
        mean, variance = theorem(x, y, b)
        clipped = np.clip(ratio, 0, 1)
        rows.append(
            {
                "x": x,
                "share": share,
                "mean by theorem": mean / share,
                "variance by theorem": variance,
                "median drawn": float(np.median(ratio)) / share,
                "least variance drawn": min(variances),
                "largest variance drawn": max(variances),
                "clipped off by": float(np.sqrt(((clipped - share) ** 2).mean())),
            }
        )
    return rows


def draw(rows: Rows) -> Chart:
    """Return the standard deviation by the theorem, and how far the clipped ratio strays, against x."""
    drawn = [{"x": row["x"], "y": row["variance by theorem"] ** 0.5, "what": "by the theorem"} for row in rows]
    drawn += [{"x": row["x"], "y": row["clipped off by"], "what": "clipped to [0, 1], drawn"} for row in rows]
    return lines(
        drawn,
        x="x",
        y="y",
        series="what",
        log_x=True,
        log_y=True,
        x_title="people of the group, x",
        y_title="strays by",
        width=460,
    )


def judge(rows: Rows) -> Verdict:
    """Return whether the share is known, and whether the theorem's variance is the drawn one."""
    known = [row["x"] for row in rows if row["clipped off by"] <= KNOWN]
    hundred = next(row for row in rows if row["x"] == 100)
    revealed = bool(known)
    exact = all(row["largest variance drawn"] <= 1.5 * row["variance by theorem"] for row in rows)
    why = (
        f"A pair of noisy counts tells a share to within {100 * KNOWN:g} points from {min(known):,} people on" if revealed else ""
    )
    why += f"; the theorem's mean at x = 100 is {hundred['mean by theorem']:.2f} · y/x as printed"
    if not exact:
        why += (
            f", but its variance ({hundred['variance by theorem']:.2f}) is a Taylor value: X has density at 0, no moment exists, "
            f"and drawn ones range from {hundred['least variance drawn']:.2f} to {hundred['largest variance drawn']:.3g}"
        )
    claims = {
        f"a pair of noisy counts reveals a share (to {100 * KNOWN:g} points)": revealed,
        "the theorem's variance is that of the ratio": exact,
    }
    return Verdict(claims, why + ".")


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return the table of the theorem, with the value that the paper prints."""
    return [
        {
            "x": row["x"],
            "mean / true, paper": "1.02" if row["x"] == 100 else None,
            "mean / true, theorem": row["mean by theorem"],
            "median / true, drawn": row["median drawn"],
            "variance, theorem": row["variance by theorem"],
            "variance, drawn": f"{row['least variance drawn']:.3g} – {row['largest variance drawn']:.3g}",
            "clipped strays by": row["clipped off by"],
        }
        for row in rows
    ]


STUDY = Study(
    paper="001",
    figure="Theorem 2",
    says="noise that hides a person hides no share: E[Y/X] ≈ (y/x)(1 + 2b²/x²) and Var ≈ (2b²/x²)(1 + (y/x)²), "
    "so at ε = 0.1 and x = 100 the ratio is 1.02 · y/x.",
    printed={"epsilon": 0.1, "people": (100,)},
    full={"epsilon": 0.1, "share": 0.9, "draws": 200_000, "repeats": 20, "people": (20, 50, 100, 200, 500, 1000), "seeds": SEEDS},
    quick={"epsilon": 0.1, "share": 0.9, "draws": 100_000, "repeats": 5, "people": (20, 50, 100, 200, 1000), "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    own=False,
)
