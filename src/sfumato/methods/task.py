"""What a method is asked for, and what it makes: a task, and a release before its audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Array, Integers
from sfumato.groups._cut_kernels import Incidence
from sfumato.methods.bands import incidence_of
from sfumato.privacy.bounds import Bounds, as_combinations
from sfumato.privacy.requirement import Against, Requirement
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.release.links import Links
from sfumato.table.column import Column
from sfumato.table.table import Table

if TYPE_CHECKING:
    from sfumato.methods.people import People

PEOPLE, MAKING = 0, 1
"""The streams of coins that shuffle people, and that a method draws from."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is asked for: people in an order of coins, the bounds to keep, and against whom."""

    table: Table
    requirement: Requirement
    bounds: Bounds
    random: Randomness
    progress: Progress
    held: People | None = field(default=None, repr=False)

    @property
    def people(self) -> People:
        """Whoever holds the people: an engine, or the table itself."""
        if self.held is not None:
            return self.held
        from sfumato.methods.people import Memory

        return Memory(self.table)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi columns (quasi-identifiers)."""
        return self.table.quasi

    @property
    def codes(self) -> Array:
        """The code of each person's sensitive value, in the order of the bounds."""
        return self.table.sensitive.codes

    @cached_property
    def secrets(self) -> Array:
        """[columns × people]: the codes of each sensitive column, where each is protected by itself; else one row of them.

        They are in the order of the bounds, which lists the values of one column after those of another.
        """
        return secrets_of(self.table)

    @cached_property
    def incidence(self) -> Incidence | None:
        """Everybody's events where people may have several values: values among hers, and sets that have one of them."""
        return None if self.table.bundles is None else incidence_of(self.table.bundles, self.bounds)

    @cached_property
    def combined(self) -> Bounds:
        """The bounds for combinations of all sensitive columns, where each is protected by itself; else the bounds."""
        if len(self.bounds.secrets) == 1:
            return self.bounds
        sensitive = self.table.sensitive
        first = np.cumsum([0, *self.bounds.values_of_each[:-1]]).tolist()
        parts = [
            (sensitive.domain.part(name)[1].astype(int) + k).tolist()
            for name, k in zip(sensitive.domain.names, first, strict=True)
        ]
        return as_combinations(self.bounds, sensitive.labels, sensitive.counts.tolist(), parts)

    def parts(self) -> tuple[Task, ...]:
        """Return the same task for each secret; one of one secret is its own."""
        if len(self.bounds.secrets) == 1:
            return (self,)
        parts = zip(self.bounds.secrets, self.table.each(), self.bounds.each, strict=True)
        return tuple(
            replace(self, table=table, requirement=self.requirement.of(name), bounds=replace(bounds, secrets=("",)))
            for name, table, bounds in parts
        )

    @property
    def against(self) -> Against:
        """The adversary of the requirement."""
        return self.requirement.against

    def part(self, begin: float, end: float) -> Progress:
        """Return a progress call for a step that takes this part of the whole."""
        return lambda stage, done: self.progress(stage, begin + (end - begin) * done)


@dataclass(frozen=True, eq=False)
class Made:
    """A release before its audit, and what only the publisher may see: figures, and what an exact audit needs beside the table.

    `parts` is the part of each row of the table, for a randomized release; `links` says which people each record with ranges of
    its own was matched with. The audit checks both.
    """

    release: Release
    figures: Mapping[str, Any]
    parts: Integers | None = None
    links: Links | None = None

    def at_rows(self, order: Array) -> Made:
        """Return the same for the table whose row `order[i]` is row i of the one that was published."""
        parts = None if self.parts is None else self.parts[np.argsort(order)]
        return replace(self, parts=parts, links=None if self.links is None else self.links.at_rows(order))


def secrets_of(table: Table) -> Array:
    """Return [columns × people]: the codes of each sensitive column where each is protected by itself, else one row of codes.

    Those of the second column follow those of the first.
    """
    each = [part.sensitive for part in table.each()]
    first = np.cumsum([0, *(len(secret.domain) for secret in each[:-1])])
    codes = np.empty((len(each), table.rows), np.int32)
    for own, secret, start in zip(codes, each, first, strict=True):
        np.add(secret.codes, start, out=own, casting="unsafe")
    return codes
