"""One walk over people sorted by quasi values: who is missing, who is invented, and whose value nobody shows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit


class GroupDomain(NamedTuple):
    """Which values groups show: entries start[g] … of `value` are those of group g, and there are `values` different ones."""

    start: Any
    value: Any
    values: int


@njit(cache=True)
def walk_people(
    published: Any, people: Any, row_group: Any, truth: Any, shown: GroupDomain, certain: Any
) -> tuple[int, int, int]:
    """Return what a walk over equal quasi rows finds.

    In turn: rows invented; rows lost; people whose value no fitting group shows, beyond those of the same quasi values who are
    lost. `certain`, zero at first, becomes per entry of st how many people are certainly in its group with its value, because
    all rows that fit them are there.

    `published` are the published rows dealt by quasi values, `people` those of the table. `truth` is the code of each person of
    the table (−1: not published at all).
    """
    mine, mine_start = published
    theirs, theirs_start = people
    start, value, values = shown
    place = np.full(values, -1, np.int64)
    invented, lost, misplaced = 0, 0, 0
    for k in range(len(mine_start) - 1):
        here, there = mine_start[k + 1] - mine_start[k], theirs_start[k + 1] - theirs_start[k]
        absent = there - here if there > here else 0
        lost += absent
        invented += here + absent - there
        if here == 0:
            continue
        before, one_bucket, strangers = -1, True, 0
        for row in range(mine_start[k], mine_start[k + 1]):
            group = row_group[mine[row]]
            if group != before:  # a group says the same of all its rows: it is mostly looked up once
                one_bucket = one_bucket and before < 0
                for entry in range(start[group], start[group + 1]):
                    place[value[entry]] = entry
                before = group
        for person in range(theirs_start[k], theirs_start[k + 1]):
            code = truth[theirs[person]]
            if code < 0 or place[code] < 0:
                strangers += 1
            elif one_bucket and absent == 0:
                certain[place[code]] += 1
        before = -1
        for row in range(mine_start[k], mine_start[k + 1]):
            group = row_group[mine[row]]
            if group != before:
                for entry in range(start[group], start[group + 1]):
                    place[value[entry]] = -1
                before = group
        if strangers > absent:
            misplaced += strangers - absent
    return invented, lost, misplaced
