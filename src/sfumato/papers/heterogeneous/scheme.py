"""The whole scheme: pools, matches, and whose value each published record carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import PolicyError
from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.streams import Step
from sfumato.papers.heterogeneous._match_kernels import deal_to_distant
from sfumato.papers.heterogeneous.assignment import draw_by_pools, draw_by_walks
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.matchers import Matcher, match
from sfumato.papers.heterogeneous.packing import Packing, PoolPacking, pack
from sfumato.papers.heterogeneous.partition import cut_at_ranks
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.column import Column
from sfumato.threads import in_threads

Assigned = Literal["walks", "pools"]
Partitioned = Literal["ranks", "separate"]


@dataclass(frozen=True)
class SchemeOptions:
    """How the scheme is run; what each means is said where `Heterogeneous` takes it."""

    packing: PoolPacking = "paper"
    fill: PoolFill = "random"
    matcher: Matcher = "hungarian"
    assignment: Assigned = "walks"
    partition: int | None = None
    partitions: Partitioned = "ranks"


@dataclass(frozen=True, eq=False)
class MatchedRecords:
    """The records to publish: record r is matched with the rows `matches[start[r] : start[r + 1]]`, `carried[r]` gave its value.

    `own[r]` is the row that it was made from (−1: a dummy). A record that would carry a dummy's value is not among them, so every
    row gives its value to exactly one record.
    """

    start: Integers
    matches: Small
    own: Integers
    carried: Integers


@dataclass(frozen=True, eq=False)
class Scheme:
    """The records, the smallest number of matches of a record, and figures that only the publisher may see."""

    records: MatchedRecords
    least: int
    figures: Mapping[str, Any]


def heterogeneous_records(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    costs: Costs,
    choices: SchemeOptions,
    *,
    random: Randomness,
    progress: Progress = silent,
) -> Scheme:
    """Return the records of [003] for these people: Algorithm 1 or 3, Algorithm 2, and one drawn assignment.

    With `partitions="separate"` people are first cut into boxes of at least `partition` people that keep the bounds, and each box
    is published on its own, as the paper does, several at a time ([003], section 5.4). With `"ranks"` pools are made once for
    all, and cut together into blocks.
    """
    parts = _separate(columns, sensitive, bounds, choices.partition) if _apart(choices) else [np.arange(len(sensitive))]
    coins = random.spawn(Step.BOXES)

    def solve(k: int) -> tuple[MatchedRecords, Packing, int]:
        used, codes = np.unique(sensitive[parts[k]], return_inverse=True)
        counts = tuple(map(int, np.bincount(codes)))
        own = Bounds.of(tuple(bounds.values[v] for v in used), counts, tuple(bounds.limits[v] for v in used))
        packing = pack(own, choices.packing)
        return _solve(parts[k], columns, codes, costs, packing, choices, coins.spawn(k))

    solved: list[tuple[MatchedRecords, Packing, int]] = []
    for one in in_threads(solve, range(len(parts))):
        progress("matching records", len(solved) / len(parts))
        solved.append(one)
    records, packings, blocks = zip(*solved, strict=True)
    figures = {
        "matches": [min(p.pools for p in packings), max(p.pools for p in packings)],
        "partitions": len(parts),
        "blocks": sum(blocks),
        "dummies": int(sum(p.dummies.sum() for p in packings)),
        "algorithms": sorted({p.algorithm for p in packings}),
    }
    return Scheme(_joined(records), min(p.pools for p in packings), figures)


def _apart(choices: SchemeOptions) -> bool:
    return choices.partition is not None and choices.partitions == "separate"


def _separate(columns: Sequence[Column], sensitive: Array, bounds: Bounds, least: int | None) -> list[Integers]:
    """Return the people of every box that is published on its own: boxes of at least `least` people that keep the bounds."""
    space, weights = Space.of(columns).lines, column_weights(columns, None)
    boxes = cut_boxes(space, sensitive, bounds, tight=True, floor=least or 1, weights=weights)
    order = np.argsort(boxes.group, kind="stable")
    return np.split(order, np.cumsum(boxes.sizes)[:-1])


def _solve(
    rows: Integers,
    columns: Sequence[Column],
    codes: Array,
    costs: Costs,
    packing: Packing,
    choices: SchemeOptions,
    random: Randomness,
) -> tuple[MatchedRecords, Packing, int]:
    """Return the records of one partition, its pools, and in how many blocks they were matched."""
    if choices.fill == "distant":
        slots = deal_far_apart(_splitting(packing), codes, costs.of_rows(rows), random)
    else:
        slots = deal(packing, codes, random)
    starts = np.array([0, packing.size], dtype=np.int64)
    if choices.partition is not None and choices.partitions == "ranks":
        largest = max(1, choices.partition // packing.pools)
        local = [column.take(rows) for column in columns]
        slots, starts = cut_at_ranks(slots, local, codes, costs.of_rows(rows), largest=largest, once=packing.once, random=random)
    links = match(slots, codes, costs.of_rows(rows), once=packing.once, starts=starts, matcher=choices.matcher)
    draw = draw_by_walks if choices.assignment == "walks" else draw_by_pools
    carried, coins = np.empty(slots.shape, np.int64), random.spawn(Step.CARRIED)
    for block, (begin, end) in enumerate(pairwise(starts.tolist())):
        given = draw(links[:, begin:end] - np.int32(begin), coins.spawn(block))
        carried[:, begin:end] = slots[given // (end - begin), begin + given % (end - begin)]
    return _records(rows, slots, links, carried), packing, len(starts) - 1


def _splitting(packing: Packing) -> Packing:
    """Return the packing if its values may be in any number of pools, which the threshold mode needs."""
    if not packing.once:
        raise PolicyError(
            "Heterogeneous(fill='distant'): the paper has it for ℓ-diversity only, and these bounds need more pools than that",
            hint='leave fill out, or use model = "l-diversity"',
        )
    return packing


def _records(rows: Integers, slots: Integers, links: Small, carried: Integers) -> MatchedRecords:
    """Return the records that carry somebody's value, with the rows behind them, dummies left out."""
    pools = len(slots)
    keep = carried.reshape(-1) >= 0
    matched = slots[np.arange(pools), links].reshape(-1, pools)[keep]
    real = matched >= 0
    start = np.concatenate(([0], np.cumsum(real.sum(axis=1)))).astype(np.int64)
    own = slots.reshape(-1)[keep]
    return MatchedRecords(
        start,
        rows[matched[real]].astype(np.int32),
        np.where(own < 0, -1, rows[own]),
        rows[carried.reshape(-1)[keep]],
    )


