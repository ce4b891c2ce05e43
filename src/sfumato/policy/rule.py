"""The bounds that a draft proposes: a rule that protects every value, and own bounds to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.exact import exact
from sfumato.privacy.requirement import round_up

USUAL_THETA, OFFSET = Fraction(8), exact("0.02")
"""The papers' rule: 8·share + 0.02."""

HALF = Fraction(1, 2)
_ROUND = tuple(exact(bound) for bound in ("0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5"))


@dataclass(frozen=True)
class Rule:
    """bound(x) = theta·share + offset for the shares of a column's values."""

    theta: Fraction
    shares: Mapping[str, Fraction]

    @property
    def most(self) -> str:
        """The most frequent value."""
        return max(self.shares, key=lambda value: (self.shares[value], value))

    def bound(self, value: str) -> Fraction:
        """Return what the rule allows for a value."""
        return min(Fraction(1), self.theta * self.shares[value] + OFFSET)

    def suggestion(self, value: str) -> Fraction:
        """Return a round bound below the rule's that is well above the share; the rule's own, rounded, where there is none."""
        share, rule = self.shares[value], self.bound(value)
        stricter = [bound for bound in _ROUND if share * Fraction(6, 5) <= bound < rule]
        rounded = round_up(rule, 3)
        return max(stricter) if stricter else rounded if rounded < 1 else rule


def choose_rule(counts: Mapping[str, int]) -> Rule:
    """Return a rule under which every value has a bound below 1, and the most frequent one at most 1/2 where that leaves room.

    A value that most people have cannot be bounded by 1/2; its bound then lies a third of the way from its share to 1.
    """
    present = {value: count for value, count in counts.items() if count}
    total = sum(present.values())
    shares = {value: Fraction(count, total) for value, count in present.items()}
    most = max(shares.values())
    target = max(HALF, most + (1 - most) / 3)
    # With two decimals, rounded down; never below 0.98, from which on theta·share + 0.02 is at least the share.
    theta = min(USUAL_THETA, Fraction(int((target - OFFSET) / most * 100), 100))
    return Rule(theta, shares)
