"""The compiled loop of sums of scores: what the raked chances of a box's people say of them.

Cells, chances and goals lie as in `_softmax_kernels`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit
from sfumato.query.models._softmax_kernels import _FAST, _list_varying


class Raked(NamedTuple):
    """The raked chances of the people of all boxes: cells and goals, and where in `chances` those of each box begin."""

    cells: Any
    goals: Any
    place: Any
    chances: Any


@njit(cache=True, nogil=True, fastmath=_FAST)
def means(raked: Raked, of: Any, score: Any, weight: Any) -> float:
    """Return Σ over terms and cells of weight[t, cell] times the mean of score[of[t]] under the chances of the cell."""
    start, entry, value, place, chances = raked.cells.start, raked.goals.entry, raked.goals.value, raked.place, raked.chances
    terms = len(of)
    total = 0.0
    for b in range(len(start) - 1):
        first, last, e, many = start[b], start[b + 1], entry[b], entry[b + 1] - entry[b]
        for t in range(terms):
            asked = False
            for i in range(first, last):
                asked = asked or weight[t, i] != 0.0
            if not asked:
                continue
            for k in range(many):
                s = score[of[t], value[e + k]]
                if s != 0.0:
                    base = place[b] + k * (last - first) - first
                    for i in range(first, last):
                        total += s * chances[base + i] * weight[t, i]
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def solve(matrix: Any, right: Any, out: Any) -> None:
    """Write to `out` a solution of matrix · out = right; directions in which the matrix says nothing get 0. Both are changed."""
    size = len(right)
    largest = 0.0
    for d in range(size):
        largest = max(largest, matrix[d, d])
    for d in range(size):
        if matrix[d, d] <= 1e-9 * largest or largest <= 0.0:
            right[d] = 0.0
            for f in range(size):
                matrix[d, f] = 0.0
                matrix[f, d] = 0.0
            matrix[d, d] = 1.0
            continue
        for f in range(d + 1, size):
            part = matrix[f, d] / matrix[d, d]
            for g in range(d, size):
                matrix[f, g] -= part * matrix[d, g]
            right[f] -= part * right[d]
    for d in range(size - 1, -1, -1):
        total = right[d]
        for f in range(d + 1, size):
            total -= matrix[d, f] * out[f]
        out[d] = total / matrix[d, d]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _together(each: Any, of: Any, scores: int) -> float:
    """Return the square of what terms miss together: those of one score each for itself, those of different scores alike."""
    total = 0.0
    for d in range(scores):
        own = 0.0
        for t in range(len(of)):
            if of[t] == d:
                own += each[t] * each[t]
        total += np.sqrt(own)
    return total * total


class Terms(NamedTuple):
    """The terms of a sum: of[t] is the score of term t, score[d, value], unit[t] its unit of log-odds.

    weight[t, cell] is Σ of the weights of a cell's people in term t, both[t, u, cell] that of products of two terms'.
    """

    of: Any
    score: Any
    unit: Any
    weight: Any
    both: Any


class SumVariance(NamedTuple):
    """What is open in a sum.

    `placement` is the variance of the placement; with u what is open of the terms in a box in units of log-odds, `own` is Σ u²;
    `noise` is what noise adds.
    """

    placement: float
    own: float
    noise: float


class _BoxCells(NamedTuple):
    """A box: its cells first … last − 1, its shown values from `entry` on, and where chances of them begin."""

    first: int
    last: int
    entry: int
    many: int
    place: int


class _Room(NamedTuple):
    """Arrays for one box after the other: means and covariances of scores by cell, and what a combination of scores explains."""

    mean: Any
    cov: Any
    scores: Any
    fixed: Any
    pull: Any
    part: Any
    left: Any
    more: Any
    lever: Any
    varying: Any


@njit(cache=True, nogil=True, fastmath=_FAST)
def _room(start: Any, entry: Any, many_scores: int, columns: int) -> _Room:
    """Return room for the largest box."""
    largest, shown = 0, 0
    for b in range(len(start) - 1):
        largest, shown = max(largest, start[b + 1] - start[b]), max(shown, entry[b + 1] - entry[b])
    return _Room(
        np.empty((largest, many_scores)),
        np.empty((largest, many_scores, many_scores)),
        np.empty((many_scores, shown)),
        np.empty((many_scores, many_scores)),
        np.empty(many_scores),
        np.empty(many_scores),
        np.empty(many_scores),
        np.empty(shown),
        np.empty(shown),
        np.empty(columns, np.int64),
    )


@njit(cache=True, nogil=True, fastmath=_FAST)
def _asked(box: _BoxCells, weight: Any) -> bool:
    """Return whether anybody in the box has a weight."""
    asked = False
    for t in range(len(weight)):
        for i in range(box.first, box.last):
            asked = asked or weight[t, i] != 0.0
    return asked


@njit(cache=True, nogil=True, fastmath=_FAST)
def _moments(box: _BoxCells, raked: Raked, score: Any, room: _Room) -> None:
    """Write the scores of the box's values, and their means and covariances under the chances of each cell."""
    value, chances = raked.goals.value, raked.chances
    mean, cov, scores = room.mean, room.cov, room.scores
    first, last = box.first, box.last
    many_scores = len(score)
    for d in range(many_scores):
        low = score[d, value[box.entry]] if box.many else 0.0
        for k in range(box.many):
            scores[d, k] = score[d, value[box.entry + k]] - low  # a constant changes nothing, and small numbers round less
    for i in range(first, last):
        for d in range(many_scores):
            mean[i - first, d] = 0.0
            for f in range(many_scores):
                cov[i - first, d, f] = 0.0
    for k in range(box.many):
        base = box.place + k * (last - first) - first
        for i in range(first, last):
            p = chances[base + i]
            for d in range(many_scores):
                mean[i - first, d] += p * scores[d, k]
                for f in range(d + 1):
                    cov[i - first, d, f] += p * scores[d, k] * scores[f, k]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _explain(box: _BoxCells, size: Any, terms: Terms, room: _Room) -> None:
    """Write to room.part the combination of scores that explains most of the box's terms; moments become covariances."""
    mean, cov, fixed, pull, left = room.mean, room.cov, room.fixed, room.pull, room.left
    of, weight = terms.of, terms.weight
    first, last, many, many_scores = box.first, box.last, len(of), len(pull)
    fixed[:] = 0.0
    pull[:] = 0.0
    for i in range(first, last):
        for d in range(many_scores):
            for f in range(d + 1):
                c = cov[i - first, d, f] - mean[i - first, d] * mean[i - first, f]
                if d == f:
                    c = max(c, 0.0)
                cov[i - first, d, f] = c
                cov[i - first, f, d] = c
                fixed[d, f] += size[i] * c
                if d != f:
                    fixed[f, d] += size[i] * c
        for t in range(many):
            for d in range(many_scores):
                pull[d] += weight[t, i] * cov[i - first, d, of[t]]
    for d in range(many_scores):
        left[d] = pull[d]
    solve(fixed, left, room.part)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _noise(box: _BoxCells, noise_variance: Any, shrinkage: Any, room: _Room) -> tuple[bool, float, float]:
    """Write to room.lever how the combination moves with each count; return whether counts have noise, what it adds to the sum,
    and the part with which what the box holds follows the model."""
    scores, part, lever, e = room.scores, room.part, room.lever, box.entry
    total, middle, noise, follow = 0.0, 0.0, 0.0, 0.0
    for k in range(box.many):
        lever[k] = 0.0
        for d in range(len(part)):
            lever[k] += part[d] * scores[d, k]
        total += noise_variance[e + k]
        middle += noise_variance[e + k] * lever[k]
    noisy = total > 0.0
    if noisy:
        for k in range(box.many):
            lever[k] -= middle / total
            noise += noise_variance[e + k] * lever[k] ** 2
            follow += shrinkage[e + k] * noise_variance[e + k] * lever[k] ** 2
            lever[k] *= shrinkage[e + k]
    return noisy, noise, follow / noise if noise > 0.0 else 0.0


