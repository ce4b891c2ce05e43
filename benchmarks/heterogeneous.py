"""What does the scheme of heterogeneous generalization cost, and what does a person face after values are allotted?

Bundled census, seven quasi columns (age and education numeric, the others categorical), Occupation; domains of 79, 2, 17, 6, 9,
10 and 83 values. GCP is the mean NCP over records and columns. "Straightforward" is Algorithm 2 written down with numpy and
scipy's assignment solver, on the same pools.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from benchmarks._show import Cell, Show
from sfumato.auditor import audit_release
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.matchers import match
from sfumato.papers.heterogeneous.method import Heterogeneous
from sfumato.papers.heterogeneous.packing import fewest_pools, pack
from sfumato.papers.heterogeneous.scheme import deal
from sfumato.privacy import BetaLikeness, LDiversity
from sfumato.privacy.requirement import Requirement
from sfumato.randomness import SeededRandomness
from sfumato.release.ranges import RangesRelease
from sfumato.studies.matching.tables import QUASI, census_table
from sfumato.studies.timing import best_of
from sfumato.table import Table
from sfumato.utility.gcp import gcp

PAPER = Heterogeneous(accept_weaker_claim=True)
TEN = LDiversity(10, against="reader")


def run(show: Show, quick: bool) -> None:
    """Show pools, matchers, partitions, beliefs after the draw, and why heterogeneity itself saves nothing."""
    people = 2_000 if quick else 10_000
    table = census_table(people)
    PAPER.run(census_table(1_000), TEN, random=1)
    _packings(show, table)
    seconds = _matchers(show, table)
    if not quick:
        show.target("ℓ = 10, 10,000 people, hungarian, seconds", seconds, 4)
    for size, anchors in ((2_000, 10),) if quick else ((2_000, 10), (10_000, 3)):
        _straightforward(show, census_table(size), anchors)
    _partitions(show, [4_000] if quick else [10_000, 100_000])
    _anchors(show, table)


def _packings(show: Show, table: Table) -> None:
    rows: list[list[Cell]] = []
    for name, requirement in _requirements():
        bounds = requirement.bounds(table.sensitive.histogram())
        paper, tight = pack(bounds, "paper"), pack(bounds, "tight")
        least = fewest_pools(bounds, max(bounds.needs))
        rows.append([name, paper.pools, int(paper.dummies.sum()), tight.pools, int(tight.dummies.sum()), least])
    columns = ["bounds", "μ, paper", "dummies", "μ, tight", "dummies", "no fewer than"]
    show.table(f"Pools, {table.rows:,} people", columns, rows)


def _requirements() -> list[tuple[str, Requirement]]:
    return [("ℓ = 10", TEN), *((f"β = {beta}", BetaLikeness(beta, against="reader")) for beta in (1, 2, 3, 4, 5))]


def _matchers(show: Show, table: Table) -> float:
    """Show loss, time and what people face for every matcher and packing; return the seconds of the paper's main case."""
    rows: list[list[Cell]] = []
    beta = BetaLikeness(3, against="reader")
    tried: list[tuple[str, Requirement, Heterogeneous]] = [
        ("ℓ = 10", TEN, replace(PAPER, matcher=matcher)) for matcher in ("hungarian", "sortgreedy", "greedy")
    ]
    tried += [("ℓ = 10", TEN, replace(PAPER, fill="distant")), ("ℓ = 10", TEN, replace(PAPER, assignment="pools"))]
    tried += [("β = 3", beta, PAPER), ("β = 3", beta, replace(PAPER, packing="tight"))]
    main = 0.0
    for name, requirement, method in tried:
        seconds, outcome = best_of(1, partial(method.run, table, requirement, random=1))
        main = main or seconds
        release, links = outcome.release, outcome.links
        if not isinstance(release, RangesRelease) or links is None:
            raise TypeError("the scheme is shown as ranges, with links")
        found = audit_release(release, table, links=links).stronger
        faced = [found[key].figure for key in sorted(found)]
        how = f"{method.packing}, {method.matcher}, {method.fill}, {method.assignment}"
        rows.append([name, how, outcome.private["matches"][0], gcp(release).value, seconds, *faced])
    columns = [
        "bounds",
        "packing, matcher, fill, assignment",
        "μ",
        "GCP",
        "s",
        "see a value twice",
        "over, linked",
        "over, containment",
    ]
    show.table(f"Loss, time and people over a bound, {table.rows:,} people", columns, rows)
    return main


