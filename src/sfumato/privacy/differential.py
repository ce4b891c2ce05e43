"""ε-differential privacy of each person's value, as a bound on belief: nobody's odds for any value grow more than γ-fold.

That is: to whoever knows all other people's values, or takes those that she does not know as independent of this one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

from sfumato.errors import PolicyError
from sfumato.exact import Number
from sfumato.parameters import parameter, rational
from sfumato.privacy.growth import grown
from sfumato.privacy.requirement import Against, Requirement

GRID = 10**12
_MOST = 20
_EPSILON = rational(f"a number above 0 and at most {_MOST}", hint='"1" is usual', above=0, most=_MOST)
_ODDS = rational("a number above 1", hint="3 lets odds of 1 : 9 grow to 3 : 9", above=1, most=GRID)


@dataclass(frozen=True, init=False)
class Differential(Requirement):
    """bound(x) = γp/(1 + (γ−1)p) from any belief p before: γ is `odds`, or the largest multiple of 10⁻¹² below e^`epsilon`.

    Give one of the two. It can be kept against an insider only, because that is whom it speaks of: somebody who may know
    everybody else. What a population has may be told: see docs/guarantees.md for what that means beside the other models.
    """

    epsilon: Fraction | None = parameter(None, _EPSILON)
    odds: Fraction | None = parameter(None, _ODDS)

    model: ClassVar[str] = "differential"
    bounds_odds: ClassVar[bool] = True

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        odds: Number | None = None,
        sets: Mapping[str, Any] | None = None,
        columns: Mapping[str, Requirement] | None = None,
        against: Against = "insider",
    ) -> None:
        if (epsilon is None) == (odds is None):
            raise PolicyError(
                "Differential: give epsilon or odds, one of the two",
                hint='epsilon = "1" lets the odds of any value grow 2.718-fold, odds = 3 lets them grow 3-fold',
            )
        if sets:
            raise PolicyError(
                "Differential(sets=…): the odds of any set of values grow at most γ-fold already",
                hint="leave sets out; a belief p that somebody has one of a set becomes at most γp/(1 + (γ−1)p)",
            )
        if against != "insider":
            raise PolicyError(
                f"Differential(against=…): expected 'insider', got {against!r}",
                hint="the model always assumes an insider; leave against out",
            )
        self._set(epsilon=epsilon, odds=odds, columns=columns, against=against)

    @property
    def gamma(self) -> Fraction:
        """How many times anybody's odds for a value may grow."""
        return self.odds if self.epsilon is None else power_below(self.epsilon)  # type: ignore[return-value]

    def limits(self, shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return what a belief of each share may become."""
        return {value: grown(share, self.gamma) for value, share in shares.items()}

    def nearest(self, shares: Mapping[str, Fraction]) -> dict[str, object]:
        """Return the present parameter: odds may always grow."""
        return {"odds": self.odds} if self.epsilon is None else {"epsilon": self.epsilon}


def _enclosing(epsilon: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Give numbers below and above e^ε, ever nearer: they decide any question, since e^ε is irrational for a rational ε > 0."""
    digits = 60
    while True:
        with localcontext() as context:
            context.prec = digits
            odds = Fraction((Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp())
        # The quotient is off by at most a part in 10^(digits−1), the power of it by ε times that part and its own rounding.
        away = odds * (1 + epsilon) / 10 ** (digits - 2)
        yield odds - away, odds + away
        digits *= 2


def power_below(epsilon: Fraction) -> Fraction:
    """Return the largest multiple of 10⁻¹² below e^ε, for an ε in (0, 20]."""
    return next(Fraction(low * GRID // 1, GRID) for low, high in _enclosing(epsilon) if low * GRID // 1 == high * GRID // 1)


def within_power(number: Fraction, epsilon: Fraction) -> bool:
    """Return whether a number is at most e^ε, exactly: digits are added until it is clear."""
    return next(number <= low for low, high in _enclosing(epsilon) if not low < number <= high)
