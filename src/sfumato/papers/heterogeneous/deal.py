"""People into planned buckets: who of a value goes into which of its buckets."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.groups.streams import Step
from sfumato.papers.heterogeneous._deal_kernel import deal_to_distant
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.packing import Packing
from sfumato.randomness import Randomness

Fill = Literal["random", "distant"]


def deal(packing: Packing, sensitive: Array, random: Randomness) -> Integers:
    """Return [buckets × size]: the rows in every bucket, −1 for dummies; who goes where, and in which order, is drawn.

    `sensitive` has the value of each row as the packing numbers values.
    """
    shuffled = random.spawn(Step.DEAL).permutation(len(sensitive))
    by_value = shuffled[np.argsort(sensitive[shuffled], kind="stable")]
    bucket_of = np.concatenate([np.repeat(np.arange(packing.buckets), held) for held in packing.held.T])
    by_bucket = by_value[np.argsort(bucket_of, kind="stable")]
    return _arranged(by_bucket, np.bincount(bucket_of, minlength=packing.buckets), packing.size, random)


def deal_far_apart(packing: Packing, sensitive: Array, costs: Costs, random: Randomness) -> Integers:
    """Return the buckets of the paper's threshold mode: less frequent people go where the others are most unlike them.

    People of one bucket are never matched with each other, so that unlike ones belong together. Deciding this by quasi values and
    sensitive values at once tells an engineer something: the mode is for study. Every person is compared with everybody placed
    before, which takes quadratic time.
    """
    counts = packing.held.sum(axis=0)
    shuffled = random.spawn(Step.DEAL).permutation(len(sensitive))
    by_value = shuffled[np.argsort(sensitive[shuffled], kind="stable")]
    own = [int(np.argmax(packing.held[b])) for b in range(packing.buckets)]
    home = np.full(len(counts), -1, np.int64)
    home[own] = np.arange(packing.buckets)
    rank = np.argsort(-counts, kind="stable")
    rank = np.concatenate([own, rank[home[rank] < 0]])
    start = np.cumsum(counts) - counts
    order = np.concatenate([by_value[start[v] : start[v] + counts[v]] for v in rank])
    places, codes, weights = costs.at(np.arange(len(sensitive)), 1)
    found = deal_to_distant(places, codes, weights, order, home[sensitive], packing.buckets, packing.size)
    by_bucket = order[np.argsort(found[order], kind="stable")]
    return _arranged(by_bucket, np.bincount(found, minlength=packing.buckets), packing.size, random)


def _arranged(by_bucket: Integers, sizes: Integers, size: int, random: Randomness) -> Integers:
    """Return rows listed bucket by bucket as a matrix, dummies added, each bucket in random order."""
    buckets = len(sizes)
    slots = np.full((buckets, size), -1, np.int64)
    place = np.arange(len(by_bucket)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slots[np.repeat(np.arange(buckets), sizes), place] = by_bucket
    mixed = random.spawn(Step.ARRANGE).permutation(buckets * size)
    return slots.reshape(-1)[mixed[np.argsort(mixed // size, kind="stable")]].reshape(buckets, size)
