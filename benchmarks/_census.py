"""The bundled census as benchmarks and studies use it: tables, counts and bounds of Occupation (OCC) and Education (EDU)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import sfumato
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.f_privacy import FPrivacy
from sfumato.randomness import SeededRandomness

ATTRIBUTES = {"OCC": "occupation", "EDU": "education"}
THETAS = (2, 4, 8, 16, 32)
OFFSET = "0.02"
MAX_SIZE = 50
SEED = 1
COLUMNS = ("age", "gender", "education", "marital", "race", "workclass", "country", "occupation")


@lru_cache(maxsize=4)
def table(attribute: str, rows: int, *, seed: int = SEED) -> sfumato.Table:
    """Return the table OCC or EDU: the attribute is sensitive, the seven other columns are quasi columns."""
    from sfumato.table.generators import census

    secret = ATTRIBUTES[attribute]
    quasi = [name for name in COLUMNS if name != secret]
    schema = sfumato.Schema(quasi=quasi, sensitive=(secret,), types={secret: "categorical"})
    return sfumato.Table.from_frame(census(rows, seed).select([*quasi, secret]), schema)


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
