"""ℓ-diversity, as a bound on belief."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.errors import PolicyError
from sfumato.privacy.requirement import Requirement


@dataclass(frozen=True, kw_only=True)
class LDiversity(Requirement):
    """bound(x) = 1/ℓ for every value."""

    l: int  # noqa: E741  (the model's own letter)

    model: ClassVar[str] = "l-diversity"

    def __init__(self, l: int, *, against: str = "engineer") -> None:  # noqa: E741
        object.__setattr__(self, "against", against)
        object.__setattr__(self, "l", operator.index(l) if hasattr(l, "__index__") and not isinstance(l, bool) else l)
        self.__post_init__()

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.l, bool) or not isinstance(self.l, int) or self.l < 1:
            raise PolicyError(f"LDiversity(l=…): expected a whole number from 1 on, got {self.l!r}")

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return 1/ℓ for every value."""
        return dict.fromkeys(shares, Fraction(1, self.l))

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return the largest ℓ that the most frequent value allows; where that is 1, F'-privacy bounds the others."""
        most = int(1 / max(shares.values()))
        return {"l": most} if most > 1 else {"model": "f-privacy"}
