"""Mondrian's cuts as an acceptance of the engine: the allowable boundary nearest the median, under a classical constraint."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Integers
from sfumato.groups._cut_kernels import part_otherwise, put
from sfumato.groups._rule_kernels import absent_code, choose, entries_of, implement, least_side

BOUNDS, DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED = range(6)
GREY = 1e-9  # nats; the sum of logarithms errs by less than a thousandth of this


class Classical(NamedTuple):
    """The cut nearest the median whose two sides have k people and keep the bounds and a rule: people with equal values together.

    `look` is False where nothing depends on sensitive values, so that the most even cut is the answer.
    """

    k: int
    look: bool
    need: Integers
    start: Integers
    rule: int
    l: int
    most: Integers
    whole: Integers


class Relaxed(NamedTuple):
    """The same, but for halves where these are allowed: people at the median are divided in the order in which they stand."""

    strict: Classical


@njit(cache=True)
def powers_balance(counts: Any, size: int, l: int) -> bool:
    """Return whether size^size = l^size · Π count^count, by comparing the power of every prime: entropy is exactly ln l."""
    rest = np.empty(len(counts) + 2, np.int64)
    for k in range(len(counts)):
        rest[k] = max(counts[k], 1)
    rest[-2], rest[-1] = size, l
    prime = 2
    while rest.max() > 1:
        # Beyond its square root a number that no smaller prime divides is itself a prime.
        if prime * prime > rest.max():
            prime = rest.max()
        balance = 0
        for k in range(len(rest)):
            weight = counts[k] if k < len(counts) else (-size if k == len(counts) else size)
            while rest[k] % prime == 0:
                rest[k] //= prime
                balance += weight
        if balance != 0:
            return False
        prime += 1
    return True


@njit(cache=True)
def entropy_suffices(counts: Any, size: int, l: int) -> bool:
    """Return whether −Σ q ln q ≥ ln l. Within 1e-9 of ln l only exact equality counts, which integers decide."""
    total = 0.0
    for count in counts:
        if count > 1:
            total += count * np.log(count)
    excess = np.log(size) - total / size - np.log(l)
    return bool(excess > GREY or (excess > -GREY and powers_balance(counts, size, l)))


@njit(cache=True)
def spread_enough(counts: Any, size: int, l: int, most: Any) -> bool:
    """Return whether the largest count is below c times what is left without the l−1 largest (recursive (c, l)-diversity)."""
    falling = np.sort(counts)
    tail = size
    for k in range(min(l - 1, len(falling))):
        tail -= falling[len(falling) - 1 - k]
    return bool(falling[-1] <= most[tail])


@njit(cache=True)
def distance_within(counts: Any, size: int, whole: Any, people: int, ordered: bool, most: Any) -> bool:
    """Return whether the distance of the shares from the table's is at most t, both sides times size · people and a constant."""
    total, run = 0, 0
    for value in range(len(whole)):
        gap = counts[value] * people - whole[value] * size
        run = run + gap if ordered else gap
        total += abs(run)
    return bool(total <= most[size])


@njit(cache=True)
def satisfies(counts: Any, size: int, classical: Any) -> bool:
    """Return whether people with these counts keep the bounds and the rule."""
    rule, l = classical.rule, classical.l
    distinct = 0
    for value in range(len(counts)):
        if counts[value] > 0:
            distinct += 1
            if classical.need[classical.start[value] + counts[value]] > size:
                return False
    if rule == DISTINCT:
        return bool(distinct >= l)
    if rule == ENTROPY:
        return entropy_suffices(counts, size, l)
    if rule == RECURSIVE:
        return spread_enough(counts, size, l, classical.most)
    if rule in (EQUAL, ORDERED):
        return distance_within(counts, size, classical.whole, classical.whole.sum(), rule == ORDERED, classical.most)
    return True


@njit(cache=True)
def boundaries(at: Any, lost: int, size: int, least: int) -> Any:
    """Return every cut that leaves `least` people on both sides, the most even first, equal ones from the lowest value on.

    `at[b]` people lie at or below the b-th value, `lost` have none; 2·b + 1 puts those on the left, 2·b on the right.
    """
    keys = np.empty(2 * len(at), np.int64)
    cuts = 0
    for b in range(len(at)):
        for joins in range(2 if lost > 0 else 1):
            left = at[b] + joins * lost
            smaller = min(left, size - left)
            if smaller >= least:
                keys[cuts] = (size - smaller) * len(keys) + 2 * b + joins
                cuts += 1
    return np.sort(keys[:cuts]) % len(keys)


