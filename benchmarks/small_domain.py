"""What do the parts of small-domain randomization buy, in retention and in query error?

The study of 002 on the bundled census: Tables 2 and 3 (retention; statistics of the parts), reconstruction error, Figures 2 and 4
(mean relative error of PP, UP and Anatomy against L = 1/ρ2, |T| and the smallest selectivity) and Figure 3 (est against act, a
picture), with the paper's pool of 200 conditions of 1 to 3 quasi columns × every sensitive value. The paper prints figures for
the tables and curves for the rest. Beside its estimator stands our default one, beside its retention the retention per value. PP
is `SmallDomain`, UP `UniformPerturbation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np
import numpy.typing as npt

import sfumato
from benchmarks._charts import dots
from benchmarks._measure import best_of
from benchmarks._show import Cell, Show
from sfumato.methods.base import Method
from sfumato.methods.small_domain import SmallDomain
from sfumato.methods.uniform import UniformPerturbation
from sfumato.privacy.requirement import Requirement
from sfumato.query import And, Estimate, Estimator, In, Query, anatomy_workload, count_many, range_workload, true_answers
from sfumato.query.language.predicate import Condition, Missing
from sfumato.randomness import SeededRandomness
from sfumato.release.randomized import RandomizedRelease
from sfumato.table.column import Column
from sfumato.table.generators import census

COLUMNS = ("age", "gender", "education", "marital", "race", "workclass", "country", "occupation")
SEED = 1
SELECTIVITIES = (0.001, 0.005, 0.01)
CONDITIONS = 200

ORDERS: tuple[Literal["improved", "paper"], ...] = ("improved", "paper")
RETENTION = {"UP": {6: 2.9, 5: 4.0, 4: 5.9, 3: 9.4}, "PP": {6: 9.0, 5: 12.3, 4: 17.3, 3: 25.7}}
"""Table 2 of the paper: percent, Occupation, 300K."""

PARTS = {
    100_000: (17, 15, 15.0, 2.6),
    200_000: (18, 8, 20.9, 2.7),
    300_000: (19, 10, 17.3, 2.6),
    400_000: (20, 11, 17.0, 2.6),
    500_000: (20, 12, 18.4, 2.8),
}
"""Table 3 of the paper: initial groups, parts, mean m_i, mean γ_i at ρ2 = 1/6."""

Answers = npt.NDArray[np.float64]


def run(show: Show, quick: bool) -> None:
    """Show retention, parts, reconstruction, query error, coverage, the picture and the times."""
    rows = 20_000 if quick else 300_000
    sizes = (10_000, 20_000) if quick else (100_000, 200_000, 300_000, 400_000, 500_000)
    _retention(show, rows if quick else 100_000)
    _parts(show, sizes)
    _reconstruction(show, rows)
    for attribute, levels in (("occupation", (6, 5, 4, 3)), ("education", (10, 8, 6, 4))):
        _query_error(show, attribute, levels, rows)
        _error_by_size(show, attribute, levels[0], sizes)
    _coverage(show, tables=2 if quick else 8, rows=15_000 if quick else 60_000, queries=40 if quick else 100)
    _picture(show, rows)
    _speed(show, 50_000 if quick else 500_000)


@lru_cache(maxsize=4)
def _table(rows: int, attribute: str, seed: int = SEED) -> sfumato.Table:
    quasi = [name for name in COLUMNS if name != attribute]
    schema = sfumato.Schema(quasi=quasi, sensitive=(attribute,), types={attribute: "categorical"})
    return sfumato.Table.from_frame(census(rows, seed).select([*quasi, attribute]), schema)


def _rho(attribute: str, level: int) -> sfumato.RhoPrivacy:
    return sfumato.RhoPrivacy("1/13" if attribute == "occupation" else "1/30", f"1/{level}")


def _published(method: Method, table: sfumato.Table, requirement: Requirement) -> RandomizedRelease:
    release = method.run(table, requirement, random=SEED).release
    assert isinstance(release, RandomizedRelease)
    return release


def _mean_retention(release: RandomizedRelease, table: sfumato.Table) -> float:
    """Return the mean retention over records: with one retention a part, how large the parts are says it all."""
    people = np.bincount(release.part, minlength=len(release.parts))
    kept = [
        float(part.kept.mean()) if len(set(part.retention)) == 1 else float(prior @ part.kept)
        for part, prior in zip(release.parts, _true_or_likely(release, table), strict=True)
    ]
    return float(people @ np.array(kept) / people.sum())


def _true_or_likely(release: RandomizedRelease, table: sfumato.Table) -> Sequence[Answers]:
    """Return shares per part: the table's where there is one part, else likely ones."""
    if len(release.parts) == 1:
        return [table.sensitive.counts[release.parts[0].values] / table.rows]
    return release.priors


