"""The bundled census as the benchmarks use it: counts and bounds of Occupation (OCC) and Education (EDU)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sfumato.privacy.bounds import Bounds
from sfumato.privacy.f_privacy import FPrivacy
from sfumato.randomness import SeededRandomness

ATTRIBUTES = {"OCC": "occupation", "EDU": "education"}
THETAS = (2, 4, 8, 16, 32)
OFFSET = "0.02"
MAX_SIZE = 50
SEED = 1


@lru_cache(maxsize=8)
def _column(attribute: str, rows: int) -> dict[str, int]:
    from sfumato.table.generators import census

    counted = census(rows, SEED).column(ATTRIBUTES[attribute]).value_counts()
    return {str(entry["values"]): int(entry["counts"]) for entry in counted.to_pylist()}


def counts(attribute: str, rows: int, *, split: int = 1) -> dict[str, int]:
    """Return how many people have each value; `split` replaces each value by that many, at random (the papers' γ)."""
    whole = _column(attribute, rows)
    if split == 1:
        return whole
    coins = SeededRandomness(SEED)
    parts: dict[str, int] = {}
    for value, count in sorted(whole.items()):
        for part, held in enumerate(np.bincount(coins.below(split, count), minlength=split).tolist()):
            if held:
                parts[f"{value}#{part}"] = held
    return parts


def bounds(attribute: str, rows: int, theta: int, *, split: int = 1) -> Bounds:
    """Return the papers' bounds min(1, θ·f + 0.02)."""
    return FPrivacy(theta=theta, offset=OFFSET).bounds(counts(attribute, rows, split=split))
