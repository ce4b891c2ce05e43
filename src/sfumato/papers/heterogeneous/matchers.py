"""Matching: every record with one record of every other pool, at little cost in ranges ([003], Algorithm 2)."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import ClaimBroken
from sfumato.papers.heterogeneous._match_kernels import GREEDY, HUNGARIAN, SORTGREEDY, Slots, match_blocks
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.threads import in_threads

Matcher = Literal["hungarian", "sortgreedy", "greedy"]

_NUMBERS: dict[Matcher, int] = {"hungarian": HUNGARIAN, "sortgreedy": SORTGREEDY, "greedy": GREEDY}


def match(slots: Integers, sensitive: Array, costs: Costs, *, once: bool, starts: Integers, matcher: Matcher) -> Small:
    """Return `links[b, i, o]`: the slot of pool o that slot i of pool b is matched with, itself in its own pool.

    Slots are matched within blocks: block k holds the slots `starts[k]` to `starts[k + 1]` of every pool. With `once` no record
    meets a value twice; that such a matching exists is Theorem 2, and inside smaller blocks what `roomy` checks.

    Every pool is the anchor once and is matched with the others in cyclic order, one to one; so the graph is μ-regular from
    both sides.
    """
    pools, size = slots.shape
    places, codes, weights = costs.at(slots, int(np.diff(starts).max()))
    places, codes = np.ascontiguousarray(places), np.ascontiguousarray(codes)  # kernels are compiled for one layout
    value = split_values(slots, sensitive) if once else np.full(slots.shape, -1, np.int32)
    links = np.empty((pools, size, pools), np.int32)
    every = Slots(places, codes, costs.first, weights, value)
    tasks = (len(starts) - 1) * pools
    edges = np.linspace(0, tasks, min(tasks, 16) + 1).astype(int).tolist()
    stuck = sum(in_threads(lambda pair: match_blocks(every, starts, _NUMBERS[matcher], links, *pair), list(pairwise(edges))))
    if stuck:
        raise ClaimBroken(f"{stuck} records would meet a sensitive value twice: nothing is published")
    return links


def split_values(slots: Integers, sensitive: Array) -> Small:
    """Return the value of every slot among those that are in several pools, −1 for others and for dummies."""
    values = int(sensitive.max()) + 1
    code = np.where(slots < 0, values, sensitive[slots])
    present = np.zeros((len(slots), values + 1), bool)
    present[np.arange(len(slots))[:, None], code] = True
    several = present.sum(axis=0) > 1
    several[values] = False
    number = np.where(several, np.cumsum(several) - 1, -1)
    return number[code].astype(np.int32)


def roomy(value: Small) -> bool:
    """Return whether a block surely has matchings in which no record meets a value twice, whatever was matched before.

    `value` is `split_values` of the block. For a slot with value q of pool o at most as many records are barred as q has slots
    in other pools; if that number and that of all such slots of o never exceed the pool's size, Hall's condition holds.
    """
    pools, size = value.shape
    many = int(value.max()) + 1
    if not many:
        return True
    held = np.zeros((pools, many), np.int64)
    split = value >= 0
    np.add.at(held, (np.broadcast_to(np.arange(pools)[:, None], value.shape)[split], value[split]), 1)
    elsewhere = held.sum(axis=0)[None, :] - held
    worst = np.where(held > 0, elsewhere, 0).max(axis=1)
    return bool((worst + split.sum(axis=1) <= size).all())
