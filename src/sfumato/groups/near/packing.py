"""Packing values into pools, for groups that take one person from every pool. It looks at counts only.

A value may lie in at most ⌊bound·μ⌋ of the μ pools, so that no group can hold it more often, whoever is matched with whom; so may
all values of a set together. All pools end up equally full; who is too many is left over, in one group that keeps the bounds
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from sfumato.arrays import Flags, Integers
from sfumato.exact import floor_times

_TRIED = 20  # numbers of pools
_LEFT_OVER = 30  # somebody left over blurs as much as so many members more in somebody's group
_EXCHANGES = 200
_FAR = 8  # so many pools furthest from the mean are tried


@dataclass(frozen=True, eq=False)
class ClassPools:
    """How many people of each value go into each pool of each class, and how many are left over.

    `classes[j][v, x]` counts value v in pool x of class j. All pools of a class are equally full, and its groups take one
    person from each of them.
    """

    classes: tuple[Integers, ...]
    left: Integers

    @property
    def people_left(self) -> int:
        """How many people are left over."""
        return int(self.left.sum())


BoundedSets = Sequence[tuple[Integers, Fraction]]
"""The places of the values of a set, and its bound."""


def pack(counts: Integers, limits: Sequence[Fraction], sets: BoundedSets = ()) -> ClassPools:
    """Return a packing into one class of pools: of small groups, with few people left over.

    Values are taken in the order given where counts are equal. The counts as a whole must keep the bounds; then a packing
    exists, if only one that leaves everybody over.
    """
    total = int(counts.sum())
    best: ClassPools | None = None
    least = 0
    for pools in islice(group_sizes(counts, limits, sets), _TRIED):
        if best is not None and pools * total >= least:
            break
        packing = pack_classes([(pools, counts)], limits, sets)
        if packing is None:
            continue
        blur = pools * (total - packing.people_left) + (pools + _LEFT_OVER) * packing.people_left
        if best is None or blur < least:
            best, least = packing, blur
    return best or ClassPools((), counts)  # one group of everybody is always possible


def group_sizes(counts: Integers, limits: Sequence[Fraction], sets: BoundedSets = ()) -> Iterator[int]:
    """Give the sizes μ, ascending, in which every value, and every set, fits into the ⌊bound·μ⌋ pools that it may lie in."""
    total = int(counts.sum())
    present = [(int(count), limit) for count, limit in zip(counts, limits, strict=True) if count]
    present += [(int(counts[places].sum()), limit) for places, limit in sets]
    for size in range(1, total + 1):
        if all(count * size <= total * floor_times(limit, size) for count, limit in present):
            yield size


def pack_classes(
    classes: Sequence[tuple[int, Integers]], limits: Sequence[Fraction], sets: BoundedSets = ()
) -> ClassPools | None:
    """Return a packing of classes, each given by its number of pools and its counts, that leaves few people over.

    None where no pools were found for all values of a set.
    """
    levelled = []
    for pools, counts in classes:
        most = np.array([min(floor_times(limit, pools), pools) for limit in limits], dtype=np.int64)
        kept = [(places, floor_times(limit, pools)) for places, limit in sets]
        pieces = _level(counts, most, pools, kept)
        if pieces is None:
            return None
        exchanged = _exchange(pieces)
        levelled.append(exchanged if all(_touched(exchanged, places).sum() <= top for places, top in kept) else pieces)
    heights = [int(pieces.sum(axis=0).min()) for pieces in levelled]
    by_size = sorted(range(len(levelled)), key=lambda j: levelled[j].shape[1])
    while True:
        taken = _take(levelled, heights, limits)
        if taken is not None and _left_keeps(taken, sets):
            return ClassPools(
                tuple(pieces - out for pieces, out in zip(levelled, taken, strict=True)), sum(out.sum(axis=1) for out in taken)
            )
        shrink = next(j for j in by_size if heights[j])  # with nobody matched the counts as a whole keep the bounds
        heights[shrink] -= 1


def _touched(pieces: Integers, places: Integers) -> Flags:
    """Return which pools hold a value of a set."""
    touched: Flags = pieces[places].sum(axis=0) > 0
    return touched


def _left_keeps(taken: Sequence[Integers], sets: BoundedSets) -> bool:
    """Return whether those taken out keep the bounds of sets as one group."""
    left = sum(out.sum(axis=1) for out in taken)
    return all(int(left[places].sum()) <= floor_times(limit, int(left.sum())) for places, limit in sets)


def _level(counts: Integers, most: Integers, pools: int, kept: Sequence[tuple[Integers, int]] = ()) -> Integers | None:
    """Return pieces[v, x] of all values: the least flexible first, each poured over the emptiest pools that it may have.

    `kept` are the places of sets, and in how many pools the values of each may lie together; None where a value finds no pool.
    """
    pieces = np.zeros((len(counts), pools), np.int64)
    filled = np.zeros(pools, np.int64)
    height = -(-int(counts.sum()) // pools)
    for v in sorted(np.flatnonzero(counts).tolist(), key=lambda v: (Fraction(int(most[v]) * height, int(counts[v])), v)):
        lowest = _open(filled, height, pieces, v, kept, int(counts[v]), int(most[v]))
        if not len(lowest):
            return None
        pieces[v, lowest] = _pour(filled[lowest], int(counts[v]))
        filled += pieces[v]
    return pieces


def _open(
    filled: Integers, height: int, pieces: Integers, value: int, kept: Sequence[tuple[Integers, int]], amount: int, most: int
) -> Integers:
    """Return the pools that a value may have, the emptiest first, so that none of its sets lies in too many.

    A value of sets gets no more pools than it fills, first those that its sets lie in already: a pool that a set comes into is
    one less for the other values of the set.
    """
    mine = [(_touched(pieces, places), top) for places, top in kept if top < len(filled) and value in places]
    if not mine:
        return np.argsort(filled, kind="stable")[:most]
    room = [top - int(touched.sum()) for touched, top in mine]
    fresh = np.sum([~touched for touched, _ in mine], axis=0)
    pools: list[int] = []
    space = 0
    for pool in np.lexsort((filled, fresh, filled >= height)).tolist():
        new = [k for k, (touched, _) in enumerate(mine) if not touched[pool]]
        if all(room[k] > 0 for k in new):
            pools.append(pool)
            space += max(height - int(filled[pool]), 0)
            for k in new:
                room[k] -= 1
        if len(pools) == most or space >= amount:
            break
    return np.array(sorted(pools, key=lambda pool: (filled[pool], pool)), dtype=np.int64)


def _pour(filled: Integers, amount: int) -> Integers:
    """Return what each pool gets when an amount is poured over pools, given by rising level, so as to level them."""
    levels = filled.astype(np.int64)
    for used in range(len(levels), 0, -1):
        level, more = divmod(amount + int(levels[:used].sum()), used)
        if level >= levels[used - 1]:
            got = np.zeros(len(levels), np.int64)
            got[:used] = level - levels[:used]
            got[:more] += 1
            return got
    raise AssertionError("a single pool takes everything")


def _exchange(pieces: Integers) -> Integers:
    """Return the pieces with whole ones exchanged between two pools, those furthest from the mean first, while that levels."""
    pieces = pieces.copy()
    for _ in range(_EXCHANGES):
        filled = pieces.sum(axis=0)
        away = np.argsort(-np.abs(filled * len(filled) - filled.sum()), kind="stable")
        exchange = next(
            (exchange for exchange in (_best_exchange(pieces, filled, int(pool)) for pool in away[:_FAR]) if exchange), None
        )
        if exchange is None:
            return pieces
        high, low, gives, takes = exchange
        for value, source, target in ((gives, high, low), (takes, low, high)):
            if value < len(pieces):
                amount = int(pieces[value, source])
                pieces[value, source] -= amount
                pieces[value, target] += amount
    return pieces


def _best_exchange(pieces: Integers, filled: Integers, pool: int) -> tuple[int, int, int, int] | None:
    """Return fuller and emptier pool, and the values whose pieces they exchange (one more than values: nothing), or None."""
    best, chosen = 0, None
    for other in np.flatnonzero(np.abs(filled - filled[pool]) > 1):
        high, low = (int(other), pool) if filled[other] > filled[pool] else (pool, int(other))
        gap = filled[high] - filled[low]
        moved = np.append(pieces[:, high], 0)[:, None] - np.append(pieces[:, low], 0)[None, :]
        np.fill_diagonal(moved, 0)  # a value's pieces in both pools stay: exchanging them would change nothing
        saved = np.where((moved > 0) & (moved < gap), moved * (gap - moved), 0)
        top = int(saved.argmax())
        if saved.flat[top] > best:
            best, chosen = int(saved.flat[top]), (high, low, *divmod(top, len(pieces) + 1))
    return chosen


def _take(levelled: Sequence[Integers], heights: Sequence[int], limits: Sequence[Fraction]) -> list[Integers] | None:
    """Return who is taken out so that pools are as full as given and those taken out keep the bounds; None if nobody can."""
    people = sum(int(pieces.sum()) - height * pieces.shape[1] for pieces, height in zip(levelled, heights, strict=True))
    room = np.array([floor_times(limit, people) for limit in limits], dtype=np.int64)
    taken = [np.zeros_like(pieces) for pieces in levelled]
    for pieces, out, height in zip(levelled, taken, heights, strict=True):
        for pool, over in enumerate(pieces.sum(axis=0) - height):
            for value in np.argsort(-np.minimum(pieces[:, pool], room), kind="stable"):
                amount = min(int(over), int(room[value]), int(pieces[value, pool]))
                out[value, pool] = amount
                room[value] -= amount
                over -= amount
                if over == 0:
                    break
            if over > 0:
                return None
    return taken