@njit(cache=True)
def strict_cut(classical: Any, entries: Any, absent: int, counts: Any, size: int, least: int) -> tuple[int, int, int]:
    """Return the cut {value ≤ x} from {value > x} at the allowable x nearest the median: as `choose` does.

    `entries` are the pairs of code and value that occur, and how often each does.
    """
    keys, times = entries
    values = len(counts)
    lost = np.zeros(values, np.int64)
    present, gone = 0, 0
    at, codes, end = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    distinct, people = 0, 0
    for k in range(len(keys)):
        code = keys[k] // values
        if code == absent:  # the highest
            lost[keys[k] % values] += times[k]
            gone += times[k]
            continue
        present, people = k + 1, people + times[k]
        if k + 1 == len(keys) or keys[k + 1] // values != code:
            at[distinct], codes[distinct], end[distinct] = people, code, present
            distinct += 1
    # One walk down and one walk up from the median, with the missing on either side: each moves outwards only.
    walks, reached = np.zeros((4, values), np.int64), np.zeros(4, np.int64)
    for cut in boundaries(at[:distinct], gone, size, least):
        b, joins = cut // 2, cut % 2
        left = at[b] + joins * gone
        if classical.look:
            walk = 2 * joins + int(2 * left > size)
            for k in range(reached[walk], end[b]):
                walks[walk, keys[k] % values] += times[k]
            for k in range(end[b], reached[walk]):
                walks[walk, keys[k] % values] -= times[k]
            reached[walk] = end[b]
            side = walks[walk] + joins * lost
            if not satisfies(side, left, classical):
                continue
            if not satisfies(counts - side, size - left, classical):
                continue
        return int(codes[b]), int(absent if joins == 1 else -1), int(left)
    return -1, -1, 0


@njit(cache=True)
def median_cut(classical: Any, mine: Any, column: Any, sensitive: Any, counts: Any) -> tuple[int, int]:
    """Return the median and the size of the left one of two halves that differ by one at most; size 0 where they are not allowed.

    People at the median are divided in the order in which they stand, which is a shuffled one. Missing is the highest value.
    """
    size = len(mine)
    half = (size + 1) // 2
    codes = np.empty(size, np.int64)
    for k in range(size):
        codes[k] = column[mine[k]]
    median = np.sort(codes)[half - 1]
    room = half - (codes < median).sum()
    side = np.zeros(len(counts), np.int64)
    for k in range(size):
        if codes[k] > median or (codes[k] == median and room == 0):
            continue
        if codes[k] == median:
            room -= 1
        side[sensitive.codes[0, mine[k]]] += 1
    if not satisfies(side, half, classical):
        return -1, 0
    if not satisfies(counts - side, size - half, classical):
        return -1, 0
    return int(median), int(half)


def _least_classically(acceptance: Any, counts: Any, size: int) -> Any:
    return acceptance.k


def _choose_classically(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    absent = absent_code(column.width, column.kind)
    return strict_cut(acceptance, entries_of(column, len(counts)), absent, counts, size, least)


def _least_relaxed(acceptance: Any, counts: Any, size: int) -> Any:
    return acceptance.strict.k


def _choose_relaxed(acceptance: Any, column: Any, counts: Any, size: int, least: int) -> Any:
    median, half = median_cut(acceptance.strict, column.mine, column.codes, column.secret, counts)
    if half > 0:
        return median, -1, half
    absent = absent_code(column.width, column.kind)
    return strict_cut(acceptance.strict, entries_of(column, len(counts)), absent, counts, size, least)


def _part_relaxed(acceptance: Any, mine: Any, codes: Any, boundary: int, also: int, left: int, counts: Any) -> Any:
    goes, room = np.empty(len(mine), np.bool_), left
    for k in range(len(mine)):
        goes[k] = codes[mine[k]] < boundary or codes[mine[k]] == also
        room -= int(goes[k])
    for k in range(len(mine)):  # of those at the boundary the first ones, as many as there is room for
        if codes[mine[k]] == boundary and room > 0:
            goes[k] = True
            room -= 1
    lefts, rights = mine[goes], mine[~goes]
    put(lefts, mine)
    put(rights, mine[left:])
    return left


implement(least_side, Classical, _least_classically)
implement(choose, Classical, _choose_classically)
implement(least_side, Relaxed, _least_relaxed)
implement(choose, Relaxed, _choose_relaxed)
part_otherwise(Relaxed, _part_relaxed)
