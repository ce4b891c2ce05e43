"""The likelihood estimator for boxes of near people: the mean of two models of their inside, and how far they are apart.

In one columns add up (`sfumato.query.models.trend`), in the other they multiply (`sfumato.query.models.inside`). The mean of both
errs less than either. Its variance is that of the multiplying model, which judges itself, and the squared distance between
them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.query.models.inside import Inside
from sfumato.query.models.protocol import Moments
from sfumato.query.models.scores import sum_of
from sfumato.query.models.trend import Trend
from sfumato.query.rows import Asked
from sfumato.query.sums import AskedSum, shift_of

NEAR = "no interval: in near groups the estimate is off by more than its standard error tells"

MULTIPLYING = 2 / 3  # weight of the multiplying model beside the adding one


@dataclass(frozen=True, eq=False)
class Average:
    """Both models of a release; the adding one alone where there are too many values for the other."""

    adding: Trend
    multiplying: Inside | None

    def estimate(self, question: Asked) -> Moments:
        """Return the number of people in a piece of a question."""
        inner = None if self.multiplying is None else self.multiplying.estimate(question)
        return self._noted(mean_of(self.adding.estimate(question), inner, least=0.0))

    def add(self, question: AskedSum) -> Moments:
        """Return a sum over people."""
        shift, more = shift_of(self.adding, question.people)
        inner = None if self.multiplying is None else sum_of(self.multiplying, question.people, value_only=question.value_only)
        return self._noted(mean_of(Moments(question.value + shift, question.variance + more), inner))

    def _noted(self, moments: Moments) -> Moments:
        return moments if self.adding.model_error.cover else moments._replace(note=NEAR)


def mean_of(adding: Moments, multiplying: Moments | None, *, least: float = -math.inf) -> Moments:
    """Return what both models say together.

    Noise, or a sum of effects, can bring the adding one below what there is at `least`.
    """
    value = max(adding.value, least)
    if multiplying is None:
        return Moments(value, adding.variance)
    found = value + MULTIPLYING * (multiplying.value - value)
    most = multiplying.value + multiplying.further
    return Moments(
        found,
        multiplying.variance + (value - multiplying.value) ** 2,
        multiplying.note,
        multiplying.loose,
        placed=multiplying.placed,
        further=max(0.0, most - found) if multiplying.further else 0.0,
    )
