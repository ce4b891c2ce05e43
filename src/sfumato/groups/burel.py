"""BuReL (Cao and Karras, PVLDB 2012): values packed into buckets, groups that draw from each bucket in proportion.

A group with x_b people from bucket b keeps the bounds if x_b / size is at most the smallest bound of a value in b, whoever these
people are. So what a group may draw is decided on counts alone, and people come in only to be near each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.groups._burel_kernels import RankedQuasi, fill_by_curve, fill_near
from sfumato.groups.cuts import Space
from sfumato.groups.grouping import Grouping
from sfumato.groups.hilbert import hilbert_order, places
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.column import Column

Template = tuple[int, ...]
BucketPacking = Literal["fewest", "roomy"]
Rounding = Literal["floor", "alternate", "either"]
Fill = Literal["hilbert", "near"]

ROUNDINGS: tuple[Rounding, ...] = ("alternate", "either", "floor")
STEPS = 20
"""How many degrees of room are tried: buckets filled up to 20/20, 19/20, … of their bound, and every value alone."""


@dataclass(frozen=True)
class BurelPlan:
    """Which values share a bucket, and for every group how many people it draws from each bucket."""

    buckets: tuple[tuple[int, ...], ...]
    templates: tuple[Template, ...]


def value_buckets(bounds: Bounds, room: Fraction = Fraction(1)) -> tuple[tuple[int, ...], ...]:
    """Return the values in as few buckets as possible whose shares add up to at most `room` times their smallest bound.

    Buckets are intervals of the values by bound, then count, then text; under β-likeness that is by share. A value alone is
    always a bucket. Every part of an interval that fits also fits, so filling from the left gives the fewest buckets: the paper's
    quadratic program finds no fewer.
    """
    order = sorted(range(len(bounds.values)), key=lambda v: (bounds.limits[v], bounds.counts[v], bounds.values[v]))
    buckets: list[list[int]] = []
    held = 0
    for value in order:
        if buckets and held + bounds.counts[value] <= room * bounds.limits[buckets[-1][0]] * bounds.people:
            buckets[-1].append(value)
            held += bounds.counts[value]
        else:
            buckets.append([value])
            held = bounds.counts[value]
    return tuple(map(tuple, buckets))


class EcTree:
    """The tree of templates below (people of bucket 1, people of bucket 2, …): halved as long as both halves are eligible.

    An odd number cannot be halved. ``"floor"`` gives the smaller half to the left throughout, so that left templates are lighter
    and the odd people of rare buckets gather at the right; ``"alternate"`` gives the larger half to the left, right, left, … so
    that halves differ by one person at most; ``"either"`` alternates both ways and then tries ``"floor"``.
    """

    def __init__(self, limits: Sequence[Fraction], rounding: Rounding) -> None:
        self._limits = [(limit.numerator, limit.denominator) for limit in limits]
        self._ways = {"floor": (2,), "alternate": (0,), "either": (0, 1, 2)}[rounding]
        self._split: dict[Template, tuple[Template, Template] | None] = {}
        self._loss: dict[Template, float] = {}

    def eligible(self, template: Template) -> bool:
        """Return whether no bucket has more than its bound's part of the group, and the group has anybody."""
        size = sum(template)
        return size > 0 and all(many * down <= up * size for many, (up, down) in zip(template, self._limits, strict=True))

    def split(self, template: Template) -> tuple[Template, Template] | None:
        """Return the two halves of a template, None if it is a leaf."""
        if template not in self._split:
            halves = (_halves(template, way) for way in self._ways)
            self._split[template] = next((pair for pair in halves if all(map(self.eligible, pair))), None)
        return self._split[template]

    def loss(self, template: Template) -> float:
        """Return Σ size·log(size·buckets) over the leaves below, counting the buckets that a leaf draws from.

        That is a forecast of how wide ranges get: on census tables about with the logarithm of the group's size, and as much with
        that of the number of buckets, because the nearest of a rare bucket are far away.
        """
        if template not in self._loss:
            below = self.split(template)
            size = sum(template)
            drawn = sum(many > 0 for many in template)
            self._loss[template] = size * math.log(size * drawn) if below is None else sum(map(self.loss, below))
        return self._loss[template]

    def leaves(self, root: Template) -> tuple[Template, ...]:
        """Return the leaves below a template from left to right."""
        leaves, waiting = [], [root]
        while waiting:
            template = waiting.pop()
            below = self.split(template)
            if below is None:
                leaves.append(template)
            else:
                waiting += below[::-1]
        return tuple(leaves)


