"""Raking: the chances of a box's people scaled until they add up to what the box shows.

With noise, what a box holds is not known. A count is then taken as Poisson around what the model expects, and as normal
around what is shown; the goal is its posterior mean, never negative without being cut off, and its posterior variance is
what noise leaves open. The model's expectations are first raked themselves, to the boxes' people and the values' sums over all
boxes: these have the least noise of all that a release shows, and a model that is off in them would draw every box its way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.query.models import _softmax_kernels as kernels
from sfumato.query.models.cells import Cells, Directions
from sfumato.query.models.softmax import Fit, tables_of

_ROUNDS = 40
_MARGIN_ROUNDS = 10
_LEAST = 1e-9


class Goals(NamedTuple):
    """What the chances of a box's people have to add up to: values and counts.

    `vague` is the variance that noise leaves in each count, `leans` how much of a relative change in what the model expects it
    follows: 0 without noise, 1 where noise says nothing. For a Poisson count that is its posterior variance by its mean.
    """

    entry: Integers  # first of each box, and one more
    value: Small
    people: Floats
    vague: Floats
    leans: Floats


def goals_of(cells: Cells, directions: Directions, fit: Fit, shown: Floats, noise: Floats) -> Goals:
    """Return the goals of boxes that show these counts; noisy ones are moved to what model and noise make of them."""
    vague, leans = np.zeros_like(shown), np.zeros_like(shown)
    if noise.any():
        expected, _ = kernels.score(*cells.arrays, tables_of(directions.matrix, fit.weights), shown, noise)
        expected = _with_margins(np.maximum(expected, _LEAST), cells.sizes, np.maximum(shown.sum(axis=0), 0.5))
        shown, vague = kernels.believed(shown, expected, np.maximum(noise, _LEAST))
        leans = vague / expected
        shown = np.maximum(shown * (cells.sizes / np.maximum(shown.sum(axis=1), _LEAST))[:, None], _LEAST)
    box, value = np.nonzero(shown)
    entry = np.searchsorted(box, np.arange(len(shown) + 1)).astype(np.int64)
    return Goals(entry, value.astype(np.int32), *(part[box, value] for part in (shown, vague, leans)))


def _with_margins(counts: Floats, sizes: Floats, totals: Floats) -> Floats:
    """Return counts [boxes × values] scaled to these sums of boxes and, where it can be, of values."""
    totals = totals * (sizes.sum() / totals.sum())
    for _ in range(_MARGIN_ROUNDS):
        counts = counts * (totals / counts.sum(axis=0))
        counts = counts * (sizes / counts.sum(axis=1))[:, None]
    return counts


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
