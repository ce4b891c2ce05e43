"""What a randomization is before any record is touched: parts, who goes there, and how often values are kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property


@dataclass(frozen=True)
class Part:
    """A sub-table T_i whose values are randomized among themselves.

    `values` are codes of the sensitive domain, ascending; all else is in their order. `counts` says how many records of each
    value go there (empty with declared parameters, where a coin per record decides), `shares` which share of the part each value
    has, `retention` with which probability a value is kept; otherwise it is replaced by a value of the part, drawn uniformly,
    itself included. `gamma` is the amplification of a uniform retention, None where retentions differ. `weight` is the part's
    share of all records.
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]
    shares: tuple[Fraction, ...]
    retention: tuple[Fraction, ...]
    gamma: Fraction | None
    weight: Fraction

    def transition(self, original: int, published: int) -> Fraction:
        """Return P[x→y] for the x-th and the y-th value of the part."""
        kept = self.retention[original]
        return (kept if original == published else 0) + (1 - kept) / len(self.values)

    @cached_property
    def amplification(self) -> Fraction:
        """The largest P[x→y] / P[z→y]: odds of any belief inside the part grow at most by this factor."""
        if self.gamma is not None:
            return self.gamma
        ranked = sorted(range(len(self.values)), key=lambda x: -self.retention[x])
        first, second = ranked[0], ranked[1]
        size = len(self.values)
        largest, next_largest = self.retention[first], self.retention[second]
        # Against the most retained value as z every other x counts, against the second most only the first.
        return max(
            ((size - 1) * next_largest + 1) / (1 - largest),
            ((size - 1) * largest + 1) / (1 - next_largest),
        )

    @cached_property
    def expected_retention(self) -> Fraction:
        """The probability that a record of the part is kept by its coin."""
        if len(set(self.retention)) == 1:
            return self.retention[0]
        return sum((share * kept for share, kept in zip(self.shares, self.retention, strict=True)), Fraction(0))


@dataclass(frozen=True)
class RandomizationPlan:
    """The parts, and the probabilistic error bounds ([SDR §4.2], equation 12) at confidence 1 − `delta` that led to them.

    `error_bound` is the plan's own, `paper_bound` that of the merging along the paper's order, `whole_bound` that of uniform
    perturbation without parts. `groups` is the number of initial groups t. With `declared` parameters nothing in the plan comes
    from the table but the number of people in the three bounds.
    """

    parts: tuple[Part, ...]
    error_bound: float
    paper_bound: float
    whole_bound: float
    delta: Fraction
    groups: int
    declared: bool = False

    @cached_property
    def retention(self) -> Fraction:
        """The mean retention probability over records."""
        return sum((part.weight * part.expected_retention for part in self.parts), Fraction(0))
