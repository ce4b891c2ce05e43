"""Compiled loops of the trend estimator: features of many people added up, by box and for one question."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato._jit import njit, prange


@njit(cache=True, nogil=True, parallel=True)
def add_by_box(rows: Any, features: Any, start: Any, times: Any, out: Any, first: int) -> None:
    """Add to out[box, first:] the features of the people of each box, who are the rows start[box] … start[box + 1] − 1.

    Here and below a row stands for times[row] people, for one where `times` is empty.
    """
    width = features.shape[1]
    for box in prange(len(start) - 1):
        for i in range(start[box], start[box + 1]):
            row = rows[i]
            many = times[i] if len(times) else 1
            for k in range(width):
                out[box, first + k] += many * features[row, k]


def _add_asked(rows: Any, count: int, group: Any, times: Any, hits: Any, sizes: Any, joint: Any) -> Any:
    codes, first, source, line, lines = joint
    asked = rows[:count]
    asked = asked[hits[group[asked]] != sizes[group[asked]]]
    many = times[asked] if len(times) else None
    parts = [np.bincount(codes[asked, g], many, first[g + 1] - first[g]) for g in range(codes.shape[1])]
    return np.bincount(line, np.concatenate([np.zeros(0), *parts])[source], lines).astype(np.int64)


@njit(cache=True, nogil=True, plain=_add_asked)
def add_asked(rows: Any, count: int, group: Any, times: Any, hits: Any, sizes: Any, joint: Any) -> Any:
    """Return how many of the rows lie in each line of each block, leaving out people whose whole box is asked about.

    Columns are put together: row i is one of those that sums[first[g] + codes[i, g]] counts, and sums[source[f]] part of line[f].
    """
    codes, first, source, line, lines = joint
    sums, found = np.zeros(first[-1], np.int64), np.zeros(lines, np.int64)
    groups = codes.shape[1]
    for j in range(count):
        i = rows[j]
        if hits[group[i]] == sizes[group[i]]:
            continue
        many = times[i] if len(times) else 1
        for g in range(groups):
            sums[first[g] + codes[i, g]] += many
    for f in range(len(source)):
        found[line[f]] += sums[source[f]]
    return found


def _add_features(times: Any, start: Any, flat: Any, first: Any, out: Any) -> None:
    at = 0
    for b in range(len(first) - 1):
        rows = start[b + 1] - start[b]
        features = flat[first[b] : first[b + 1]].reshape(rows, -1)
        out[at : at + features.shape[1]] = times[start[b] : start[b + 1]] @ features
        at += features.shape[1]


@njit(cache=True, nogil=True, plain=_add_features)
def add_features(times: Any, start: Any, flat: Any, first: Any, out: Any) -> None:
    """Add to `out` the features of so many people in each row of each block; those of block b lie in `flat` from first[b] on."""
    at = 0
    for b in range(len(first) - 1):
        rows = start[b + 1] - start[b]
        width = (first[b + 1] - first[b]) // rows
        own = out[at : at + width]
        for r in range(rows):
            many = times[start[b] + r]
            if many:
                features = flat[first[b] + r * width : first[b] + (r + 1) * width]
                for k in range(width):
                    own[k] += many * features[k]
        at += width


def _take_expected(hits: Any, sizes: Any, sums: Any, out: Any) -> None:
    partly = (hits > 0) & (hits < sizes)
    out -= (hits[partly] / sizes[partly]) @ sums[partly]


@njit(cache=True, nogil=True, plain=_take_expected)
def take_expected(hits: Any, sizes: Any, sums: Any, out: Any) -> None:
    """Subtract from `out` the features that the asked people of each box would have if they were drawn from it at random."""
    for box in range(len(hits)):
        if 0 < hits[box] < sizes[box]:
            share = hits[box] / sizes[box]
            for k in range(len(out)):
                out[k] -= share * sums[box, k]
