"""How do loss and time under β-likeness grow with people and skew?"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.matching._lineup import HG, PUBLISHED, TUNED, along, at, likely
from sfumato.studies.matching.fig4_size import draw
from sfumato.studies.matching.published import likeness
from sfumato.studies.matching.tables import CENSUS, redrawn
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict


def measure(
    source: Source, *, sizes: Sequence[int], people: int, skews: Sequence[float], beta: int, effort: float, seed: int
) -> Rows:
    """Return GCP and seconds of every method against people and against skew."""
    needs, lineup = likeness(beta), likely(effort)
    secret = source.secrets[0]
    rows = along("people", {n: (source.table(secret, n), needs) for n in sizes}, lineup, seed=seed)
    table = source.table(secret, people)
    return rows + along("skew", {skew: (redrawn(table, skew), needs) for skew in skews}, lineup, seed=seed)


def judge(rows: Rows) -> Verdict:
    """Return whether the gap grows with people, whether skew costs, and whether HG loses less than BuReL throughout."""
    hg, burel = at(rows, HG, axis="people"), at(rows, PUBLISHED, axis="people")
    grows = burel[-1] / hg[-1] > burel[0] / hg[0]
    skewed, drawn = at(rows, HG, axis="skew"), at(rows, PUBLISHED, axis="skew")
    below = [a < b for a, b in zip(hg + skewed, burel + drawn, strict=True)]
    spent = [at(rows, who, axis="people", key="seconds")[-1] for who in (HG, PUBLISHED)]
    why = f"Published BuReL loses {burel[0] / hg[0]:.2f} times what HG loses with the fewest people and {burel[-1] / hg[-1]:.2f} "
    why += f"times with the most, where HG takes {spent[0]:.1f} s and BuReL {spent[1]:.1f} s; from the least skew to the largest "
    why += f"HG's loss goes from {skewed[0]:.3f} to {skewed[-1]:.3f}, BuReL's from {drawn[0]:.3f} to {drawn[-1]:.3f}."
    claims: Claims = {
        "the gap to BuReL grows with people": grows,
        "HG takes more time than BuReL": spent[0] > spent[1],
        "skew costs HG and BuReL": skewed[-1] > skewed[0] and drawn[-1] > drawn[0],
        "HG loses less than BuReL": below,
    }
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return how much utility HG keeps over BuReL, beside what the paper says."""
    lines: list[dict[str, Cell]] = []
    for axis in ("people", "skew"):
        places = sorted({row["at"] for row in rows if row["axis"] == axis})
        for who in (PUBLISHED, TUNED):
            told = {one: (at(rows, who, one, axis=axis), at(rows, HG, one, axis=axis)) for one in places}
            less = ", ".join(f"{100 * (1 - b[0] / a[0]):.0f} % at {one:,g}" for one, (a, b) in told.items() if a and b)
            paper = "33 % at 0.5" if (axis, who) == ("skew", PUBLISHED) else None
            lines.append({"HG loses less than": f"{who}, against {axis}", "paper": paper, "ours": less})
    return lines


STUDY = Study(
    paper="003",
    figure="Figure 7",
    says="the gap to BuReL grows with people, in more time; skew costs every method, and at 0.5 HG keeps a third more utility.",
    printed={"sizes": (1_000, 2_000, 5_000, 10_000), "people": 10_000, "skews": (0.5, 0.6, 0.7, 0.8, 0.9), "beta": 3},
    full={
        "sizes": (1_000, 2_000, 5_000, 10_000),
        "people": 10_000,
        "skews": (0.5, 0.6, 0.7, 0.8, 0.9),
        "beta": 3,
        "effort": 0.3,
        "seeds": SEEDS,
    },
    quick={"sizes": (500, 1_000, 2_000), "people": 1_000, "skews": (0.5, 0.7, 0.9), "beta": 3, "effort": 0.05, "seeds": 1},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
