"""ℓ-diversity, as a bound on belief."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.parameters import REQUIRED, parameter, whole
from sfumato.privacy.requirement import Requirement


@dataclass(frozen=True)
class LDiversity(Requirement):
    """bound(x) = 1/ℓ for every value."""

    l: int = parameter(REQUIRED, whole(1))

    model: ClassVar[str] = "l-diversity"

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return 1/ℓ for every value."""
        return dict.fromkeys(shares, Fraction(1, self.l))

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return the largest ℓ that the most frequent value allows; where that is 1, F'-privacy bounds the others."""
        most = int(1 / max(shares.values()))
        return {"l": most} if most > 1 else {"model": "f-privacy"}
