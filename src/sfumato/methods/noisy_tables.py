"""`NoisyTables`: records drawn from a model of the sensitive column's noisy table with each quasi column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.methods.synthesizing import Learned, Synthesizing
from sfumato.randomness import Randomness
from sfumato.synthetic.network import Counted
from sfumato.synthetic.star import star_law


@dataclass(frozen=True, kw_only=True)
class NoisyTables(Synthesizing):
    """Count the sensitive column with each quasi column, with noise, fit a model to the tables, and draw as many records.

    Parameters
    ----------
    epsilon
        How much the release may tell of any one record: ε-differential privacy of whole records, their number being public.
        Without it as much as the model `differential` says, or ln(1 + β) for β-likeness.
    values, otherwise
        The values that somebody may have in the sensitive column, and the one of whoever has another; or declare a domain for it.

    Notes
    -----
    Noise is two-sided geometric (discrete Laplace), drawn exactly; the model is the one of largest entropy, fitted by `mbi`
    (the extra `baselines`). Given the sensitive value, quasi columns are independent in it. Records are drawn one by one.
    """

    name: ClassVar[str] = "noisy-tables"

    def learn(self, people: Counted, epsilon: Fraction, random: Randomness) -> Learned:
        """Return the fitted model."""
        law, ratio = star_law(people, epsilon, random)
        secret = len(people.sizes) - 1
        cells = sum(people.cells((secret, column)) for column in range(secret))
        figures = {"noisy_cells": cells, "noise": float(2 * ratio / (1 - ratio) ** 2) ** 0.5}
        return Learned(law, [(column, secret) for column in range(secret)], figures)
