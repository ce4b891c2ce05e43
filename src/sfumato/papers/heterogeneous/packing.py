"""Pools (the paper says buckets) planned on counts alone: how many people of each value go into each of μ pools of equal size.

The number of pools is the number of matches that every record gets, so fewer is better. A record meets one record of every
pool, so it meets a value at most as often as there are pools that hold it: |B_i| ≤ ⌊bound(i)·μ⌋ keeps the bound
([003], Equation 5). Where a value is split over more pools than it may be met in, matching has to look (`once`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sfumato.arrays import Integers
from sfumato.exact import floor_times
from sfumato.groups.anatomy import too_frequent
from sfumato.groups.grouping import canonical_order
from sfumato.privacy.bounds import Bounds

PoolPacking = Literal["paper", "tight"]


@dataclass(frozen=True, eq=False)
class Packing:
    """`held[b, i]` people of value i are in pool b; what lacks to `size` are dummies.

    With `once` a record may meet each value in one match only, which matching has to see to; without it any match is allowed.
    `algorithm` names how the pools were found.
    """

    size: int
    held: Integers
    once: bool
    algorithm: str

    @property
    def pools(self) -> int:
        """μ: the number of pools, and of matches of every record."""
        return len(self.held)

    @property
    def dummies(self) -> Integers:
        """The number of dummies in each pool."""
        lacking: Integers = self.size - self.held.sum(axis=1)
        return lacking

    @property
    def spread(self) -> Integers:
        """|B_i|: in how many pools each value is."""
        many: Integers = (self.held > 0).sum(axis=0)
        return many

    def gain(self, counts: Sequence[int], *, with_dummies: bool = True) -> Fraction:
        """Return the smallest β that these pools keep: by Equation 7, which counts dummies, or by Equation 5 without them."""
        size = Fraction(self.size) if with_dummies else Fraction(sum(counts), self.pools)
        return max(size * int(spread) / count for spread, count in zip(self.spread, counts, strict=True)) - 1


def pack(bounds: Bounds, how: PoolPacking) -> Packing:
    """Return the pools for these bounds, as the paper plans them or as few as the remainders can be packed into.

    The paper's way is Algorithm 1 wherever ℓ-diversity with 1/ℓ at most the smallest bound is possible (Theorem 4), else
    Algorithm 3.
    """
    least = max(bounds.needs)
    eligible = max(bounds.counts) * least <= bounds.people
    if how == "tight":
        return _tight(bounds, least if eligible else None)
    return diversity_pools(bounds, least) if eligible else likeness_pools(bounds)


def diversity_pools(bounds: Bounds, l: int) -> Packing:
    """Return the ℓ pools of Algorithm 1: the ℓ most frequent values one each, the others into the emptiest, split if need be.

    Dummies with values of their own fill up where ℓ does not divide the number of people.
    """
    if max(bounds.counts) * l > bounds.people:
        largest = "the largest possible ℓ for this table is {}"
        raise too_frequent(bounds, _falling(bounds)[0], l, f"ℓ-diversity with ℓ = {l}", largest)
    size = -(-bounds.people // l)
    order = _falling(bounds)
    held = np.zeros((l, len(bounds.counts)), np.int64)
    filled = [0] * l
    for place, value in enumerate(order):
        left = bounds.counts[value]
        if place < l:
            held[place, value] = filled[place] = left
            continue
        for pool in sorted(range(l), key=lambda b: (filled[b], b)):
            part = min(left, size - filled[pool])
            held[pool, value] += part
            filled[pool] += part
            left -= part
            if not left:
                break
    return Packing(size, held, True, "diversity")


def likeness_pools(bounds: Bounds) -> Packing:
    """Return the pools of Algorithm 3: the largest size, from the most frequent value's count down, that keeps the bounds.

    Whether it does is decided in integers by Equation 7, |B_i|·c ≤ bound(i)·n; the ceiling in line 22 would be unsound.
    """
    counts = np.array(bounds.counts, dtype=np.int64)
    most = np.array([floor_times(limit, bounds.people) for limit in bounds.limits], dtype=np.int64)
    falling = np.array(_falling(bounds))
    smallest = math.gcd(*bounds.counts)
    for size in range(int(counts.max()), 0, -1):
        order = in_paper_order(falling, counts, size)
        begin = np.cumsum(counts[order]) - counts[order]
        spread = (begin + counts[order] - 1) // size - begin // size + 1
        if size == smallest or (spread * size <= most[order]).all():
            break
    return Packing(size, fill_in_order(bounds.counts, size, order), False, "likeness")


def in_paper_order(order: Integers, counts: Integers, size: int) -> Integers:
    """Return the order with the values that fill pools exactly first (Algorithm 3, line 24)."""
    whole = counts[order] % size == 0
    return np.concatenate([order[whole], order[~whole]])


def fill_in_order(counts: Sequence[int], size: int, order: Integers) -> Integers:
    """Return how many of each value every pool holds when pools are filled one after the other in this order of values."""
    held = np.zeros((-(-sum(counts) // size), len(counts)), np.int64)
    place = 0
    for value in order:
        left = counts[value]
        while left:
            part = min(left, size - place % size)
            held[place // size, value] += part
            place += part
            left -= part
    return held


def fewest_pools(bounds: Bounds, start: int = 1) -> int:
    """Return the smallest μ from `start` on that no counting argument excludes: ⌈n_i/c⌉ ≤ ⌊bound(i)·μ⌋ with c = ⌈n/μ⌉."""
    counts = np.array(bounds.counts, dtype=np.int64)
    for pools in range(start, bounds.people + 1):
        size = -(-bounds.people // pools)
        allowed = np.array([floor_times(limit, pools) for limit in bounds.limits])
        if (-(-counts // size) <= allowed).all():
            return pools
    return bounds.people


def _tight(bounds: Bounds, diversity: int | None) -> Packing:
    """Return as few pools as can be found; `diversity` is the ℓ of Algorithm 1 where that is possible, the fewest of all.

    Values fill whole pools alone, and what is left of them is packed within the pieces that ⌊bound(i)·μ⌋ still allows.
    """
    order = canonical_order(bounds)[::-1]
    pools = fewest_pools(bounds, max(bounds.needs))
    while True:
        size = -(-bounds.people // pools)
        allowed = [floor_times(limit, pools) for limit in bounds.limits]
        held = _pack_at(bounds.counts, order, size, pools, allowed)
        if held is not None:
            return Packing(size, held, False, "remainders")
        if diversity == pools:
            return diversity_pools(bounds, diversity)
        pools = fewest_pools(bounds, pools + 1)


def _pack_at(counts: Sequence[int], order: Integers, size: int, pools: int, allowed: Sequence[int]) -> Integers | None:
    """Return pools of this size and number in which value i is in at most `allowed[i]`; None if none were found."""
    held = np.zeros((pools, len(counts)), np.int64)
    made = 0
    rest: list[tuple[int, int]] = []
    for value in order:
        whole, left = divmod(counts[value], size)
        held[made : made + whole, value] = size
        made += whole
        rest.append((left, allowed[value] - whole))
    pieces = pack_remainders(rest, size, pools - made)
    if pieces is None:
        return None
    for place, pool, part in pieces:
        held[made + pool, order[place]] += part
    return held


def _falling(bounds: Bounds) -> list[int]:
    """Return the values by falling count, equal ones by text."""
    return sorted(range(len(bounds.counts)), key=lambda i: (-bounds.counts[i], bounds.values[i]))


# Packing what is left of values into pools, each value in at most so many pieces.

_TRIES = 20_000

PoolPiece = tuple[int, int, int]
"""Which item, into which bin, how much of it."""


def pack_remainders(items: Sequence[tuple[int, int]], size: int, bins: int) -> list[PoolPiece] | None:
    """Return the pieces of items (amount, most pieces) in bins of one size, or None if no packing was found.

    Items that may not be split come first, by a search over where they fit best that gives up after a fixed number of steps; the
    others, tightest first, fill the smallest rooms that leave enough for their last piece.
    """
    wanted = [place for place, (amount, _) in enumerate(items) if amount]
    if any(items[place][1] < 1 for place in wanted) or sum(items[place][0] for place in wanted) > size * bins:
        return None
    whole = sorted((place for place in wanted if items[place][1] == 1), key=lambda place: (-items[place][0], place))
    split = sorted(
        (place for place in wanted if items[place][1] > 1), key=lambda place: (items[place][1], -items[place][0], place)
    )
    room = [size] * bins
    homes = _place_whole([items[place][0] for place in whole], room)
    if homes is None:
        return None
    pieces: list[PoolPiece] = []
    for place, home in zip(whole, homes, strict=True):
        room[home] -= items[place][0]
        pieces.append((place, home, items[place][0]))
    for place in split:
        parts = _split(items[place][0], items[place][1], room)
        if parts is None:
            return None
        for home, part in parts:
            room[home] -= part
            pieces.append((place, home, part))
    return pieces


def _place_whole(amounts: Sequence[int], room: Sequence[int]) -> list[int] | None:
    """Return a bin for every amount (falling): depth first, tightest fit first, bins with equal room tried once."""
    left = list(room)
    homes: list[int] = []
    tries = 0
    choices = [_fits(left, amounts[0])] if amounts else []
    while len(homes) < len(amounts):
        tries += 1
        if not choices[-1]:
            choices.pop()
            if not homes or tries > _TRIES:
                return None
            left[homes[-1]] += amounts[len(homes) - 1]
            homes.pop()
            continue
        home = choices[-1].pop()
        left[home] -= amounts[len(homes)]
        homes.append(home)
        if len(homes) < len(amounts):
            choices.append(_fits(left, amounts[len(homes)]))
    return homes


def _fits(left: Sequence[int], amount: int) -> list[int]:
    """Return bins with room for the amount, one for each different room, the tightest last."""
    found = {room: place for place, room in reversed(list(enumerate(left))) if room >= amount}
    return [found[room] for room in sorted(found, reverse=True)]


def _split(amount: int, most: int, room: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return at most `most` parts of an amount in different bins: small rooms filled as long as the last piece still fits."""
    free = sorted((space, place) for place, space in enumerate(room) if space)
    parts: list[tuple[int, int]] = []
    while amount:
        fitting = [(space, place) for space, place in free if space >= amount]
        if fitting:
            parts.append((fitting[0][1], amount))
            return parts
        later = sum(space for space, _ in free[len(free) - (most - len(parts) - 1) :]) if most - len(parts) > 1 else 0
        chosen = next(((space, place) for space, place in free if space + later >= amount), None)
        if chosen is None or len(parts) == most:
            return None
        parts.append((chosen[1], chosen[0]))
        free.remove(chosen)
        amount -= chosen[0]
    return parts
