"""How far are count answers from the truth, for each estimator and bound, and do intervals cover what they say?

Anatomy's buckets against their size, with the papers' workload and ranges, the error of assuming independence beside it. Error
against θ is the papers' Figure 5 (`make studies STUDY=001-fig5`). Coverage: freshly generated tables, freshly drawn buckets.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa

import sfumato
from benchmarks._show import Cell, Show
from sfumato.query import Estimate, Estimator, Workload, anatomy_workload, count_many, range_workload, true_answers
from sfumato.studies.census import OFFSET, SEED
from sfumato.table.generators import census
from sfumato.utility import query_error

QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
ESTIMATORS: tuple[Estimator, ...] = ("paper", "likelihood")
CLASSES = ((1, 100), (100, 1000), (1000, 10**9))


def run(show: Show, quick: bool) -> None:
    """Show error against bucket size, and coverage."""
    table = _table(20_000 if quick else 100_000, SEED)
    _against_size(show, table, 200 if quick else 2000)
    _coverage(show, tables=2 if quick else 12, rows=20_000 if quick else 60_000, queries=40 if quick else 60)


def _table(rows: int, seed: int) -> sfumato.Table:
    data: pa.Table = census(rows, seed)
    schema = sfumato.Schema(quasi=QUASI, sensitive=("occupation",), types={"occupation": "categorical"})
    return sfumato.Table.from_frame(data.select([*QUASI, "occupation"]), schema)


def _workloads(table: sfumato.Table, queries: int, seed: int = SEED) -> dict[str, Workload]:
    return {
        "Anatomy-style": anatomy_workload(table, queries=queries, seed=seed),
        "ranges": range_workload(table, queries=queries, seed=seed + 1),
    }


def _errors(table: sfumato.Table, release: sfumato.Release, workload: Workload) -> list[Cell]:
    """Return mean and median of each estimator, and of independence."""
    cells: list[Cell] = []
    for estimator in ESTIMATORS:
        found = query_error(release, table, workload, estimator=estimator)
        cells.append(f"{found.mean:.3f} / {found.median:.3f}")
    return [*cells, f"{found.independence_mean:.3f} / {found.independence_median:.3f}"]


def _against_size(show: Show, table: sfumato.Table, queries: int) -> None:
    for name, workload in _workloads(table, queries).items():
        rows: list[list[Cell]] = []
        for size in (2, 5, 10, 12):
            release = sfumato.Anatomy(l=size).run(table, sfumato.LDiversity(size), random=SEED).release
            rows.append([size, *_errors(table, release, workload)])
        show.table(f"Mean / median relative error, {name} workload, Anatomy's buckets", ["ℓ", *ESTIMATORS, "independence"], rows)


def _coverage(show: Show, *, tables: int, rows: int, queries: int) -> None:
    inside: dict[tuple[str, str, tuple[int, int]], list[bool]] = defaultdict(list)
    for seed in range(tables):
        table = _table(rows, 1000 + seed)
        releases = {
            "Anatomy, ℓ = 5": sfumato.Anatomy(l=5).run(table, sfumato.LDiversity(5), random=seed).release,
            "Anatomy, ℓ = 10": sfumato.Anatomy(l=10).run(table, sfumato.LDiversity(10), random=seed).release,
            "optimal, 8f + 0.02": sfumato.MultiSize().run(table, sfumato.FPrivacy(theta=8, offset=OFFSET), random=seed).release,
            "optimal, 32f + 0.02": sfumato.MultiSize().run(table, sfumato.FPrivacy(theta=32, offset=OFFSET), random=seed).release,
        }
        for name, workload in _workloads(table, queries, 2000 + 2 * seed).items():
            truth = true_answers(table, workload)
            for label, release in releases.items():
                for answer, actual in zip(count_many(release, workload), truth.tolist(), strict=True):
                    if actual and isinstance(answer, Estimate) and answer.low is not None and answer.high is not None:
                        group = next(c for c in CLASSES if c[0] <= actual < c[1])
                        inside[label, name, group].append(answer.low <= actual <= answer.high)
    shown: list[list[Cell]] = []
    for label, name in sorted({key[:2] for key in inside}):
        cells: list[Cell] = [label, name]
        for group in CLASSES:
            found = inside.get((label, name, group), [])
            cells.append(f"{np.mean(found):.3f} of {len(found)}" if found else None)
        shown.append(cells)
    for group in CLASSES:
        everything = [hit for key, hits in inside.items() if key[2] == group for hit in hits]
        show_all = f"{np.mean(everything):.3f} of {len(everything)}" if everything else None
        shown.append([f"all, answers {_class_name(group)}", "both", *[show_all if g == group else None for g in CLASSES]])
    columns = ["release", "workload", *(_class_name(group) for group in CLASSES)]
    show.table(f"Coverage of 95 % intervals by size of the true answer, {tables} fresh tables of {rows:,}", columns, shown)


def _class_name(group: tuple[int, int]) -> str:
    return f"≥ {group[0]:,}" if group[1] >= 10**9 else f"{group[0]}–{group[1] - 1}"
