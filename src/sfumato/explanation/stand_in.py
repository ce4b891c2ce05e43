"""A generated stand-in for a table: its people's quasi values, and sensitive values that nobody has.

Where people may have several values of a secret, everybody draws one, or none, as often as she has cells: rows times columns of
the secret. How many rows people have is no secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.table import Table
from sfumato.table.bundles import Bundles, bundles_of
from sfumato.table.column import Column, Domain, Events, Sensitive, code_type
from sfumato.table.schema import Schema

STRENGTH = 1.0
"""Standard deviation of the log odds that all quasi columns together give a value: about what real tables show."""

_AT_ONCE = 1 << 22
_SOME, _ROUNDS = 5_000, 20
_SEED = 1
_FAR, _RARE = 20.0, 1e-12  # of log odds, of chances


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
    if table.bundles is not None:
        return replace(table, sensitive=_bundles(table, method))
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


def _bundles(table: Table, method: Declaring) -> Bundles:
    """Return what everybody has of each secret, drawn cell by cell."""
    person, value, domains, first = [], [], [], 0
    several, times = table.schema.protects_each, np.ones(table.rows, np.int64) if table.times is None else table.times
    for k, part in enumerate(table.each()):
        name = part.schema.sensitive[0]
        links = _Linked.of(part, method.of(name) if several else method, _SEED + k)
        drawn = links.draw_cells(part, times * len(part.schema.secrets[name]))
        who, what = (np.concatenate(found) for found in zip(*drawn, strict=True))
        person.append(who)
        value.append(what + first)
        domains.append(links.domain)
        first += len(links.domain)
    events = domains[0] if len(domains) == 1 else Events(tuple(domains))
    return bundles_of(events, np.concatenate(person), np.concatenate(value), table.rows)


def _values(table: Table, method: Declaring, seed: int) -> Sensitive:
    """Return sensitive values drawn for everybody."""
    linked = _Linked.of(table, method, seed)
    codes = np.concatenate(list(linked.draw_one(table)))
    used, inside = np.unique(codes, return_inverse=True)
    shown = Domain(linked.domain.table.take(pa.array(used)), linked.domain.kinds)
    return Sensitive(shown, inside.astype(code_type(len(shown))))


@dataclass(frozen=True, eq=False)
class _Linked:
    """How the odds of the declared values of a secret go with quasi values."""

    domain: Domain
    shares: Floats
    links: Sequence[Floats]
    random: np.random.Generator

    @classmethod
    def of(cls, table: Table, method: Declaring, seed: int) -> _Linked:
        attribute = method.close(table.schema).closed_attribute()
        assert attribute is not None
        domain, random = attribute.domain, np.random.default_rng(seed)
        shares = np.array([float(method.declared[label]) for label in domain.labels])
        scale = STRENGTH / len(table.quasi) ** 0.5
        sizes = [(len(shares), 2 if column.kind != "categorical" else column.size) for column in table.quasi]
        return cls(domain, shares, [random.normal(0.0, scale, size) for size in sizes], random)

    def draw_one(self, table: Table) -> Iterator[Integers]:
        """Yield a value for everybody, in order."""
        level = self._levels(table, _shared)
        for rows in _in_parts(table.rows, len(self.shares)):
            yield _drawn(_weights(level + _together(table, self.links, rows)), self.random)

    def draw_cells(self, table: Table, cells: Integers) -> Iterator[tuple[Integers, Integers]]:
        """Yield people and values of theirs, as often as they were drawn."""
        level = self._levels(table, lambda odds, rows: _has(odds, cells[rows]))
        for rows in _in_parts(table.rows, len(self.shares)):
            chance = _of_cell(level + _together(table, self.links, rows))
            person, value = np.nonzero(self.random.multinomial(cells[rows], chance)[:, :-1])
            yield person + rows.start, value

    def _levels(self, table: Table, chances: Callable[[Floats, slice], Floats]) -> Floats:
        """Return the log odds with which values have their shares on average, found on some of the people."""
        some = slice(None, None, max(1, table.rows // _SOME))
        level, linked = np.log(self.shares), _together(table, self.links, some)
        for _ in range(_ROUNDS):
            level = level + np.log(self.shares / chances(level + linked, some).mean(axis=0))
        return level


def _in_parts(rows: int, values: int) -> Iterator[slice]:
    step = max(1, _AT_ONCE // values)
    for begin in range(0, rows, step):
        yield slice(begin, begin + step)


def _shared(odds: Floats, rows: slice) -> Floats:
    """Return everybody's chances of values of which she has one."""
    weights = _weights(odds)
    shared: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shared


def _of_cell(odds: Floats) -> Floats:
    """Return the chance that a cell of somebody's has each value, and the last, that it has none."""
    found: Floats = np.exp(np.minimum(odds, _FAR))
    found = np.hstack([found, np.ones((len(found), 1))])
    found /= found.sum(axis=1, keepdims=True)
    return found


def _has(odds: Floats, cells: Integers) -> Floats:
    """Return the chance of having each value in one of so many cells."""
    found: Floats = 1.0 - (1.0 - _of_cell(odds)[:, :-1]) ** cells[:, None]
    return np.maximum(found, _RARE)


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
