"""Placements weighed by what was learned: everybody's beliefs when a group's values are put on the people they fit best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.attacks import _placing_kernels as placing
from sfumato.attacks import _swap_kernels as swaps
from sfumato.attacks.members import Members


def spread_tables(people: Members) -> list[Floats]:
    """Return per column [codes × values]: how many people would have both if each had her group's shares."""
    return joint_tables(people, people.flat(people.shares))


def joint_tables(people: Members, beliefs: Floats) -> list[Floats]:
    """Return per column [codes × values]: how many people have both under these beliefs."""
    from scipy.sparse import csr_array

    size = len(people.codes)
    chance = csr_array((beliefs, people.flat(people.value), people.offset), shape=(size, people.values))
    rows = np.arange(size)
    return [
        np.asarray((csr_array((np.ones(size), (column.codes, rows)), shape=(column.size, size)) @ chance).todense())
        for column in people.columns
    ]


def log_chances(tables: Sequence[Floats], correction: float) -> Floats:
    """Return the logarithms of Pr[code | value] of all columns, one under the other."""
    with np.errstate(divide="ignore"):
        parts = [
            np.log((table + correction) / np.maximum(table.sum(axis=0) + correction * len(table), 1e-300)) for table in tables
        ]
    return np.ascontiguousarray(np.concatenate(parts))


def firsts(people: Members) -> Integers:
    """Return where the codes of each column begin when columns stand one under the other."""
    return np.concatenate(([0], np.cumsum([column.size for column in people.columns])))[:-1].astype(np.int64)


def weights_of(people: Members, table: Floats) -> Floats:
    """Return everybody's weight of each value of her group: the product over her codes, given logarithms."""
    weight = np.zeros(int(people.offset[-1]))
    swaps.scores(people.codes, firsts(people), table, people.laid_out, weight)
    return weight


def place(people: Members, weight: Floats) -> Floats:
    """Return everybody's beliefs in the values of her group, all placements being as likely as the product of their weights.

    Small groups are summed up exactly; in larger ones weights are scaled until persons and values add up (Sinkhorn), which is
    what exact sums come to where many people share a group.
    """
    beliefs = np.zeros(len(weight))
    placing.place_all(people.start, people.entry, people.count, weight, people.offset, people.whole, beliefs)
    return beliefs
