"""`SmallDomain`: randomization within sub-tables of few values (Perturbation Partitioning)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from sfumato.exact import Number
from sfumato.methods.randomizing import Randomizing
from sfumato.parameters import choice, parameter, rational
from sfumato.privacy.requirement import Requirement
from sfumato.privacy.rho_privacy import RhoPrivacy
from sfumato.randomize.partition import DELTA, partitioned, per_value_retentions, uniform_retentions
from sfumato.randomize.plan import RandomizationPlan
from sfumato.randomize.problem import SortedValues


@dataclass(frozen=True, kw_only=True)
class SmallDomain(Randomizing):
    """Divide the records into parts with few values each, and randomize values within their part ([SDR]).

    Parameters
    ----------
    retention
        ``"uniform"``: one retention per part, the paper's; the default for (ρ1, ρ2)-privacy. ``"per-value"``: the best retention
        for each value under its own bound, by a linear program; the default for all other requirements.
    parameters
        ``"computed"``: parts, γ and retention come from the table's own counts. ``"declared"``: they come from `shares`, and each
        record draws its part by a coin of its own, so that what is published of a record depends on that record alone; only this
        holds against an insider.
    shares
        With declared parameters: value = share, or value = count, of every value that somebody may have; only proportions matter.
    otherwise
        With declared parameters: the declared value of whoever has a value without a share, or none. So nothing is refused for
        what a person has; the table is read with `close(schema)`.
    amplification
        The largest P[x→y] / P[z→y] inside a part: odds of any prior belief grow at most by this factor. Without it the bounds
        alone decide a uniform retention, and a retention per value goes up to four times the amplification of a uniform one:
        a retention near 1 for a rare value would be safe for the average person only.
    order
        ``"improved"``: the order in which initial groups are merged into parts, improved as long as the error bound falls
        (ours). ``"paper"``: reverse Cuthill–McKee alone. The claim is the same: either is decided on counts or declared shares,
        and each part's γ follows exactly from its own.
    delta
        Parts minimise the error bound that reconstruction keeps with probability 1 − δ.

    Notes
    -----
    The receipt has the bounds of both orders. A partition is used only where its bound is below that of randomizing the whole
    table. That a person's value is one of her part's is known to every reader.
    """

    retention: Literal["uniform", "per-value"] | None = parameter(None, choice("uniform", "per-value"))
    order: Literal["improved", "paper"] = parameter("improved", choice("improved", "paper"))
    delta: Number = parameter(DELTA, rational("a number between 0 and 1", hint='"0.05" is usual', above=0, below=1))

    name: ClassVar[str] = "small-domain"

    def plan(self, problem: SortedValues, requirement: Requirement, people: int) -> RandomizationPlan:
        """Return the parts with the least error bound found, and their retentions."""
        uniform = self.retention == "uniform" or (self.retention is None and isinstance(requirement, RhoPrivacy))
        rule = uniform_retentions(self.cap) if uniform else per_value_retentions(self.cap)
        improve = self.order == "improved"
        return partitioned(problem, rule, people=people, cap=self.cap, delta=Fraction(self.delta), improve=improve)
