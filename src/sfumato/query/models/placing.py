"""Completed tables: the inside of boxes drawn, weights and all, from what a release leaves open.

A *proper* draw (Rubin) has everything that is not known: the model's weights are drawn around those learned, with the
covariance that variances of answers have; what the model misses in all boxes alike is drawn too;
counts with noise are drawn from what noise and model leave open; and then the values of each box are placed on its people,
every placement as likely as the model makes it. Tables that are drawn with the weights held fixed look alike, and intervals
from them are too narrow.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.query.models import _placing_kernels as kernels
from sfumato.query.models.inside import WIDER, Inside
from sfumato.query.models.margins import rake_tables
from sfumato.query.models.softmax import Goals, rake_with, tables_of
from sfumato.randomness import Randomness

MIXING = 20
"""How often each person tries to exchange her value, from a first placement that is nearly a draw already."""

_PARAMETERS, _COUNTS, _PLACES = range(3)  # streams of a draw


def person_chances(model: Inside) -> Array:
    """Return [people × values], float32, in the order of the index: each person's raked chances."""
    index, cells, goals = model.index, model.cells, model.goals
    out = np.zeros((index.rows, index.values), np.float32)
    kernels.spread_chances(cells, index.group, goals, model.place, model.chances, out)
    return out


def draw_values(model: Inside, random: Randomness) -> Small:
    """Return one value for each person, in the order of the index: a proper draw."""
    index, cells = model.index, model.cells
    coins = random.spawn(_COUNTS)
    goals = _draw_counts(model, coins)
    chances = rake_with(cells, _draw_tables(model, random.spawn(_PARAMETERS)), goals)
    if model.margins is not None:
        goals = _draw_margins(model, goals, chances, coins)
    first = np.concatenate(([0], np.cumsum(index.sizes))).astype(np.int64)
    coins = random.spawn(_PLACES)
    number = np.zeros(index.rows, np.int64)
    place = model.place
    kernels.deal(first, cells, goals, place, chances, coins.words(index.rows), number)
    for _ in range(MIXING):
        kernels.exchange(first, cells.cell, cells.start, place, chances, coins.words(index.rows), number)
    values: Small = goals.value[goals.entry[:-1][index.group] + number]
    return values


def normals(random: Randomness, count: int) -> Floats:
    """Return independent standard normal numbers."""
    from scipy.special import ndtri

    drawn: Floats = ndtri(((random.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53)
    return drawn


def _draw_tables(model: Inside, random: Randomness) -> Floats:
    """Return the factors of the levels for weights drawn around those learned, and for what the model misses everywhere.

    A weight says how a value's odds change against all others together. Those of the others are drawn too: so each has the
    part 1 − share of its variance, with which the odds of v against the rest have all of it, 1/π + 1/(1 − π) = 1/(π(1 − π)).
    So has what all boxes miss alike, by which every weight is off.
    """
    from scipy.linalg import cholesky, solve_triangular

    fit, matrix = model.softmax, model.directions.matrix
    wide, values = fit.weights.shape
    deviates = normals(random, wide * values).reshape(values, wide)
    weights, rest = fit.weights.copy(), 1.0 - model.share
    for v in range(values):
        precision = fit.information(np.array([v]))
        precision[np.diag_indices_from(precision)] += 1.0 / (WIDER * fit.tau2[:, v])
        root = cholesky(precision, lower=True, check_finite=False)
        away = solve_triangular(root, deviates[v], lower=True, trans="T", check_finite=False)
        # What all people share, the first direction, is settled by raking.
        weights[1:, v] += np.sqrt(max(1.0, float(fit.chi2[v])) * rest[v]) * away[1:]
    missed = normals(random, (wide - 1) * values).reshape(wide - 1, values)
    weights[1:] += np.sqrt(model.model_error[1] * rest) * missed
    return tables_of(matrix, weights)


def _draw_counts(model: Inside, random: Randomness) -> Goals:
    """Return what the boxes hold: what they show, or, with noise in it, whole numbers drawn from what it leaves open."""
    goals = model.goals
    if not goals.noise_variance.any():
        return goals
    drawn = np.maximum(goals.people + np.sqrt(goals.noise_variance) * normals(random, len(goals.people)), 0.0)
    box = np.repeat(np.arange(len(goals.entry) - 1), np.diff(goals.entry))
    sizes = model.cells.sizes
    total = np.bincount(box, drawn, len(sizes))
    return goals._replace(people=_rounded(drawn * (sizes / np.maximum(total, 1e-9))[box], goals.entry, random))


def _draw_margins(model: Inside, goals: Goals, chances: Array, random: Randomness) -> Goals:
    """Scale chances, in place, to counts of noisy tables drawn from what noise leaves open; return what boxes hold then."""
    margins = model.margins
    assert margins is not None
    people = margins.people + np.sqrt(margins.variance) * normals(random, margins.people.size).reshape(margins.people.shape)
    drawn = rake_tables(model.cells, goals, margins.groups, np.maximum(people, 0.01 * margins.people), chances)
    box = np.repeat(np.arange(len(goals.entry) - 1), np.diff(goals.entry))
    total = np.bincount(box, drawn.people, len(goals.entry) - 1)
    counts = drawn.people * (model.cells.sizes / np.maximum(total, 1e-9))[box]
    return drawn._replace(people=_rounded(counts, goals.entry, random))


def _rounded(counts: Floats, entry: Integers, random: Randomness) -> Floats:
    """Return whole numbers that add up to as much in every box, each the one below or above, by chance in proportion.

    Counts lie end to end on a line, which whole numbers cut at one random offset a box.
    """
    ends = np.cumsum(counts)
    before = np.concatenate(([0.0], ends))[entry[:-1]]
    many = np.diff(entry)
    offset = np.repeat((random.words(len(many)) >> np.uint64(11)).astype(np.float64) / 2.0**53, many)
    upper = ends - np.repeat(before, many)
    lower = upper - counts
    last = np.zeros(len(counts), bool)
    last[entry[1:][many > 0] - 1] = True
    upper = np.where(last, np.round(upper), upper)  # the sum is a whole number but for rounding
    whole: Floats = np.floor(upper + offset) - np.floor(lower + offset)
    return np.maximum(whole, 0.0)
