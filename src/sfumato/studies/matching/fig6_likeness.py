"""What does β-likeness cost in ranges?

The last panel goes to both ends, with fewer people: 0-likeness, where everybody is matched with everybody, and Theorem 4's β,
from which on ℓ-diversity keeps β-likeness. BuReL stands here as published (fewest buckets, filled along a Hilbert curve) and as
tuned here (roomy buckets, near people).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.matching._lineup import ANNEALED, HG, PUBLISHED, TUNED, along, at, drawn, likely, ratio, tables, times
from sfumato.studies.matching.published import likeness
from sfumato.studies.matching.tables import CENSUS
from sfumato.studies.source import Source
from sfumato.studies.study import SEEDS, Claims, Rows, Study, Verdict

ENDS = "census, from 0-likeness to Theorem 4"


def measure(
    source: Source,
    *,
    people: int,
    betas: Sequence[int],
    skew: float,
    effort: float,
    ends: int,
    between: Sequence[int],
    seed: int,
) -> Rows:
    """Return GCP and seconds of every method against β, on three tables; on the first `ends` people from end to end."""
    rows = []
    for name, table in tables(source, people, skew).items():
        rows += along("β", {k: (table, likeness(k)) for k in betas}, likely(effort), seed=seed, table=name)
    few = source.table(source.secrets[0], ends)
    counts = few.sensitive.counts
    last = -(-int(counts.max()) // int(counts[counts > 0].min())) - 1
    inner = [beta for beta in between if beta < last]
    return rows + along("β", {k: (few, likeness(k)) for k in (0, *inner, last)}, likely(effort), seed=seed, table=ENDS)


def judge(rows: Rows) -> Verdict:
    """Return whether loss falls with β, and whether HG loses less than BuReL everywhere."""
    ends = [row for row in rows if row["table"] == ENDS]
    rows = [row for row in rows if row["table"] != ENDS]
    names = list(dict.fromkeys(row["table"] for row in rows))
    falls = [at(rows, HG, table=name)[-1] < at(rows, HG, table=name)[0] for name in names]
    published = [(a, b) for t in names for a, b in zip(at(rows, PUBLISHED, table=t), at(rows, HG, table=t), strict=True)]
    census = {who: at(rows, who, table=names[0]) for who in (HG, PUBLISHED, TUNED, ANNEALED)}
    won = sum(hg < burel for burel, hg in published)
    why = f"On the census published BuReL loses {times(census[PUBLISHED], census[HG])} times what HG loses, and HG loses less "
    why += f"in {won} of {len(published)} cases; tuned BuReL loses {times(census[TUNED], census[HG])} times HG's, and groups "
    why += f"made for a reader {times(census[ANNEALED], census[HG])} times. At 0-likeness HG shows {at(ends, HG)[0]:.2f} of all "
    why += f"ranges; at β = {max(row['at'] for row in ends):g}, from which on ℓ-diversity suffices (Theorem 4), "
    why += f"{at(ends, HG)[-1]:.3f}."
    claims: Claims = {
        "HG loses less as β grows, on every table": falls,
        "HG loses less than BuReL": [hg < burel for burel, hg in published],
        "on the census the gain is greatest for the smallest β": _gain(census, 0) > _gain(census, -1),
    }
    return Verdict(claims, why)


def _gain(losses: Mapping[str, Sequence[float]], place: int) -> float:
    return losses[PUBLISHED][place] / losses[HG][place]


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return how much more BuReL loses than HG on every table, and GCP from end to end."""
    lines: list[dict[str, Cell]] = []
    for name in dict.fromkeys(row["table"] for row in rows):
        for who in (HG, PUBLISHED, TUNED, ANNEALED):
            mine = {row["at"]: row["loss"] for row in rows if row["table"] == name and row["method"] == who}
            told = ", ".join(f"{'–' if loss is None else f'{loss:.3f}'} at {beta:g}" for beta, loss in mine.items())
            over = None if who == HG or name == ENDS else ratio(rows, who, HG, table=name)
            paper = "> 1" if who == PUBLISHED and name != ENDS else None
            lines.append({"table": name, "method": who, "÷ HG, paper": paper, "÷ HG": over, "GCP at β": told})
    return lines


STUDY = Study(
    paper="003",
    figure="Figure 6",
    says="every method loses less as β grows, and HG less than BuReL across the board, more so for small β.",
    printed={"people": 10_000, "betas": (1, 2, 3, 4, 5), "skew": 0.5},
    full={
        "people": 10_000,
        "betas": (1, 2, 3, 4, 5),
        "skew": 0.5,
        "effort": 0.3,
        "ends": 1_000,
        "between": (1, 2, 5, 10, 20, 50),
        "seeds": SEEDS,
    },
    quick={"people": 1_000, "betas": (1, 3, 5), "skew": 0.5, "effort": 0.05, "ends": 300, "between": (1, 5, 20), "seeds": 1},
    measure=measure,
    draw=drawn("table", "β"),
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