def _joined(parts: Sequence[MatchedRecords]) -> MatchedRecords:
    if len(parts) == 1:
        return parts[0]
    length = np.concatenate([np.diff(part.start) for part in parts])
    return MatchedRecords(
        np.concatenate(([0], np.cumsum(length))).astype(np.int64),
        np.concatenate([part.matches for part in parts]),
        np.concatenate([part.own for part in parts]),
        np.concatenate([part.carried for part in parts]),
    )


# People into planned pools: who of a value goes into which of its pools.

PoolFill = Literal["random", "distant"]


def deal(packing: Packing, sensitive: Array, random: Randomness) -> Integers:
    """Return [pools × size]: the rows in every pool, −1 for dummies; who goes where, and in which order, is drawn.

    `sensitive` has the value of each row as the packing numbers values.
    """
    shuffled = random.spawn(Step.DEAL).permutation(len(sensitive))
    by_value = shuffled[np.argsort(sensitive[shuffled], kind="stable")]
    pool_of = np.concatenate([np.repeat(np.arange(packing.pools), held) for held in packing.held.T])
    by_pool = by_value[np.argsort(pool_of, kind="stable")]
    return _arranged(by_pool, np.bincount(pool_of, minlength=packing.pools), packing.size, random)


def deal_far_apart(packing: Packing, sensitive: Array, costs: Costs, random: Randomness) -> Integers:
    """Return the pools of the paper's threshold mode: less frequent people go where the others are most unlike them.

    People of one pool are never matched with each other, so that unlike ones belong together. Deciding this by quasi values and
    sensitive values at once tells an engineer something: the mode is for study. Every person is compared with everybody placed
    before, which takes quadratic time.
    """
    counts = packing.held.sum(axis=0)
    shuffled = random.spawn(Step.DEAL).permutation(len(sensitive))
    by_value = shuffled[np.argsort(sensitive[shuffled], kind="stable")]
    own = [int(np.argmax(packing.held[b])) for b in range(packing.pools)]
    home = np.full(len(counts), -1, np.int64)
    home[own] = np.arange(packing.pools)
    rank = np.argsort(-counts, kind="stable")
    rank = np.concatenate([own, rank[home[rank] < 0]])
    start = np.cumsum(counts) - counts
    order = np.concatenate([by_value[start[v] : start[v] + counts[v]] for v in rank])
    places, codes, weights = costs.at(np.arange(len(sensitive)), 1)
    found = deal_to_distant(places, codes, weights, order, home[sensitive], packing.pools, packing.size)
    by_pool = order[np.argsort(found[order], kind="stable")]
    return _arranged(by_pool, np.bincount(found, minlength=packing.pools), packing.size, random)


def _arranged(by_pool: Integers, sizes: Integers, size: int, random: Randomness) -> Integers:
    """Return rows listed pool by pool as a matrix, dummies added, each pool in random order."""
    pools = len(sizes)
    slots = np.full((pools, size), -1, np.int64)
    place = np.arange(len(by_pool)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slots[np.repeat(np.arange(pools), sizes), place] = by_pool
    mixed = random.spawn(Step.ARRANGE).permutation(pools * size)
    return slots.reshape(-1)[mixed[np.argsort(mixed // size, kind="stable")]].reshape(pools, size)