def _retention(show: Show, rows: int) -> None:
    table = _table(rows, "occupation")
    shown: list[list[Cell]] = []
    methods: dict[str, Method] = {
        "UP": UniformPerturbation(),
        "PP, improved order": SmallDomain(),
        "PP": SmallDomain(order="paper"),
        "per value": SmallDomain(retention="per-value"),
    }
    for name, method in methods.items():
        found = [100 * _mean_retention(_published(method, table, _rho("occupation", level)), table) for level in (6, 5, 4, 3)]
        shown.append([name, *[f"{one:.1f}" for one in found]])
        if name in RETENTION:
            shown.append([f"{name}, the paper", *[f"{one:.1f}" for one in RETENTION[name].values()]])
    show.table(f"Retention in percent against L = 1/ρ2, Occupation, {rows:,} (paper: Table 2)", ["", "6", "5", "4", "3"], shown)
    bounds: dict[str, Requirement] = {
        "8f + 0.02": sfumato.FPrivacy(theta=8, offset="0.02"),
        "32f + 0.02": sfumato.FPrivacy(theta=32, offset="0.02"),
        "β = 3": sfumato.BetaLikeness(3),
    }
    per_value: list[list[Cell]] = []
    for label, requirement in bounds.items():
        release = _published(SmallDomain(), table, requirement)
        per_value.append([label, len(release.parts), 100 * _mean_retention(release, table)])
    show.table("Retention per value under other bounds, percent", ["bound", "parts", "mean retention"], per_value)


def _parts(show: Show, sizes: Sequence[int]) -> None:
    shown: list[list[Cell]] = []
    for rows, order in product(sizes, ORDERS):
        outcome = SmallDomain(order=order).run(_table(rows, "occupation"), _rho("occupation", 6), random=SEED)
        release = outcome.release
        assert isinstance(release, RandomizedRelease)
        values = float(np.mean([len(part) for part in release.parts]))
        gamma = float(np.mean([float(part.gamma or 0) for part in release.parts]))
        ours: list[Cell] = [rows, order, int(outcome.private["initial_groups"]), len(release.parts), values, gamma]
        shown.append([*ours, " / ".join(str(one) for one in PARTS[rows]) if rows in PARTS else None])
    show.table(
        "Parts against |T|, ρ2 = 1/6 (paper: Table 3)",
        ["|T|", "order", "groups t", "parts", "mean m", "mean γ", "paper: t / parts / m / γ"],
        shown,
    )


def _reconstruction(show: Show, rows: int) -> None:
    shown: list[list[Cell]] = []
    for attribute, levels in (("occupation", (6, 5, 4, 3)), ("education", (10, 8, 6, 4))):
        table = _table(rows, attribute)
        asked = [Query(_value(table, code), terms="published") for code in range(len(table.sensitive.domain))]
        truth = table.sensitive.counts.astype(float)
        for level in levels:
            cells: list[Cell] = [attribute, level]
            for method in (UniformPerturbation(), SmallDomain()):
                release = _published(method, table, _rho(attribute, level))
                for estimator in ("paper", "likelihood"):
                    cells.append(float((np.abs(_answers(release, asked, estimator) - truth) / truth).mean()))
            shown.append(cells)
    columns = ["attribute", "L", "UP, paper's", "UP, likelihood", "PP, paper's", "PP, likelihood"]
    show.table(f"Mean relative error of the count of every value, {rows:,} people", columns, shown)


