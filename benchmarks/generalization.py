"""What do the generalization methods lose, side by side, and which of the paper's findings hold?

Why heterogeneity itself saves nothing; median error of range queries against β, λ and Θ, and of census prefix queries (a prefix
of education, single values of age, gender, marital status and race, half of the occupations) against β; GCP and processor seconds
of a large table. `make studies` has [003]'s Figures 2 to 7. Bundled census, seven quasi columns (age and education numeric),
domains of 79, 2, 17, 6, 9, 10 and 83 values, Occupation. A dash: the method cannot keep these bounds. Ring publishes
groups of ℓ neighbours, so it stands beside the others for ℓ-diversity only.

Baselines stand here twice: as published, and as tuned here (BuReL with roomy packing and near people; diverse rings with
exchanges). `--table FILE` (Parquet) asks the same of a table of one's own that has 003's columns: a sample of so many people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import sfumato
from benchmarks._matching_picture import draw_pictures
from benchmarks._show import Cell, Show
from sfumato.methods.base import Method
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.matchers import Matcher, match
from sfumato.papers.heterogeneous.packing import pack
from sfumato.papers.heterogeneous.partition import cut_at_ranks
from sfumato.papers.heterogeneous.scheme import deal
from sfumato.privacy.requirement import Against, Requirement
from sfumato.query import Workload, prefix_workload, range_workload
from sfumato.randomness import SeededRandomness
from sfumato.studies.matching.published import BUREL, PAPER, RING, Lineup, Needs, diversity, likeness, published
from sfumato.studies.matching.tables import census_table, first_columns, sample_of
from sfumato.utility import gcp, query_error

MATCHERS: tuple[Matcher, ...] = ("hungarian", "sortgreedy", "greedy")
FORMS: tuple[Literal["buckets", "ranges"], ...] = ("buckets", "ranges")
Questions = Mapping[str, Mapping[str, tuple[int, Workload]]]
"""By axis and case: β, and what is asked."""


@dataclass(frozen=True)
class Scale:
    """How large a study is: people, effort of annealing, and the parameters along each axis."""

    people: int
    effort: float
    sizes: tuple[int, ...]
    ells: tuple[int, ...]
    betas: tuple[int, ...]
    block: int
    lambdas: tuple[int, ...]
    thetas: tuple[float, ...]
    queries: int
    large: int


QUICK = Scale(800, 0.02, (400, 800), (5, 10), (1, 3), 250, (1, 3), (0.05, 0.1), 50, 2_000)
FULL = Scale(
    10_000,
    1.0,
    (1_000, 3_000, 10_000, 30_000),
    (2, 4, 6, 8, 10),
    (1, 2, 3, 4, 5),
    5_000,
    (1, 2, 3, 4, 5, 6),
    (0.05, 0.1, 0.15, 0.2, 0.25),
    1_000,
    100_000,
)
SINGLE = ("age", "gender", "marital", "race")


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show every study, and draw the pictures of both methods' pages; of a given table, loss and error against ℓ and β alone."""
    if table is not None:
        study_of(show, table, QUICK if quick else replace(FULL, ells=(2, 5, 10), betas=(1, 3, 5), effort=0.3))
        return
    study(show, QUICK if quick else FULL)
    paths = draw_pictures(show.directory)
    show.note("Pictures: " + ", ".join(path.name for path in paths))


def study(show: Show, scale: Scale) -> None:
    """Show why heterogeneity itself saves nothing, query error, and loss and time of a large table."""
    _compile(_lineup(scale.effort))
    table = census_table(scale.people)
    _homogeneous(show, table, scale.block)
    _answers(show, table, scale)
    large = census_table(scale.large)
    cases = {"ℓ = 10": (large, diversity(10)), "β = 3": (large, likeness(3))}
    _compare(show, f"the bound, {scale.large:,} people", cases, _fast())


def study_of(show: Show, path: Path, scale: Scale) -> None:
    """Show loss and range query error of a sample of the table in a file, against ℓ, β and people."""
    lineup, table = _lineup(scale.effort), sample_of(path, scale.people)
    _compile(lineup)
    _compare(show, f"ℓ, {scale.people:,} people", {f"ℓ = {k}": (table, diversity(k)) for k in scale.ells}, lineup)
    _compare(show, f"β, {scale.people:,} people", {f"β = {k}": (table, likeness(k)) for k in scale.betas}, _without_ring(lineup))
    tables = {f"{people:,}": sample_of(path, people) for people in scale.sizes[:3]}
    _compare(show, "people, ℓ = 10", {name: (sized, diversity(10)) for name, sized in tables.items()}, lineup)
    _compare(show, "people, β = 3", {name: (sized, likeness(3)) for name, sized in tables.items()}, _without_ring(lineup))
    plain = range_workload(table, queries=scale.queries, seed=2)
    _ask(show, table, {"range queries": {f"β = {k}": (k, plain) for k in scale.betas}}, _answering(scale.effort))


