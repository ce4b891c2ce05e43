"""How fast is our Mondrian, and how much does it generalise, beside a Python package that people use for it (anonypy)?

The same census rows, seven quasi columns (age numeric, the others categorical), the same constraint on both sides. GCP is the
mean over people and columns of (hi − lo)/(U − L) for numbers and (distinct − 1)/(|A| − 1) for categories: 0 for exact values, 1
when every group spans everything. anonypy cuts a numeric column at its median or not at all, and a category's values in the order
in which they appear; ours cuts at the allowable boundary nearest the median, strict and relaxed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from statistics import median
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from benchmarks._show import Cell, Show
from sfumato import FPrivacy, Schema, Table
from sfumato.groups.grouping import Grouping
from sfumato.groups.mondrian import Constraint, mondrian
from sfumato.methods.mondrian import Mondrian
from sfumato.studies.timing import best_of
from sfumato.table.generators import census
from sfumato.utility.gcp import gcp_of_groups

QUASI = ["age", "gender", "education", "marital", "race", "workclass", "country"]
CATEGORIES = [name for name in QUASI if name != "age"]
SCHEMA = Schema(quasi=QUASI, sensitive=["occupation"], types=dict.fromkeys(CATEGORIES, "categorical"))
OPEN = FPrivacy(offset=1, against="reader")
PARTITIONS: tuple[Literal["strict", "relaxed"], ...] = ("strict", "relaxed")
K, L = 10, 5
Result = TypeVar("Result")


def run(show: Show, quick: bool) -> None:
    """Show time and GCP beside anonypy, then our time on large tables for every constraint."""
    _warm()
    peer = importlib.util.find_spec("anonypy") is not None
    columns = ["people", "program", "groups", "largest", "GCP", "cutting, s", "whole job, s", "times faster"]
    for name, diversity in ((f"k = {K}", 0), (f"k = {K} and at least {L} distinct values", L)):
        rows: list[list[Cell]] = []
        for people in [5_000] if quick else [10_000, 50_000]:
            rows += _beside(people, diversity, peer)
        show.table(f"{name}, 7 quasi columns; cutting alone, and with the published ranges", columns, rows)
    show.note(
        "Seconds: anonypy once, ours the median of five runs; short jobs vary severalfold on a busy machine, so the last column "
        "is an order of magnitude. The whole job writes different things: anonypy rows of text per group and value, ours "
        "Arrow tables with a row per person; neither includes an audit."
    )
    if not peer:
        show.note("anonypy is not installed, so only ours is shown; for the comparison: pip install anonypy")
    _control(show, 5_000 if quick else 50_000)
    _scaling(show, [20_000] if quick else [100_000, 500_000])


def _table(people: int) -> Table:
    return Table.from_frame(census(people, 1).drop(["salary"]), SCHEMA)


def _warm() -> None:
    """Compile every kernel once: compilation is not what is measured here."""
    for partition in PARTITIONS:
        Mondrian(k=K, partition=partition, constraint="distinct", l=L).run(_table(2_000), OPEN, random=1)


def _cut(table: Table, constraint: Constraint, partition: str) -> Grouping:
    return mondrian(
        table.quasi,
        table.sensitive.codes,
        OPEN.bounds(table.sensitive.histogram()),
        constraint=constraint,
        k=K,
        relaxed=partition == "relaxed",
    )


def _beside(people: int, diversity: int, peer: bool) -> list[list[Cell]]:
    """Return a line for each program: groups, the largest, GCP, seconds for the cuts and for the whole job."""
    table = _table(people)
    rows: list[list[Cell]] = []
    slow: float | None = None
    if peer:
        cut, job = _anonypy(people, diversity)
        cutting, groups = best_of(1, cut)
        slow, _ = best_of(1, job)
        rows.append([people, "anonypy", *_figures(table, _as_grouping(groups, people)), cutting, slow, None])
    constraint = Constraint("distinct", l=diversity) if diversity else Constraint()
    for partition in PARTITIONS:
        cutting, grouping = _usual(partial(_cut, table, constraint, partition))
        method = Mondrian(k=K, partition=partition, constraint=constraint.kind, l=diversity or None)
        whole, _ = _usual(partial(_publish, method, table))
        faster = None if slow is None else slow / whole
        rows.append([people, f"sfumato, {partition}", *_figures(table, grouping), cutting, whole, faster])
    return rows


def _usual(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the median of five times, and the last result: the peer runs once, and a best of five would flatter us."""
    laps = [best_of(1, work) for _ in range(5)]
    return median(seconds for seconds, _ in laps), laps[-1][1]