def _value(table: sfumato.Table, code: int) -> Condition:
    domain = table.sensitive.domain
    return In(domain.names[0], (domain.table[0][code].as_py(),))


def _code(column: Column, code: int) -> Condition:
    return Missing(column.name) if code == len(column.values) else In(column.name, (column.values[code].as_py(),))


def _pool(table: sfumato.Table, seed: int = SEED) -> list[Query]:
    """Return the paper's queries ([SDR §10.9]): 200 conditions of 1 to 3 columns, each with every sensitive value."""
    random = SeededRandomness(seed)
    asked = []
    for _ in range(CONDITIONS):
        many = 1 + int(random.below(3, 1)[0])
        chosen = [table.quasi[j] for j in random.permutation(len(table.quasi))[:many]]
        parts = [_code(column, int(random.below(column.size, 1)[0])) for column in chosen]
        asked += [Query(And((*parts, _value(table, code))), terms="published") for code in range(len(table.sensitive.domain))]
    return asked


def _answers(release: sfumato.Release, asked: Sequence[Query], estimator: Estimator | None) -> Answers:
    """Return the estimates; for the paper's estimator the raw ones, negative or not."""
    answers = [one for one in count_many(release, asked, estimator=estimator) if isinstance(one, Estimate)]
    return np.array([one.raw if estimator == "paper" and one.raw is not None else one.value for one in answers])


def _methods(attribute: str, level: int) -> list[tuple[str, Method, Requirement, Estimator | None]]:
    rho = _rho(attribute, level)
    skewed = attribute == "education"
    anatomy = sfumato.Anatomy(l=level, suppress=skewed)
    # ℓ-diversity itself is infeasible for frequent values; as in the paper, Anatomy then suppresses people until it is not.
    reader = sfumato.RhoPrivacy("1/30", f"1/{level}", against="reader") if skewed else sfumato.LDiversity(level, against="reader")
    return [
        ("PP", SmallDomain(), rho, "paper"),
        ("PP, likelihood", SmallDomain(), rho, "likelihood"),
        ("UP", UniformPerturbation(), rho, "paper"),
        ("UP, likelihood", UniformPerturbation(), rho, "likelihood"),
        ("Anatomy", anatomy, reader, "paper"),
        ("Anatomy, likelihood", anatomy, reader, "likelihood"),
    ]


def _errors(attribute: str, level: int, rows: int) -> list[list[Cell]]:
    table = _table(rows, attribute)
    pool = _pool(table)
    truth = true_answers(table, pool).astype(float)
    kept = np.flatnonzero(truth >= min(SELECTIVITIES) * table.rows)
    asked, actual = [pool[i] for i in kept], truth[kept]
    shown: list[list[Cell]] = []
    for name, method, requirement, estimator in _methods(attribute, level):
        found = _answers(method.run(table, requirement, random=SEED).release, asked, estimator)
        error = np.abs(found - actual) / actual
        passing = [error[actual >= least * table.rows] for least in SELECTIVITIES]
        shown.append([name, *[float(one.mean()) if len(one) else None for one in passing]])
    return shown


def _query_error(show: Show, attribute: str, levels: Sequence[int], rows: int) -> None:
    shown = [[level, *line] for level in levels for line in _errors(attribute, level, rows)]
    columns = ["L", "method", *(f"selectivity ≥ {100 * one:g} %" for one in SELECTIVITIES)]
    figure = "Figure 2" if attribute == "occupation" else "Figure 4; Anatomy after suppressing people of frequent values"
    show.table(f"Mean relative error against L, {attribute}, {rows:,} people (paper: {figure})", columns, shown)


