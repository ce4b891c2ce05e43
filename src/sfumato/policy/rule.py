"""The bounds that a draft proposes: the same numbers for every table, and which value that most people have is left open."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.exact import exact
from sfumato.policy.profile import plain
from sfumato.policy.vocabulary import ABSENCE, ABSENT, BELIEF, LETTERS, NEGATED, NEGATIONS, NOTHING, POLITICS, SEXUALITY
from sfumato.privacy.growth import HALF, allowed

MISSING = "(missing)"
"""What a missing value is called among the values of a secret."""

_ROUND = tuple(exact(bound) for bound in ("0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5"))
_ROUND_ABOVE = tuple(exact(bound) for bound in ("0.6", "0.7", "0.8", "0.9"))


@dataclass(frozen=True)
class RuleParameters:
    """theta, offset and odds of a rule: fixed, and derived from no table."""

    theta: Fraction
    offset: Fraction
    odds: Fraction

    def bound(self, share: Fraction) -> Fraction:
        """Return what the rule allows a share."""
        return allowed(share, self.theta, self.offset, self.odds)


USUAL = RuleParameters(Fraction(8), exact("0.02"), Fraction(8))
STRICT = RuleParameters(Fraction(4), exact("0.02"), Fraction(4))
STRICTEST = Fraction(2)
"""The odds that a draft offers to whom 4 are too many."""


@dataclass(frozen=True)
class ProposedRule:
    """The rule for the values of a column, and the value that is left open: most people have it, and it says "nothing there"."""

    numbers: RuleParameters
    shares: Mapping[str, Fraction]
    opened: str | None = None
    once: Callable[[Sequence[str]], Fraction] | None = None
    """The share of people who have one of some values, where somebody may have several."""

    @property
    def any_other(self) -> Fraction:
        """The share of people who have a value beside the open one."""
        return sum((self.shares[value] for value in self.others), Fraction(0)) if self.once is None else self.once(self.others)

    @property
    def most(self) -> str:
        """The most frequent value."""
        return max(self.shares, key=lambda value: (self.shares[value], value))

    @property
    def others(self) -> tuple[str, ...]:
        """The values beside the open one, where they are several: a secret together, since it is one to have any of them."""
        rest = tuple(value for value in self.shares if value != self.opened)
        return rest if self.opened is not None and len(rest) > 1 else ()

    @property
    def closed_majority(self) -> str | None:
        """A value that more than half of people have, and that is not open."""
        return self.most if self.shares[self.most] > HALF and self.opened is None else None

    def bound(self, value: str) -> Fraction:
        """Return what is allowed for a value."""
        return Fraction(1) if value == self.opened else self.numbers.bound(self.shares[value])

    @property
    def surest(self) -> str | None:
        """The value with the largest bound of those that fewer than half of people have."""
        rare = [value for value in self.shares if self.shares[value] < HALF and value != self.opened]
        return max(rare, key=lambda value: (self.bound(value), self.shares[value], value), default=None)

    @property
    def stricter(self) -> Fraction:
        """The odds of a stricter rule."""
        return STRICT.odds if self.numbers.odds > STRICT.odds else STRICTEST

    def with_odds(self, value: str, odds: Fraction) -> Fraction:
        """Return what the rule would allow for a value with other odds."""
        return allowed(self.shares[value], self.numbers.theta, self.numbers.offset, odds)

    def suggestion(self, value: str) -> Fraction | None:
        """Return a round bound below the rule's that is well above the share, at most a half where one is; None without any."""
        share, rule = self.shares[value], self.bound(value)
        for bounds in (_ROUND, _ROUND_ABOVE):
            stricter = [bound for bound in bounds if share * Fraction(6, 5) <= bound < rule]
            if stricter:
                return max(stricter)
        return None


def rule_for(
    counts: Mapping[str, int],
    numbers: RuleParameters = USUAL,
    *,
    words: frozenset[str] = frozenset(),
    opens: bool = True,
    people: int | None = None,
    once: Callable[[Sequence[str]], int] | None = None,
) -> ProposedRule:
    """Return the rule for a column, whose name has these words, in which so many people have each value.

    Without `opens` no count decides anything. Where somebody may have several values, there are so many `people`, and `once`
    says how many of them have one of some values.
    """
    present = {value: count for value, count in counts.items() if count}
    total = sum(present.values()) if people is None else people
    shares = {value: Fraction(count, total) for value, count in present.items()}
    most = max(shares, key=lambda value: (shares[value], value))
    open_ = opens and shares[most] > HALF and len(shares) > 1 and _says_nothing(most, shares, words)
    share = None if once is None else (lambda values: Fraction(once(values), total))
    return ProposedRule(numbers, shares, most if open_ else None, share)


def _says_nothing(value: str, values: Collection[str], about: frozenset[str]) -> bool:
    """Return whether one of the values of a column says, as a whole, that there is nothing, or that nothing is known.

    Of some columns it tells a secret that there is nothing, of belief, politics and sexuality even a "no".
    """
    if ABSENCE.meets(about):
        return False
    words = re.findall(r"\w+", plain(value).replace("_", " "))
    if value == MISSING or not value.strip("-–—.? ") or (words and ABSENT.issuperset(words)) or "".join(words) in ABSENT:
        return True
    if any(topic.meets(about) for topic in (BELIEF, POLITICS, SEXUALITY)):
        return False
    if len(words) == 1:
        letters = {plain(other).strip() for other in values if other not in (value, MISSING)}
        return words[0] in NOTHING or bool(letters and letters <= LETTERS.get(words[0], frozenset()))
    return value == "0.0" or (len(words) > 1 and words[0] in NEGATIONS and (NEGATED | about).issuperset(words[1:]))
