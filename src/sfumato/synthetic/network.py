"""PrivBayes (Zhang et al., TODS 2017): a network of columns by the exponential mechanism, and the noisy tables that it needs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.errors import PolicyError
from sfumato.randomize.noise import two_sided
from sfumato.randomness import Randomness
from sfumato.synthetic.records import Given, marginal
from sfumato.synthetic.spending import choose, table_ratio

MOST_PARENTS = 3
"""Parents of a column where usefulness decides how many: more are hardly ever useful, and there are many ways to choose them."""

MOST_CHOICES = 20_000
MOST_CELLS = 20_000_000

ROOT, CHOICES, NOISE = 0, 1, 2
"""The streams of coins of the steps."""


@dataclass(frozen=True)
class Pair:
    """A column and its parents, by their places."""

    child: int
    parents: tuple[int, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the pair's table: the parents, then the child."""
        return (*self.parents, self.child)


@dataclass(frozen=True, eq=False)
class CodedPeople:
    """People as one code a column, how many values each column may have, and how many people there are."""

    codes: tuple[Array, ...]
    sizes: tuple[int, ...]
    people: int

    def cells(self, columns: Sequence[int]) -> int:
        """Return how many combinations of values some columns have."""
        return math.prod(self.sizes[column] for column in columns)

    def table(self, columns: Sequence[int]) -> Integers:
        """Return how many people have each combination of values of these columns."""
        key = np.zeros(self.people, np.int64)
        for column in columns:
            key = key * self.sizes[column] + self.codes[column]
        counts: Integers = np.bincount(key, minlength=self.cells(columns)).astype(np.int64)
        return counts.reshape([self.sizes[column] for column in columns])

    def score(self, pair: Pair) -> int:
        """Return 2n²·R: how far the pair is from independence, R = ½Σ|Pr[x, π] − Pr[x]·Pr[π]|; 0 without parents."""
        joint = self.table(pair.columns).reshape(-1, self.sizes[pair.child])
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        return int(np.abs(self.people * joint - apart).sum())

    @property
    def sensitivity(self) -> int:
        """By how much another record in the place of one moves a score at most: R by 3/n + 2/n²."""
        return 6 * self.people + 4


def useful_cells(people: int, epsilon: Fraction, columns: int, theta: Fraction) -> int:
    """Return how many cells a table may have so that a cell holds θ times as many people as noise, if all were equally full."""
    return int(people * epsilon / (2 * columns * theta))


def find_network(
    people: CodedPeople, epsilon: Fraction, *, degree: int | None, most_cells: int, random: Randomness
) -> tuple[Pair, ...]:
    """Return the columns in the order in which records are drawn, each with its parents; d − 1 choices spend ε together.

    With `degree` every column has so many parents, or all that come before it. Without, candidates are the largest sets of
    parents whose table has at most `most_cells` cells.
    """
    columns = range(len(people.sizes))
    chosen = [int(random.spawn(ROOT).below(len(columns), 1)[0])]
    network = [Pair(chosen[0], ())]
    coins = random.spawn(CHOICES)
    for step in range(1, len(columns)):
        pairs = [
            Pair(child, parents)
            for child in columns
            if child not in chosen
            for parents in _parents(people, child, sorted(chosen), degree, most_cells)
        ]
        if len(pairs) > MOST_CHOICES or any(people.cells(pair.columns) > MOST_CELLS for pair in pairs):
            raise PolicyError(
                f"degree: too many ways to choose parents among {len(columns)} columns, or too many cells in their tables",
                hint="a smaller degree, fewer quasi columns, or coarser ones",
            )
        scores = [people.score(pair) for pair in pairs]
        network.append(pairs[choose(scores, people.sensitivity, epsilon / (len(columns) - 1), coins.spawn(step))])
        chosen.append(network[-1].child)
    return tuple(network)


def _parents(
    people: CodedPeople, child: int, chosen: Sequence[int], degree: int | None, most_cells: int
) -> list[tuple[int, ...]]:
    """Return the sets of parents that a column may get."""
    if degree is not None:
        return list(itertools.combinations(chosen, min(degree, len(chosen))))
    fits = [
        parents
        for number in range(1, min(MOST_PARENTS, len(chosen)) + 1)
        for parents in itertools.combinations(chosen, number)
        if people.cells((*parents, child)) <= most_cells
    ]
    inside = {smaller for one in fits for smaller in itertools.combinations(one, len(one) - 1)}
    return [one for one in fits if one not in inside] or [()]


def measured_pairs(network: Sequence[Pair], degree: int | None) -> tuple[Pair, ...]:
    """Return the pairs that get a noisy table: with a degree k the first k follow from the next one's."""
    return tuple(network[0 if degree is None else degree :])


def noisy_law(
    people: CodedPeople, network: Sequence[Pair], epsilon: Fraction, *, degree: int | None, random: Randomness
) -> tuple[list[Given], Fraction]:
    """Return what records are drawn from, and the ratio of the noise; the tables spend ε together."""
    pairs = measured_pairs(network, degree)
    ratio = table_ratio(epsilon, len(pairs))
    coins = random.spawn(NOISE)
    tables = []
    for step, pair in enumerate(pairs):
        counts = people.table(pair.columns)
        noise = two_sided(ratio, counts.size, coins.spawn(step)).reshape(counts.shape)
        tables.append(np.maximum(counts + noise, 0))
    first = len(network) - len(pairs)
    law = [Given(pair.child, pair.parents, marginal(tables[0], pairs[0].columns, pair.columns)) for pair in network[:first]]
    law += [Given(pair.child, pair.parents, table) for pair, table in zip(pairs, tables, strict=True)]
    return law, ratio
