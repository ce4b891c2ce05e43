"""Random walks that find a perfect matching of a regular bipartite graph (Goel, Kapralov and Khanna)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.groups._random_kernels import high_below


@njit(cache=True, nogil=True)
def walk(edges: Any, degree: int, chosen: Any, holder: Any, free: Any, many: int, words: Any) -> int:
    """Match the `many` free left vertices by walks, as far as the words last; return how many are still free.

    Left vertex s has the right vertices `edges[s, :degree]`; `chosen[s]` is the place of the one it is matched with, −1 if none,
    and `holder[r]` the left vertex that right vertex r is matched with. A walk takes a random other edge, and goes on from the
    holder of its end until that is free; of every vertex it leaves by the last edge it took, which removes its loops.
    """
    n = len(edges)
    last = np.empty(n, np.int64)
    used = 0
    while many:
        limit = 4 + 2 * (n // many)
        if used + limit + 1 >= len(words):
            break
        place = high_below(words[used], many)
        used += 1
        start = free[place]
        s, end = start, -1
        for _ in range(limit):
            pick = high_below(words[used], degree - (chosen[s] >= 0))
            used += 1
            if chosen[s] >= 0 and pick >= chosen[s]:
                pick += 1
            last[s] = pick
            r = edges[s, pick]
            if holder[r] < 0:
                end = r
                break
            s = holder[r]
        if end < 0:
            continue
        s = start
        while True:
            r = edges[s, last[s]]
            chosen[s] = last[s]
            next_one = holder[r]
            holder[r] = s
            if r == end:
                break
            s = next_one
        many -= 1
        free[place] = free[many]
    return many


@njit(cache=True, nogil=True)
def set_aside(edges: Any, degree: int, chosen: Any) -> None:
    """Move every left vertex's matched edge behind the edges that are left."""
    for s in range(len(edges)):
        edges[s, chosen[s]], edges[s, degree - 1] = edges[s, degree - 1], edges[s, chosen[s]]
