"""How near the diagonal are estimated answers?"""

from __future__ import annotations

import numpy as np

from sfumato.charts import Chart, altair
from sfumato.charts.svg import colour
from sfumato.query import true_answers
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED, Census
from sfumato.studies.domain.perturbation import answers_of, lineup, pool
from sfumato.studies.draw import titled, values
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict

LEAST = 0.001
SHOWN = ("Anatomy", "UP", "PP", "PP, likelihood")
DRAWN = 400
"""So many points a panel are drawn: more hide each other."""


def measure(source: Source, *, people: int, level: int, seed: int) -> Rows:
    """Return truth and estimate of every query of the paper's pool that passes the selectivity."""
    secret = source.secrets[0]
    table = source.table(secret, people)
    asked = pool(table, seed=1)
    truth = true_answers(table, asked).astype(float)
    kept = np.flatnonzero(truth >= LEAST * table.rows)
    rows = []
    for name, method, requirement, estimator in lineup(secret, level):
        if name in SHOWN:
            found = answers_of(method.run(table, requirement, random=seed).release, [asked[i] for i in kept], estimator)
            rows += [{"method": name, "act": a, "est": e} for a, e in zip(truth[kept].tolist(), found.tolist(), strict=True)]
    return rows


def draw(rows: Rows) -> Chart:
    """Return a cloud of (act, est) for each method, with the diagonal."""
    alt = altair()
    top = 1.05 * max(row["act"] for row in rows)
    low = max(min(0.0, *(row["est"] for row in rows)), -0.4 * top)
    sides = []
    for number, name in enumerate(SHOWN):
        mine = [row for row in rows if row["method"] == name]
        across = alt.X(
            "act:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(title="act", tickCount=4, format="~s")
        )
        title = "est" if number == 0 else None
        up = alt.Y("est:Q", scale=alt.Scale(domain=[low, top], nice=False), axis=alt.Axis(title=title, tickCount=5, format="~s"))
        every = max(1, len(mine) // DRAWN)
        shown = [{"act": round(row["act"]), "est": round(min(max(row["est"], low), top))} for row in mine[::every]]
        line = values([{"act": 0, "est": 0}, {"act": top, "est": top}])
        layer = alt.layer(
            line.mark_line(color=colour("axis"), strokeDash=[4, 4]).encode(x=across, y=up),
            values(shown).mark_circle(size=14, opacity=0.4, color=colour(0)).encode(x=across, y=up),
        )
        sides.append(titled(layer.properties(width=200, height=200), name))
    return alt.hconcat(*sides)


def strays(rows: Rows) -> dict[str, float]:
    """Return the root mean square distance from the diagonal, as a share of the mean answer."""
    found = {}
    for name in dict.fromkeys(row["method"] for row in rows):
        mine = np.array([[row["act"], row["est"]] for row in rows if row["method"] == name])
        found[name] = float(np.sqrt(((mine[:, 1] - mine[:, 0]) ** 2).mean()) / mine[:, 0].mean())
    return found


def judge(rows: Rows) -> Verdict:
    """Return whether PP is nearest to the diagonal."""
    far = strays(rows)
    why = (
        f"Points stray from the diagonal by {100 * far['PP']:.0f} % of the mean answer for PP, {100 * far['UP']:.0f} % for UP, "
        f"{100 * far['Anatomy']:.0f} % for Anatomy; with our estimator PP's by {100 * far['PP, likelihood']:.0f} %."
    )
    claims = {"PP's points are nearer the diagonal than UP's": far["PP"] < far["UP"]}
    claims["PP's points are nearer the diagonal than Anatomy's"] = far["PP"] < far["Anatomy"]
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return how far each strays."""
    return [{"method": name, "strays by, % of the mean answer": 100 * far} for name, far in strays(rows).items()]


STUDY = Study(
    paper="002",
    figure="Figure 3",
    says="PP has the best concentration of points (act, est) near the diagonal, before Anatomy and UP.",
    printed={"people": 300_000, "level": 6},
    full={"people": 300_000, "level": 6, "seeds": SEEDS},
    quick={"people": 100_000, "level": 6, "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: Census(secrets=("OCC",)),
    stand_in=(GENERATED,),
    pooled=True,
)