def _publish(method: Mondrian, table: Table) -> Any:
    return method.run(table, OPEN).release.tables()


def _anonypy(people: int, diversity: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return anonypy's cuts, and its whole job of cutting and writing out the ranges."""
    anonypy = importlib.import_module("anonypy")
    frame = census(people, 1).to_pandas().astype(dict.fromkeys([*CATEGORIES, "occupation"], "category"))
    theirs = importlib.import_module("anonypy.mondrian").Mondrian(frame, QUASI, "occupation")
    preserver = anonypy.Preserver(frame, QUASI, "occupation")
    if diversity:
        return partial(theirs.partition, K, diversity), partial(preserver.anonymize_l_diversity, K, diversity)
    return partial(theirs.partition, K), partial(preserver.anonymize_k_anonymity, K)


def _as_grouping(groups: Sequence[Any], people: int) -> Grouping:
    group = np.empty(people, np.int32)
    for number, rows in enumerate(groups):
        group[np.asarray(rows)] = number
    return Grouping(group, len(groups), "tight")


def _figures(table: Table, grouping: Grouping) -> list[Cell]:
    return [grouping.groups, int(grouping.sizes.max()), gcp_of_groups(table.quasi, grouping.group).value]


def _control(show: Show, people: int) -> None:
    """Show why relaxed cuts are worse on the census: the same on columns without and with a value that dominates."""
    coins = np.random.default_rng(0)
    rows: list[list[Cell]] = []
    for name, dominant in (("uniform", 0.0), ("one value has 85 %", 0.85)):
        frame = {
            f"q{j}": np.where(coins.random(people) < dominant, 500, coins.integers(0, 1000, people)) for j in range(len(QUASI))
        }
        values = coins.integers(0, 50, people)
        table = Table.from_frame(pa.table({**frame, "value": values}), Schema(quasi=list(frame), sensitive=["value"]))
        found = [_cut(table, Constraint(), partition) for partition in PARTITIONS]
        rows.append([name, *(gcp_of_groups(table.quasi, grouping.group).value for grouping in found)])
    show.table(f"Control: GCP on 7 independent made-up columns, {people:,} people, k = {K}", ["columns", *PARTITIONS], rows)


def _scaling(show: Show, sizes: list[int]) -> None:
    """Show how long cutting takes on large tables, for every constraint."""
    tried = {
        "k alone": Constraint(),
        "distinct ℓ = 5": Constraint("distinct", l=5),
        "entropy ℓ = 5": Constraint("entropy", l=5),
        "recursive (2, 5)": Constraint("recursive", l=5, c=Fraction(2)),
        "t = 0.3, equal": Constraint("t-closeness", t=Fraction(3, 10)),
        "t = 0.15, ordered": Constraint("t-closeness", t=Fraction(3, 20), distance="ordered"),
    }
    rows: list[list[Cell]] = []
    for people in sizes:
        table = _table(people)
        for name, constraint in tried.items():
            cells: list[Cell] = [people, name]
            for partition in PARTITIONS:
                seconds, found = best_of(2, partial(_cut, table, constraint, partition))
                cells += [found.groups, gcp_of_groups(table.quasi, found.group).value, seconds]
            rows.append(cells)
    columns = ["people", "constraint", *(f"{what}, {kind}" for kind in PARTITIONS for what in ("groups", "GCP", "s"))]
    show.table(f"Cutting large tables, k = {K}", columns, rows)
