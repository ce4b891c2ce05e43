"""What a model of the inside of groups is: fitted once to the groups of a release, then asked any number of questions.

A form lays its groups out once (`sfumato.query.engine.CountEngine`): that is what its models are fitted to. It also puts a piece
of a question into the terms of its groups (`rows.Asked`, `spread.AskedBoxes`, `rates.AskedRecords`): that is what they are asked.
What a model answers is the same for all of them, so that a form chooses one, or a mean of several, in one place (`model`), and a
model that takes other things for granted, such as people who have several values of one secret, is one more class with these
methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from sfumato.arrays import Array

Groups_contra = TypeVar("Groups_contra", contravariant=True)
Asked_contra = TypeVar("Asked_contra", contravariant=True)
Sum_contra = TypeVar("Sum_contra", contravariant=True)


class Moments(NamedTuple):
    """What is estimated of a number: its mean and variance, and why no interval around it would be honest, if so.

    `loose` is the part of the variance that a model's weights have, and `further` how much more there may be: see
    `sfumato.query.engine.CountEstimate`. `least` and `most` are what the tables make certain, from a model that looks at them.
    `placed` is the part of the variance that is chance alone: what the values of groups leave open whose people's chances are all
    known.
    """

    value: float
    variance: float
    note: str = ""
    loose: float = 0.0
    least: float = -math.inf
    most: float = math.inf
    placed: float = 0.0
    further: float = 0.0


class Estimating(Protocol[Asked_contra]):
    """What answers counts."""

    def estimate(self, question: Asked_contra, /) -> Moments:
        """Return the estimated number of people in one piece of a question."""


class Adding(Estimating[Asked_contra], Protocol[Asked_contra, Sum_contra]):
    """What answers sums over people too."""

    def add(self, question: Sum_contra, /) -> Moments:
        """Return the estimated sum."""


@runtime_checkable
class FittedModel(Estimating[Asked_contra], Protocol[Groups_contra, Asked_contra]):
    """A model of the inside of groups: all that an estimator of another package has to be."""

    @classmethod
    def fit(cls, groups: Groups_contra, /) -> Self:
        """Return what all groups together teach."""


class Model(FittedModel[Groups_contra, Asked_contra], Protocol[Groups_contra, Asked_contra]):
    """A model that can be kept between runs: see `sfumato.query.model_cache`."""

    version: ClassVar[int]

    def to_arrays(self) -> Mapping[str, Array]:
        """Return everything that was fitted, as arrays by name."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: Any, /) -> Self:
        """Return the model that has these arrays; `ValueError` if they do not fit the groups."""
