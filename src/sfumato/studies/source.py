"""Where a study's tables come from: the bundled generators, or a table of one's own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from sfumato.errors import InputError
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.f_privacy import FPrivacy
from sfumato.randomness import SeededRandomness
from sfumato.table import Schema, Table


class Source(Hashable, Protocol):
    """Tables of so many people, one for every secret that is studied."""

    @property
    def name(self) -> str:
        """What it is called beside a result."""

    @property
    def secrets(self) -> Sequence[str]:
        """The secrets that are studied, the main one first."""

    def table(self, secret: str, people: int) -> Table:
        """Return a table of so many people (of fewer where there are no more) with one secret."""


@dataclass(frozen=True)
class OwnTable:
    """A table of one's own: its secrets one by one, and samples of its people without replacement."""

    whole: Table
    name: str

    @property
    def secrets(self) -> Sequence[str]:
        """The policy's secrets."""
        return self.whole.schema.sensitive

    def table(self, secret: str, people: int) -> Table:
        """Return a sample with this secret alone."""
        return _sampled(self, secret, min(people, self.whole.rows))


@lru_cache(maxsize=4)
def _sampled(own: OwnTable, secret: str, people: int) -> Table:
    schema, frame = own.whole.schema, own.whole.to_arrow()
    others = [name for name in schema.sensitive if name != secret]
    kept = {name: kind for name, kind in schema.types.items() if name not in others}
    domains = {name: domain for name, domain in schema.domains.items() if name not in others}
    alone = Schema(quasi=schema.quasi, sensitive=(secret,), types=kept, domains=domains)
    table = Table.from_frame(frame.drop(others), alone)
    if people == table.rows:
        return table
    return table.take(np.sort(SeededRandomness(1).permutation(table.rows)[:people]))


def halves(source: Source, secret: str, people: int) -> tuple[Table, Table]:
    """Return so many people, and as many others, of one source; of a table that has fewer, its halves."""
    both = source.table(secret, 2 * people)
    half = both.rows // 2
    if half == 0:
        raise InputError("the table has fewer than two people")
    return both.take(np.arange(half)), both.take(np.arange(half, 2 * half))


def counts(source: Source, secret: str, people: int, *, split: int = 1) -> dict[str, int]:
    """Return how many people have each value; `split` replaces each value by that many, at random (001's γ)."""
    whole = _counted(source, secret, people)
    if split == 1:
        return dict(whole)
    coins, parts = SeededRandomness(1), dict[str, int]()
    for value, count in sorted(whole.items()):
        for part, held in enumerate(np.bincount(coins.below(split, count), minlength=split).tolist()):
            if held:
                parts[f"{value}#{part}"] = held
    return parts


@lru_cache(maxsize=16)
def _counted(source: Source, secret: str, people: int) -> dict[str, int]:
    column = source.table(secret, people).sensitive
    return {label: int(count) for label, count in zip(column.labels, column.counts, strict=True) if count}


def bounds(source: Source, secret: str, people: int, theta: int, *, offset: str = "0.02", split: int = 1) -> Bounds:
    """Return 001's bounds min(1, θ·f + 0.02)."""
    return FPrivacy(theta=theta, offset=Fraction(offset)).bounds(counts(source, secret, people, split=split))


def without_values(table: Table) -> Schema:
    """Return a table's schema without what it declares of the secret."""
    schema = table.schema
    return replace(schema, domains={name: domain for name, domain in schema.domains.items() if name in schema.quasi})
