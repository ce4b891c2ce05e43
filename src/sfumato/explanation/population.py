"""How many people of a table are the only one of their kind in the population it was drawn from: Pitman's model.

A table of n people is taken for a random sample of a population of N. Pitman's sampling formula (two parameters 0 < α < 1 and
θ > −α) is fitted to how many classes of the table have 1, 2, 3, … people, by maximum likelihood; given the table, it says of N
people (k the classes of the table, m₁ the people alone in theirs)

    classes          K  = k + (k + θ/α) · ((θ+n+α)_(N−n) / (θ+n)_(N−n) − 1)
    alone in both    U  = m₁ · (θ+n−1+α)_(N−n) / (θ+n)_(N−n)

with (x)_m = x (x+1) … (x+m−1). The mean of 1/K over sampled people, K those of the population like her, is classes ÷ people of
the population whatever the classes are: somebody of a class is in the sample as likely as everybody else. Both grow with α, and
their upper ends are those of the largest α that a likelihood ratio test at 5 %, one-sided, does not reject.

Of the estimators tried on samples of a census (docs/explain.md) it erred least, and mostly upwards. It looks at quasi values
alone, and it is an estimate: no promise rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import PolicyError

PopulationSource = Literal["stated", "weights"]

_EDGE = 1e-4
"""α lies so far inside of 0 and 1."""
_DROP = 1.3528
"""Half of the 90 % point of χ² with one degree of freedom: a one-sided test at 5 %."""


class PopulationShare(NamedTuple):
    """A share of the people of the table: the estimate, and the upper end of a one-sided 95 % interval under the model."""

    estimate: float
    upper: float


@dataclass(frozen=True)
class PopulationRisk:
    """Who is found among all people of the population.

    `unique` are those of the table who are the only one with their quasi values in the population; `found` is the mean of 1/K, K
    those of the population with her values: journalist risk, and marketer risk of whoever links all rows to a list of everybody.
    `fitted` is False where nobody is like another, so that nothing is known of the population and the worst case stands.
    """

    people: int
    unique: PopulationShare
    found: PopulationShare
    fitted: bool = True
    source: PopulationSource = "stated"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        how = "Pitman's model" if self.fitted else "nothing: no two people of the table are alike, and the worst case stands"
        figures = {"unique": self.unique._asdict(), "mean": self.found._asdict()}
        return {"people": self.people, "source": self.source, **figures, "estimated_by": how}


def population_risk(sizes: Integers, people: int, source: PopulationSource = "stated") -> PopulationRisk:
    """Return the risk of a table whose classes have these `sizes`, as a random sample of so many `people`."""
    n, k, alone = int(sizes.sum()), len(sizes), int((sizes == 1).sum())
    if people < n:
        raise PolicyError(
            f"[population] people: a population of {people:,} has no sample of {n:,} people",
            hint="how many people the table was drawn from; leave [population] out where it is all of them",
        )
    if people == n or alone == n or k == 1:  # everybody is there; or nobody is like another; or everybody is
        sure, known = (alone / n, 1 / people if k == 1 else k / n), people == n or alone < n
        unique, found = (PopulationShare(share, share) for share in sure)
        return PopulationRisk(people, unique, found, known, source)
    fit = PitmanFit(sizes)
    ends = [fit.extended(alpha, people) for alpha in (fit.alpha, fit.upper)]
    unique, found = (PopulationShare(*pair) for pair in zip(*ends, strict=True))
    return PopulationRisk(people, unique, found, source=source)


class PitmanFit:
    """Pitman's sampling formula for classes of these sizes, of which there are two, and one of two people."""

    def __init__(self, sizes: Integers) -> None:
        self.size, self.times = np.unique(sizes, return_counts=True)
        self.people, self.classes = int(sizes.sum()), len(sizes)

    def likelihood(self, alpha: float, theta: float) -> float:
        """Return the logarithm of the likelihood, but for what does not depend on α and θ."""
        from scipy.special import gammaln

        new = (self.classes - 1) * np.log(alpha) + _risen(theta / alpha + 1, self.classes - 1)
        old = np.sum(self.times * (gammaln(self.size - alpha) - gammaln(1 - alpha)))
        return float(new + old - _risen(theta + 1, self.people - 1))

    def best(self, alpha: float) -> tuple[float, float]:
        """Return the θ that is likeliest for an α, and how likely both are."""
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda free: -self.likelihood(alpha, np.exp(free) - alpha),
            bounds=(-10.0, 2.5 * np.log(self.people)),
            method="bounded",
            options={"xatol": 1e-6},
        )
        return float(np.exp(found.x)) - alpha, -float(found.fun)

    @cached_property
    def alpha(self) -> float:
        """The likeliest α."""
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda alpha: -self.best(alpha)[1], bounds=(_EDGE, 1 - _EDGE), method="bounded", options={"xatol": 1e-5}
        )
        return float(found.x)

    @cached_property
    def upper(self) -> float:
        """The largest α that is not much less likely than the likeliest one."""
        from scipy.optimize import brentq

        least = self.best(self.alpha)[1] - _DROP
        if self.best(1 - _EDGE)[1] >= least:
            return 1 - _EDGE
        return float(brentq(lambda alpha: self.best(alpha)[1] - least, self.alpha, 1 - _EDGE, xtol=1e-4))

    def extended(self, alpha: float, people: int) -> tuple[float, float]:
        """Return the shares `unique` and `found` in a population of so many people, for an α and its likeliest θ."""
        n, k, theta = self.people, self.classes, self.best(alpha)[0]
        stay = np.exp(_risen(theta + n - 1 + alpha, 1 - alpha) - _risen(theta + people - 1 + alpha, 1 - alpha))
        grown = np.exp(_risen(theta + people, alpha) - _risen(theta + n, alpha))
        alone = int(self.times[self.size == 1].sum())
        return float(alone * stay / n), float(min((k + (k + theta / alpha) * (grown - 1)) / people, k / n))


def _risen(start: float, step: float) -> float:
    """Return log Γ(start + step) − log Γ(start), exact also where both are huge and lie together."""
    from scipy.special import betaln, gammaln

    return float(gammaln(step) - betaln(start, step)) if step < 1 else float(gammaln(start + step) - gammaln(start))
