"""How easily a person's own row is found by quasi values: the measures that users of ARX and sdcMicro know, exactly.

A *class* is all people with the same quasi values as recoded, k of them (an equivalence class). Whoever knows these values of a
person, and takes one of the k rows, takes the right one with chance 1/k:

prosecutor
    knows that the person is in the table: 1/k. Its largest and its mean over people are given.
journalist
    does not know that: 1/K with K of the population like her. K = k is the worst case, as if the table held everybody. Where the
    size of the population is stated, or follows from weights, `population` estimates how many are alone in it, and the mean.
marketer
    wants many people, not one: the mean share of right rows, which is the number of classes divided by that of people.

These are figures of the table as recoded. A release of the form buckets or randomized shows quasi values as they are, so they are
its own; other forms show less. They say who is found, not what is then learned of her: that is what bounds are for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.arrays import Codes, KeyColumn
from sfumato.explanation.coarser import CoarserColumn, coarser_step
from sfumato.explanation.population import PopulationRisk, population_risk
from sfumato.table import Table
from sfumato.table.classes import Classes, alone, counted
from sfumato.table.column import Column
from sfumato.table.weight import weight as as_weight

STEPS = (1, 2, 3, 5, 10, 20, 100)
"""Where the bands of the distribution of k begin."""

NEARLY = Fraction(4, 5)
"""From this association on a column nearly determines the secret: it takes away so much of the error of guessing it."""


@dataclass(frozen=True)
class ColumnRisk:
    """One quasi column: how many people would be unique without it, what a coarser one brings, and what it tells of the secret.

    `guessed` is the share of people whose sensitive value is guessed right from the others with the same value in this column;
    `association` by how much that lessens the error of guessing the most frequent value (Goodman and Kruskal's λ, with oneself
    left out, so that a column in which everybody differs tells nothing).
    """

    name: str
    levels: int
    unique_without: Fraction
    guessed: Fraction
    association: Fraction
    step: CoarserColumn | None = None

    @property
    def determines(self) -> bool:
        """Whether the column nearly determines the sensitive value."""
        return self.association >= NEARLY

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "name": self.name,
            "levels": self.levels,
            "unique_without": float(self.unique_without),
            "guessed": float(self.guessed),
            "association": float(self.association),
            "nearly_determines": self.determines,
            "coarser": None if self.step is None else self.step.to_dict(),
        }


@dataclass(frozen=True)
class Risk:
    """The risk that a person's row is found, and what each quasi column adds to it.

    `bands` gives how many people have a k from each of `STEPS` up to the next.
    """

    people: int
    classes: int
    smallest: int
    bands: tuple[int, ...]
    columns: tuple[ColumnRisk, ...]
    population: PopulationRisk | None = None

    @property
    def unique(self) -> Fraction:
        """The share of people who are the only one with their quasi values: k = 1."""
        return Fraction(self.bands[0], self.people)

    @property
    def prosecutor(self) -> tuple[Fraction, Fraction]:
        """The largest and the mean chance that a person known to be in the table is found."""
        return Fraction(1, self.smallest), self.marketer

    @property
    def journalist(self) -> Fraction:
        """The largest chance that a person is found who may be in the table, taking the table as the whole population."""
        return Fraction(1, self.smallest)

    @property
    def marketer(self) -> Fraction:
        """The mean share of rows that are found right."""
        return Fraction(self.classes, self.people)

    def below(self, k: int) -> int:
        """Return how many people violate k-anonymity, for a k of `STEPS`."""
        return sum(self.bands[: STEPS.index(k)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "prosecutor": {"largest": float(self.prosecutor[0]), "mean": float(self.prosecutor[1])},
            "journalist": {"largest": float(self.journalist), "assumed": "the table is the whole population"},
            "population": None if self.population is None else self.population.to_dict(),
            "marketer": float(self.marketer),
            "classes": self.classes,
            "smallest_k": self.smallest,
            "people_by_k": dict(zip(band_names(), self.bands, strict=True)),
            "columns": [column.to_dict() for column in self.columns],
        }


def band_names() -> tuple[str, ...]:
    """Return "1", "2", "3–4", …, "100 or more"."""
    ends = [f"{a}" if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(STEPS)]
    return (*ends, f"{STEPS[-1]} or more")


def risk_of(table: Table) -> Risk:
    """Return the risk of a table as recoded, and in its population where its size is stated, or is the sum of weights.

    Takes well under a second for a million people and ten columns.
    """
    sizes = table.classes.sizes
    place = np.searchsorted(STEPS, sizes, side="right") - 1
    bands = np.bincount(place, weights=sizes, minlength=len(STEPS))
    return Risk(
        people=table.rows,
        classes=len(sizes),
        smallest=int(sizes.min()),
        bands=tuple(int(number) for number in bands),
        columns=tuple(_column(table, place) for place in range(len(table.quasi))),
        population=_in_population(table),
    )


def _in_population(table: Table) -> PopulationRisk | None:
    """Return who is found in the population; None where nothing says how large it is, or weights are only relative.

    A weight is known of nobody outside of the table: people of the population are alike by the other columns.
    """
    stated, weight = table.schema.population, table.schema.weight
    if weight is None:
        return None if stated is None else population_risk(table.classes.sizes, stated)
    name = as_weight(weight).column
    rest = [column for column in table.quasi if column.name != name]
    sizes = Classes.of(rest).sizes if rest else np.array([table.rows])
    if stated is not None:
        return population_risk(sizes, stated)
    people = round(float(np.asarray(table.column(name).arrow(), np.float64).sum()))
    return None if people <= table.rows else population_risk(sizes, people, "weights")


def _column(table: Table, place: int) -> ColumnRisk:
    column, classes = table.quasi[place], table.classes
    guessed, association = _guessed(table, column)
    others = [(codes, column.size) for codes, column in zip(classes.codes, table.quasi, strict=True)]
    del others[place]
    derived = column.name in table.schema.people_rule.bands
    step = None if derived else coarser_step(table, column)
    return ColumnRisk(
        name=column.name,
        levels=column.size,
        unique_without=Fraction(alone(others, classes.sizes), table.rows),
        guessed=guessed,
        association=association,
        step=None if step is None else replace(step, unique=_unique_after(table, place, step.column)),
    )


def _guessed(table: Table, column: Column) -> tuple[Fraction, Fraction]:
    """Return what `guessing` says of a column; where people have several values, of facts, and the secret it tells most of."""
    if table.bundles is None:
        return guessing(column.codes, column.size, table.sensitive.codes, len(table.sensitive.domain))
    guesses = []
    for own in table.bundles.each():
        begin, value = own.incidence()
        guesses.append(guessing(np.repeat(column.codes, np.diff(begin)), column.size, value, len(own.domain)))
    return max(guesses, key=lambda guess: guess[1])


def _unique_after(table: Table, place: int, coarse: Column) -> Fraction:
    """Return the share of people who would be unique with a column made coarser: by classes, if these come together whole."""
    fine = table.quasi[place]
    became = np.zeros(fine.size, np.int64)
    became[fine.codes] = coarse.codes
    parts: list[KeyColumn]
    if (became[fine.codes] == coarse.codes).all():
        parts = [(codes, column.size) for codes, column in zip(table.classes.codes, table.quasi, strict=True)]
        parts[place] = (became[table.classes.codes[place]], coarse.size)
        return Fraction(alone(parts, table.classes.sizes), table.rows)
    parts = [(column.codes, column.size) for column in table.quasi]  # such as months after weeks, some of which lie in two
    parts[place] = (coarse.codes, coarse.size)
    return Fraction(alone(parts), table.rows)


def guessing(codes: Codes, levels: int, secret: Codes, values: int) -> tuple[Fraction, Fraction]:
    """Return the share of secrets guessed right from others with the same code, and by how much that beats guessing one value.

    A person's guess is the value most frequent among the others with her code; among equally frequent ones each is as likely.
    """
    people = len(codes)
    cell, times = counted(codes.astype(np.int64) * values + secret, levels * values)
    level = cell // values
    most = np.zeros(levels, np.int64)
    np.maximum.at(most, level, times)
    leading, next_to = times == most[level], times == most[level] - 1
    leaders = np.bincount(level[leading], minlength=levels)
    rivals = np.bincount(level[next_to], minlength=levels)
    # Without oneself: right where one's value leads by two or more, as likely as each rival where by one, else wrong.
    right = Fraction(0)
    alone = leading & (leaders[level] == 1) & (times > 1)
    for many in np.unique(rivals[level[alone]]).tolist():
        right += Fraction(int(times[alone & (rivals[level] == many)].sum()), many + 1)
    guessed = right / people
    base = Fraction(int(np.bincount(secret).max()), people)
    return guessed, max(Fraction(0), (guessed - base) / (1 - base)) if base < 1 else Fraction(0)
