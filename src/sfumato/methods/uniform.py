"""`UniformPerturbation`: the classical randomization over the whole domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.randomizing import Randomizing
from sfumato.privacy.requirement import Requirement
from sfumato.randomize.partition import one_part, uniform_retentions
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomize.problem import SortedValues


@dataclass(frozen=True, kw_only=True)
class UniformPerturbation(Randomizing):
    """Keep each value with probability p, else draw one uniformly from the whole domain: the γ-diagonal matrix ([SDR §3]).

    Parameters
    ----------
    parameters
        ``"computed"``: γ comes from the table's own shares. ``"declared"``: it comes from `shares`, so that what is published of
        a record depends on that record alone; only this holds against an insider.
    shares
        With declared parameters: value = share, or value = count, of every value that somebody may have; only proportions matter.
    otherwise
        With declared parameters: the declared value of whoever has a value without a share, or none. So nothing is refused for
        what a person has; the table is read with `close(schema)`.
    amplification
        γ at most this, whatever the bounds allow: odds of any prior belief grow at most by this factor.

    Notes
    -----
    p = (γ−1)/(m−1+γ) shrinks with the number of values m. γ is the largest that keeps every bound, for (ρ1, ρ2)-privacy
    (ρ2/ρ1)(1−ρ1)/(1−ρ2) with ρ1 the largest protected share actually present. Over the whole domain, unlike in parts, that bounds
    the belief in *any* predicate whose prior is at most this share.
    """

    name: ClassVar[str] = "uniform"

    def plan(self, problem: SortedValues, requirement: Requirement, people: int) -> RandomizationPlan:
        """Return the plan of a single part with one retention."""
        return one_part(problem, uniform_retentions(self.cap), people=people)
