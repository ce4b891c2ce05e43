"""The multiplicative model of the inside of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.query.models import _softmax_kernels as kernels
from sfumato.query.models.cells import Cells, Directions, number_levels
from sfumato.query.rows import BucketIndex
from sfumato.table.column import Column

VERSION = 1
MAX_VALUES = 600

_ROUNDS = int(__import__("os").environ.get("RR", "14"))
_AGAIN = 5
_REFRESH = eval(__import__("os").environ.get("RF", "(0, 1, 2, 3, 5, 8, 11)"))
_TAILS = float(__import__("os").environ.get("TA", "2"))  # ν: degrees of freedom of the weights' prior
_START = float(__import__("os").environ.get("ST", "0.1"))  # τ² before anything is known
_STEP = 1.0
_OWN = 64  # values with an information matrix of their own
_BOXES = 600  # boxes that the information is taken from
_CHUNK = 4_000_000  # numbers held at a time
_RAKED = 30


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights by direction and value, how far they may go (τ²), and what the boxes tell about them."""

    weights: Floats  # [directions × values]
    tau2: Floats  # [directions × values]
    told: Array  # [values with their own, and the others together × directions × directions]: information of the boxes
    which: Integers  # of `told`, per value
    scale: Floats  # of `told`, per value
    chi2: Floats  # per value: squared distance of the boxes' counts from those expected, in units of chance
    expected: Floats  # [boxes × values]


def learn_weights(
    cells: Cells, directions: Directions, shown: Floats, totals: Floats, noise2: float = 0.0, begin: Fit | None = None
) -> Fit:
    """Return the weights that make what the boxes show most likely, with heavy tails."""
    matrix = directions.matrix
    values = shown.shape[1]
    share = np.maximum(totals, 0.5) / max(totals.sum(), 1.0)
    weights = np.zeros((matrix.shape[1], values))
    weights[0] = np.log(share)
    tau2 = np.full_like(weights, _START)
    tau2[0] = 1e6
    if begin is not None:
        weights, tau2 = begin.weights.copy(), begin.tau2.copy()
    order = np.argsort(-totals, kind="stable")
    which = np.full(values, min(_OWN, values))
    which[order[:_OWN]] = np.arange(min(_OWN, values))
    rest = which == _OWN
    scale = np.where(rest, totals / max(totals[rest].sum(), 1.0), 1.0)
    calm = (1.0 - share)[:, None]
    rounds = _ROUNDS if begin is None else _AGAIN
    bold, kept = 1.0, None
    for turn in range(rounds):
        tables = tables_of(matrix, weights)
        expected, gradient = kernels.score(cells.levels, cells.weight, cells.start, cells.varies, tables, shown, noise2)
        reached = _likelihood(shown, expected, noise2) - 0.5 * float((weights**2 / tau2).sum())
        if kept is not None and reached < kept[0] - 1e-6 * abs(kept[0]):
            bold /= 3.0
            weights = kept[1] + bold * kept[2]
            continue
        bold = min(1.0, 1.5 * bold)
        if turn in _REFRESH:
            told = information(cells, directions, tables, expected, shown, which, noise2)
            whole = scale[:, None, None].astype(np.float32) * told[which]
            root = np.sqrt(np.diagonal(whole, axis1=1, axis2=2) + 1.0 / tau2.T).astype(np.float32)
            whole += _diagonal(1.0 / tau2)
            whole /= root[:, :, None]
            whole /= root[:, None, :]
            inverse = np.linalg.inv(whole)
            inverse /= root[:, :, None]
            inverse /= root[:, None, :]
            if turn:
                tau2 = _tails(weights, np.diagonal(inverse, axis1=1, axis2=2).T, tau2, directions)
        pull = matrix.T @ gradient - weights / tau2
        step = np.clip((inverse @ pull.T[:, :, None])[:, :, 0] * calm, -_STEP, _STEP).T
        kept = (_likelihood(shown, expected, noise2) - 0.5 * float((weights**2 / tau2).sum()), weights, step)
        weights = weights + bold * step
    tables = tables_of(matrix, weights)
    expected, _ = kernels.score(cells.levels, cells.weight, cells.start, cells.varies, tables, shown, noise2)
    told = information(cells, directions, tables, expected, expected, which, noise2)
    size = np.maximum(np.bincount(np.repeat(np.arange(len(shown)), np.diff(cells.start)), weights=cells.weight), 1.0)[:, None]
    chi2 = ((shown - expected) ** 2 / np.maximum(expected * (1 - expected / size) + noise2, 1e-9) * expected).sum(0) / expected.sum(0)
    return Fit(weights, tau2, told, which, scale, chi2, expected)


