"""Buckets of two sizes: the optimum over all pairs of sizes, by three searches that agree."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.settings._kernels import NO_LOSS, search_two_sizes
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting

SizeSearch = Literal["none", "loss", "full"]
SEARCHES: tuple[SizeSearch, ...] = ("none", "loss", "full")

SizePair = tuple[tuple[int, int], tuple[int, int]]
"""((S₁, b₁), (S₂, b₂)), S₁ < S₂; one of the numbers may be 0."""


def best_pair(
    counts: Integers, caps: Integers, sizes: Integers, *, search: SizeSearch = "full", below: int | None = None
) -> SizePair | None:
    """Return the valid pair with the smallest loss (less than `below`), or None [F', Algorithm 1; thesis, Program 5.3].

    `none` validates every feasible pair, `loss` stops each list at the best loss so far and at its first valid pair,
    `full` goes straight to that pair. They return the same pair: of equal losses the one with the smallest S₁, then
    the smallest S₂.

    The privacy constraint min(u₁, o) + min(u₂, o) ≥ o is the same as u₁ + u₂ ≥ o, which is linear in the position:
    each value allows one interval of positions, in closed form, and one binary search finds where the small buckets
    can be filled. The large ones need no search: where they cannot be filled, they cannot be later. Cost: O(m·log n)
    per pair of sizes.
    """
    limit = int(NO_LOSS) if below is None else below
    if len(sizes) == 1:
        size = int(sizes[0])
        number = int(counts.sum()) // size
        if is_valid_one_size(counts, caps[:, 0], size) and number * (size - 1) ** 2 < limit:
            return (size, number), (size + 1, 0)
        return None
    by_size = np.ascontiguousarray(caps.T)
    loss, small, n_small, large, n_large = search_two_sizes(counts, by_size, sizes, limit, SEARCHES.index(search))
    return None if loss == NO_LOSS else ((int(small), int(n_small)), (int(large), int(n_large)))


def best_two_size(problem: Problem, *, search: SizeSearch = "full") -> Setting | None:
    """Return the best setting of at most two sizes, or None."""
    pair = best_pair(problem.counts, problem.caps, problem.sizes, search=search)
    return None if pair is None else Setting.of(pair)


# Buckets of one size: when they can hold a table, and the best of them.


def is_valid_one_size(counts: Integers, caps: Integers, size: int) -> bool:
    """Return whether n/S buckets of one size hold these counts: S divides n, and o_i ≤ ⌊f'_i·S⌋·b for all i [F', Lemma 2]."""
    total = int(counts.sum())
    return total % size == 0 and bool((counts <= caps * (total // size)).all())


def best_one_size(problem: Problem) -> Setting | None:
    """Return the best setting of one size, or None.

    The loss n·(S−1)²/S grows with S, so it is the smallest valid size.
    """
    for place, size in enumerate(problem.sizes.tolist()):
        if is_valid_one_size(problem.counts, problem.caps[:, place], size):
            return Setting(((size, problem.total // size),))
    return None
