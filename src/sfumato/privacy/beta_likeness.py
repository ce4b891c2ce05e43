"""β-likeness, basic and enhanced, as a bound on belief."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.exact import Number
from sfumato.parameters import REQUIRED, flag, parameter, rational
from sfumato.privacy.requirement import Against, Requirement

_DIGITS = 60
_MARGIN = Decimal(10) ** -50  # far above the error of two correctly rounded 60-digit logarithms below 10^4
_GRID = 10**12


@dataclass(frozen=True, init=False)
class BetaLikeness(Requirement):
    """bound(x) = min(1, (1+β)·f(x)); *enhanced*: (1 + min(β, −ln f(x)))·f(x) rounded down to a multiple of 10⁻¹².

    The logarithm is irrational, so the enhanced bound is enclosed between decimals and rounded towards safety.
    """

    beta: Fraction = parameter(REQUIRED, rational("a number from 0 on", least=0))
    enhanced: bool = parameter(False, flag)

    model: ClassVar[str] = "beta-likeness"

    def __init__(
        self,
        beta: Number,
        *,
        enhanced: bool = False,
        sets: Mapping[str, Any] | None = None,
        columns: Mapping[str, Requirement] | None = None,
        against: Against = "engineer",
    ) -> None:
        self._set(beta=beta, enhanced=enhanced, sets=sets, columns=columns, against=against)

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the bound of every value; it is never below the value's share."""
        if self.enhanced:
            return {value: self._enhanced(share) for value, share in shares.items()}
        return {value: min(Fraction(1), (1 + self.beta) * share) for value, share in shares.items()}

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return the present β: every β from 0 on is feasible."""
        return {"beta": self.beta}

    def _enhanced(self, share: Fraction) -> Fraction:
        if not share:
            return share
        gain = minus_log_below(share)
        if self.beta <= gain:
            return min(Fraction(1), (1 + self.beta) * share)
        exact_bound = (1 + gain) * share
        rounded = Fraction(exact_bound.numerator * _GRID // exact_bound.denominator, _GRID)
        return max(share, rounded)


def minus_log_below(share: Fraction) -> Fraction:
    """Return a rational just below −ln(share), for a share in (0, 1]."""
    context = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    value = context.subtract(Decimal(share.denominator).ln(context), Decimal(share.numerator).ln(context))
    return max(Fraction(0), Fraction(context.subtract(value, _MARGIN)))