def _likelihood(shown: Floats, expected: Floats, noise2: float) -> float:
    """Return the log-likelihood of what the boxes show, up to a constant."""
    if noise2:
        return float(-0.5 * ((shown - expected) ** 2 / (expected + noise2)).sum())
    return float((shown * np.log(np.maximum(expected, 1e-300))).sum())


def tables_of(matrix: Floats, weights: Floats) -> Floats:
    """Return the factor of each level for each value, the largest of a level being 1."""
    logs = matrix @ weights
    return np.exp(logs - logs.max(axis=1, keepdims=True))


def _diagonal(entries: Floats) -> Floats:
    """Return per value a diagonal matrix."""
    out = np.zeros((entries.shape[1], len(entries), len(entries)), np.float32)
    at = np.arange(len(entries))
    out[:, at, at] = entries.T
    return out


def _tails(weights: Floats, unknown: Floats, tau2: Floats, directions: Directions) -> Floats:
    """Return τ² of every weight: between its own expected square and what is typical of its block."""
    out = np.full_like(weights, 1e6)
    for block in range(int(directions.block.max(initial=-1)) + 1):
        own = directions.block == block
        square, old = weights[own] ** 2 + unknown[own], tau2[own]
        if MODE == 0:
            typical = np.exp(np.log(np.maximum(square, 1e-12)).mean())
        else:
            t = np.exp(np.log(old).mean())
            light = (1 + _TAILS) * t / (square + _TAILS * t)
            told = np.maximum(1 - unknown[own] / old, 0)
            typical = ((light * weights[own] ** 2).sum() + C0 * T0) / ((told).sum() + C0)
        out[own] = (square + _TAILS * typical) / (1.0 + _TAILS)
    return out


MODE, C0, T0 = eval(__import__("os").environ.get("MO", "(1, 20, .1)"))