@njit(cache=True, nogil=True, fastmath=_FAST)
def _left_open(box: _BoxCells, terms: Terms, free: float, room: _Room, here: Any) -> float:
    """Return the variance of the box's placement; write to here[t] what is open of each term, in its unit."""
    cov, part, of, weight, both = room.cov, room.part, terms.of, terms.weight, terms.both
    first, last, many, many_scores, open_ = box.first, box.last, len(of), len(part), 0.0
    for t in range(many):
        mine, fixed_part = 0.0, 0.0
        for i in range(first, last):
            for u in range(many):
                mine += both[t, u, i] * cov[i - first, of[t], of[u]]
            for d in range(many_scores):
                fixed_part += weight[t, i] * part[d] * cov[i - first, of[t], d]
        open_ += mine - fixed_part
        here[t] = max(0.0, mine - (1.0 - free) * fixed_part) / terms.unit[t]
    return max(0.0, open_)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _grow(box: _BoxCells, raked: Raked, terms: Terms, room: _Room, columns: int, noisy: bool, differ: Any) -> None:
    """Add to differ[level, value] how the sum grows with the weight of a level for a value, by the box's cells."""
    cells, value, chances = raked.cells, raked.goals.value, raked.chances
    mean, scores, part, left, more, lever = room.mean, room.scores, room.part, room.left, room.more, room.lever
    of, weight, size, levels, varying = terms.of, terms.weight, cells.weight, cells.levels, room.varying
    first, wide, many, many_scores = box.first, box.last - box.first, box.many, len(room.part)
    for i in range(first, box.last):
        for d in range(many_scores):
            left[d] = -part[d] * size[i]
        for t in range(len(of)):
            left[of[t]] += weight[t, i]
        busy, follows = noisy, 0.0
        for d in range(many_scores):
            busy = busy or abs(left[d]) > 1e-12
        if not busy:
            continue
        chance = box.place + i - first
        if noisy:
            for k in range(many):
                follows += lever[k] * chances[chance + k * wide]
        for k in range(many):
            grown = size[i] * (lever[k] - follows) if noisy else 0.0
            for d in range(many_scores):
                grown += left[d] * (scores[d, k] - mean[i - first, d])
            more[k] = grown * chances[chance + k * wide]
        for t in range(columns):
            row = levels[i, varying[t]]
            for k in range(many):
                differ[row, value[box.entry + k]] += more[k]


