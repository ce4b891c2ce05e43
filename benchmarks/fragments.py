"""What do Ambiguity and PriView cost, what do they hide, and would intervals from standard errors hold the truth?

Beside the paper's figures (`make studies STUDY=004`), on the bundled census: seven quasi columns (age and education
numeric), Occupation and Salary; α = 0.1 and β = 0.2 where not said otherwise. Boxes are cut against a reader (tight). Seconds
are the processor's.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import sfumato
from benchmarks._show import Cell, Show
from sfumato.errors import Infeasible
from sfumato.methods.base import Method
from sfumato.query import anatomy_workload, count_many, true_answers
from sfumato.query.answer import Estimate
from sfumato.release.columns import ColumnsRelease
from sfumato.release.views import ViewsRelease
from sfumato.studies.fragments.ways import ALPHA, BETA, BOXES, FRAGMENTS, QUASI, census_table, lineup, made, needs
from sfumato.studies.timing import least_seconds
from sfumato.table.generators import census

SENSITIVE = ("occupation", "salary")


@dataclass(frozen=True)
class Scale:
    """How large a benchmark is: people, sizes whose times are compared, questions, and fresh tables for coverage."""

    people: int
    sizes: tuple[int, int]
    repeats: int
    betas: tuple[str, ...]
    sensitive: tuple[str, ...]
    queries: int
    tables: int
    outsiders: int


QUICK = Scale(2_000, (2_000, 10_000), 1, ("0.1", "0.2"), ("occupation",), 40, 2, 1_000)
FULL = Scale(100_000, (100_000, 500_000), 2, ("0.1", "0.2", "0.3"), SENSITIVE, 200, 12, 20_000)


def run(show: Show, quick: bool) -> None:
    """Show growth and memory, groups, what strangers learn about presence, and how wrong intervals would be."""
    scale = QUICK if quick else FULL
    for sensitive in scale.sensitive:
        _compile(sensitive)
        _growth(show, scale, sensitive)
        table = census_table(scale.people, sensitive)
        _groups(show, scale, table, sensitive)
        _presence(show, scale, table, sensitive)
    _sound_priview(show, census_table(scale.people, "occupation"))
    _coverage(show, scale)


def _compile(sensitive: str) -> None:
    table = census_table(2_000, sensitive)
    for method in FRAGMENTS.values():
        made(method, table, needs())
    made(BOXES, table, needs(against="engineer"))


def _seconds(scale: Scale, method: Method, table: sfumato.Table, needed: sfumato.PresenceAssociation) -> float | None:
    """Return the least processor seconds of some runs, None where the bounds cannot be kept."""
    found, release = least_seconds(scale.repeats, partial(made, method, table, needed))
    return None if release is None else found


def _growth(show: Show, scale: Scale, sensitive: str) -> None:
    """Show how time grows with people, and memory beyond the table, in coded tables."""
    small, large = (census_table(people, sensitive) for people in scale.sizes)
    rows: list[list[Cell]] = []
    limits = {"Ambiguity, boxes": 10.0, "Ambiguity, safe boxes": 10.0, "Ambiguity, paper": 5.0, "PriView, paper": 5.0}
    for name, limit in limits.items():
        method, needed = _growing(name)
        first, second = (_seconds(scale, method, table, needed) for table in (small, large))
        if first is None or second is None:
            continue
        with get_context("spawn").Pool(1) as fresh:
            memory = fresh.apply(_memory, (name, large.rows, sensitive))
        rows.append([name, first, second, second / first, memory])
        if large.rows == 500_000:
            show.target(f"{sensitive}, {name}, {large.rows:,} people, seconds", second, limit)
            show.target(f"{sensitive}, {name}, times the seconds of {small.rows:,}", second / first, 6.5)
            if memory is not None:
                show.target(f"{sensitive}, {name}, peak memory in coded tables", memory, 10)
    show.table(f"{sensitive}, growth", ["", *(f"{n:,}, s" for n in scale.sizes), "times", "memory / coded table"], rows)


def _growing(name: str) -> tuple[Method, sfumato.PresenceAssociation]:
    return FRAGMENTS.get(name, BOXES), needs(against="engineer" if "safe" in name else "reader")


def _memory(name: str, people: int, sensitive: str) -> float | None:
    """Return by how many coded tables a run's peak memory exceeds what a fresh process had before; None off Linux."""
    method, needed = _growing(name)
    made(method, census_table(2_000, sensitive), needed)
    table = census_table(people, sensitive)
    coded = sum(column.codes.nbytes for column in table.quasi) + table.sensitive.codes.nbytes
    gc.collect()
    pa.default_memory_pool().release_unused()
    before = _peak(reset=True)
    made(method, table, needed)
    after = _peak()
    return None if before is None or after is None else (after - before) / coded


