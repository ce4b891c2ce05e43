"""`Odds`: nobody's odds for a value grow more than so many times."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from sfumato.parameters import REQUIRED, parameter, rational
from sfumato.privacy.requirement import Requirement


@dataclass(frozen=True)
class Odds(Requirement):
    """bound(x) = t·f/(1 + (t − 1)·f): the odds f/(1 − f) of a value grow at most t times."""

    times: Fraction = parameter(REQUIRED, rational("a number from 1 on", least=1))

    model: ClassVar[str] = "odds"

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        return {value: self.times * share / (1 + (self.times - 1) * share) for value, share in shares.items()}

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        return {"times": self.times}  # every t from 1 on is feasible
