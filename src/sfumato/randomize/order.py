"""Improving the order of groups: moves that give the optimal merging along it a smaller error bound. Ours, not the paper's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.arrays import Integers
from sfumato.randomize.merge import Merger, Merging

_ENOUGH = 1e-12


def improved(start: Merging, merge: Merger, trials: int) -> Merging:
    """Return a merging whose order no single move improves, or the best found within this many trials.

    A move takes one group elsewhere or turns a run of groups round. The search is a plain descent from the order given, so the
    result is never worse, and it looks at counts alone.
    """
    best = start
    improves = True
    while improves:
        improves = False
        for order in _moves(best.order):
            if trials <= 0:
                return best
            trials -= 1
            tried = merge(order)
            if tried.cost < best.cost * (1 - _ENOUGH):
                best, improves = tried, True
                break
    return best


def _moves(order: Integers) -> Iterator[Integers]:
    groups = len(order)
    for source in range(groups):
        moved, rest = order[source : source + 1], np.concatenate((order[:source], order[source + 1 :]))
        for target in range(groups):
            if target != source:
                yield np.concatenate((rest[:target], moved, rest[target:]))
    for first in range(groups):
        for last in range(first + 3, groups + 1):
            yield np.concatenate((order[:first], order[first:last][::-1], order[last:]))
