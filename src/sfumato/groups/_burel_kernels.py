"""The inner loops of BuReL: places on the Hilbert curve, and the nearest people who are left for every group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit


class RankedQuasi(NamedTuple):
    """Quasi values by rank: numeric columns as places on a scale of length 1 (NaN: no value), categorical ones as codes.

    Codes are numbered through up to `categories`; one more value of column j in a group costs `weights[j]`.
    """

    places: Any
    codes: Any
    weights: Any
    categories: int


class _Left(NamedTuple):
    """People by their places, p standing for `ranks[p − 1]`, and the chains from a place that was taken to one that was not."""

    ranks: Any
    after: Any
    before: Any


class _Span(NamedTuple):
    """Ranges of the group that is filled, and for each code the last group that held it."""

    low: Any
    high: Any
    held: Any


@njit(cache=True)
def curve_words(points: Any, bits: int) -> Any:
    """Return [words × rows]: where each row lies on the curve, as a number of bits · columns bits, most significant word first.

    `points` are [columns × rows] coordinates below 2^bits. Skilling's transposition: undo the turns of the sub-cubes from the
    largest to the smallest, then take the Gray code across the columns, level by level.
    """
    columns, rows = points.shape
    words = np.zeros(((columns * bits + 63) // 64, rows), np.uint64)
    x = np.empty(columns, np.int64)
    top = 1 << (bits - 1)
    for r in range(rows):
        x[:] = points[:, r]
        bit = top
        while bit > 1:
            below = bit - 1
            for j in range(columns):
                if x[j] & bit:
                    x[0] ^= below
                else:
                    turned = (x[0] ^ x[j]) & below
                    x[0] ^= turned
                    x[j] ^= turned
            bit >>= 1
        for j in range(1, columns):
            x[j] ^= x[j - 1]
        turned = 0
        bit = top
        while bit > 1:
            if x[columns - 1] & bit:
                turned ^= bit - 1
            bit >>= 1
        place = 0
        for level in range(bits - 1, -1, -1):
            for j in range(columns):
                if ((x[j] ^ turned) >> level) & 1:
                    words[place // 64, r] |= np.uint64(1) << np.uint64(63 - place % 64)
                place += 1
    return words


@njit(cache=True)
def _root(link: Any, i: int) -> int:
    """Return where the chain from i ends, and let everything on it point there."""
    end = i
    while link[end] != end:
        end = link[end]
    while link[i] != end:
        following = link[i]
        link[i] = end
        i = following
    return end


@njit(cache=True)
def _gather(left: _Left, first: int, last: int, seed: int, many: int, out: Any) -> int:
    """Write the places of up to `many` people of a bucket who are left, nearest to the seed first; return how many.

    The bucket has the ranks `ranks[first:last]`; chains lead beyond it if need be.
    """
    ranks, after, before = left
    place = int(first + np.searchsorted(ranks[first:last], seed))
    up, down = _root(after, place + 1), _root(before, place)
    count = 0
    while count < many and (down > first or up <= last):
        if down > first and (up > last or seed - ranks[down - 1] <= ranks[up - 1] - seed):
            out[count] = down
            down = _root(before, down - 1)
        else:
            out[count] = up
            up = _root(after, up + 1)
        count += 1
    return count


@njit(cache=True)
def fill_by_curve(ranks: Any, start: Any, templates: Any, seeds: Any, group: Any) -> None:
    """Give every template the people of each bucket who are nearest to its seed on the curve.

    Bucket b has the ranks `ranks[start[b]:start[b + 1]]`, ascending. A seed is the next of `seeds` who is left. `group` is filled
    in by rank, −1 before.
    """
    left = _Left(ranks, np.arange(len(ranks) + 2), np.arange(len(ranks) + 2))
    near = np.empty(templates.max(), np.int64)
    turn = 0
    for g in range(len(templates)):
        while group[seeds[turn]] >= 0:
            turn += 1
        for b in range(len(start) - 1):
            many = _gather(left, start[b], start[b + 1], seeds[turn], templates[g, b], near)
            for k in range(many):
                group[ranks[near[k] - 1]] = g
                left.after[near[k]] = near[k] + 1
                left.before[near[k]] = near[k] - 1


@njit(cache=True)
def _wider(row: int, quasi: RankedQuasi, span: _Span, g: int) -> float:
    """Return by how much ΣNCP of group g grows if the row joins."""
    places, codes, weights, _ = quasi
    low, high, held = span
    more = 0.0
    for j in range(len(places)):
        value = places[j, row]
        if value < low[j]:
            more += low[j] - value
        elif value > high[j]:
            more += value - high[j]
    for j in range(len(codes)):
        if held[codes[j, row]] != g:
            more += weights[j]
    return more


@njit(cache=True)
def _join(row: int, quasi: RankedQuasi, span: _Span, g: int) -> None:
    """Let ranges and sets of group g hold the row."""
    places, codes, _, _ = quasi
    low, high, held = span
    for j in range(len(places)):
        value = places[j, row]
        if not np.isnan(value):
            low[j], high[j] = min(low[j], value), max(high[j], value)
    for j in range(len(codes)):
        held[codes[j, row]] = g


@njit(cache=True)
def fill_near(ranks: Any, start: Any, templates: Any, seeds: Any, quasi: RankedQuasi, candidates: int, group: Any) -> None:
    """Give every template, one after the other, the people whose joining widens its ranges and sets least.

    For each bucket the candidates are those nearest to the seed on the curve, at least twice as many as are needed; buckets go in
    their order. The rest is as in `fill_by_curve`.
    """
    left = _Left(ranks, np.arange(len(ranks) + 2), np.arange(len(ranks) + 2))
    near = np.empty(max(candidates, 2 * templates.max()), np.int64)
    span = _Span(np.empty(len(quasi.places)), np.empty(len(quasi.places)), np.full(quasi.categories, -1, np.int64))
    turn = 0
    for g in range(len(templates)):
        while group[seeds[turn]] >= 0:
            turn += 1
        span.low[:], span.high[:] = np.inf, -np.inf
        _join(seeds[turn], quasi, span, g)
        for b in range(len(start) - 1):
            need = templates[g, b]
            if need == 0:
                continue
            many = _gather(left, start[b], start[b + 1], seeds[turn], max(candidates, 2 * need), near)
            for _ in range(need):
                best, least = 0, np.inf
                for k in range(many):
                    more = _wider(ranks[near[k] - 1], quasi, span, g)
                    if more < least:
                        best, least = k, more
                    if more == 0.0:
                        break
                place = near[best]
                many -= 1
                near[best] = near[many]
                _join(ranks[place - 1], quasi, span, g)
                group[ranks[place - 1]] = g
                left.after[place], left.before[place] = place + 1, place - 1
