"""(ρ1, ρ2)-privacy, as a bound on belief."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import PolicyError
from sfumato.exact import Number
from sfumato.parameters import REQUIRED, parameter, rational
from sfumato.privacy.requirement import Against, Requirement

_BETWEEN = rational("a number between 0 and 1", above=0, below=1)


@dataclass(frozen=True, init=False)
class RhoPrivacy(Requirement):
    """bound(x) = ρ2 where f(x) ≤ ρ1, else 1: a belief that was small before must not become large."""

    rho1: Fraction = parameter(REQUIRED, _BETWEEN)
    rho2: Fraction = parameter(REQUIRED, _BETWEEN)

    model: ClassVar[str] = "rho-privacy"

    def __init__(
        self,
        rho1: Number,
        rho2: Number,
        *,
        sets: Mapping[str, Any] | None = None,
        columns: Mapping[str, Requirement] | None = None,
        against: Against = "engineer",
    ) -> None:
        self._set(rho1=rho1, rho2=rho2, sets=sets, columns=columns, against=against)
        if not self.rho1 < self.rho2:
            raise PolicyError(f"RhoPrivacy: expected 0 < rho1 < rho2 < 1, got rho1 = {self.rho1} and rho2 = {self.rho2}")

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return ρ2 for the protected values and 1 for the others; no protected value at all is an error."""
        limits = {value: self.rho2 if share <= self.rho1 else Fraction(1) for value, share in shares.items()}
        if all(limit == 1 for limit in limits.values()):
            smallest = min(shares.values())
            raise PolicyError(
                f"RhoPrivacy(rho1=…): no value has a share of at most {self.rho1}, so nothing would be protected",
                hint=f"the smallest share is {smallest}; choose rho1 at least that",
            )
        return limits

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return the present parameters: a protected share is at most ρ1, which is below ρ2."""
        return {"rho1": self.rho1, "rho2": self.rho2}
