"""What does small-domain randomization cost, and do its intervals hold what they say?

Beside the paper's tables and figures (`make studies STUDY=002`): retention per value under other bounds, the error of the
count of every value, coverage of intervals on fresh tables, and time. PP is `SmallDomain`, UP `UniformPerturbation`.
"""

from __future__ import annotations

import numpy as np

import sfumato
from benchmarks._show import Cell, Show
from sfumato.methods.base import Method
from sfumato.methods.small_domain import SmallDomain
from sfumato.methods.uniform import UniformPerturbation
from sfumato.privacy.requirement import Requirement
from sfumato.query import Estimate, Estimator, Query, anatomy_workload, count_many, range_workload, true_answers
from sfumato.studies.census import table as census_table
from sfumato.studies.domain.perturbation import LEVELS, SEED, Answers, answers_of, mean_retention, pool, published, rho, value_is
from sfumato.studies.timing import best_of


def run(show: Show, quick: bool) -> None:
    """Show retention per value, reconstruction, coverage and the times."""
    _per_value(show, 20_000 if quick else 100_000)
    _reconstruction(show, 20_000 if quick else 300_000)
    _coverage(show, tables=2 if quick else 8, rows=15_000 if quick else 60_000, queries=40 if quick else 100)
    _speed(show, 50_000 if quick else 500_000)


def _per_value(show: Show, rows: int) -> None:
    table = census_table("OCC", rows)
    bounds: dict[str, Requirement] = {
        "8f + 0.02": sfumato.FPrivacy(theta=8, offset="0.02"),
        "32f + 0.02": sfumato.FPrivacy(theta=32, offset="0.02"),
        "β = 3": sfumato.BetaLikeness(3),
    }
    per_value: list[list[Cell]] = []
    for label, requirement in bounds.items():
        release = published(SmallDomain(), table, requirement)
        per_value.append([label, len(release.parts), 100 * mean_retention(release, table)])
    show.table("Retention per value under other bounds, percent", ["bound", "parts", "mean retention"], per_value)


def _reconstruction(show: Show, rows: int) -> None:
    shown: list[list[Cell]] = []
    for attribute, levels in LEVELS.items():
        table = census_table(attribute, rows)
        asked = [Query(value_is(table, code), terms="published") for code in range(len(table.sensitive.domain))]
        truth = table.sensitive.counts.astype(float)
        for level in levels:
            cells: list[Cell] = [attribute, level]
            for method in (UniformPerturbation(), SmallDomain()):
                release = published(method, table, rho(attribute, level))
                for estimator in ("paper", "likelihood"):
                    cells.append(float((np.abs(answers_of(release, asked, estimator) - truth) / truth).mean()))
            shown.append(cells)
    columns = ["attribute", "L", "UP, paper's", "UP, likelihood", "PP, paper's", "PP, likelihood"]
    show.table(f"Mean relative error of the count of every value, {rows:,} people", columns, shown)


def _coverage(show: Show, *, tables: int, rows: int, queries: int) -> None:
    classes = (("1–99", 1, 100), ("100–999", 100, 1000), ("≥ 1000", 1000, 10**9))
    plans: dict[str, tuple[str, Method, Requirement]] = {
        "PP, occupation, L = 6": ("OCC", SmallDomain(), rho("OCC", 6)),
        "PP, occupation, L = 3": ("OCC", SmallDomain(), rho("OCC", 3)),
        "UP, occupation, L = 3": ("OCC", UniformPerturbation(), rho("OCC", 3)),
        "per value, 8f + 0.02": ("OCC", SmallDomain(), sfumato.FPrivacy(theta=8, offset="0.02")),
        "PP, education, L = 6": ("EDU", SmallDomain(), rho("EDU", 6)),
    }
    shown: list[list[Cell]] = []
    for name, (attribute, method, requirement) in plans.items():
        for estimator in ("paper", "likelihood"):
            found = _outcomes(attribute, method, requirement, estimator, tables, rows, queries)
            cells: list[Cell] = [name, estimator]
            for _, low, high in classes:
                chosen = found[(found[:, 0] >= low) & (found[:, 0] < high)]
                inside = chosen[~np.isnan(chosen[:, 1]), 1]
                cells.append(f"{inside.mean():.3f} of {len(inside)}" if len(inside) else None)
            shown.append(cells)
    title = f"Coverage of 95 % intervals by size of the true answer, {tables} fresh tables of {rows:,}, both workloads"
    show.table(title, ["release", "estimator", *(name for name, _, _ in classes)], shown)


def _outcomes(
    attribute: str, method: Method, requirement: Requirement, estimator: Estimator, tables: int, rows: int, queries: int
) -> Answers:
    """Return truth and whether the interval holds it (NaN without one) for every query of fresh tables."""
    found = []
    for seed in range(100, 100 + tables):
        table = census_table(attribute, rows, seed=seed)
        release = method.run(table, requirement, random=seed).release
        for workload in (anatomy_workload(table, queries=queries, seed=seed), range_workload(table, queries=queries, seed=seed)):
            truth = true_answers(table, workload).tolist()
            for answer, actual in zip(count_many(release, workload, estimator=estimator), truth, strict=True):
                if actual and isinstance(answer, Estimate):
                    known = answer.low is not None and answer.high is not None
                    found.append((actual, answer.low <= actual <= answer.high if known else np.nan))
    return np.array(found, dtype=float)


def _speed(show: Show, rows: int) -> None:
    table = census_table("OCC", rows)
    requirement = rho("OCC", 6)
    bounds = requirement.bounds(table.sensitive.histogram())
    planning, _ = best_of(3, lambda: SmallDomain().planned(requirement, bounds, rows))
    show.target(f"plan in seconds, {rows:,} people, 50 values", planning, 0.1)
    publishing, release = best_of(2, lambda: SmallDomain().run(table, requirement, random=SEED).release)
    show.note(f"- publish without reading and writing: {publishing:.2f} s")
    auditing, _ = best_of(1, lambda: sfumato.audit(release, table))
    show.note(f"- audit against the table: {auditing:.2f} s")
    asked = pool(table)[:2000]
    for estimator in ("paper", "likelihood"):
        taking, _ = best_of(1, lambda estimator=estimator: count_many(release, asked, estimator=estimator))  # type: ignore[misc]
        show.note(f"- {len(asked):,} queries by {estimator}: {taking:.1f} s")