def _error_by_size(show: Show, attribute: str, level: int, sizes: Sequence[int]) -> None:
    shown = [[rows, *line] for rows in sizes for line in _errors(attribute, level, rows)]
    columns = ["|T|", "method", *(f"selectivity ≥ {100 * one:g} %" for one in SELECTIVITIES)]
    show.table(f"Mean relative error against |T|, {attribute}, L = {level}", columns, shown)


def _coverage(show: Show, *, tables: int, rows: int, queries: int) -> None:
    classes = (("1–99", 1, 100), ("100–999", 100, 1000), ("≥ 1000", 1000, 10**9))
    plans: dict[str, tuple[str, Method, Requirement]] = {
        "PP, occupation, L = 6": ("occupation", SmallDomain(), _rho("occupation", 6)),
        "PP, occupation, L = 3": ("occupation", SmallDomain(), _rho("occupation", 3)),
        "UP, occupation, L = 3": ("occupation", UniformPerturbation(), _rho("occupation", 3)),
        "per value, 8f + 0.02": ("occupation", SmallDomain(), sfumato.FPrivacy(theta=8, offset="0.02")),
        "PP, education, L = 6": ("education", SmallDomain(), _rho("education", 6)),
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
        table = _table(rows, attribute, seed)
        release = method.run(table, requirement, random=seed).release
        for workload in (anatomy_workload(table, queries=queries, seed=seed), range_workload(table, queries=queries, seed=seed)):
            truth = true_answers(table, workload).tolist()
            for answer, actual in zip(count_many(release, workload, estimator=estimator), truth, strict=True):
                if actual and isinstance(answer, Estimate):
                    known = answer.low is not None and answer.high is not None
                    found.append((actual, answer.low <= actual <= answer.high if known else np.nan))
    return np.array(found, dtype=float)


def _picture(show: Show, rows: int) -> None:
    table = _table(rows, "occupation")
    pool = _pool(table)
    truth = true_answers(table, pool).astype(float)
    kept = np.flatnonzero(truth >= min(SELECTIVITIES) * table.rows)
    asked, actual = [pool[i] for i in kept], truth[kept]
    panels = {}
    for name, method, requirement, estimator in _methods("occupation", 6):
        if name != "UP, likelihood" and name != "Anatomy, likelihood":
            found = _answers(method.run(table, requirement, random=SEED).release, asked, estimator)
            panels[name] = list(zip(actual.tolist(), found.tolist(), strict=True))
    title = f"Estimated against true answers, Occupation, {rows:,} people, L = 6, selectivity ≥ 0.1 %"
    path = dots(show.directory / "small_domain.svg", panels, title=title, x="true answer", y="estimate")
    show.note(f"est against act (paper: Figure 3): {path.name}")


def _speed(show: Show, rows: int) -> None:
    table = _table(rows, "occupation")
    requirement = _rho("occupation", 6)
    bounds = requirement.bounds(table.sensitive.histogram())
    planning, _ = best_of(3, lambda: SmallDomain().planned(requirement, bounds, rows))
    show.target(f"plan in seconds, {rows:,} people, 50 values", planning, 0.1)
    publishing, release = best_of(2, lambda: SmallDomain().run(table, requirement, random=SEED).release)
    show.note(f"- publish without reading and writing: {publishing:.2f} s")
    auditing, _ = best_of(1, lambda: sfumato.audit(release, table))
    show.note(f"- audit against the table: {auditing:.2f} s")
    asked = _pool(table)[:2000]
    for estimator in ("paper", "likelihood"):
        taking, _ = best_of(1, lambda estimator=estimator: count_many(release, asked, estimator=estimator))  # type: ignore[misc]
        show.note(f"- {len(asked):,} queries by {estimator}: {taking:.1f} s")
