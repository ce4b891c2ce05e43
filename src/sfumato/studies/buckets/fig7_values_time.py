"""How does the search for two bucket sizes grow with sensitive values?

Every value is replaced by γ values, at random. The integer programs are the papers' "Optimal" (two sizes) and 000's v_ij program
over all sizes, by `scipy.optimize.milp`; where one is not done in time, the time stands after which it was stopped. Our optimum
over all sizes has only the numbers of buckets as integers: who goes where is a flow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sfumato.charts import Chart
from sfumato.groups.settings.problem import Problem
from sfumato.privacy.bounds import Bounds
from sfumato.studies.buckets.fig6_people_time import NAMES, OPTIMAL, PROGRAM, THETA, milliseconds, timed
from sfumato.studies.buckets.programs import solve
from sfumato.studies.cells import Cell
from sfumato.studies.census import CENSUS, GENERATED, MAX_SIZE
from sfumato.studies.draw import lines
from sfumato.studies.results import kept
from sfumato.studies.source import Source, bounds
from sfumato.studies.study import Claims, Rows, Study, Verdict

THESIS = "integer program of 000, all sizes"
POLYNOMIAL = 3.0
"""What grows with a smaller power of the values does not explode."""


def measure(source: Source, *, people: int, splits: Sequence[int], limit: float) -> Rows:
    """Return seconds per table, γ and search."""
    rows: list[Mapping[str, Any]] = []
    for secret in source.secrets:
        for split in splits:
            given = bounds(source, secret, people, THETA, split=split)
            case = {"table": secret, "γ": split, "values": len(given.values)}
            rows += [{**case, **row} for row in kept({**case, "people": people, "limit": limit}, partial(_timed, given, limit))]
    return rows


def _timed(given: Bounds, limit: float) -> Rows:
    """Return seconds of every search and program, 000's among them."""
    whole = solve(Problem.of(given, max_size=MAX_SIZE), time_limit=limit)
    mine = {"search": THESIS, "seconds": whole.seconds, "loss": whole.loss, "done": whole.proven}
    return [*timed(given, limit), mine]


def draw(rows: Rows) -> Chart:
    """Return seconds against γ."""
    return lines(
        rows, x="γ", y="seconds", series="search", panel="table", steps=True, log_y=True, y_title="seconds (logarithmic)"
    )


def judge(rows: Rows) -> Verdict:
    """Return whether no pruning falls, the others grow at most as the values do, and the optimum explodes."""
    seconds = {(row["table"], row["γ"], row["search"]): row["seconds"] for row in rows}
    tables = list(dict.fromkeys(key[0] for key in seconds))
    first, last = min(key[1] for key in seconds), max(key[1] for key in seconds)
    grows = {name: max(seconds[t, last, name] / seconds[t, first, name] for t in tables) for name in [*NAMES.values(), OPTIMAL]}
    linear = grows["full pruning"] <= 2 * last / first
    falls = any(seconds[t, last, "no pruning"] < seconds[t, first, "no pruning"] for t in tables)
    done = {(row["table"], row["γ"], row["search"]): row["done"] for row in rows}
    # a program that is not done with the fewest values says nothing of how its time grows
    told = [(name, t) for name in (PROGRAM, THESIS) for t in tables if done[t, first, name]]
    explodes = [
        not done[t, last, name]
        or math.log(seconds[t, last, name] / seconds[t, first, name]) > POLYNOMIAL * math.log(last / first)
        for name, t in told
    ]
    values = max(row["values"] for row in rows)
    why = (
        f"With {last} times the values full pruning takes {grows['full pruning']:.0f} times as long at most, "
        f"{'no more than in proportion' if linear else 'more than in proportion'}; "
        f"no pruning {'falls' if falls else 'does not fall'} as M grows; {_undone(PROGRAM, done)}; {_undone(THESIS, done)}; "
        f"our optimum over all sizes takes {grows[OPTIMAL]:.0f} times as long, "
        f"{max(seconds[t, last, OPTIMAL] for t in tables):.1f} s at most with {values:,} values."
    )
    claims: Claims = {
        "full pruning grows no more than in proportion to the values": linear,
        "the time of no pruning falls": falls,
    }
    if told:
        words = f"the integer programs' time explodes (more than γ to the power {POLYNOMIAL:g}, or not done) where γ = 1 is done"
        claims[words] = explodes
    return Verdict(claims, why)


def _undone(name: str, done: Mapping[tuple[str, int, str], bool]) -> str:
    """Return for which γ a program is not done, table by table."""
    parts = []
    for table in dict.fromkeys(key[0] for key in done):
        late = [f"{split}" for (where, split, which), ended in done.items() if (where, which) == (table, name) and not ended]
        parts.append(f"for {table} {f'not at γ = {chr(32).join(late)}' if late else 'at every γ'}")
    return f"the {name} is done {', '.join(parts)}"


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return milliseconds, a line for each γ."""
    lined: dict[tuple[str, int], dict[str, Cell]] = {}
    for row in rows:
        told: dict[str, Cell] = {"table": row["table"], "γ": row["γ"], "values": row["values"]}
        lined.setdefault((row["table"], row["γ"]), told)[f"{row['search']}, ms"] = milliseconds(row)
    return list(lined.values())


STUDY = Study(
    paper="001",
    figure="Figure 7",
    says="the integer program's time grows exponentially with the values, the others' hardly, and that of no pruning falls.",
    printed={"people": 500_000, "splits": (1, 2, 4, 8, 16, 32, 64)},
    full={"people": 500_000, "splits": (1, 2, 4, 8, 16, 32, 64), "limit": 10.0},
    quick={"people": 50_000, "splits": (1, 4, 16), "limit": 3.0},
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