def information(
    cells: Cells, directions: Directions, tables: Floats, expected: Floats, shown: Floats, which: Integers, noise2: float
) -> Array:
    """Return what the boxes tell about the weights of each value: Σ_b X Xᵀ / variance, X = Σ_i π(1 − π)φ."""
    boxes, values = expected.shape
    size = expected.sum(axis=1, keepdims=True)
    chosen = np.unique(np.linspace(0, boxes - 1, min(boxes, _BOXES)).astype(np.int64))
    matrix = directions.matrix.astype(np.float32)
    kinds = int(which.max()) + 1
    lines, wide = matrix.shape
    told = np.zeros((kinds, wide, wide), np.float32)
    at_once = max(1, _CHUNK // (lines * values))
    rest = np.flatnonzero(which == _OWN)
    own = np.flatnonzero(which < _OWN)
    own = own[np.argsort(which[own])]
    for first in range(0, len(chosen), at_once):
        part = chosen[first : first + at_once]
        slopes = np.empty((len(part), lines, values), np.float32)
        kernels.slopes(cells.levels, cells.weight, cells.start, cells.varies, tables, part, slopes)
        mean, seen = expected[part], shown[part]
        if len(rest):
            slopes = np.concatenate([slopes[:, :, own], slopes[:, :, rest].sum(axis=2, keepdims=True)], axis=2)
            mean, seen = (np.concatenate([x[:, own], x[:, rest].sum(axis=1, keepdims=True)], axis=1) for x in (mean, seen))
        else:
            slopes, mean, seen = slopes[:, :, own], mean[:, own], seen[:, own]
        root = 1.0 / np.sqrt(np.maximum(mean * (1.0 - mean / np.maximum(size[part], 1e-9)) + noise2, 1e-6)) * np.sqrt(np.maximum(1.0, seen / np.maximum(mean, 1e-9)))
        along = np.matmul(matrix.T, slopes) * root[:, None, :].astype(np.float32)
        along = np.ascontiguousarray(along.transpose(2, 0, 1))
        told += along.transpose(0, 2, 1) @ along
    told *= boxes / len(chosen)
    return told


@dataclass(frozen=True, eq=False)
class Softmax:
    """The model of a release, raked to its boxes."""

    index: BucketIndex
    cells: Cells
    directions: Directions
    fit: Fit
    place: Integers
    chances: Array
    goal: Floats
    share2: float = 0.2**2
    common2: float = 0.1**2
    ratio=[]

    def estimate(self, wanted: Flags, rows: Small, people: int) -> tuple[float, float]:
        """Return how many of the people asked about have a wanted value, and the variance."""
        index, cells = self.index, self.cells
        found, spread1, spread2, differ, _, _ = kernels.ask(
            rows, people, cells.cell, cells.levels, cells.weight, cells.start, cells.varies, wanted, index.st_start,
            index.st_value, self.goal, self.place, self.chances, index.sizes, len(self.directions.matrix),
        )  # fmt: skip
        known = self._unknown(wanted, self.directions.matrix.T @ differ)
        return found, spread1 + known + self.share2 * spread2 + self.common2 * spread1**2

    def _unknown(self, wanted: Flags, along: Floats) -> float:
        fit, totals = self.fit, self.index.totals
        values = np.flatnonzero(wanted & (totals > 0))
        share = totals[values] / self.index.rows
        if 2 * len(values) > len(totals) and share.sum() < 1:
            values = np.flatnonzero(~wanted & (totals > 0))
            share = totals[values] / self.index.rows
        p = share.sum()
        if not 0 < p < 1:
            return 0.0
        factor = p * (1 - p) / (share * (1 - share)).sum()
        told = np.tensordot(fit.scale[values] * factor, fit.told[fit.which[values]], axes=(0, 0)).astype(float)
        tau2 = ((share / p) ** 2 * fit.tau2[:, values]).sum(axis=1)
        at = np.arange(len(along))
        told[at, at] += 0.25 / tau2
        excess = max(1.0, float((share * fit.chi2[values]).sum() / p))
        if told.shape[0]:
            P = told.copy()
            sol = cho_solve(cho_factor(told), along)
            self.ratio.append(float(along @ sol) / max(1e-9, float((along**2 * tau2 * 4)[1:].sum())))
        return excess * float(along @ cho_solve(cho_factor(told, check_finite=False), along, check_finite=False))


def learn_softmax(index: BucketIndex, columns: Sequence[Column], noise2: float = 0.0) -> Softmax:
    """Return the model of a release; `columns` are its quasi columns."""
    numbered, directions = number_levels(index, columns)
    cells = Cells.of(index, numbered)
    shown = np.zeros((index.buckets, index.values))
    shown[np.repeat(np.arange(index.buckets), np.diff(index.st_start)), index.st_value] = index.st_count
    fit = learn_weights(cells, directions, shown, index.totals, noise2)
    return raked(index, cells, directions, fit)


def raked(index: BucketIndex, cells: Cells, directions: Directions, fit: Fit) -> Softmax:
    many = np.diff(index.st_start)
    place = np.concatenate(([0], np.cumsum(many * np.diff(cells.start))))
    chances = np.zeros(int(place[-1]), np.float32)
    goal = index.st_count.astype(float)
    tables = tables_of(directions.matrix, fit.weights)
    kernels.rake(
        cells.levels, cells.weight, cells.start, cells.varies, tables, index.st_start, index.st_value, goal, place, _RAKED, chances
    )  # fmt: skip
    return Softmax(index, cells, directions, fit, place, chances, goal)