def _peak(*, reset: bool = False) -> float | None:
    """Return the process's peak resident bytes, or from now on after a reset, where the system tells (Linux); None elsewhere."""
    try:
        if reset:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except (OSError, AttributeError):
        return None
    return next((1024.0 * float(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)


def _groups(show: Show, scale: Scale, table: sfumato.Table, sensitive: str) -> None:
    room = float(np.prod([float(column.size) for column in table.quasi]))
    rows: list[list[Cell]] = []
    for name, method in FRAGMENTS.items():
        for beta in scale.betas:
            release = made(method, table, needs(ALPHA, beta))
            if isinstance(release, ColumnsRelease):
                distinct = float(np.mean([np.diff(start).mean() for start in release.start]))
                rows.append([name, f"β = {beta}", *_sizes(release.sizes), distinct, float(release.group_presence.max())])
            elif isinstance(release, ViewsRelease):
                rows.append([f"{name}, {', '.join(release.moved)} moved", f"β = {beta}", *_sizes(release.sizes), None, None])
    columns = ["", "", "groups", "smallest", "median", "largest", "values a column", "worst n/V"]
    show.table(f"{sensitive}, groups, α = {ALPHA}, {table.rows:,} people", columns, rows)
    show.note(f"The smallest α that any boxes can reach here is N/V = {table.rows / room:.1e}.")


def _sizes(sizes: npt.NDArray[np.int64]) -> list[Cell]:
    return [len(sizes), int(sizes.min()), float(np.median(sizes)), int(sizes.max())]


def _presence(show: Show, scale: Scale, table: sfumato.Table, sensitive: str) -> None:
    """Show what a stranger believes, combined over all groups that cover a person."""
    coins = np.random.default_rng(7)
    some = coins.permutation(table.rows)[: scale.outsiders]
    members = pa.table({column.name: column.take(some).arrow() for column in table.quasi})
    fresh = census(scale.outsiders, 2).select(QUASI)
    mixed = pa.table({name: fresh[name].take(coins.permutation(len(fresh))) for name in QUASI})
    rows: list[list[Cell]] = []
    for name, method in FRAGMENTS.items():
        release = made(method, table, needs())
        if release is None:
            continue
        for who, people in (("members", members), ("outsiders, real", fresh), ("outsiders, random", mixed)):
            found = release.presence(people)
            over = float((found > float(ALPHA) + 1e-12).mean())
            rows.append([name, who, float(found.mean()), float(found.max()), over, float((found == 0).mean())])
    columns = ["", "", "mean presence", "largest", f"share over α = {ALPHA}", "certainly absent"]
    show.table(f"{sensitive}, combined presence, β = {BETA}, {table.rows:,} people", columns, rows)


def _sound_priview(show: Show, table: sfumato.Table) -> None:
    try:
        release = sfumato.PriView().run(table, needs(), random=1).release
        show.note(f"PriView in boxes that keep (α, β): {release!r}.")
    except Infeasible as error:
        show.note(f"PriView in boxes that keep (α, β) is impossible on the census: {error.message}")


def _coverage(show: Show, scale: Scale) -> None:
    """Show how often a nominal 95 % interval from the standard error would hold the truth, on fresh tables."""
    hits: dict[str, list[bool]] = {}
    for seed in range(10, 10 + scale.tables):
        table = census_table(min(scale.people, 20_000), "occupation", seed=seed)
        releases = lineup(table, BETA)
        for workload in (
            anatomy_workload(table, queries=scale.queries // 2, selectivity=0.05, seed=seed),
            anatomy_workload(table, queries=scale.queries // 2, qd=2, selectivity=0.2, seed=seed),
        ):
            truth = true_answers(table, workload)
            for name, (release, estimator) in releases.items():
                answers = count_many(release, workload, estimator=estimator)
                hits.setdefault(name, []).extend(_inside(answers, truth))
    rows: list[list[Cell]] = [[name, len(found), float(np.mean(found))] for name, found in hits.items()]
    show.table("Nominal 95 % from the standard error", ["", "query–release pairs", "coverage"], rows)


def _inside(answers: Sequence[object], truth: npt.NDArray[np.int64]) -> list[bool]:
    return [
        abs(answer.value - actual) <= 1.96 * answer.std_error
        for answer, actual in zip(answers, truth.tolist(), strict=True)
        if isinstance(answer, Estimate) and actual > 0 and answer.low is None
    ]
