"""A latent-class model of people, learned from all groups that are shown column by column.

People belong to a few unseen classes; inside a class all quasi columns and the sensitive value are unrelated. A group tells of
its people that their values lie in its sets, and how often each sensitive value occurs. Where groups are small boxes of near
people, their sets and sizes together tell how columns go together (the old are more often widowed), which one group alone does
not. Expectation maximisation: with the current shares the people of every group are spread over classes and, inside a class,
over the values of every column, where each published value has at least one person (Poisson, given that it is not 0); added up
over all groups, these are the next shares. Each is shrunk a little toward that of everybody.

The first shares are drawn from a fixed seed, so the same release gives the same answers everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.query.model_cache import fitting
from sfumato.query.models import _class_kernels as kernels
from sfumato.query.models.protocol import Moments
from sfumato.query.models.spread import AskedBoxes, GroupValues, ShownBoxes, Spreads
from sfumato.query.models.units import SetColumn

FEWEST_GROUPS = 500
"""With fewer groups there is too little to tell classes apart, and every column is learned alone.

This and the settings below were chosen among some dozen on one census of 100,000 (seed 1), where 360 boxes and fewer did worse
than learning every column alone. On three fresh censuses, Occupation and Salary, 630 to 840 boxes, three workloads, the error is
0.5 to 1.2 times that of learning every column alone, below 1 in 98 of 108 figures.
"""

CLASSES = 32

ROUNDS = 200
"""Most rounds of expectation maximisation."""

WORK = 400_000
"""Most rounds times groups: with many groups fewer rounds do."""

LEAN = 50.0
"""How many people's worth, for every value of a column, a class is shrunk toward everybody's shares."""

_SEED = 1


class ClassShares(NamedTuple):
    """What people of each class are like: shares of quasi values [values × classes], of sensitive values, and of the classes."""

    weight: Floats
    rate: Floats
    classes: Floats


class ClassCounts(NamedTuple):
    """People spread over classes: `people` and `holders` per quasi and sensitive value of each class.

    `tilt` is by how much an entry's weight changes in its group because at least one person has it.
    """

    people: Floats
    holders: Floats
    tilt: Floats


@dataclass(frozen=True, eq=False)
class ClassModel:
    """What is fitted once per release. `weight[j][v, c]` is the share of value v of column j in class c."""

    columns: tuple[SetColumn, ...]
    shown: GroupValues
    weight: tuple[Floats, ...]
    tilt: tuple[Floats, ...]  # by how much an entry's weight changes in its group because at least one person has it
    rate: Floats  # [sensitive values × classes]
    chance: Floats  # [groups × classes]
    evenly: Spreads  # what is certain, however people lie

    version: ClassVar[int] = 1

    @classmethod
    def fit(cls, groups: ShownBoxes) -> ClassModel:
        """Return the class model of groups that show sets of values."""
        sets = [column for column in groups.columns if isinstance(column, SetColumn)]
        return _learn(sets, groups.shown, groups.values, groups.evenly)

    def to_arrays(self) -> dict[str, Array]:
        """Return what was fitted, as arrays to be kept."""
        weight = {f"weight {j}": each for j, each in enumerate(self.weight)}
        return {**weight, **{f"tilt {j}": each for j, each in enumerate(self.tilt)}, "rate": self.rate, "chance": self.chance}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], groups: ShownBoxes) -> ClassModel:
        """Return the model that has these arrays; `ValueError` if they are not of these groups."""
        columns, shown = tuple(column for column in groups.columns if isinstance(column, SetColumn)), groups.shown
        rate = fitting(arrays, "rate", (groups.values, None))
        classes = rate.shape[1]
        return cls(
            columns=columns,
            shown=shown,
            weight=tuple(fitting(arrays, f"weight {j}", (own.plain.size, classes)) for j, own in enumerate(columns)),
            tilt=tuple(fitting(arrays, f"tilt {j}", (len(own.codes),)) for j, own in enumerate(columns)),
            rate=rate,
            chance=fitting(arrays, "chance", (len(shown.sizes), classes)),
            evenly=groups.evenly,
        )

    def estimate(self, question: AskedBoxes) -> Moments:
        """Return the number of people in a piece of a question, and what is certain of it."""
        total = np.zeros_like(self.chance)
        for conjunction in question.conjunctions:
            share = np.ones_like(self.chance)
            for j, accepted in conjunction.items():
                column = self.columns[j]
                kernels.narrow(column.start, column.codes, self.weight[j], self.tilt[j], accepted.view(np.uint8), share)
            total += share
        wanted = question.values.view(np.uint8)
        value, variance = kernels.weigh_classes(total, self.chance, self.rate, wanted, *self.shown[1:])
        return self.evenly.estimate(question)._replace(value=value, variance=variance)


def _learn(columns: Sequence[SetColumn], shown: GroupValues, values: int, evenly: Spreads) -> ClassModel:
    """Return the class model of groups with these sets and these histograms of so many sensitive values."""
    rounds = min(ROUNDS, 1 + WORK // len(shown.sizes))
    entries = _Entries.of(columns)
    coins = np.random.Philox(np.random.SeedSequence(_SEED))
    everybody = np.concatenate([_evenly(column, shown.sizes) for column in columns])[:, None]
    overall = np.bincount(shown.value, weights=shown.times, minlength=values)[:, None].astype(np.float64)
    overall /= overall.sum()
    weight = entries.shares(everybody * _jitter(coins, len(everybody), CLASSES))
    rate = overall * _jitter(coins, values, CLASSES)
    shares = ClassShares(weight, rate / rate.sum(axis=0), np.full(CLASSES, 1.0 / CLASSES))
    spread = ClassCounts(np.empty_like(weight), np.empty_like(rate), np.ones(len(entries.codes)))
    for left in range(rounds - 1, -1, -1):
        kernels.learn_round(shown, entries.start, entries.codes, shares, spread)
        if left:  # the last tilt belongs to the shares as they are
            people, holders = spread.people, spread.holders
            toward = entries.shares(people.sum(axis=1, keepdims=True))
            weight = entries.shares(people + LEAN * entries.values[:, None] * toward)
            rate = holders + LEAN * values * overall
            class_share = (holders.sum(axis=0) + 1.0) / (holders.sum() + CLASSES)
            shares = ClassShares(weight, rate / rate.sum(axis=0), class_share)
    chance = np.empty((len(shown.sizes), CLASSES))
    kernels.class_chances(entries.start, entries.codes, shares, chance)
    return ClassModel(
        columns=tuple(columns),
        shown=shown,
        weight=tuple(np.ascontiguousarray(shares.weight[part]) for part in entries.parts),
        tilt=tuple(spread.tilt[a:b] for a, b in pairwise(entries.first)),
        rate=shares.rate,
        chance=chance,
        evenly=evenly,
    )


@dataclass(frozen=True, eq=False)
class _Entries:
    """The sets of all columns in one array: codes count on from column to column."""

    codes: Integers
    start: Integers  # [columns × (groups + 1)]
    first: tuple[int, ...]  # of each column's entries
    parts: tuple[slice, ...]  # of each column's codes
    values: Floats  # per code, how many its column has

    @classmethod
    def of(cls, columns: Sequence[SetColumn]) -> _Entries:
        lengths = [column.plain.size for column in columns]
        parts = tuple(slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *lengths])))
        first = tuple(int(a) for a in np.cumsum([0, *(len(column.codes) for column in columns)]))
        codes = np.concatenate([column.codes.astype(np.int64) + part.start for column, part in zip(columns, parts, strict=True)])
        start = np.stack([column.start + a for column, a in zip(columns, first, strict=False)])
        return cls(codes, start, first, parts, np.repeat(lengths, lengths).astype(np.float64))

    def shares(self, people: Floats) -> Floats:
        """Return the numbers of every column's values divided by their sum, class by class."""
        shares = np.empty_like(people)
        for part in self.parts:
            shares[part] = people[part] / people[part].sum(axis=0)
        return shares


def _evenly(column: SetColumn, sizes: Integers) -> Floats:
    """Return how many people would have each value if all values of a group were equally frequent."""
    length = np.diff(column.start)
    each = np.repeat(sizes / np.maximum(length, 1), length)
    return np.bincount(column.codes, weights=each, minlength=column.plain.size).astype(np.float64)


def _jitter(coins: np.random.Philox, rows: int, classes: int) -> Floats:
    """Return factors from ½ to 1½ that make classes start out different; a single class starts as everybody."""
    if classes == 1:
        return np.ones((rows, 1))
    words = np.asarray(coins.random_raw(rows * classes), dtype=np.uint64) % np.uint64(1 << 20)
    return 0.5 + words.astype(np.float64).reshape(rows, classes) / (1 << 20)
