"""The bounds that a draft proposes: a rule that protects every value, and own bounds to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.exact import exact
from sfumato.privacy.requirement import round_up
from sfumato.table.assemble import combine_codes
from sfumato.table.sensitive import Domain, Sensitive

USUAL_THETA, OFFSET = Fraction(8), exact("0.02")
"""The papers' rule: 8·share + 0.02."""

HALF = Fraction(1, 2)
LEAST = Fraction(98, 100)
"""From this theta on theta·share + 0.02 is at least the share, whatever that is."""

_ROUND = tuple(exact(bound) for bound in ("0.02", "0.03", "0.05", "0.1", "0.2", "0.3", "0.5"))

Parts = Mapping[str, frozenset[tuple[int, int]]]
"""For every sensitive column how many people have a value and how many combinations hold it, without saying which value."""


@dataclass(frozen=True)
class Rule:
    """bound(x) = theta·share + offset for a table's shares.

    With several sensitive columns x is a combination, and a reader may become as sure of a single value as the sum over its
    combinations allows. `keeps_parts` says whether theta was chosen so that these sums stay below 1 too.
    """

    theta: Fraction
    shares: Mapping[str, Fraction]
    people: int
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
        return max(min(Fraction(1), self.theta * people / self.people + many * OFFSET) for people, many in self.parts[column])

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
    theta = theta_of(present.values(), parts or {})
    keeps = theta >= LEAST
    return Rule(theta if keeps else theta_of(present.values(), {}), shares, total, parts or {}, keeps)


def _theta(share: Fraction, combinations: int) -> Fraction:
    """Return the theta that bounds a value of this share by its target, with two decimals, rounded down.

    With one combination it is never below 0.98.
    """
    target = max(HALF, share + (1 - share) / 3)
    return min(USUAL_THETA, Fraction(int((target - combinations * OFFSET) / share * 100), 100))


def theta_of(counts: Iterable[int], parts: Parts) -> Fraction:
    """Return the largest theta, at most the usual one, that keeps every value and every single value of `parts` at its target.

    The more people have a value, the smaller is what it allows; so of combinations only the most frequent one counts.
    """
    whole = list(counts)
    total = sum(whole)
    pairs = {(max(whole), 1), *(pair for column in parts.values() for pair in column)}
    return min(_theta(Fraction(people, total), many) for people, many in pairs)


def parts_of(sensitive: Sensitive, columns: tuple[str, ...]) -> tuple[dict[str, int], dict[str, frozenset[tuple[int, int]]]]:
    """Return how many people have each combination of some of the sensitive columns, and `Parts`: what each column has alone."""
    domain = sensitive.domain.table.select(list(columns))
    codes = [_codes(domain.column(name)) for name in columns]
    whole = combine_codes([(code, int(code.max()) + 1) for code in codes])
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    people = np.bincount(which[sensitive.codes], minlength=len(first))
    kinds = tuple(dict(zip(sensitive.domain.names, sensitive.domain.kinds, strict=True))[name] for name in columns)
    labels = Domain(domain.take(pa.array(first)), kinds).labels
    parts = {}
    for name, code in zip(columns, codes, strict=True):
        own = code[first]
        have = np.bincount(own, weights=people).astype(np.int64)
        parts[name] = frozenset(zip(have.tolist(), np.bincount(own).tolist(), strict=True))
    return dict(zip(labels, people.tolist(), strict=True)), parts


def _codes(column: pa.ChunkedArray) -> Integers:
    """Return a number for every entry, the same for equal ones and for missing ones."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)
