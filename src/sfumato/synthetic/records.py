"""Drawing records, one column after the other, each given others that were drawn before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.randomize.coins import below_each
from sfumato.randomness import Randomness

_SCALE = float(1 << 40)


@dataclass(frozen=True, eq=False)
class Given:
    """How often a column has each value, given values of its parents: [… parents …, values], whole numbers from 0 on."""

    column: int
    parents: tuple[int, ...]
    weights: Integers


def draw_records(law: Sequence[Given], columns: int, records: int, random: Randomness) -> list[Integers]:
    """Return the codes of so many independent records, a column each; `law` has parents before their children."""
    drawn: list[Integers] = [np.zeros(0, np.int64)] * columns
    for step, given in enumerate(law):
        which = np.zeros(records, np.int64)
        for parent, size in zip(given.parents, given.weights.shape, strict=False):
            which = which * size + drawn[parent]
        drawn[given.column] = _drawn(_usable(given.weights), which, random.spawn(step))
    return drawn


def _usable(weights: Integers) -> Integers:
    """Return [combinations of parents × values]: where noise left nothing, what the column has on the whole, else all alike."""
    rows = weights.reshape(-1, weights.shape[-1])
    whole = rows.sum(axis=0)
    empty = rows.sum(axis=1) == 0
    return np.where(empty[:, None], whole if whole.any() else 1, rows)


def _drawn(weights: Integers, which: Integers, random: Randomness) -> Integers:
    """Return a value for every record, exactly in proportion to its row of weights."""
    ends = np.cumsum(weights.ravel())
    totals = weights.sum(axis=1)
    begin = ends.reshape(weights.shape)[:, -1] - totals
    place = np.searchsorted(ends, begin[which] + below_each(totals[which], random), side="right")
    drawn: Integers = (place - which * weights.shape[1]).astype(np.int64)
    return drawn


def whole_weights(shares: Array) -> Integers:
    """Return shares, in any unit, as whole numbers: what a model in floats says is no more exact than that."""
    clean = np.maximum(np.nan_to_num(np.asarray(shares, np.float64)), 0.0)
    top = float(clean.sum())
    return np.rint(clean / top * _SCALE).astype(np.int64) if top > 0 else np.ones(clean.shape, np.int64)


def marginal(counts: Integers, columns: Sequence[int], wanted: Sequence[int]) -> Integers:
    """Return the counts of some of a table's columns, in the order asked for."""
    gone = tuple(axis for axis, column in enumerate(columns) if column not in wanted)
    left = [column for column in columns if column in wanted]
    return np.transpose(counts.sum(axis=gone), [left.index(column) for column in wanted])
