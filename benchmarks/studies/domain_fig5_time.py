"""How long do PP, UP and Anatomy take, against people?

Processor seconds of making the release, the least of several runs, compilation apart; no reading, writing or audit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks._census import ATTRIBUTES
from benchmarks._census import table as census_table
from benchmarks._measure import least_seconds
from benchmarks._perturbation import LEVELS, SEED, lineup
from benchmarks._show import Cell
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Rows, Study, Verdict
from sfumato.charts import Chart

LIMIT = 30.0


def measure(*, people: Sequence[int], repeats: int) -> Rows:
    """Return seconds per table, people and method."""
    rows = []
    for attribute in ATTRIBUTES:
        for many in (2_000, *people):  # the first compiles
            table = census_table(attribute, many)
            for name, method, requirement, estimator in lineup(attribute, LEVELS[attribute][0]):
                if estimator == "paper":
                    seconds, _ = least_seconds(repeats, partial(method.run, table, requirement, random=SEED))
                    rows.append({"table": attribute, "people": many, "method": name, "seconds": seconds})
    return [row for row in rows if row["people"] in people]


def draw(rows: Rows) -> Chart:
    """Return seconds against people."""
    return lines(rows, x="people", y="seconds", series="method", panel="table")


def judge(rows: Rows) -> Verdict:
    """Return whether PP stays below 30 seconds, is comparable, and Anatomy is faster on EDU."""
    seconds = {(row["table"], row["people"], row["method"]): row["seconds"] for row in rows}
    most = max(row["people"] for row in rows)
    slowest = max(row["seconds"] for row in rows if row["method"] == "PP")
    times = [seconds[t, most, "PP"] / max(seconds[t, most, "UP"], seconds[t, most, "Anatomy"]) for t in ("OCC", "EDU")]
    faster = seconds["EDU", most, "Anatomy"] < seconds["OCC", most, "Anatomy"]
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
    paper="domain",
    figure="Figure 5",
    says="PP finishes in no more than 30 seconds and is comparable to Anatomy and UP; Anatomy is faster on EDU.",
    quick={"people": (10_000, 20_000, 50_000), "repeats": 3},
    full={"people": (100_000, 200_000, 300_000, 400_000, 500_000), "repeats": 3},
    measure=measure,
    draw=draw,
    judge=judge,
    table=shown,
)
