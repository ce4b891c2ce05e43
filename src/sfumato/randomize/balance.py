"""Balancing: initial groups with few values in which no protected value is much more frequent than it has to be ([SDR §5.1])."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Integers
from sfumato.randomize._kernels import lower_and_sort
from sfumato.randomize.problem import SortedValues


@dataclass(frozen=True, eq=False)
class InitialGroups:
    """Groups g_1 … g_t, row by row: entries `start[g]` … `start[g+1]` are values (of a `SortedValues`) and their counts."""

    start: Integers
    value: Integers
    count: Integers

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def sizes(self) -> Integers:
        """Number of records in each group."""
        return np.add.reduceat(self.count, self.start[:-1])

    def entries(self, group: int) -> tuple[Integers, Integers]:
        """Return values and counts of one group."""
        place = slice(int(self.start[group]), int(self.start[group + 1]))
        return self.value[place], self.count[place]


def balance(problem: SortedValues) -> InitialGroups:
    """Return the initial groups: balanced over the protected values, the others spread in proportion to size ([SDR §10.7])."""
    counts = np.array(problem.counts, dtype=np.int64)
    protected = np.flatnonzero(problem.protected)
    groups = _balanced(protected, counts[protected])
    rest = np.flatnonzero(~problem.protected)
    if len(rest):
        groups = _with_rest(groups, rest, counts[rest])
    return _joined(groups)


def _balanced(values: Integers, counts: Integers) -> list[tuple[Integers, Integers]]:
    """Return groups of h records for each of the θ most frequent values left, h as large as leaves the rest balanced (Figure 1).

    `counts` fall, and θ = ⌊records / largest count⌋.
    """
    theta = int(counts.sum() // counts[0])
    groups = []
    left = int(counts.sum())
    while left:
        h = _height(counts, left, theta)
        taken = theta if h else len(values)
        groups.append((values[:taken].copy(), np.full(taken, h, np.int64) if h else counts.copy()))
        left -= int(groups[-1][1].sum())
        if left:
            values, counts = lower_and_sort(values, counts, theta, h)
    return groups


def _height(counts: Integers, left: int, theta: int) -> int:
    """Return h of equation 13, for counts that fall: μ_θ where the rest then stays θ-balanced, else ⌊|T₀|/θ − μ_{θ+1}⌋."""
    last = int(counts[theta - 1])
    following = int(counts[theta]) if len(counts) > theta else 0
    stays = left - theta * max(int(counts[0]) - last, following) >= theta * last
    return last if stays else left // theta - following


def _with_rest(groups: list[tuple[Integers, Integers]], values: Integers, counts: Integers) -> list[tuple[Integers, Integers]]:
    """Return the groups with the unprotected records: each takes its proportion, value after value, the last the residue."""
    sizes = [int(count.sum()) for _, count in groups]
    people, rest = sum(sizes), int(counts.sum())
    quotas = [size * rest // people for size in sizes]
    quotas[-1] += rest - sum(quotas)
    ends = np.cumsum(counts)
    filled = []
    begin = 0
    for (value, count), quota in zip(groups, quotas, strict=True):
        end = begin + quota
        share = np.minimum(ends, end) - np.maximum(ends - counts, begin)
        present = share > 0
        filled.append((np.concatenate((value, values[present])), np.concatenate((count, share[present]))))
        begin = end
    return filled


def _joined(groups: list[tuple[Integers, Integers]]) -> InitialGroups:
    lengths = np.array([len(value) for value, _ in groups], dtype=np.int64)
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return InitialGroups(start, np.concatenate([value for value, _ in groups]), np.concatenate([count for _, count in groups]))
