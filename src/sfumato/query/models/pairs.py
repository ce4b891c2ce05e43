"""Which boxes are near: they are merged in pairs where a model predicts the split of a pair, which is known."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.query.models.cells import Cells, Directions

_DIRECTIONS = 40  # directions that are judged
_MOST = 1.0  # a and b are at most this
_FAR = 9.0  # a squared error of so many variances counts no more


def box_means(cells: Cells, directions: Directions) -> Floats:
    """Return the mean of every direction in every box."""
    boxes, lines = len(cells.start) - 1, len(directions.matrix)
    box = np.repeat(np.arange(boxes), np.diff(cells.start))
    counts = np.zeros((boxes, lines))
    for column in cells.levels.T:
        counts += np.bincount(box * lines + column, cells.weight, boxes * lines).reshape(boxes, lines)
    return (counts @ directions.matrix)[:, 1:] / np.maximum(cells.sizes, 1.0)[:, None]


def pair_boxes(means: Floats) -> tuple[Integers, Flags]:
    """Return which pair each box belongs to, and whether it is of its first half: boxes are halved where they lie widest.

    Pairs are two boxes, or three of which one is the first half.
    """
    boxes = len(means)
    order, part = np.arange(boxes), np.zeros(boxes, np.int64)
    while True:
        start = np.flatnonzero(np.r_[True, part[1:] != part[:-1]])
        size = np.diff(np.r_[start, boxes])
        if (size <= 3).all():
            break
        own = means[order]
        spread = np.add.reduceat(own**2, start) / size[:, None] - (np.add.reduceat(own, start) / size[:, None]) ** 2
        widest = np.repeat(spread.argmax(axis=1), size)
        sort = np.lexsort((order, own[np.arange(boxes), widest], part))
        order = order[sort]
        place = np.arange(boxes) - np.repeat(start, size)
        half = np.repeat(np.where(size > 3, (size + 1) // 2, size), size)
        part = 2 * part + (place >= half)
        part = np.unique(part, return_inverse=True)[1]
    place = np.arange(boxes) - np.repeat(start, size)
    whole, first = np.empty(boxes, np.int64), np.empty(boxes, bool)
    whole[order], first[order] = part, place == 0
    return whole, first


def excess_of(off: Floats, chance: Floats, square: Floats, units: int) -> float:
    """Return the largest x ≥ 0 with which off² may be chance + x·square on average; errors far out count as `_FAR`.

    May be: within one standard error of a mean of so many independent squares.
    """
    low, high = 0.0, _MOST**2
    least = 1.0 - np.sqrt(2.0 / max(units, 2))
    for _ in range(40):
        middle = (low + high) / 2
        excess = np.minimum(off**2 / np.maximum(chance + middle * square, 1e-9), _FAR)
        low, high = (middle, high) if len(off) and excess.mean() > least else (low, middle)
    return high if high > 1e-9 else 0.0


def signs_of(means: Floats, whole: Integers, first: Flags, pairs: int) -> Floats:
    """Return per pair and direction which half has more of it: 1 for the first, −1 for the other."""
    sums = np.zeros((2, pairs, means.shape[1]))
    np.add.at(sums, (np.where(first, 0, 1), whole), means)
    away = sums[0] - sums[1] / np.maximum(np.bincount(whole[~first], minlength=pairs), 1)[:, None]
    widest = np.argsort(-(away**2).mean(axis=0), kind="stable")[:_DIRECTIONS]
    signs: Floats = np.sign(away[:, widest])
    return signs
