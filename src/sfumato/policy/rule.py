"""The bounds that a draft proposes: a rule that protects every value, and own bounds to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.exact import exact
from sfumato.privacy.requirement import round_up
from sfumato.table.sensitive import Sensitive

USUAL_THETA, OFFSET = Fraction(8), exact("0.02")
"""The papers' rule: 8·share + 0.02."""

HALF = Fraction(1, 2)
LEAST = Fraction(98, 100)
"""From this theta on theta·share + 0.02 is at least the share, whatever that is."""

_ROUND = tuple(exact(bound) for bound in ("0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5"))

Parts = Mapping[str, Mapping[str, tuple[int, int]]]
"""For every sensitive column the people who have each value, and the combinations that hold it."""


@dataclass(frozen=True)
class Rule:
    """bound(x) = theta·share + offset for a table's shares.

    With several sensitive columns x is a combination, and a reader may become as sure of a single value as the sum over its
    combinations allows. `keeps_parts` says whether theta was chosen so that these sums stay below 1 too.
    """

    theta: Fraction
    shares: Mapping[str, Fraction]
    parts: Parts = field(default_factory=dict)
    keeps_parts: bool = True

    @property
    def most(self) -> str:
        """The most frequent value."""
        return max(self.shares, key=lambda value: (self.shares[value], value))

    def bound(self, value: str) -> Fraction:
        """Return what the rule allows for a value."""
        return min(Fraction(1), self.theta * self.shares[value] + OFFSET)

    def highest(self, column: str) -> Fraction:
        """Return how sure a reader may become, at most, of a single value of one of several columns."""
        total = sum(people for people, _ in self.parts[column].values())
        return max(min(Fraction(1), self.theta * people / total + many * OFFSET) for people, many in self.parts[column].values())

    def suggestion(self, value: str) -> Fraction:
        """Return a round bound below the rule's that is well above the share; the rule's own, rounded, where there is none."""
        share, rule = self.shares[value], self.bound(value)
        stricter = [bound for bound in _ROUND if share * Fraction(6, 5) <= bound < rule]
        rounded = round_up(rule, 3)
        return max(stricter) if stricter else rounded if rounded < 1 else rule


def choose_rule(counts: Mapping[str, int], parts: Parts | None = None) -> Rule:
    """Return a rule under which every value has a bound below 1, and the most frequent one at most 1/2 where that leaves room.

    A value that most people have cannot be bounded by 1/2; its bound then lies a third of the way from its share to 1. With
    several columns the same is asked for the single values of each, as far as it is possible.
    """
    present = {value: count for value, count in counts.items() if count}
    total = sum(present.values())
    shares = {value: Fraction(count, total) for value, count in present.items()}
    combined = min(_theta(share, 1) for share in shares.values())
    apart = [_theta(Fraction(people, total), many) for column in (parts or {}).values() for people, many in column.values()]
    keeps = min([combined, *apart]) >= LEAST
    return Rule(min([combined, *apart]) if keeps else combined, shares, parts or {}, keeps)


def _theta(share: Fraction, combinations: int) -> Fraction:
    """Return the theta that bounds a value of this share by its target, with two decimals, rounded down.

    With one combination it is never below 0.98.
    """
    target = max(HALF, share + (1 - share) / 3)
    return min(USUAL_THETA, Fraction(int((target - combinations * OFFSET) / share * 100), 100))


def parts_of(sensitive: Sensitive, columns: tuple[str, ...]) -> tuple[dict[str, int], dict[str, dict[str, tuple[int, int]]]]:
    """Return how many people have each combination of some of the sensitive columns, and `Parts`: what each column has alone."""
    domain, people = sensitive.domain.table, list(sensitive.histogram().values())
    texts = {name: [str(value) for value in domain.column(name).to_pylist()] for name in columns}
    counts: dict[tuple[str, ...], int] = {}
    for combination, count in zip(zip(*texts.values(), strict=True), people, strict=True):
        counts[combination] = counts.get(combination, 0) + count
    parts: dict[str, dict[str, tuple[int, int]]] = {}
    for place, name in enumerate(columns):
        column = parts.setdefault(name, {})
        for combination, count in counts.items():
            had, many = column.get(combination[place], (0, 0))
            column[combination[place]] = had + count, many + 1
    return {" / ".join(combination): count for combination, count in counts.items()}, parts
