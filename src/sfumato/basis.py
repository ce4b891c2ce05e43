"""On what a grouping rests: what was looked at when people were put together. Claims, audit and estimators follow from it."""

from __future__ import annotations

from typing import Literal, get_args

Basis = Literal["blind", "safe", "soft", "tight", "noisy", "matched", "annealed", "paper"]
"""`blind`: counts and coins. `safe`: quasi values, and counts that the release shows. `soft`: also where values fell, through
coins whose refusals the release accounts for. `matched`: quasi values and coins, after safe cuts. `tight`: also where values
fell. `annealed`: a search that looks at everything. `noisy`: quasi values alone, and counts with noise. `paper`: as published,
with the paper's own claim."""

BASES: tuple[Basis, ...] = get_args(Basis)