def _lineup(effort: float) -> Lineup:
    return {
        "heterogeneous, hungarian": (PAPER, "reader"),
        "heterogeneous, sortgreedy": (replace(PAPER, matcher="sortgreedy"), "reader"),
        "heterogeneous, greedy": (replace(PAPER, matcher="greedy"), "reader"),
        "heterogeneous, hungarian, tight": (replace(PAPER, packing="tight"), "reader"),
        "near groups, reader": (sfumato.NearGroups(effort=effort), "reader"),
        "near groups, engineer": (sfumato.NearGroups(), "engineer"),
        "BuReL, published": (BUREL, "reader"),
        "BuReL, tuned": (sfumato.BuReL(), "reader"),
        "ring, published": (RING, "reader"),
        "ring, tuned": (sfumato.Ring(accept_weaker_claim=True), "reader"),
        "Mondrian": (sfumato.Mondrian(), "reader"),
    }


def _fast() -> Lineup:
    """Return what is done with a large table in reasonable time; the scheme in blocks of 4,000 people or boxes of 1,000."""
    blocks, boxes = replace(PAPER, partition=4_000), replace(PAPER, partition=1_000, partitions="separate")
    return {
        "heterogeneous, hungarian, ranks, 4,000": (blocks, "reader"),
        "heterogeneous, sortgreedy, ranks, 4,000": (replace(blocks, matcher="sortgreedy"), "reader"),
        "heterogeneous, greedy, ranks, 4,000": (replace(blocks, matcher="greedy"), "reader"),
        "heterogeneous, hungarian, separate, 1,000": (boxes, "reader"),
        "near groups, engineer": (sfumato.NearGroups(), "engineer"),
        "BuReL, published": (BUREL, "reader"),
        "BuReL, tuned": (sfumato.BuReL(), "reader"),
        "Mondrian": (sfumato.Mondrian(), "reader"),
    }


def _without_ring(lineup: Lineup) -> Lineup:
    return {name: entry for name, entry in lineup.items() if not name.startswith("ring")}


def _compile(lineup: Lineup) -> None:
    """Run everything once: few quasi columns leave room for cuts that many do not, and need kernels of their own."""
    table = census_table(1_000)
    for needs in (diversity(10), likeness(3)):
        for tried in (table, first_columns(table, 3)):
            for name, (method, against) in lineup.items():
                quicker = sfumato.NearGroups(effort=0.001) if name == "near groups, reader" else method
                published(quicker, tried, needs(against))


def _compare(show: Show, axis: str, cases: Mapping[str, tuple[sfumato.Table, Needs]], lineup: Lineup) -> None:
    """Show GCP and seconds of every method, a column per case."""
    loss: list[list[Cell]] = []
    spent: list[list[Cell]] = []
    for name, (method, against) in lineup.items():
        found = [published(method, table, needs(against)) for table, needs in cases.values()]
        loss.append([name, *(gcp(one[1]).value if one else None for one in found)])
        spent.append([name, *(one[0] if one else None for one in found)])
    show.table(f"GCP against {axis}", ["method", *cases], loss)
    show.table(f"Processor seconds against {axis}", ["method", *cases], spent)


def _homogeneous(show: Show, table: sfumato.Table, block: int) -> None:
    """Show what the same matches cost when in every block all people share the groups of the cheapest anchor pool."""
    rows: list[list[Cell]] = []
    for name, needs in (("ℓ = 10", diversity(10)), ("β = 3", likeness(3))):
        for matcher in MATCHERS:
            for size in (None, block):
                rows.append([name, matcher, size, *_anchors(table, needs("reader"), matcher, size)])
    columns = ["bound", "matcher", "block", "blocks", "own ranges", "shared groups, cheapest anchor", "dearest anchor"]
    show.table(f"GCP of the same matches, as own ranges and as shared groups, {table.rows:,} people", columns, rows)


