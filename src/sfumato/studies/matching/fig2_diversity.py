"""What does ℓ-diversity cost in ranges?

GCP is the mean normalised width of what a record shows, over records and quasi columns. NH, the ring method, stands here as
published (partitions merged until they keep ℓ) and as tuned here (exchanges between partitions). Threshold mode (HG_τ, SG_τ,
GR_τ) puts people into the most distant buckets; it is open to minimality attacks.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.matching._lineup import (
    ANNEALED,
    GR,
    HG,
    NH,
    SG,
    THRESHOLD,
    TUNED_NH,
    along,
    at,
    diverse,
    drawn,
    ratio,
    tables,
    thresholds,
    times,
)
from sfumato.studies.matching.published import diversity
from sfumato.studies.matching.tables import CENSUS
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Rows, Study, Verdict

SLIGHT = 0.1


def measure(source: Source, *, people: int, ells: Sequence[int], skew: float, effort: float, seed: int) -> Rows:
    """Return GCP and seconds of every method against ℓ, on three tables."""
    rows = []
    lineup = {**diverse(effort), **thresholds()}
    for name, table in tables(source, people, skew).items():
        rows += along("ℓ", {k: (table, diversity(k)) for k in ells}, lineup, seed=seed, table=name)
    return rows


def judge(rows: Rows) -> Verdict:
    """Return whether the schemes lose less than NH, more so as ℓ grows."""
    most = max(row["at"] for row in rows)
    names = list(dict.fromkeys(row["table"] for row in rows))
    last = {who: [at(rows, who, most, table=name)[0] for name in names] for who in (HG, SG, GR, NH, TUNED_NH, ANNEALED)}
    below = [one < other for who in (HG, SG, GR) for one, other in zip(last[who], last[NH], strict=True)]
    gaps = [[a / b for a, b in zip(at(rows, NH, table=name), at(rows, HG, table=name), strict=True)] for name in names]
    grows = [one[-1] > one[0] for one in gaps]
    tuned = all(one < other for one, other in zip(last[HG], last[TUNED_NH], strict=True))
    why = f"At ℓ = {most:g} published NH loses {times(last[NH], last[HG])} times what HG loses"
    why += " and the gap grows with ℓ" if all(grows) else ", though the gap does not grow with ℓ on every table"
    why += (
        f"; rings with exchanges lose {'more' if tuned else 'not always more'} than HG, and groups that all their people share, "
    )
    why += f"made for a reader, lose {times(last[ANNEALED], last[HG])} times what HG loses."
    claims = {f"HG, SG and GR lose less than NH at ℓ = {most:g}, on every table": below}
    claims["the gap grows with ℓ, on every table"] = grows
    modes = [
        abs(a / b - 1) <= SLIGHT
        for name, other in THRESHOLD.items()
        for table in names
        for a, b in zip(at(rows, other, table=table), at(rows, name, table=table), strict=True)
    ]
    claims[f"threshold mode makes no significant difference ({100 * SLIGHT:g} % at most)"] = modes
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return how much more NH loses than HG at the ends, and GCP of every method at the largest ℓ."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    least, most = (pick(row["at"] for row in rows) for pick in (min, max))
    lines: list[dict[str, Cell]] = []
    for words, where, paper in (
        ("published NH ÷ HG", least, None),
        ("published NH ÷ HG", most, "up to 3.5"),
        ("tuned NH ÷ HG", most, None),
    ):
        who = NH if words.startswith("published") else TUNED_NH
        told = {name: ratio(rows, who, HG, where, table=name) for name in names}
        lines.append({"": f"{words}, ℓ = {where:g}", "paper": paper, **told})
    for who in dict.fromkeys(row["method"] for row in rows):
        lines.append(
            {"": f"GCP of {who}, ℓ = {most:g}", **{name: next(iter(at(rows, who, most, table=name)), None) for name in names}}
        )
    return lines


STUDY = Study(
    paper="003",
    figure="Figure 2",
    says="NH loses up to 3.5 times what HG loses at ℓ = 10, and the gap grows with ℓ.",
    printed={"people": 10_000, "ells": (2, 4, 6, 8, 10), "skew": 0.5},
    full={"people": 10_000, "ells": (2, 4, 6, 8, 10), "skew": 0.5, "effort": 0.3, "seeds": SEEDS},
    quick={"people": 1_000, "ells": (2, 5, 10), "skew": 0.5, "effort": 0.05, "seeds": 1},
    measure=measure,
    draw=drawn("table", "ℓ"),
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
