"""What a requirement is for an insider: how much odds may grow, as ε, and which parameters of the models come to the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.errors import Infeasible, PolicyError
from sfumato.methods import NoisyBoxes
from sfumato.privacy import BetaLikeness, Bounds, FPrivacy, LDiversity, Requirement, RhoPrivacy
from sfumato.privacy.differential import grown
from sfumato.privacy.each import unstacked
from sfumato.randomize.declared import declared_counts
from sfumato.randomize.noise import largest_odds
from sfumato.table import Table

OFFSET = Fraction(1, 50)
RHO1 = Fraction(1, 10)
_USUAL: tuple[tuple[str, Requirement], ...] = (
    *((f"ℓ = {ell}", LDiversity(ell)) for ell in (2, 3, 5, 10)),
    *((f"β = {beta}", BetaLikeness(beta)) for beta in (1, 3, 8)),
    *((f"θ = {theta}, offset 0.02", FPrivacy(theta=theta, offset=OFFSET)) for theta in (2, 8, 32)),
    *((f"(ρ1, ρ2) = ({rho1}, {rho2})", RhoPrivacy(rho1, rho2)) for rho1, rho2 in (("0.1", "0.3"), ("0.1", "0.5"))),
)


@dataclass(frozen=True)
class Odds:
    """How much odds may grow under a policy, the parameters of each model that allow as much, and the ε of usual ones.

    Of several secrets that are protected each by itself, `gamma` is what all of them together tell: noise on each has a part.
    """

    gamma: Fraction
    floor: int
    joins: bool
    same: Mapping[str, float]
    usual: Mapping[str, float | None]
    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: Table, requirement: Requirement, bounds: Bounds, method: NoisyBoxes) -> Odds:
        """Return what the policy means for an insider; nothing but declared shares is looked at."""
        gamma = min(largest_odds(one) for one in unstacked(bounds) if one.protects)
        floor, joins, shares = method.floor_for(gamma, table.rows), method.joins(requirement), method.declared
        if not bounds.apart:
            return cls(gamma, floor, joins, same_odds(gamma, shares), usual_odds(shares))
        same = {f"{name}: {key}": one for name, own in shares.items() for key, one in same_odds(gamma, own).items()}
        every = [usual_odds(own) for own in shares.values()]
        usual = {name: _least([one[name] for one in every]) for name, _ in _USUAL}
        return cls(gamma, floor, joins, same, usual, tuple(shares))

    @property
    def epsilon(self) -> float:
        """The logarithm of γ."""
        return math.log(self.gamma)

    def sentences(self) -> list[str]:
        """Return the figures in words."""
        joined = "Boxes whose noisy shares lie over a bound are joined with others, so that the shares shown keep the bounds too."
        apart = "Boxes are not joined: what a population has may be told, also where that makes somebody surer than a bound."
        same = "; ".join(f"{name} = {number:.3g}" for name, number in self.same.items())
        usual = "; ".join(
            f"{name}: {'cannot be kept' if epsilon is None else f'{epsilon:.2f}'}" for name, epsilon in self.usual.items()
        )
        each = (
            f" That is what {' and '.join(self.secrets)} tell together, since she may know their links: the noise of each "
            f"is that of ε = {self.epsilon / len(self.secrets):.2f}."
            if self.secrets
            else ""
        )
        return [
            f"For an insider this is ε = {self.epsilon:.2f}: any odds grow at most {float(self.gamma):.4g}-fold, whatever "
            f"she believed before.{each} Boxes hold at least {self.floor:,} people each. {joined if self.joins else apart}",
            f"With the declared shares as much is allowed by {same}.",
            f"And usual parameters are an ε of: {usual}.",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {
            "gamma": str(self.gamma),
            "epsilon": self.epsilon,
            "floor": self.floor,
            "joins": self.joins,
            "same": dict(self.same),
            "usual": dict(self.usual),
            **({"secrets": list(self.secrets)} if self.secrets else {}),
        }


def _least(found: Sequence[float | None]) -> float | None:
    """Return the least of the columns' ε: the one that all of them can keep; None where one of them cannot."""
    known = [one for one in found if one is not None]
    return min(known) if len(known) == len(found) else None


def same_odds(gamma: Fraction, shares: Mapping[str, Fraction]) -> dict[str, float]:
    """Return the parameter of each model that lets odds grow just as much, given these shares.

    Every bound must leave room for what the odds allow: equal ones for the most frequent value, (1 + β)·f for the rarest.
    """
    most, least = max(shares.values()), min(shares.values())
    theta = max((grown(share, gamma) - OFFSET) / share for share in shares.values())
    return {
        "ℓ": float(1 / grown(most, gamma)),
        "β": float(grown(least, gamma) / least - 1),
        "θ (offset 0.02)": max(0.0, float(theta)),
        "ρ2 (ρ1 = 0.1)": float(grown(RHO1, gamma)),
    }


def usual_odds(shares: Mapping[str, Fraction]) -> dict[str, float | None]:
    """Return the ε of usual parameters, given these shares; None for one that cannot be kept, or protects nobody."""
    counts, found = declared_counts(shares), {}
    for name, requirement in _USUAL:
        try:
            bounds = requirement.bounds(counts)
            found[name] = math.log(largest_odds(bounds)) if bounds.protects else None
        except (Infeasible, PolicyError):
            found[name] = None
    return found
