"""Buckets of many sizes by splitting: the best two sizes for the table, then for each part again, while the loss falls."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Integers
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting
from sfumato.groups.settings.two_size import SizePair, SizeSearch, best_pair


def partition(counts: Integers, caps_small: Integers, caps_large: Integers, pair: SizePair) -> tuple[Integers, Integers]:
    """Return how many records of each value go to the small and to the large buckets of a valid pair.

    RecordPartition [F' §4.3; thesis, Program 5.1]: the small buckets first take all they may, then give up what they
    cannot seat. The papers leave open *which* records move; here the rarest values move first, in the order the
    counts are given in (by count in the whole table, then by text). Small buckets keep the frequent values, which are
    the ones that may be split further.
    """
    (small, n_small), (_, n_large) = pair
    first = np.minimum(caps_small * n_small, counts)
    movable = np.minimum(caps_large * n_large, counts) - (counts - first)
    excess = int(first.sum()) - small * n_small
    before = np.cumsum(movable) - movable
    moved = np.clip(excess - before, 0, movable)
    return first - moved, counts - first + moved


def top_down(problem: Problem, *, search: SizeSearch = "full") -> tuple[Setting, Integers] | None:
    """Return a setting of many sizes and its allocation [values × classes], or None [F', Algorithm 2; thesis, Program 6.1].

    A part is split while two sizes lose less than the one it has. Parts that end with the same size are merged. It is
    a heuristic: on the census it loses up to about a fifth more than the optimum.
    """
    first_size = int(problem.sizes[0])
    parts: list[tuple[Integers, int | None]] = [(problem.counts, None)]
    leaves: dict[int, tuple[int, Integers]] = {}
    while parts:
        counts, size = parts.pop()
        if size is None:
            number, below = 0, None
        else:
            number = int(counts.sum()) // size
            below = number * (size - 1) ** 2
        pair = best_pair(counts, problem.caps, problem.sizes, search=search, below=below)
        if pair is not None:
            (small, n_small), (large, n_large) = pair
            large_place = min(large - first_size, len(problem.sizes) - 1)
            low, high = partition(counts, problem.caps[:, small - first_size], problem.caps[:, large_place], pair)
            parts.extend(part for part, kept in (((high, large), n_large), ((low, small), n_small)) if kept)
        elif size is None:
            return None
        else:
            merged, held = leaves.get(size, (0, np.zeros_like(counts)))
            leaves[size] = (merged + number, held + counts)
    sizes = sorted(leaves)
    setting = Setting(tuple((size, leaves[size][0]) for size in sizes))
    return setting, np.stack([leaves[size][1] for size in sizes], axis=1)
