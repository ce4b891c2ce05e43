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
    mine: Any,
    mine_start: Any,
    theirs: Any,
    theirs_start: Any,
    row_bucket: Any,
    truth: Any,
    start: Any,
    value: Any,
    share: Any,
    values: int,
) -> tuple[int, int, int, Array]:
    """Return what a walk over equal quasi rows finds.

    In turn: rows invented; rows lost; people whose value no fitting bucket shows, beyond those of the same quasi values who are
    lost; and, per entry of st, how many people are certainly in its bucket with its value, because all rows that fit them are
    there.

    `mine` are the published rows by quasi values, those of the k-th ones from mine_start[k] on; `theirs` are the rows of the
    table. `truth` is the code of each person of the table (−1: not published at all). Entries start[b] … of `value` and `share`
    describe bucket b.
    """
    belief, place = np.zeros(values), np.full(values, -1, np.int64)
    certain = np.zeros(len(value), np.int64)
    invented, lost, misplaced = 0, 0, 0
    for k in range(len(mine_start) - 1):
        rows, people = mine[mine_start[k] : mine_start[k + 1]], theirs[theirs_start[k] : theirs_start[k + 1]]
        here, there, strangers = len(rows), len(people), 0
        invented += max(0, here - there)
        lost += max(0, there - here)
        if here == 0:
            continue
        bucket, one_bucket = row_bucket[rows[0]], True
        for row in rows:
            one_bucket = one_bucket and row_bucket[row] == bucket
        if one_bucket:
            # One bucket says the same of all its rows: it is looked up once.
            for entry in range(start[bucket], start[bucket + 1]):
                place[value[entry]] = entry
            for person in people:
                code = truth[person]
                if code < 0 or place[code] < 0:
                    strangers += 1
                elif here >= there:
                    certain[place[code]] += 1
            for entry in range(start[bucket], start[bucket + 1]):
                place[value[entry]] = -1
            misplaced += max(0, strangers - max(0, there - here))
            continue
        if here > _FEW:
            belief[:] = 0.0
            for row in rows:
                for entry in range(start[row_bucket[row]], start[row_bucket[row] + 1]):
                    belief[value[entry]] += share[entry]
        for person in people:
            code = truth[person]
            found = 0.0
            if code >= 0 and here > _FEW:
                found = belief[code]
            elif code >= 0:
                found = _believed(rows, row_bucket, code, start, value, share)
            strangers += int(found == 0.0)
        misplaced += max(0, strangers - max(0, there - here))
    return invented, lost, misplaced, certain
