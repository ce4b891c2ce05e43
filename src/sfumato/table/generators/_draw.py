"""Drawing from many discrete distributions at once."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.errors import PolicyError


def draw(random: np.random.Generator, weights: Floats, which: Array) -> Integers:
    """Return one column number for every entry of `which`, drawn in proportion to that row of `weights`.

    The rows' cumulative shares are laid end to end, row r between r and r+1, so that one search serves all of them.
    """
    shares = np.cumsum(weights, axis=1)
    shares /= shares[:, -1:]
    line = (shares + np.arange(len(shares))[:, None]).ravel()
    width = weights.shape[1]
    drawn = np.searchsorted(line, which + random.random(len(which)), side="right") - which * width
    return np.asarray(np.minimum(drawn, width - 1), dtype=np.int64)


def check_size(rows: int, seed: int) -> None:
    """Raise a `PolicyError` unless `rows` is at least 1 and `seed` is not negative."""
    for name, number, least in (("rows", rows, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise PolicyError(f"{name}: expected a whole number from {least} on, got {number!r}")
