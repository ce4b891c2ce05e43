"""Which boxes are near: they are merged in pairs where a model predicts the split of a pair, which is known."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags, Floats, Integers
from sfumato.query.models.cells import Cells, Directions


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
