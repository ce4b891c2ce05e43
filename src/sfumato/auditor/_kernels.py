"""One walk over people sorted by quasi values: who is missing, who is invented, and what a reader believes of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.arrays import Array

_FEW = 3  # up to so many published rows with the same quasi values, looking a value up beats adding all values up


@njit(cache=True)
def _believed(rows: Any, row_bucket: Any, code: int, start: Any, value: Any, share: Any) -> float:
    """Return the sum over rows of the share of one value in the row's bucket."""
    total = 0.0
    for row in rows:
        bucket = row_bucket[row]
        for entry in range(start[bucket], start[bucket + 1]):
            if value[entry] == code:
                total += share[entry]
    return total


@njit(cache=True)
def walk_people(
    words: Any, bits: int, published: int, row_bucket: Any, truth: Any, start: Any, value: Any, share: Any, values: int
) -> tuple[int, int, int, Array]:
    """Return what a walk over equal quasi rows finds.

    In turn: rows invented; rows lost; people whose value no fitting bucket shows, beyond those of the same quasi values who are
    lost; and, per entry of st, how many people are certainly in its bucket with its value, because all rows that fit them are
    there.

    `words` sort the published people followed by those of the table by quasi values: the lowest `bits` are somebody's place, the
    others number her quasi values (`sorted_words`). `truth`
    is the code of each person of the table (−1: not published at all). Entries start[b] … of `value` and `share` describe
    bucket b.
    """
    belief, place = np.zeros(values), np.full(values, -1, np.int64)
    certain = np.zeros(len(value), np.int64)
    mine = np.empty(published, np.int64)
    invented, lost, misplaced = 0, 0, 0
    mask = (1 << bits) - 1
    first = 0
    while first < len(words):
        last, here, one_bucket = first, 0, True
        while last < len(words) and (words[last] >> bits) == (words[first] >> bits):
            if (words[last] & mask) < published:
                mine[here] = words[last] & mask
                one_bucket = one_bucket and row_bucket[words[last] & mask] == row_bucket[mine[0]]
                here += 1
            last += 1
        there, strangers = last - first - here, 0
        invented += max(0, here - there)
        lost += max(0, there - here)
        if here > 0 and one_bucket:
            # One bucket says the same of all its rows: it is looked up once.
            begin, end = start[row_bucket[mine[0]]], start[row_bucket[mine[0]] + 1]
            for entry in range(begin, end):
                place[value[entry]] = entry
            for k in range(first, last):
                if (words[k] & mask) >= published:
                    code = truth[(words[k] & mask) - published]
                    if code < 0 or place[code] < 0:
                        strangers += 1
                    elif here >= there:
                        certain[place[code]] += 1
            for entry in range(begin, end):
                place[value[entry]] = -1
            misplaced += max(0, strangers - max(0, there - here))
            first = last
            continue
        if here > _FEW:
            belief[:] = 0.0
            for row in mine[:here]:
                for entry in range(start[row_bucket[row]], start[row_bucket[row] + 1]):
                    belief[value[entry]] += share[entry]
        for k in range(first, last):
            if (words[k] & mask) < published or here == 0:
                continue
            code = truth[(words[k] & mask) - published]
            found = 0.0
            if code >= 0 and here > _FEW:
                found = belief[code]
            elif code >= 0:
                found = _believed(mine[:here], row_bucket, code, start, value, share)
            strangers += int(found == 0.0)
        misplaced += max(0, strangers - max(0, there - here))
        first = last
    return invented, lost, misplaced, certain
