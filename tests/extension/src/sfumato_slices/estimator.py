"""`Halfway`: the papers' estimate, drawn halfway toward everybody's share of the values."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.arrays import Floats
from sfumato.query.models.protocol import Moments
from sfumato.query.rows import Asked, Buckets


@dataclass(frozen=True, eq=False)
class Halfway:
    """Halfway between the share of each group and that of everybody: less noise, and a bias toward independence."""

    share: Floats

    @classmethod
    def fit(cls, groups: Buckets) -> Halfway:
        return cls(groups.index.totals / groups.index.people)

    def estimate(self, question: Asked) -> Moments:
        papers, people = question.uniform, question.hits.sum()
        value = (papers.value + people * self.share[question.piece.values].sum()) / 2
        return Moments(float(value), papers.variance, "no interval: it is not known by how much this is off")
