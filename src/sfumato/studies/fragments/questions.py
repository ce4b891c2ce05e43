"""004's questions, SELECT … COUNT(*) WHERE S = v GROUP BY …, and how far an answer is from the truth over all of its cells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.query import And, Between, In, Query
from sfumato.query.answer import Estimator, GroupedAnswer
from sfumato.randomness import SeededRandomness
from sfumato.release.base import Release
from sfumato.table import Table

Floats = npt.NDArray[np.float64]

CELLS = 64
"""Most cells of an answer: every grouped column is limited to a run of values around those of a random person."""


@dataclass(frozen=True, eq=False)
class Question:
    """A GROUP BY question, the values that each grouped column may have, and the true count of every combination of them."""

    query: Query
    values: tuple[tuple[object, ...], ...]
    truth: Floats
    marginals: Floats

    def error(self, release: Release, estimator: Estimator | None = None) -> float:
        """Return Σ|estimate − truth| / Σ truth over the cells; a cell that an answer leaves out counts as 0."""
        answer = release.count(self.query, estimator=estimator)
        if not isinstance(answer, GroupedAnswer):
            raise TypeError("a GROUP BY has an answer of cells")
        found = {tuple(key[name] for name in answer.columns): estimate.value for key, estimate in answer}
        return self._off(np.array([found.get(cell, 0.0) for cell in itertools.product(*self.values)]))

    @property
    def marginal_error(self) -> float:
        """The same for N · Π_j share_j · share_S, from the original's one-way marginals."""
        return self._off(self.marginals)

    def _off(self, estimates: Floats) -> float:
        return float(np.abs(estimates - self.truth).sum() / self.truth.sum())


def draw_questions(table: Table, *, count: int, columns: int, selectivity: float, seed: int) -> list[Question]:
    """Return questions with random grouped columns; v is a random set of values that about `selectivity` of the people have."""
    coins = SeededRandomness(seed)
    made: list[Question] = []
    while len(made) < count:
        chosen = sorted(int(j) for j in coins.permutation(len(table.quasi))[:columns])
        values = _values(coins, table, selectivity)
        person = int(coins.below(table.rows, 1)[0])
        question = _question(table, chosen, values, person)
        if question.truth.sum() > 0:
            made.append(question)
    return made


def _values(coins: SeededRandomness, table: Table, selectivity: float) -> npt.NDArray[np.int64]:
    """Return values in random order as long as they bring the share of their people nearer to the selectivity."""
    counts, wanted, have = table.sensitive.counts, selectivity * table.rows, 0
    kept = []
    for value in coins.permutation(len(counts)):
        if abs(have + counts[value] - wanted) < abs(have - wanted):
            kept.append(int(value))
            have += int(counts[value])
    return np.array(sorted(kept), dtype=np.int64)


def _question(table: Table, chosen: Sequence[int], values: npt.NDArray[np.int64], person: int) -> Question:
    runs = _runs([table.quasi[j].size for j in chosen], [int(table.quasi[j].codes[person]) for j in chosen])
    name = table.sensitive.domain.names[0]
    listed = table.sensitive.domain.table[name].to_pylist()
    conditions: list[In | Between] = [In(name, tuple(listed[v] for v in values))]
    inside = np.isin(table.sensitive.codes, values)
    share = float(inside.sum())
    shown, cell = [], np.zeros(table.rows, np.int64)
    marginals = np.ones(1)
    for j, (low, high) in zip(chosen, runs, strict=True):
        column = table.quasi[j]
        names = tuple(column.values[low:high].to_pylist())
        shown.append(names)
        conditions.append(Between(column.name, names[0], names[-1]))
        inside &= (column.codes >= low) & (column.codes < high)
        cell = cell * (high - low) + column.codes.astype(np.int64) - low
        marginals = np.outer(marginals, np.bincount(column.codes, minlength=column.size)[low:high] / table.rows).ravel()
    truth = np.bincount(cell[inside], minlength=len(marginals)).astype(np.float64)
    query = Query(And(tuple(conditions)), group_by=tuple(table.quasi[j].name for j in chosen), terms="published")
    return Question(query, tuple(shown), truth, share * marginals)


def _runs(sizes: Sequence[int], around: Sequence[int]) -> list[tuple[int, int]]:
    """Return runs of codes around given ones: as long as possible, all of about one length, of at most `CELLS` combinations."""
    length = [1] * len(sizes)
    grown = True
    while grown:
        grown = False
        for j in sorted(range(len(sizes)), key=lambda j: length[j]):
            longer = int(np.prod(length)) // length[j] * (length[j] + 1)
            if length[j] < sizes[j] and longer <= CELLS:
                length[j] += 1
                grown = True
                break
    first = [min(max(0, code - n // 2), size - n) for code, n, size in zip(around, length, sizes, strict=True)]
    return [(low, low + n) for low, n in zip(first, length, strict=True)]
