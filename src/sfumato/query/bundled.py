"""Completed tables of people who may have several values of a secret: everybody gets a set of values, a *bundle*.

Each value by itself is drawn as any is (`sfumato.query.models.placing`): a proper draw of who has it and who has not, by its own
logistic model, so that every group has as many people with it as it shows. Then values are handed on inside groups until as many
people have 0, 1, 2, … of them as the group shows (`_bundle_kernels.settle`). Which values belong to one person is not published:
given her quasi values, her group and how many she has, they are independent here. Counts of named sets are not kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Integers
from sfumato.errors import QueryError
from sfumato.query.models import _bundle_kernels as kernels
from sfumato.query.models.inside import Inside
from sfumato.query.models.placing import draw_values, person_chances
from sfumato.query.models.trend import FEWEST_BOXES
from sfumato.release.coding import sensitive_columns
from sfumato.table.column import Domain

if TYPE_CHECKING:
    from sfumato.query.having import Having, SecretCounts
    from sfumato.randomness import Randomness
    from sfumato.release.buckets import BucketsRelease

TRIES = 40
"""So many people are asked whether they take a value, before it goes to the next best."""

MOST_CELLS = 400_000_000
"""Pairs of a person and a value that a draw holds in memory, of five bytes each."""

_SETTLING = 1 << 20  # its stream of coins, beside those of values


@dataclass(frozen=True, eq=False)
class Drawn:
    """What everybody has in one completed table: value[start[i] : start[i + 1]] of person i, ascending."""

    domain: Domain
    start: Integers
    value: Integers

    def has(self, value: int) -> Flags:
        """Return who has a value."""
        having = np.zeros(len(self.start) - 1, bool)
        having[self.person[self.value == value]] = True
        return having

    @property
    def person(self) -> Integers:
        """Whose each entry is."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def lists(self) -> pa.Array:
        """Return everybody's values as a list."""
        values = sensitive_columns(self.domain, self.value.astype(np.int32))[self.domain.names[0]]
        return pa.ListArray.from_arrays(pa.array(self.start, pa.int32()), values)


@dataclass(frozen=True, eq=False)
class BundledSecret:
    """One secret of a release of people who may have several values of it, and what its boxes teach of each value."""

    release: BucketsRelease
    having: Having
    place: int

    @classmethod
    def of(cls, release: BucketsRelease, having: Having) -> tuple[BundledSecret, ...]:
        """Return the secrets of a release; `QueryError` where there is too little to learn from."""
        if len(release.sizes) < FEWEST_BOXES:
            raise QueryError(
                f"this release cannot be completed: fewer than {FEWEST_BOXES} groups tell too little about their inside",
                hint="counts are answered from every release: release.count(…)",
            )
        if release.noisy:
            raise QueryError(
                "this release cannot be completed: where counts have noise, how many values people have is not shown",
                hint="counts are answered from every release: release.count(…)",
            )
        cells = max(release.rows * len(domain) for domain in release.events.secrets)
        if cells > MOST_CELLS:
            raise QueryError(
                f"this release cannot be completed in memory: people and values of a secret make {cells:,} pairs, "
                f"more than {MOST_CELLS:,}",
                hint="counts are answered from every release: release.count(…)",
            )
        return tuple(cls(part, having, place) for place, part in enumerate(release.each))

    @property
    def rows(self) -> int:
        """Number of published people."""
        return len(self.release.group)

    @property
    def order(self) -> Integers:
        """The published rows in the order of the models."""
        return np.argsort(self.release.group, kind="stable").astype(np.int64)

    def model(self, value: int) -> Inside:
        """Return the model of having a value."""
        return self.having.boxes(self.place, value).inside

    def chances(self) -> dict[str, pa.Array]:
        """Return one column of probabilities of having it a sensitive value."""
        columns = {}
        for value, label in enumerate(self.release.labels):
            own = np.empty(self.rows, np.float32)
            own[self.order] = person_chances(self.model(value))[:, 0]
            columns[f"{self.release.domain.names[0]} = {label}"] = pa.array(own)
        return columns

    @cached_property
    def odds(self) -> Array:
        """[people × values] in the order of the models: everybody's odds of having each value."""
        odds = np.empty((self.rows, len(self.release.domain)), np.float32)
        for value in range(odds.shape[1]):
            chance = person_chances(self.model(value))[:, 0]
            odds[:, value] = chance / np.maximum(1.0 - chance, 1e-6)
        return odds

    def draw(self, random: Randomness) -> Drawn:
        """Return a bundle for every published row: one proper draw."""
        values, sizes = len(self.release.domain), self.release.sizes
        has = np.zeros((self.rows, values), np.uint8)
        for value in range(values):
            has[:, value] = draw_values(self.model(value), random.spawn(value)) == 0
        first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        words = random.spawn(_SETTLING).words(len(sizes)).copy()
        if not kernels.settle(first, self._numbers(), self.odds, TRIES, words, has):
            raise QueryError("no people could have these numbers of values, and so many of them each value")
        placed: Array = np.empty_like(has)
        placed[self.order] = has
        person, own = np.nonzero(placed)
        return Drawn(self.release.domain, np.searchsorted(person, np.arange(self.rows + 1)), own)

    def _numbers(self) -> Integers:
        """Return the numbers of values that the people of each group have, group by group, ascending."""
        numbers = cast("SecretCounts", self.having.secrets[self.place]).numbers  # those with noise are refused
        return np.repeat(np.tile(np.arange(numbers.shape[1]), len(numbers)), numbers.ravel())


def wide(drawn: Drawn) -> dict[str, pa.Array]:
    """Return a column of 0 and 1 for each value: who has it."""
    name = drawn.domain.names[0]
    return {f"{name} = {label}": pa.array(drawn.has(v).astype(np.int8)) for v, label in enumerate(drawn.domain.labels)}


def long(quasi: dict[str, pa.Array], person: str, secrets: list[Drawn]) -> pa.Table:
    """Return a row for each person and value of hers, with her number and quasi values; who has none has a row without one.

    Of several secrets, `secret` says whose value it is, and values are texts.
    """
    alone, parts = len(secrets) == 1, []
    for drawn in secrets:
        many = np.diff(drawn.start)
        who = np.repeat(np.arange(len(many)), np.maximum(many, 1))
        given = np.repeat(many > 0, np.maximum(many, 1))
        place = np.full(len(who), 0, np.int64)
        place[given] = drawn.value
        values = drawn.domain.table.column(0).combine_chunks() if alone else pa.array(drawn.domain.labels, pa.string())
        shown = {person: pa.array(who.astype(np.int32))} | {name: one.take(pa.array(who)) for name, one in quasi.items()}
        found = values.take(pa.array(place, mask=~given))
        name = drawn.domain.names[0]
        parts.append(pa.table(shown | ({name: found} if alone else {"secret": pa.array([name] * len(who)), "value": found})))
    return pa.concat_tables(parts)


__all__ = ["BundledSecret", "Drawn"]