def _halves(template: Template, way: int) -> tuple[Template, Template]:
    """Return the template in two; `way` 0 or 1: the first odd number's larger half goes right or left, then in turn; 2: right."""
    left = []
    turn = way % 2
    for many in template:
        left.append(many // 2 + (many % 2 and turn))
        if many % 2 and way < 2:
            turn = 1 - turn
    return tuple(left), tuple(many - part for many, part in zip(template, left, strict=True))


def plan_burel(bounds: Bounds, packing: BucketPacking) -> BurelPlan:
    """Return value buckets and templates, from counts alone.

    ``"fewest"`` buckets are the paper's, and leave little room: a bucket that fills its bound can hardly be halved. ``"roomy"``
    tries buckets filled to 20/20, 19/20, … of their bound. All roundings are tried; the smallest loss (`EcTree.loss`) wins.
    """
    rooms = [Fraction(1)] if packing == "fewest" else [Fraction(k, STEPS) for k in range(STEPS, -1, -1)]
    candidates = dict.fromkeys(value_buckets(bounds, room) for room in rooms)
    best: tuple[float, tuple[tuple[int, ...], ...], EcTree] | None = None
    for buckets in candidates:
        for rounding in ROUNDINGS:
            tree = EcTree([bounds.limits[values[0]] for values in buckets], rounding)
            loss = tree.loss(_sizes(bounds, buckets))
            if best is None or loss < best[0]:
                best = loss, buckets, tree
    assert best is not None
    _, buckets, tree = best
    return BurelPlan(buckets, tree.leaves(_sizes(bounds, buckets)))


def _sizes(bounds: Bounds, buckets: Sequence[Sequence[int]]) -> Template:
    return tuple(sum(bounds.counts[value] for value in values) for values in buckets)


def burel_groups(
    columns: Sequence[Column],
    sensitive: Array,
    plan: BurelPlan,
    *,
    fill: Fill,
    candidates: int,
    random: Randomness,
    progress: Progress = silent,
) -> Grouping:
    """Return a group for every template: a random person who is left, and the nearest of each bucket.

    ``"hilbert"``: nearest to her on the curve, as published. ``"near"``: of the `candidates` nearest on the curve those whose
    joining widens the group's ranges and sets least, rare buckets first.
    """
    progress("ordering people along a curve", 0.0)
    space = Space.of(columns)
    order = hilbert_order(space)
    home = np.empty(sum(map(len, plan.buckets)), np.int64)
    for bucket, values in enumerate(plan.buckets):
        home[list(values)] = bucket
    bucket_of = home[sensitive[order]]
    ranks = np.argsort(bucket_of, kind="stable")
    start = np.searchsorted(bucket_of[ranks], np.arange(len(plan.buckets) + 1)).astype(np.int64)
    templates = np.array(plan.templates, dtype=np.int64)[random.spawn(Step.TEMPLATES).permutation(len(plan.templates))]
    seeds = random.spawn(Step.SEEDS).permutation(len(order))
    by_rank = np.full(len(order), -1, np.int32)
    progress("filling groups", 0.2)
    if fill == "hilbert":
        fill_by_curve(ranks, start, templates, seeds, by_rank)
    else:
        fill_near(ranks, start, templates, seeds, _by_rank(columns, space, order), candidates, by_rank)
    group = np.empty(len(order), np.int32)
    group[order] = by_rank
    return Grouping(group, len(templates), "tight")


def _by_rank(columns: Sequence[Column], space: Space, order: Integers) -> RankedQuasi:
    """Return the quasi values in this order of the people."""
    sets = np.array([column.kind == "categorical" for column in columns])
    lies = places(space)[:, order]
    absent = space.missing[:, None] & (space.codes[:, order] == np.diff(space.first)[:, None] - 1)
    lies[absent] = np.nan
    codes = (space.codes + space.first[:-1, None])[:, order]
    weights = 1 / np.maximum(np.diff(space.first) - 1, 1)
    numeric, categorical = np.ascontiguousarray(lies[~sets]), np.ascontiguousarray(codes[sets])
    return RankedQuasi(numeric, categorical, weights[sets], int(space.first[-1]))
