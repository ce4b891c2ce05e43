"""`PrivBayes`: records drawn from a network of columns that was found and measured with noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.errors import PolicyError
from sfumato.exact import Number
from sfumato.parameters import parameter, rational, whole
from sfumato.randomness import Randomness
from sfumato.synthetic.network import CodedPeople, find_network, measured_pairs, noisy_law, useful_cells
from sfumato.synthetic.synthesizing import FittedRecords, Synthesizing

NETWORK_SHARE = Fraction(3, 10)
"""The part of ε that finds the network, as in the paper; the rest is for the tables."""


@dataclass(frozen=True, kw_only=True)
class PrivBayes(Synthesizing):
    """Find which columns are associated, count them with noise, and draw as many records as there are people (TODS 2017).

    Parameters
    ----------
    epsilon
        How much the release may tell of any one record: ε-differential privacy of whole records, their number being public.
        Without it as much as the model `differential` says, or ln(1 + β) for β-likeness.
    degree
        Every column has so many parents. Without it parents are chosen so that tables stay useful.
    theta
        A table is useful if its cells, were they equally full, held θ times as many people as noise.
    values, otherwise
        The values that somebody may have in the sensitive column, and the one of whoever has another; or declare a domain for it.

    Notes
    -----
    Every column needs a declared domain, and every draw is exact: parents by the exponential mechanism on the score R in whole
    numbers, counts with two-sided geometric noise, the paper's Laplace noise in whole numbers. Takes time with the number of
    candidate tables times the number of people.
    """

    degree: int | None = parameter(None, whole(1, 10))
    theta: Number = parameter(Fraction(4), rational("a number above 0", above=0))

    name: ClassVar[str] = "privbayes"
    slow: ClassVar[bool] = True
    baseline: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree is not None and self.theta != 4:
            raise PolicyError("PrivBayes(theta=…): with a degree no usefulness is asked for", hint="leave one of the two out")

    def learn(self, people: CodedPeople, epsilon: Fraction, random: Randomness) -> FittedRecords:
        """Return the network's noisy tables."""
        columns = len(people.sizes)
        if self.degree is not None and self.degree >= columns:
            raise PolicyError(
                f"PrivBayes(degree=…): {columns} columns have at most {columns - 1} parents each, got {self.degree}",
                hint=f"degree = {min(2, columns - 1)}",
            )
        finding, counting = NETWORK_SHARE * epsilon, (1 - NETWORK_SHARE) * epsilon
        most = useful_cells(people.people, counting, columns, Fraction(self.theta))
        network = find_network(people, finding, degree=self.degree, most_cells=most, random=random)
        law, ratio = noisy_law(people, network, counting, degree=self.degree, random=random)
        pairs = measured_pairs(network, self.degree)
        cells = sum(people.cells(pair.columns) for pair in pairs)
        figures = {"noisy_cells": cells, "noise": float(2 * ratio / (1 - ratio) ** 2) ** 0.5, "most_cells": most}
        return FittedRecords(law, [pair.columns for pair in pairs], figures)
