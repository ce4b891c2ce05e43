"""`BuReLPerturbation`: the classical baseline of β-likeness by randomization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.methods.randomizing import Randomizing
from sfumato.privacy.requirement import Requirement
from sfumato.randomize.likeness import likeness_retentions
from sfumato.randomize.partition import one_part
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomize.problem import SortedValues


@dataclass(frozen=True, kw_only=True)
class BuReLPerturbation(Randomizing):
    """Keep value i with probability α_i, else draw one uniformly from the whole domain (Cao and Karras, PVLDB 2012).

    Parameters are those of `UniformPerturbation`. α_i comes from the amplification γ_i that takes the share of i to its bound;
    where that would make an α negative, large γ are cut.
    """

    name: ClassVar[str] = "burel-perturbation"

    def plan(self, problem: SortedValues, requirement: Requirement, people: int) -> RandomizationPlan:
        """Return the plan of a single part with a retention for each value."""
        return one_part(problem, likeness_retentions(self.cap), people=people)
