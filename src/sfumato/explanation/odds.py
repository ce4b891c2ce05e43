"""What a requirement is for an insider: how much odds may grow, as ε, and which parameters of the models come to the same."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.errors import Infeasible, PolicyError
from sfumato.exact import percent
from sfumato.methods import NoisyBoxes
from sfumato.methods.margins import MarginPlan
from sfumato.privacy import BetaLikeness, Bounds, FPrivacy, LDiversity, Requirement, RhoPrivacy
from sfumato.privacy.growth import grown
from sfumato.privacy.sets import NOTHING, About
from sfumato.randomize.declared import declared_people
from sfumato.randomize.noise import largest_odds
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.explanation.sections import ValueBound

CANNOT = "cannot be kept"
PROTECTS_NOBODY = "bounds no value"
_BELIEFS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
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
    usual: Mapping[str, float | str]
    shares: Mapping[str, Fraction]
    """The declared share of each value; none where only values were declared."""
    bounded: bool
    """Whether values have bounds, which follow from their declared shares; else odds are all that is bounded."""
    secrets: tuple[str, ...] = ()
    """The sensitive columns, where each is protected by itself."""
    counted: tuple[str, Mapping[str, int]] | None = None
    """Who, a person or a household, is counted of at most how many values of each secret, where she may have several."""
    plan: MarginPlan | None = None
    """The noisy tables beside the boxes."""

    @classmethod
    def of(cls, table: Table, requirement: Requirement, bounds: Bounds, method: NoisyBoxes) -> Odds:
        """Return what the policy means for an insider; nothing but declared shares is looked at."""
        gamma = min(largest_odds(secret) for secret in bounds.each if secret.protects)
        schema, joins, declared = table.schema, method.merge, method.declared
        plan = method.margin_plan(gamma, table.rows, schema)
        left = gamma if plan is None else gamma / plan.gamma
        floor, most = method.floor_for(left, table.rows, schema), schema.most if schema.bundled else None
        secrets = tuple(declared) if len(bounds.secrets) > 1 else ()
        by_label = {f"{name}: ": declared[name] for name in secrets} or {"": declared}
        same: dict[str, float] = {}
        shares: dict[str, Fraction] = {}
        for begin, own in by_label.items():
            same |= {begin + key: odds for key, odds in same_odds(gamma, own).items()}
            shares |= {begin + value: share for value, share in own.items()}
        every = [usual_odds(own, several=most is not None) for own in by_label.values()]
        usual = {name: _least([one[name] for one in every]) for name, _ in _USUAL}
        stated = shares if method.values is None else {}
        counted = (schema.people_rule.unit or "person", most) if most else None
        return cls(gamma, floor, joins, same, usual, stated, not requirement.bounds_odds, secrets, counted, plan)

    @property
    def epsilon(self) -> float:
        """The logarithm of γ."""
        return math.log(self.gamma)

    def sentences(self) -> list[str]:
        """Return the figures in words."""
        joined = "Boxes whose noisy shares lie over a bound are joined with others, so that the shares shown keep the bounds too."
        apart = "Boxes are not joined: what a population has may be told, also where that makes somebody surer than a bound."
        same = "; ".join(f"{name} = {number:.3g}" for name, number in self.same.items())
        return [
            self.in_words() + self._each(),
            f"Boxes hold at least {self.floor:,} people each. {joined if self.joins else apart}",
            *self._tables(),
            f"{self.given} as much is allowed by {same}.",
        ]

    def _tables(self) -> list[str]:
        """Return what tables beside boxes have of ε."""
        if self.plan is None:
            return []
        pairs = [" with ".join(table) for table in self.plan.tables if len(table) > 1]
        more = f", and one of {' and one of '.join(pairs)}," if pairs else ""
        part = math.log(self.plan.gamma)
        return [
            f"A noisy table of every quasi column{more} beside them has ε = {part:.2f} of it, {part / len(self.plan.tables):.3f} "
            f"each, and the boxes {self.epsilon - part:.2f}."
        ]

    def _each(self) -> str:
        if self.counted is not None:
            whom, most = self.counted
            total = sum(most.values())
            of = ", ".join(f"{many} of {name}" for name, many in most.items())
            return (
                f" A {whom} is counted of at most {of}, drawn by coins: what is beyond is in no count, and the noise of each is "
                f"that of ε = {self.epsilon / total:.2f}."
            )
        if not self.secrets:
            return ""
        return (
            f" That is what {' and '.join(self.secrets)} tell together, since she may know their links: the noise of each is "
            f"that of ε = {self.epsilon / len(self.secrets):.2f}."
        )

    @property
    def given(self) -> str:
        """What the translation takes as given."""
        return "With the declared shares" if self.shares else "With equal shares, since only values were declared,"

    def in_words(self) -> str:
        """Return how much odds grow, and what that makes of a belief."""
        first, second, third = (
            f"of {percent(belief, 0)} becomes at most {percent(grown(belief, self.gamma), 1)}" for belief in _BELIEFS
        )
        return (
            f"For an insider this is ε = {self.epsilon:.2f}: any odds grow at most {float(self.gamma):.4g}-fold, whatever she "
            f"believed before. A belief {first}, one {second} and one {third}."
        )

    def translated(self) -> list[tuple[str, str]]:
        """Return usual parameters of the models, and the ε of each or why it has none."""
        return [(name, epsilon if isinstance(epsilon, str) else f"{epsilon:.2f}") for name, epsilon in self.usual.items()]

    def before(self, bound: ValueBound) -> Fraction:
        """Return the belief before from which a value, or a set of values, keeps its bound: declared, else the table's share."""
        return (
            sum((self.shares[value] for value in bound.members or (bound.value,)), Fraction(0)) if self.bounded else bound.share
        )

    def value(self, bound: ValueBound) -> str:
        """Return what the policy means for one value, or for a set of values."""
        named = f"Any of '{bound.value}' ({len(bound.members)} values)" if bound.members else f"'{bound.value}'"
        now, becomes = f"{percent(bound.share)} of people now", "an insider who believed at most that becomes at most"
        stated = self.before(bound)
        if not self.bounded:
            return f"{named}: {now}; {becomes} {percent(bound.bound)} sure"
        before = f"{named}: declared {percent(stated)} ({now}); {becomes}"
        if bound.bound == 1:
            return f"{before} {percent(grown(stated, self.gamma))} sure, by the odds alone, since it has no bound"
        return f"{before} {percent(bound.bound)} sure ({float(bound.bound / stated):.3g} times as sure as before)"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {
            "gamma": str(self.gamma),
            "epsilon": self.epsilon,
            "floor": self.floor,
            "joins": self.joins,
            **({} if self.plan is None else {"margins": self.plan.stated()}),
            "same": dict(self.same),
            "usual": {name: None if isinstance(epsilon, str) else epsilon for name, epsilon in self.usual.items()},
            **({"secrets": list(self.secrets)} if self.secrets else {}),
        }


def _least(epsilons: Sequence[float | str]) -> float | str:
    """Return the least of the columns' ε: the one that all of them can keep; or in words why one of them has none."""
    return next((epsilon for epsilon in epsilons if isinstance(epsilon, str)), "") or min(
        epsilon for epsilon in epsilons if not isinstance(epsilon, str)
    )


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


def usual_odds(shares: Mapping[str, Fraction], *, several: bool = False) -> dict[str, float | str]:
    """Return the ε of usual parameters, given these shares, of people who may have `several` values; or why there is none."""
    counts, people = declared_people(shares)
    about = About(people=people) if several else NOTHING
    epsilons: dict[str, float | str] = {}
    for name, requirement in _USUAL:
        try:
            bounds = requirement.bounds(counts, about)
            epsilons[name] = math.log(largest_odds(bounds)) if bounds.protects else PROTECTS_NOBODY
        except (Infeasible, PolicyError):
            epsilons[name] = CANNOT
    return epsilons
