"""How many people there may be with a wanted value before boxes speak against it: the upper end of an interval of few people.

Of links that a prior takes as rare some are there: nearly everybody of 17 has the same schooling. Where boxes hardly tell those
asked from others, a prior alone kept intervals from reaching them: of cells with a lift of five and more they held half. So where
independence expects fewer than `FEW` people, the upper end is one that boxes allow, whatever a prior says.

**The test.** Let those asked have odds λ times those of the others in their box. Box b, in which the model expects e people with
the value and h of n are asked about, then expects E(λ) = e·(1 − g·h/n) + min(h, λ·e·h/n), where g is the λ of the estimate; how
many there are in all is known, so all boxes are scaled to it. λ grows from g on as long as the log-likelihood of the counts that
boxes show, over how much worse than chance they fit, is within `DROP` of its best so far; `STEPS` are tried, and between two of
them it is taken as straight. At that λ a box that holds c has min(h, c·λh/(n + (λ − 1)h)) of those asked; if even the last step
is allowed, min(h, c).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Floats, Integers

FEW = 25.0
"""People expected by independence; of as many and more, intervals that priors narrow hold links too (docs/answers.md)."""

DROP = 4.5  # of a log-likelihood, at three standard errors: who looks for such links looks at the most extreme of many cells
STEP, STEPS = 0.25, 33  # of log λ
_LEAST = 1e-9


class AskedBoxes(NamedTuple):
    """Boxes with people who are asked about: these, all, and with a wanted value shown, believed and expected; noise in `shown`.

    `rest_shown` and `rest_expected` are of all other boxes together.
    """

    hits: Floats
    sizes: Floats
    shown: Floats
    believed: Floats
    expected: Floats
    noise: Floats
    rest_shown: float
    rest_expected: float

    @classmethod
    def of(cls, hits: Integers, sizes: Floats, shown: Floats, believed: Floats, expected: Floats, noise: Floats) -> AskedBoxes:
        """Return those of all boxes in which somebody is asked about."""
        here = hits > 0
        asked, size, seen, likely, model, spread = (
            part[here].astype(np.float64) for part in (hits, sizes, shown, believed, expected, noise)
        )
        return cls(asked, size, seen, likely, model, spread, float(shown[~here].sum()), float(expected[~here].sum()))


def reach(found: float, boxes: AskedBoxes, over: float) -> float:
    """Return the most people there may be of whom `found` are estimated; `over` is how much worse than chance boxes fit."""
    part = boxes.hits / boxes.sizes
    expected = boxes.expected * part
    lift = found / max(float(boxes.believed @ part), _LEAST)
    steps = np.arange(STEPS) * STEP
    own = np.minimum(boxes.hits[:, None], np.multiply.outer(expected, lift * np.exp(steps)))
    every = np.maximum(boxes.expected - own[:, 0], _LEAST)[:, None] + own
    scale = (boxes.expected.sum() + boxes.rest_expected) / (every.sum(axis=0) + boxes.rest_expected)
    if boxes.noise.any():
        every *= scale
        likely = -0.5 * ((boxes.shown[:, None] - every) ** 2 / (every + boxes.noise[:, None])).sum(axis=0)
    else:
        likely = boxes.shown @ np.log(every) + (boxes.shown.sum() + boxes.rest_shown) * np.log(scale)
    left = likely / over - np.maximum.accumulate(likely / over) + DROP
    first = int(np.argmax(left < 0.0))
    if left[first] >= 0.0:  # boxes rule nothing out
        return float(np.minimum(boxes.hits, boxes.believed).sum())
    fall = float(likely[first - 1] - likely[first]) / over
    lift *= float(np.exp(steps[first - 1] + STEP * float(left[first - 1]) / fall))
    many = boxes.believed * lift * part / (1.0 + (lift - 1.0) * part)
    return float(np.minimum(boxes.hits, many).sum())
