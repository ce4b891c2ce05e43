"""A generated stand-in for a table: its people's quasi values, and sensitive values that nobody has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.table import Table
from sfumato.table.column import Column, Domain, Sensitive, code_type
from sfumato.table.schema import Schema

STRENGTH = 1.0
"""Standard deviation of the log odds that all quasi columns together give a value: about what real tables show."""

_AT_ONCE = 1 << 22
_SOME, _ROUNDS = 5_000, 20
_SEED = 1


class Declaring(Protocol):
    """A method with declared shares."""

    @property
    def declared(self) -> Mapping[str, Fraction]:
        """The declared share of each value."""
        ...

    def close(self, schema: Schema) -> Schema:
        """Return the schema with which a table must be read."""
        ...

    def of(self, column: str) -> Declaring:
        """Return the method with what is declared of one of several columns."""
        ...


def stand_in(table: Table, method: Declaring) -> Table:
    """Return the table with values drawn anew: with the declared shares on average, and links to every quasi column.

    Secrets that are protected each by itself are linked with one another only as far as both are with quasi columns.
    """
    if not table.schema.protects_each:
        return replace(table, sensitive=_values(table, method, _SEED))
    names = table.sensitive.domain.names
    drawn = [_values(part, method.of(name), _SEED + k) for k, (name, part) in enumerate(zip(names, table.each(), strict=True))]
    combinations, inside = np.unique(np.stack([secret.codes for secret in drawn]), axis=1, return_inverse=True)
    parts = {
        name: secret.domain.table.column(name).take(pa.array(own))
        for name, secret, own in zip(names, drawn, combinations, strict=True)
    }
    domain = Domain(pa.table(parts), tuple(secret.domain.kinds[0] for secret in drawn))
    return replace(table, sensitive=Sensitive(domain, inside.ravel().astype(code_type(len(domain)))))


def _values(table: Table, method: Declaring, seed: int) -> Sensitive:
    """Return sensitive values drawn for everybody."""
    attribute = method.close(table.schema).closed_attribute()
    assert attribute is not None
    domain, random = attribute.domain, np.random.default_rng(seed)
    shares = np.array([float(method.declared[label]) for label in domain.labels])
    links = [
        random.normal(0.0, STRENGTH / len(table.quasi) ** 0.5, (len(shares), 2 if column.kind != "categorical" else column.size))
        for column in table.quasi
    ]
    codes = np.empty(table.rows, np.int64)
    step = max(1, _AT_ONCE // len(shares))
    level = _levels(table, links, shares, max(1, table.rows // _SOME))
    for begin in range(0, table.rows, step):
        rows = slice(begin, begin + step)
        codes[rows] = _drawn(_weights(level + _together(table, links, rows)), random)
    used, inside = np.unique(codes, return_inverse=True)
    shown = Domain(domain.table.take(pa.array(used)), domain.kinds)
    return Sensitive(shown, inside.astype(code_type(len(shown))))


def _levels(table: Table, links: Sequence[Floats], shares: Floats, every: int) -> Floats:
    """Return the log odds with which values have their shares on average, found on some of the people."""
    level, linked = np.log(shares), _together(table, links, slice(None, None, every))
    for _ in range(_ROUNDS):
        weights = _weights(level + linked)
        level = level + np.log(shares / (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))
    return level


def _together(table: Table, links: Sequence[Floats], rows: slice) -> Floats:
    total = np.zeros(())
    for column, link in zip(table.quasi, links, strict=True):
        total = total + _links(column, link, rows)
    return total


def _weights(odds: Floats) -> Floats:
    weights: Floats = np.exp(odds - odds.max(axis=1, keepdims=True))
    return weights


def _links(column: Column, link: Floats, rows: slice) -> Floats:
    """Return what a column adds to the log odds of each value: by category, or along a number and its square."""
    codes = column.codes[rows]
    if column.kind == "categorical":
        return np.asarray(link.T[codes])
    place = 2.0 * codes / max(column.size - 1, 1) - 1.0
    return np.outer(place, link[:, 0]) + np.outer(place**2 - 1 / 3, link[:, 1])


def _drawn(weights: Floats, random: np.random.Generator) -> Integers:
    shares = np.cumsum(weights, axis=1)
    return np.asarray((shares < random.random((len(shares), 1)) * shares[:, -1:]).sum(axis=1), dtype=np.int64)
