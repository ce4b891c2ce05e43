"""The compiled loop of sums of scores: what the raked chances of a box's people say of them.

Cells, chances and goals lie as in `_softmax_kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit
from sfumato.query.models._softmax_kernels import _FAST, _list_varying


@njit(cache=True, nogil=True, fastmath=_FAST)
def means(start: Any, entry: Any, value: Any, place: Any, chances: Any, of: Any, score: Any, weight: Any) -> float:
    """Return Σ over terms and cells of weight[t, cell] times the mean of score[of[t]] under the chances of the cell."""
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


@njit(cache=True, nogil=True, fastmath=_FAST)
def spread(
    cells: Any, goals: Any, place: Any, chances: Any, of: Any, score: Any, unit: Any, weight: Any, both: Any, differ: Any
) -> tuple[float, float, float, float]:
    """Return what is open in Σ over terms and people of weight · score; see `sfumato.query.models.scores`.

    That is: the variance of the placement; with u what is open of the terms in a box in units of log-odds, the square of Σ u over
    boxes, and Σ u²; and what noise adds. weight[t, cell] is Σ of the weights of a cell's people in term t, both[t, u, cell] that
    of products of two terms'.
    Added to differ[level, value]: how the sum grows with the weight of a level for a value; noisy counts of a box follow the
    model as far as it `leans`.
    """
    levels, size, start, varies, _ = cells
    entry, value, _, vague, leans = goals
    terms, many_scores = len(of), len(score)
    largest, shown = 0, 0
    for b in range(len(start) - 1):
        largest, shown = max(largest, start[b + 1] - start[b]), max(shown, entry[b + 1] - entry[b])
    mean, cov = np.empty((largest, many_scores)), np.empty((largest, many_scores, many_scores))
    scores = np.empty((many_scores, shown))
    fixed, pull = np.empty((many_scores, many_scores)), np.empty(many_scores)
    part, left = np.empty(many_scores), np.empty(many_scores)
    more, lever = np.empty(shown), np.empty(shown)
    varying = np.empty(levels.shape[1], np.int64)
    placement_variance, own, unsure = 0.0, 0.0, 0.0
    alike, here = np.zeros(terms), np.zeros(terms)
    for b in range(len(start) - 1):
        first, last, e, many = start[b], start[b + 1], entry[b], entry[b + 1] - entry[b]
        asked = False
        for t in range(terms):
            for i in range(first, last):
                asked = asked or weight[t, i] != 0.0
        if not asked:
            continue
        for d in range(many_scores):
            low = score[d, value[e]] if many else 0.0
            for k in range(many):
                scores[d, k] = score[d, value[e + k]] - low  # a constant changes nothing, and small numbers round less
        fixed[:] = 0.0
        pull[:] = 0.0
        for i in range(first, last):
            for d in range(many_scores):
                mean[i - first, d] = 0.0
                for f in range(many_scores):
                    cov[i - first, d, f] = 0.0
        for k in range(many):
            base = place[b] + k * (last - first) - first
            for i in range(first, last):
                p = chances[base + i]
                for d in range(many_scores):
                    mean[i - first, d] += p * scores[d, k]
                    for f in range(d + 1):
                        cov[i - first, d, f] += p * scores[d, k] * scores[f, k]
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
            for t in range(terms):
                for d in range(many_scores):
                    pull[d] += weight[t, i] * cov[i - first, d, of[t]]
        for d in range(many_scores):
            left[d] = pull[d]
        solve(fixed, left, part)
        total, middle, noise, follow = 0.0, 0.0, 0.0, 0.0
        for k in range(many):
            lever[k] = 0.0
            for d in range(many_scores):
                lever[k] += part[d] * scores[d, k]
            total += vague[e + k]
            middle += vague[e + k] * lever[k]
        noisy = total > 0.0
        if noisy:
            for k in range(many):
                lever[k] -= middle / total
                noise += vague[e + k] * lever[k] ** 2
                follow += leans[e + k] * vague[e + k] * lever[k] ** 2
                lever[k] *= leans[e + k]
            unsure += noise
        free = follow / noise if noise > 0.0 else 0.0  # the part with which what the box holds follows the model
        open_ = 0.0
        for t in range(terms):
            mine, fixed_part = 0.0, 0.0
            for i in range(first, last):
                for u in range(terms):
                    mine += both[t, u, i] * cov[i - first, of[t], of[u]]
                for d in range(many_scores):
                    fixed_part += weight[t, i] * part[d] * cov[i - first, of[t], d]
            open_ += mine - fixed_part
            here[t] = max(0.0, mine - (1.0 - free) * fixed_part) / unit[t]
            alike[t] += here[t]
        placement_variance += max(0.0, open_)
        own += _together(here, of, many_scores)
        columns = _list_varying(varies, b, varying)
        if noisy:
            columns = levels.shape[1]
            for t in range(columns):
                varying[t] = t
        for i in range(first, last):
            for d in range(many_scores):
                left[d] = -part[d] * size[i]
            for t in range(terms):
                left[of[t]] += weight[t, i]
            busy, follows = noisy, 0.0
            for d in range(many_scores):
                busy = busy or abs(left[d]) > 1e-12
            if not busy:
                continue
            if noisy:
                for k in range(many):
                    follows += lever[k] * chances[place[b] + k * (last - first) + i - first]
            for k in range(many):
                grown = size[i] * (lever[k] - follows) if noisy else 0.0
                for d in range(many_scores):
                    grown += left[d] * (scores[d, k] - mean[i - first, d])
                more[k] = grown * chances[place[b] + k * (last - first) + i - first]
            for t in range(columns):
                row = levels[i, varying[t]]
                for k in range(many):
                    differ[row, value[e + k]] += more[k]
    return placement_variance, _together(alike, of, many_scores), own, unsure
