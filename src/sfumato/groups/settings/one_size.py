"""Buckets of one size: when they can hold a table, and the best of them."""

from __future__ import annotations

from sfumato.arrays import Integers
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Setting


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
