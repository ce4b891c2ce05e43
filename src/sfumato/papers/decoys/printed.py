"""Decoys as 001 §6 prints them, for studies: drawn uniformly from the domain, and by its rule nothing that excludes anybody.

Neither is published: shares give uniform decoys away, and a value that is excludable for somebody is then surely real.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array, Flags, Integers
from sfumato.groups.blind import round_robin
from sfumato.groups.grouping import canonical_order
from sfumato.groups.settings.setting import Plan
from sfumato.papers.decoys.adversary import BucketValues, excluded_pairs
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness
from sfumato.table.column import Column


def uniform_decoys(
    quasi: Sequence[Column], codes: Array, plan: Plan, bounds: Bounds, decoys: int, random: Randomness, *, anybody: bool = False
) -> tuple[BucketValues, Integers]:
    """Return people dealt blindly with σ uniform decoys in every bucket, and the row that holds each slot, −1 for a decoy.

    With `anybody` a value is drawn only where the associations learned from the buckets exclude it for nobody there; where too
    few are left, from all.
    """
    bucket, value, holder, buckets = _dealt(codes, plan, bounds, random)
    counts = np.array(bounds.counts, dtype=np.int64)
    free = np.ones((buckets, len(counts)), np.bool_)
    free[bucket, value] = False
    allowed = free
    if anybody:
        plain = BucketValues(bucket, value, np.zeros(len(value), np.bool_), buckets, 0, counts)
        allowed = free & ~_excluded_for_somebody(quasi, plain, holder)
        short = allowed.sum(axis=1) < decoys
        allowed[short] = free[short]
    coins = random.below(1 << 30, allowed.size).reshape(allowed.shape)
    drawn = np.argsort(np.where(allowed, coins, 1 << 31), axis=1, kind="stable")[:, :decoys]
    whole = np.concatenate([bucket, np.repeat(np.arange(buckets), decoys)])
    shown = np.concatenate([value, drawn.ravel()])
    decoy = np.concatenate([np.zeros(len(value), np.bool_), np.ones(drawn.size, np.bool_)])
    held = np.concatenate([holder, np.full(drawn.size, -1)])
    order = np.argsort(shown, kind="stable")
    return BucketValues(whole[order], shown[order], decoy[order], buckets, decoys, counts), held[order]


def excludable_for_somebody(quasi: Sequence[Column], slots: BucketValues, holder: Integers) -> Flags:
    """Return which shown values the learned associations exclude for at least one person of their bucket."""
    excluded: Flags = _excluded_for_somebody(quasi, slots, holder)[slots.bucket, slots.value]
    return excluded


def _excluded_for_somebody(quasi: Sequence[Column], slots: BucketValues, holder: Integers) -> Flags:
    """Return [bucket × value]: whether somebody of the bucket has a code that excludes the value."""
    real = holder >= 0
    person, where = holder[real], slots.bucket[real]
    excluded = np.zeros((slots.buckets, len(slots.counts)), np.bool_)
    for column, pairs in zip(quasi, excluded_pairs(quasi, slots, holder), strict=True):
        np.logical_or.at(excluded, where, pairs[column.codes[person]])
    return excluded


def _dealt(codes: Array, plan: Plan, bounds: Bounds, random: Randomness) -> tuple[Integers, Integers, Integers, int]:
    """Return buckets and values of everybody, sorted by value, who holds each, and how many buckets there are."""
    allocation = np.array(plan.allocation, dtype=np.int64)
    numbers = np.array(plan.setting.numbers, dtype=np.int64)
    order = canonical_order(bounds)
    bucket = round_robin(allocation, numbers, order)
    value = np.repeat(np.arange(len(bounds.counts)), np.array(bounds.counts, dtype=np.int64))
    shuffled = random.permutation(len(codes))
    holder = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return bucket.astype(np.int64), value, holder, int(numbers.sum())
