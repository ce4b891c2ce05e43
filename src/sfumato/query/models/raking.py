"""Raking: the chances of a box's people scaled until they add up to what the box shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.query.models import _softmax_kernels as kernels
from sfumato.query.models.cells import Cells, Directions
from sfumato.query.models.softmax import Fit, tables_of

_ROUNDS = 40


class Goals(NamedTuple):
    """What the chances of a box's people have to add up to: values and counts, and the variance that noise leaves in each."""

    entry: Integers  # first of each box, and one more
    value: Small
    people: Floats
    vague: Floats


def goals_of(cells: Cells, directions: Directions, fit: Fit, shown: Floats, noise: Floats) -> Goals:
    """Return the goals of boxes that show these counts; noisy ones are moved to what model and noise make of them."""
    vague = np.zeros_like(shown)
    if noise.any():
        expected, _ = kernels.score(*cells.arrays, tables_of(directions.matrix, fit.weights), shown, noise)
        weight = expected / (expected + noise[:, None])
        vague = weight * noise[:, None]
        shown = np.maximum(expected + weight * (shown - expected), 1e-3 * expected)
        shown = shown * (cells.sizes / np.maximum(shown.sum(axis=1), 1e-9))[:, None]
    box, value = np.nonzero(shown)
    entry = np.searchsorted(box, np.arange(len(shown) + 1)).astype(np.int64)
    return Goals(entry, value.astype(np.int32), shown[box, value], vague[box, value])


def places(cells: Cells, goals: Goals) -> Integers:
    """Return where the chances of each box begin: a row for every value that it shows, an entry for every cell."""
    many: Integers = np.concatenate(([0], np.cumsum(np.diff(goals.entry) * np.diff(cells.start)))).astype(np.int64)
    return many


def rake(cells: Cells, directions: Directions, fit: Fit, goals: Goals) -> Array:
    """Return the chances of all people, box by box."""
    return rake_with(cells, tables_of(directions.matrix, fit.weights), goals)


def rake_with(cells: Cells, tables: Floats, goals: Goals) -> Array:
    """Return the chances of all people for given factors of the levels."""
    place = places(cells, goals)
    chances = np.zeros(int(place[-1]), np.float32)
    kernels.rake(*cells.arrays, tables, goals.entry, goals.value, goals.people, place, _ROUNDS, chances)
    return chances