def _anchors(table: sfumato.Table, needed: Requirement, matcher: Matcher, block: int | None) -> list[Cell]:
    """Return the number of blocks, the heterogeneous GCP, and that of each block's cheapest and dearest anchor's groups.

    Without dummies the first GCP is the mean over anchors of what their groups cost, so the cheapest is never above it.
    """
    plan, codes = pack(needed.bounds(table.sensitive.histogram()), "paper"), table.sensitive.codes
    costs = Costs.of(table.quasi, table.schema)
    coins = SeededRandomness(1)
    slots = deal(plan, codes, coins)
    starts = np.array([0, plan.size], dtype=np.int64)
    if block:
        largest = max(1, block // plan.pools)
        slots, starts = cut_at_ranks(slots, table.quasi, codes, costs, largest=largest, once=plan.once, random=coins)
    links = match(slots, codes, costs, once=plan.once, starts=starts, matcher=matcher)
    sets = slots[np.arange(plan.pools), links]
    lost = np.stack([_ncp(costs, mine) for mine in sets])
    people = (sets >= 0).sum(axis=2)
    records = (slots >= 0).astype(float)
    least = most = 0.0
    for begin, end in pairwise(starts.tolist()):
        shared = (lost[:, begin:end] * people[:, begin:end]).sum(axis=1)
        least, most = least + shared.min(), most + shared.max()
    whole = table.rows * len(table.quasi)
    return [len(starts) - 1, float((lost * records).sum()) / whole, float(least) / whole, float(most) / whole]


def _ncp(costs: Costs, sets: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the summed NCP of each set of rows, −1 for nobody."""
    real = sets >= 0
    total = np.zeros(len(sets))
    for places in costs.places:
        here = places[sets]
        total += np.where(real, here, -np.inf).max(axis=1) - np.where(real, here, np.inf).min(axis=1)
    for codes, weight in zip(costs.codes, costs.weights, strict=True):
        seen = np.sort(np.where(real, codes[sets], -1), axis=1)
        total += weight * ((np.diff(seen, axis=1) > 0) & (seen[:, :-1] >= 0)).sum(axis=1)
    return total


def _answers(show: Show, table: sfumato.Table, scale: Scale) -> None:
    """Show the median error of range queries along β, λ and Θ, and of prefix queries along β; groups stand in both forms."""
    _ask(show, table, _questions(table, scale), _answering(scale.effort))


def _ask(show: Show, table: sfumato.Table, questions: Questions, lineup: Lineup) -> None:
    """Show the median error along each axis, and that of assuming independence."""
    betas = {beta for asked in questions.values() for beta, _ in asked.values()}
    rows: dict[str, list[list[Cell]]] = {axis: [] for axis in questions}
    alone: dict[str, list[Cell]] = {}
    for name, (method, against) in lineup.items():
        made = {beta: published(method, table, likeness(beta)(against)) for beta in betas}
        for axis, asked in questions.items():
            releases = [(made[beta], workload) for beta, workload in asked.values()]
            found = [query_error(one[1], table, workload) if one else None for one, workload in releases]
            rows[axis].append([name, *(one.median if one else None for one in found)])
            if all(found):
                alone[axis] = ["independence", *(one.independence_median if one else None for one in found)]
    for axis, asked in questions.items():
        title = f"Median error of {axis}, {table.rows:,} people"
        show.table(title, ["method", *asked], [*rows[axis], alone[axis]])


def _questions(table: sfumato.Table, scale: Scale) -> Questions:
    """Return, for each axis, the cases along it with their β and their questions."""
    plain = range_workload(table, queries=scale.queries, seed=2)
    prefixes = prefix_workload(table, "education", SINGLE, queries=scale.queries, seed=2)
    by_lambda = {k: range_workload(table, queries=scale.queries, lambda_=k, seed=2) for k in scale.lambdas}
    by_theta = {k: range_workload(table, queries=scale.queries, theta=k, seed=2) for k in scale.thetas}
    return {
        "range queries against β, λ = 3 and Θ = 0.1": {f"β = {k}": (k, plain) for k in scale.betas},
        "range queries against λ, β = 3 and Θ = 0.1": {f"λ = {k}": (3, asked) for k, asked in by_lambda.items()},
        "range queries against Θ, β = 3 and λ = 3": {f"Θ = {k:g}": (3, asked) for k, asked in by_theta.items()},
        "census prefix queries against β": {f"β = {k}": (k, prefixes) for k in scale.betas},
    }


def _answering(effort: float) -> Lineup:
    lineup: dict[str, tuple[Method, Against]] = {
        "heterogeneous, hungarian": (PAPER, "reader"),
        "heterogeneous, hungarian, tight": (replace(PAPER, packing="tight"), "reader"),
    }
    for form in FORMS:
        lineup[f"near groups, reader, {form}"] = (sfumato.NearGroups(form=form, effort=effort), "reader")
        lineup[f"near groups, engineer, {form}"] = (sfumato.NearGroups(form=form), "engineer")
        lineup[f"BuReL, published, {form}"] = (replace(BUREL, form=form), "reader")
        lineup[f"BuReL, tuned, {form}"] = (sfumato.BuReL(form=form), "reader")
        lineup[f"Mondrian, {form}"] = (sfumato.Mondrian(form=form), "reader")
    return lineup
