"""How far the model is off inside boxes, learned from the release: near boxes are merged in pairs, and the split is predicted.

What the pairs' halves really show is known. The model of the merged boxes predicts it, and by how much more than chance and
weights explain it is off says what it misses: a², the squared share of U by which it misses in every box anew, from single
pairs; b², that by which it misses in all boxes alike, from many pairs at once, of which always the half is asked about that
has more of one direction. Both are as large as the pairs still allow, by one standard error, so that few pairs excuse nothing.

Boxes are split along columns that could be cut, where the model has learned from the very differences that it is asked
about: what all boxes miss alike does not show in splits. In most releases tried they gave b = 0, with which intervals of
random sets held .83 (hospital) to .98 (ACS). So b is at least `ALIKE`, the least with which they hold .92 in all of them: see
docs/answers.md.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags, Floats, Integers, Small
from sfumato.query.models import _softmax_kernels as kernels
from sfumato.query.models.cells import Cells, Directions
from sfumato.query.models.raking import goals_of, places, rake
from sfumato.query.models.softmax import Fit, learn_weights

ALIKE = 0.1
"""The least b that is assumed."""

_FEWEST = 20  # boxes; of fewer nothing is learned
_UNLEARNED = 0.5  # a, then
_ROUNDS = 7  # of scoring
_VALUES, _DIRECTIONS = 8, 40  # most frequent values, and directions, that are judged
_MOST = 1.0  # a and b are at most this
_FAR = 9.0  # a squared error of so many variances counts no more
_WIDER = 4.0


def learn_misses(cells: Cells, directions: Directions, shown: Floats, noise: Floats) -> Floats:
    """Return a² and b² of a release."""
    if len(shown) < _FEWEST:
        return np.array([_UNLEARNED**2, ALIKE**2])
    means = box_means(cells, directions)
    whole, first = pair_boxes(means)
    merged, order = cells.merged(whole)
    pairs = int(whole.max()) + 1
    both, halves, vague, own = (
        np.zeros((pairs, shown.shape[1])),
        np.zeros((pairs, shown.shape[1])),
        np.zeros(pairs),
        np.zeros(pairs),
    )
    np.add.at(both, whole, shown)
    np.add.at(halves, whole[first], shown[first])
    np.add.at(vague, whole, noise)
    np.add.at(own, whole[first], noise[first])
    again = learn_weights(merged, directions, both, vague, rounds=_ROUNDS)
    goals = goals_of(merged, directions, again, both, vague)
    chances = rake(merged, directions, again, goals)
    half = np.repeat(first, np.diff(cells.start))[order]
    judged = np.argsort(-both.sum(axis=0), kind="stable")[:_VALUES]
    box = np.repeat(np.arange(pairs), np.diff(goals.entry))
    chosen = np.isin(goals.value, judged)
    which = np.where(chosen, np.cumsum(chosen) - 1, -1)
    mean, spread = np.zeros(len(box)), np.zeros(len(box))
    differ = np.zeros((int(chosen.sum()), len(directions.matrix)))
    kernels.split(*merged.arrays[:3], half, goals.entry, places(merged, goals), chances, which, mean, spread, differ)
    off = (halves[box, goals.value] - mean)[chosen]
    # What is shown of a half has its noise, and the pair's goal part of it, and part of what the model expected.
    share = (mean / np.maximum(goals.people, 1e-9))[chosen]
    taken, leant = share * (1.0 - goals.leans[chosen]), share * goals.leans[chosen]
    first_, all_ = own[box[chosen]], vague[box[chosen]]
    unclear = (1.0 - taken) ** 2 * first_ + taken**2 * (all_ - first_) + leant**2 * goals.people[chosen]
    return _judge(
        off,
        spread[chosen],
        np.where(all_ > 0, unclear, 0.0),
        differ @ directions.matrix,
        box[chosen],
        goals.value[chosen],
        again,
        _signs(means, whole, first, pairs),
    )


def _judge(
    off: Floats, spread: Floats, noise: Floats, differ: Floats, box: Integers, value: Small, fit: Fit, signs: Floats
) -> Floats:
    """Return a² and b² that explain errors of predicted halves, beside chance, noise and unknown weights."""
    own, many = np.zeros(len(off)), []
    for v in np.unique(value):
        rows = value == v
        precision = fit.information(np.array([v]))
        precision[np.diag_indices_from(precision)] += 1.0 / (_WIDER * fit.tau2[:, v])
        unknown = max(1.0, float(fit.chi2[v])) * np.linalg.inv(precision)
        own[rows] = ((differ[rows] @ unknown) * differ[rows]).sum(axis=1)
        turned = signs[box[rows]]
        along = turned.T @ differ[rows]
        many.append(
            np.stack(
                [
                    turned.T @ off[rows],
                    np.full(turned.shape[1], (spread[rows] + noise[rows]).sum()) + ((along @ unknown) * along).sum(axis=1),
                    np.full(turned.shape[1], (spread[rows] ** 2).sum()),
                    np.full(turned.shape[1], spread[rows].sum() ** 2),
                ]
            )
        )
    known = spread > 0.5
    pairs = len(np.unique(box[known]))
    a2 = _excess(off[known], (spread + noise + own)[known], spread[known] ** 2, pairs)
    total, chance, square, common = np.concatenate(many, axis=1)
    b2 = _excess(total, chance + a2 * square, common, signs.shape[1])
    return np.array([a2, min(max(b2, ALIKE**2), max(a2, ALIKE**2))])


def _excess(off: Floats, chance: Floats, square: Floats, units: int) -> float:
    """Return the largest x ≥ 0 with which off² may be chance + x·square on average; errors far out count as `_FAR`.

    May be: within one standard error of a mean of so many independent squares.
    """
    low, high = 0.0, _MOST**2
    least = 1.0 - np.sqrt(2.0 / max(units, 2))
    for _ in range(40):
        middle = (low + high) / 2
        found = np.minimum(off**2 / np.maximum(chance + middle * square, 1e-9), _FAR)
        low, high = (middle, high) if len(off) and found.mean() > least else (low, middle)
    return high if high > 1e-9 else 0.0


def box_means(cells: Cells, directions: Directions) -> Floats:
    """Return the mean of every direction in every box."""
    boxes, lines = len(cells.start) - 1, len(directions.matrix)
    box = np.repeat(np.arange(boxes), np.diff(cells.start))
    counts = np.zeros((boxes, lines))
    for column in cells.levels.T:
        counts += np.bincount(box * lines + column, cells.weight, boxes * lines).reshape(boxes, lines)
    means: Floats = (counts @ directions.matrix)[:, 1:] / np.maximum(cells.sizes, 1.0)[:, None]
    return means


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


def _signs(means: Floats, whole: Integers, first: Flags, pairs: int) -> Floats:
    """Return per pair and direction which half has more of it: 1 for the first, −1 for the other."""
    sums = np.zeros((2, pairs, means.shape[1]))
    np.add.at(sums, (np.where(first, 0, 1), whole), means)
    away = sums[0] - sums[1] / np.maximum(np.bincount(whole[~first], minlength=pairs), 1)[:, None]
    widest = np.argsort(-(away**2).mean(axis=0), kind="stable")[:_DIRECTIONS]
    signs: Floats = np.sign(away[:, widest])
    return signs
