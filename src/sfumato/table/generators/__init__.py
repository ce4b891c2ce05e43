"""Bundled example tables, made of published figures and of our own: no row is about anybody.

They draw from numpy's generator with the seed they are given. That is right for example data and wrong for a release, whose
randomness comes from `sfumato.randomness`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import pyarrow as pa

from sfumato.errors import PolicyError, did_you_mean
from sfumato.table.generators.census import census
from sfumato.table.generators.encounters import encounters
from sfumato.table.generators.hospital import hospital
from sfumato.table.generators.insurance import insurance

SampleName = Literal["hospital", "census", "insurance"]

_GENERATORS: dict[SampleName, Callable[[int, int], pa.Table]] = {"hospital": hospital, "census": census, "insurance": insurance}

__all__ = ["SampleName", "census", "encounters", "hospital", "insurance", "sample"]


def sample(name: SampleName, rows: int, seed: int = 0) -> pa.Table:
    """Return the example table of this name; the same rows and seed give the same table."""
    if name not in get_args(SampleName):
        raise PolicyError(f"no example table is called {name!r}", hint=did_you_mean(str(name), get_args(SampleName)))
    return _GENERATORS[name](rows, seed)