@njit(cache=True, nogil=True, fastmath=_FAST)
def spread(raked: Raked, terms: Terms, differ: Any) -> SumVariance:
    """Return what is open in Σ over terms and people of weight · score; see `sfumato.query.models.scores`.

    Added to differ[level, value]: how the sum grows with the weight of a level for a value; noisy counts of a box follow the
    model by its `shrinkage`.
    """
    cells, goals = raked.cells, raked.goals
    many, columns = len(terms.of), cells.levels.shape[1]
    room = _room(cells.start, goals.entry, len(terms.score), columns)
    placement, own, unsure = 0.0, 0.0, 0.0
    here = np.zeros(many)
    for b in range(len(cells.start) - 1):
        entry = goals.entry[b]
        box = _BoxCells(cells.start[b], cells.start[b + 1], entry, goals.entry[b + 1] - entry, raked.place[b])
        if not _asked(box, terms.weight):
            continue
        _moments(box, raked, terms.score, room)
        _explain(box, cells.weight, terms, room)
        noisy, noise, free = _noise(box, goals.noise_variance, goals.shrinkage, room)
        unsure += noise
        placement += _left_open(box, terms, free, room, here)
        own += _together(here, terms.of, len(terms.score))
        moved = _list_varying(cells.varies, b, room.varying)
        if noisy:
            moved = columns
            for t in range(columns):
                room.varying[t] = t
        _grow(box, raked, terms, room, moved, noisy, differ)
    return SumVariance(placement, own, unsure)
