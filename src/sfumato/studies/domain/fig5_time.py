"""How long do PP, UP and Anatomy take, against people?

Processor seconds of making the release, the least of several runs, compilation apart; no reading, writing or audit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED
from sfumato.studies.domain.perturbation import LEVELS, SEED, lineup
from sfumato.studies.draw import lines
from sfumato.studies.source import Source
from sfumato.studies.study import Rows, Study, Verdict
from sfumato.studies.timing import least_seconds

LIMIT = 30.0


def measure(source: Source, *, people: Sequence[int], repeats: int) -> Rows:
    """Return seconds per table, people and method."""
    rows = []
    for secret in source.secrets:
        for many in (2_000, *people):  # the first compiles
            table = source.table(secret, many)
            for name, method, requirement, estimator in lineup(secret, LEVELS.get(secret, LEVELS["OCC"])[0]):
                if estimator == "paper":
                    seconds, _ = least_seconds(repeats, partial(method.run, table, requirement, random=SEED))
                    rows.append({"table": secret, "people": many, "method": name, "seconds": seconds})
    return [row for row in rows if row["people"] in people]


def draw(rows: Rows) -> Chart:
    """Return seconds against people."""
    return lines(rows, x="people", y="seconds", series="method", panel="table")


def judge(rows: Rows) -> Verdict:
    """Return whether PP stays below 30 seconds, is comparable, and Anatomy is faster on EDU."""
    seconds = {(row["table"], row["people"], row["method"]): row["seconds"] for row in rows}
    most, tables = max(row["people"] for row in rows), list(dict.fromkeys(row["table"] for row in rows))
    slowest = max(row["seconds"] for row in rows if row["method"] == "PP")
    times = [seconds[t, most, "PP"] / max(seconds[t, most, "UP"], seconds[t, most, "Anatomy"]) for t in tables]
    faster = seconds[tables[-1], most, "Anatomy"] < seconds[tables[0], most, "Anatomy"]
    why = (
        f"PP takes {slowest:.2f} s at most (the paper: no more than 30 s, on a machine of 2010), {min(times):.1f} to "
        f"{max(times):.1f} times the slower of the others at {most:,} people; Anatomy {'is' if faster else 'is not'} "
        f"faster on EDU, "
        f"where it suppresses people first."
    )
    claims = {
        f"PP takes {LIMIT:g} s at most": slowest <= LIMIT,
        "PP's time is comparable to the others' (5 times at most)": max(times) <= 5,
        "Anatomy is faster on EDU than on OCC": faster,
    }
    return Verdict(claims, why)


def shown(rows: Rows) -> list[dict[str, Cell]]:
    """Return seconds, a line for each size."""
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        line = lined.setdefault((row["table"], row["people"]), {"table": row["table"], "people": row["people"]})
        line[f"{row['method']}, s"] = row["seconds"]
    return list(lined.values())


STUDY = Study(
    paper="002",
    figure="Figure 5",
    says="PP finishes in no more than 30 seconds and is comparable to Anatomy and UP; Anatomy is faster on EDU.",
    printed={"people": (100_000, 200_000, 300_000, 400_000, 500_000)},
    full={"people": (100_000, 200_000, 300_000, 400_000, 500_000), "repeats": 3},
    quick={"people": (10_000, 20_000, 50_000), "repeats": 3},
    measure=measure,
    draw=draw,
    judge=judge,
    table=shown,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