def _straightforward(show: Show, table: Table, anchors: int) -> None:
    """Show our loss beside Algorithm 2 written down, on the same pools and so many of them as anchors."""
    bounds = TEN.bounds(table.sensitive.histogram())
    plan, codes = pack(bounds, "paper"), table.sensitive.codes
    costs = Costs.of(table.quasi, table.schema)
    slots = deal(plan, codes, SeededRandomness(1))
    links = match(slots, codes, costs, once=plan.once, starts=np.array([0, plan.size]), matcher="hungarian")
    ours, plain = [], []
    for anchor in range(anchors):
        rows = slots[np.arange(plan.pools), links[anchor]]
        ours.append(float(np.mean([_ncp(costs, list(mine)) for mine in rows])) / len(QUASI))
        seconds, loss = best_of(1, partial(_plainly, slots, anchor, costs))
        plain.append(loss)
    show.note(
        f"Straightforward Algorithm 2, {table.rows:,} people, {anchors} of {plan.pools} anchors: GCP {np.mean(plain):.4f} (the "
        f"last took {seconds:.1f} s), ours on the same {np.mean(ours):.4f}."
    )
    show.target(f"loss above it, {table.rows:,} people", float(np.mean(ours) / np.mean(plain)) - 1, 0.03)


def _plainly(slots: npt.NDArray[Any], anchor: int, costs: Costs) -> float:
    """Return the GCP of one pool's records by Algorithm 2; a same-value constraint could only raise it."""
    low = high = costs.places[:, slots[anchor]]
    seen = np.zeros((len(slots[anchor]), int(costs.first[-1])), bool)
    for codes in costs.codes:
        seen[np.arange(len(seen)), codes[slots[anchor]]] = True
    for step in range(1, len(slots)):
        other = slots[(anchor + step) % len(slots)]
        here = costs.places[:, other]
        grown = sum(
            np.maximum(0, np.maximum(low[j][:, None] - here[j], here[j] - high[j][:, None])) for j in range(len(here))
        ) + sum(weight * ~seen[:, codes[other]] for codes, weight in zip(costs.codes, costs.weights, strict=True))
        to = linear_sum_assignment(grown)[1]
        low, high = np.minimum(low, here[:, to]), np.maximum(high, here[:, to])
        for codes in costs.codes:
            seen[np.arange(len(seen)), codes[other[to]]] = True
    weight = np.repeat(costs.weights, np.diff(costs.first))
    return float(((high - low).sum(axis=0) + seen @ weight - costs.weights.sum()).mean()) / len(QUASI)


def _ncp(costs: Costs, rows: list[int]) -> float:
    line = costs.places[:, rows]
    sets = sum((len(set(codes[rows].tolist())) - 1) * weight for codes, weight in zip(costs.codes, costs.weights, strict=True))
    return float((line.max(axis=1) - line.min(axis=1)).sum() + sets)


def _partitions(show: Show, sizes: list[int]) -> None:
    rows: list[list[Cell]] = []
    for people in sizes:
        table = census_table(people)
        for method in (
            replace(PAPER, partition=4_000),
            replace(PAPER, partition=1_000),
            replace(PAPER, partition=1_000, partitions="separate"),
        ):
            seconds, outcome = best_of(1, partial(method.run, table, TEN, random=1))
            private = outcome.private
            blocks = private["blocks"]
            if (people, method.partition) == (100_000, 4_000):
                show.target("ℓ = 10, 100,000 people in blocks of 4,000, seconds", seconds, 40)
            rows.append(
                [people, method.partitions, method.partition, blocks, private["dummies"], gcp(outcome.release).value, seconds]
            )
    show.table("Partitions, ℓ = 10", ["people", "partitions", "size", "blocks", "dummies", "GCP", "s"], rows)


def _anchors(show: Show, table: Table) -> None:
    """Show that the cheapest anchor's groups, shared by all their people, are no worse than the heterogeneous records."""
    bounds = TEN.bounds(table.sensitive.histogram())
    plan, codes = pack(bounds, "paper"), table.sensitive.codes
    costs = Costs.of(table.quasi, table.schema)
    slots = deal(plan, codes, SeededRandomness(1))
    links = match(slots, codes, costs, once=plan.once, starts=np.array([0, plan.size]), matcher="hungarian")
    loss = []
    for anchor in range(plan.pools):
        sets = slots[np.arange(plan.pools), links[anchor]]
        loss.append(float(np.mean([_ncp(costs, [row for row in mine if row >= 0]) for mine in sets])) / len(QUASI))
    show.table(
        "GCP of the partition that each anchor pool makes, shared by everybody in it, and their mean: the heterogeneous GCP",
        ["least", "mean", "most"],
        [[min(loss), float(np.mean(loss)), max(loss)]],
    )
