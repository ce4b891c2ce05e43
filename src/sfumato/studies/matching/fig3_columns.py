"""What do more quasi columns cost under ℓ-diversity?"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.matching._lineup import HG, NH, TUNED_NH, along, at, diverse, drawn, narrower, tables
from sfumato.studies.matching.published import diversity
from sfumato.studies.matching.tables import CENSUS
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict


def measure(source: Source, *, people: int, columns: Sequence[int], ell: int, skew: float, effort: float, seed: int) -> Rows:
    """Return GCP and seconds of every method against the number of quasi columns, on three tables."""
    rows = []
    for name, table in tables(source, people, skew).items():
        rows += along("d", narrower(table, columns, diversity(ell)), diverse(effort), seed=seed, table=name)
    return rows


def judge(rows: Rows) -> Verdict:
    """Return from how many columns on HG loses less than NH, and whether loss falls with columns on the census."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    places = sorted({row["at"] for row in rows})
    won = {name: [d for d in places if at(rows, HG, d, table=name)[0] < at(rows, NH, d, table=name)[0]] for name in names}
    loss = at(rows, HG, table=names[0])
    told = ", ".join(f"{name} at d = {' '.join(f'{d:g}' for d in one) or 'none'}" for name, one in won.items())
    why = f"HG loses less than published NH on {told}; on the census HG's loss goes from {loss[0]:.3f} to {loss[-1]:.3f}"
    claims: Claims = {
        "HG loses less than NH at every d on the census": [d in won[names[0]] for d in places],
        "HG loses less than NH at d > 3 on Zipf values": [d in won[names[2]] for d in places if d > 3],
        "HG loses less than NH at d > 6 on uniform values": [d in won[names[1]] for d in places if d > 6],
        "on the census HG's loss falls as columns are added": loss[-1] < loss[0],
    }
    return Verdict(claims, why + " as columns are added.")


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return where HG loses less than NH, beside what the paper says, and by how much."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    places = sorted({row["at"] for row in rows})
    lines: list[dict[str, Cell]] = []
    for name, paper in zip(names, ("every d", "d > 6", "d > 3"), strict=True):
        for who in (NH, TUNED_NH):
            told = {f"d = {d:g}": _over(rows, who, d, name) for d in places}
            lines.append({"÷ HG": f"{who}, {name}", "HG loses less, paper": paper if who == NH else None, **told})
    return lines


def _over(rows: Rows, who: str, d: float, name: str) -> str:
    other, own = at(rows, who, d, table=name), at(rows, HG, d, table=name)
    return f"{other[0] / own[0]:.2f}" if other and own else "–"


STUDY = Study(
    paper="003",
    figure="Figure 3",
    says="the schemes lose less than NH for every d on the census, for d > 3 on Zipf and for d > 6 on uniform values.",
    printed={"people": 10_000, "columns": (2, 3, 4, 5, 6, 7), "ell": 10, "skew": 0.5},
    full={"people": 10_000, "columns": (2, 3, 4, 5, 6, 7), "ell": 10, "skew": 0.5, "effort": 0.3, "seeds": SEEDS},
    quick={"people": 1_000, "columns": (2, 4, 7), "ell": 10, "skew": 0.5, "effort": 0.05, "seeds": 1},
    measure=measure,
    draw=drawn("table", "quasi columns, d"),
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
