"""`NoisyTables`: records drawn from a model of the sensitive column's noisy table with each quasi column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.errors import PolicyError
from sfumato.parameters import choice, parameter
from sfumato.randomize.opendp_noise import opendp_installed
from sfumato.randomness import Randomness
from sfumato.synthetic.network import CodedPeople
from sfumato.synthetic.star import Noise, star_law
from sfumato.synthetic.synthesizing import FittedRecords, Synthesizing


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
    noise
        Who draws the noise: ``"opendp"``, which no seed repeats, or ``"sfumato"``. Without it OpenDP where it is installed and
        no seed is given. The manifest says which.

    Notes
    -----
    Noise is two-sided geometric (discrete Laplace), drawn exactly; the model is the one of largest entropy, fitted by `mbi`
    (the extra `baselines`). Given the sensitive value, quasi columns are independent in it. Records are drawn one by one.
    """

    noise: Noise | None = parameter(None, choice("opendp", "sfumato"))

    name: ClassVar[str] = "noisy-tables"
    slow: ClassVar[bool] = True

    def learn(self, people: CodedPeople, epsilon: Fraction, random: Randomness) -> FittedRecords:
        """Return the fitted model."""
        noise = self.noise or ("opendp" if not random.reproducible and opendp_installed() else "sfumato")
        if noise == "opendp" and random.reproducible:
            raise PolicyError(
                "NoisyTables(noise='opendp'): OpenDP's noise cannot be seeded", hint="leave the seed out, or noise = 'sfumato'"
            )
        law, deviation = star_law(people, epsilon, random, noise)
        secret = len(people.sizes) - 1
        cells = sum(people.cells((secret, column)) for column in range(secret))
        figures = {"noisy_cells": cells, "noise": deviation}
        return FittedRecords(law, [(column, secret) for column in range(secret)], figures, {"noise": noise})
