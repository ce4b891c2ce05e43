"""Beliefs in a randomized release, exact, from how many people of each value are in each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.release.randomized import RandomizedPart

Counts = Sequence[Sequence[int | Fraction]]
"""Per part one number for each of its values."""


@dataclass(frozen=True)
class Belief:
    """How sure a reader is of a value where it is published, and the value's bound."""

    value: str
    belief: Fraction
    bound: Fraction


@dataclass(frozen=True)
class Judge:
    """The parts of a release, with the bound and the text of every value of the domain."""

    parts: tuple[RandomizedPart, ...]
    bounds: Sequence[Fraction]
    labels: Sequence[str]

    def worst(self, shares: Counts) -> Belief:
        """Return the belief with the largest excess over its bound, when the parts have these shares (or counts)."""
        found = []
        for part, own in zip(self.parts, shares, strict=True):
            lost = sum((n * (1 - p) for n, p in zip(own, part.retention, strict=True)), Fraction(0))
            found += [self._belief(part, place, n, lost) for place, n in enumerate(own) if n]
        return _worst(found)

    def range(self, least: Counts, most: Counts, people: Sequence[int]) -> tuple[Belief, Belief]:
        """Return the worst of the smallest, and the worst of the largest beliefs that counts between two ends can give."""
        low, high = [], []
        for part, few, many, size in zip(self.parts, least, most, people, strict=True):
            lost = [1 - p for p in part.retention]
            lightest, heaviest = min(lost), max(lost)
            fewest = sum((n * q for n, q in zip(few, lost, strict=True)), Fraction(0))
            largest = sum((n * q for n, q in zip(many, lost, strict=True)), Fraction(0))
            for place, q in enumerate(lost):
                n = few[place]
                if n:
                    others = min(largest - many[place] * q, (size - n) * heaviest)
                    low.append(self._belief(part, place, n, n * q + others))
                n = many[place]
                if n:
                    others = max(fewest - few[place] * q, (size - n) * lightest)
                    high.append(self._belief(part, place, n, n * q + others))
        return _worst(low or high), _worst(high)

    def _belief(self, part: RandomizedPart, place: int, n: int | Fraction, lost: Fraction) -> Belief:
        """Return P[x→x]·f(x) / Σ P[z→x]·f(z): belief in x is largest where x itself is published. `lost` is Σ f(z)·(1 − p_z)."""
        code = int(part.values[place])
        seen = n * part.retention[place] + lost / len(part)
        return Belief(self.labels[code], n * part.chance(place, place) / seen, self.bounds[code])


def _worst(found: Sequence[Belief]) -> Belief:
    # No belief can exceed 1, so a value without a bound is the worst only where no value has one.
    return max(found, key=lambda one: (one.bound < 1, one.belief - one.bound))


def amplification(part: RandomizedPart) -> Fraction | None:
    """Return the largest P[x→y] / P[z→y] of a part: odds grow at most so much. None where a value can be excluded outright."""
    if len(part) == 1:
        return Fraction(1)
    first, second = sorted(range(len(part)), key=lambda x: -part.retention[x])[:2]
    if part.retention[first] == 1:
        return None
    # The most kept value is the least likely to turn into another one; into itself, the second most is.
    return max(part.chance(second, second) / part.chance(first, second), part.chance(first, first) / part.chance(second, first))
