"""What does putting near people together buy: how far are count answers from the truth, at the same bound, and at what exposure?

Bundled census, Occupation; blind buckets (the papers' optimum), safe boxes (against an engineer) and tight boxes (against a
reader), read with each release's default estimator and with the papers'. Median relative error divided by that of assuming
independence: 1 tells nothing, 0 everything. Exposure is the mean belief of a reader in a person's true value.
"""

from __future__ import annotations

import time
from statistics import mean

import numpy as np

import sfumato
from benchmarks._measure import best_of
from benchmarks._picture import scatter
from benchmarks._show import Cell, Show
from sfumato.errors import Infeasible
from sfumato.groups.cuts import Space, cut_boxes
from sfumato.privacy.requirement import Against, Requirement
from sfumato.query import Estimator, Workload, anatomy_workload, range_workload
from sfumato.randomness import SeededRandomness
from sfumato.table.generators import census
from sfumato.utility import query_error

QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
CATEGORIES = ("gender", "marital", "race", "workclass", "country", "occupation")
PROTOTYPE = {
    ("safe", "8f+0.02"): "0.60 / 0.19",
    ("safe", "32f+0.02"): "0.26 / 0.04",
    ("safe", "1/5"): "0.76 / 0.35",
    ("tight", "8f+0.02"): "0.32 / 0.06",
    ("tight", "32f+0.02"): "0.13 / 0.02",
    ("tight", "1/5"): "0.35 / 0.08",
    ("tight", "β = 3"): "0.61 / 0.20",
}
"""What a first prototype reached with boxes of two people or more."""


def run(show: Show, quick: bool) -> None:
    rows, runs, queries = (20_000, 1, 200) if quick else (100_000, 5, 1000)
    points = _accuracy(show, rows, runs, queries)
    path = scatter(
        show.directory / "boxes.svg",
        points,
        title="At the same bound: near people together answer better and expose less",
        x="exposure: mean belief in a person's true value",
        y="median error of range queries, relative to independence",
    )
    show.note(f"Picture: {path.name}")
    _speed(show, [100_000] if quick else [100_000, 500_000])


def _table(rows: int, seed: int) -> sfumato.Table:
    schema = sfumato.Schema(quasi=QUASI, sensitive=["occupation"], types=dict.fromkeys(CATEGORIES, "categorical"))
    return sfumato.Table.from_frame(census(rows, seed).select([*QUASI, "occupation"]), schema)


def requirements(against: Against) -> dict[str, Requirement]:
    """Return the bounds of the study."""
    linear = {f"{theta}f+0.02": sfumato.FPrivacy(theta=theta, offset="0.02", against=against) for theta in (2, 8, 32)}
    return {**linear, "1/5": sfumato.LDiversity(5, against=against), "β = 3": sfumato.BetaLikeness(3, against=against)}


METHODS: dict[str, tuple[Against, sfumato.Buckets]] = {
    "blind": ("engineer", sfumato.Buckets(locality="none")),
    "safe": ("engineer", sfumato.Buckets(locality="boxes", floor=2)),
    "safe, ≥ 100": ("engineer", sfumato.Buckets(locality="boxes")),
    "tight": ("reader", sfumato.Buckets(locality="boxes", floor=2)),
    "tight, ≥ 100": ("reader", sfumato.Buckets(locality="boxes")),
}


def _accuracy(show: Show, rows: int, runs: int, queries: int) -> dict[str, list[tuple[float, float, str]]]:
    tables = [_table(rows, seed) for seed in range(1, runs + 1)]
    workloads = [
        (anatomy_workload(t, queries=queries, seed=s), range_workload(t, queries=queries, seed=s)) for s, t in enumerate(tables)
    ]
    lines: list[list[Cell]] = []
    points: dict[str, list[tuple[float, float, str]]] = {"independence": [_independent(tables[0])]}
    for name, (against, method) in METHODS.items():
        for bound, requirement in requirements(against).items():
            try:
                found = [_study(table, requirement, method, two) for table, two in zip(tables, workloads, strict=True)]
            except Infeasible:
                lines.append([name, bound, "no buckets of ≤ 50", *[None] * 7])
                continue
            figures = {key: mean(one[key] for one in found) for key in found[0]}
            lines.append(
                [
                    name,
                    bound,
                    f"{figures['random']:.2f} / {figures['range']:.2f}",
                    f"{figures['random, paper']:.2f} / {figures['range, paper']:.2f}",
                    PROTOTYPE.get((name, bound)),
                    figures["exposure"],
                    figures["groups"],
                    figures["largest"],
                    figures["loss"],
                    figures["seconds"],
                ]
            )
            points.setdefault(name, []).append((figures["exposure"], figures["range"], bound))
    show.table(
        f"{rows:,} people, mean of {runs} tables; error / error of independence, random sets / ranges",
        ["boxes", "bound", "default estimator", "papers' estimator", "prototype", "exposure", "groups", "largest", "loss", "s"],
        lines,
    )
    show.note('A row of "safe" with the figures of "blind" had no room for a first safe cut and fell back to blind buckets.')
    return points


def _study(
    table: sfumato.Table, requirement: Requirement, method: sfumato.Buckets, workloads: tuple[Workload, Workload]
) -> dict[str, float]:
    start = time.perf_counter()
    result = sfumato.publication(table, requirement, method=method, random=1)
    seconds = time.perf_counter() - start
    figures: dict[str, float] = {"seconds": seconds, "exposure": result.audit.exposure or 0.0}
    asked: tuple[tuple[str, Estimator | None], ...] = (("", None), (", paper", "paper"))
    for suffix, estimator in asked:
        for name, workload in zip(("random", "range"), workloads, strict=True):
            error = query_error(result.release, table, workload, estimator=estimator)
            figures[name + suffix] = error.median / error.independence_median
    sizes = np.bincount(result.release.tables()["qit"]["bucket"].to_numpy())[1:]
    return {**figures, "groups": len(sizes), "largest": int(sizes.max()), "loss": float(result.private["loss"])}


def _independent(table: sfumato.Table) -> tuple[float, float, str]:
    shares = np.array(list(table.sensitive.histogram().values())) / table.rows
    return float((shares**2).sum()), 1.0, ""


def _speed(show: Show, sizes: list[int]) -> None:
    lines: list[list[Cell]] = []
    for rows in sizes:
        table = _table(rows, 1)
        for against, limit in (("engineer", 2.0), ("reader", 6.0)):
            slowest = 0.0
            for requirement in requirements("reader").values():
                bounds = requirement.bounds(table.sensitive.histogram())
                seconds, _ = best_of(
                    3,
                    lambda table=table, bounds=bounds, against=against: cut_boxes(  # type: ignore[misc]
                        Space.of(table.quasi),
                        table.sensitive.codes,
                        bounds,
                        tight=against == "reader",
                        floor=2,
                        weights=np.ones(len(QUASI)),
                        random=SeededRandomness(1),
                    ),
                )
                slowest = max(slowest, seconds)
            lines.append([rows, "tight" if against == "reader" else "safe", slowest, limit])
    show.table(
        "Cutting quasi space into boxes of two people or more: seconds, the slowest of all bounds",
        ["people", "cuts", "s", "target at 500K"],
        lines,
    )
