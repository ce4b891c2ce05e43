"""A table without its rows: columns, domains and counts by aggregation, and how the source's values become codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers, Small, Unsigned
from sfumato.errors import InputError
from sfumato.table.assemble import (
    RawColumns,
    check_domain,
    closed_of,
    few_values,
    recoded,
    refuse_missing,
    refuse_repeated,
    sensitive_of,
    settled,
)
from sfumato.table.cells import cell_column
from sfumato.table.coding import Reading, code_column, split
from sfumato.table.column import Column, Sensitive, code_type
from sfumato.table.fingerprint import value_hashes
from sfumato.table.parse import guess
from sfumato.table.people import Choice, PersonKey
from sfumato.table.schema import Schema
from sfumato.table.table import Table


class Counting(Protocol):
    """What domains need of an engine."""

    def distinct(self, names: Sequence[str]) -> pa.Table:
        """Return the different combinations of these columns (c0, c1, …), and how often each occurs (n)."""

    def repeated(self, names: Sequence[str]) -> tuple[int, int]:
        """Return how many combinations of these columns have several rows, and how many rows those are."""


@dataclass(frozen=True, eq=False)
class Tallied(Sensitive):
    """A sensitive attribute of which only the counts are known."""

    tally: Integers = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def counts(self) -> Integers:
        """Number of people with each value."""
        return self.tally

    def each(self) -> tuple[Sensitive, ...]:
        """Return the attribute of each sensitive column by itself, in the order of the columns."""
        if len(self.domain.names) == 1:
            return (self,)
        parts = [self.domain.part(name) for name in self.domain.names]
        return tuple(Tallied(domain, self.codes, _weighed(codes, self.tally, len(domain))) for domain, codes in parts)


@dataclass(frozen=True, eq=False)
class Known:
    """One column of the source, or the sensitive ones together: their combinations, the code of each, and what it hashes to."""

    names: tuple[str, ...]
    combinations: pa.Table
    codes: Array
    hashes: tuple[Unsigned, ...]


@dataclass(frozen=True, eq=False)
class Outline:
    """The table as methods see it, without people: `table` has domains and counts, and columns without rows.

    `known` says how the source's values become codes: the quasi columns one by one, then the sensitive ones. `counts` are those
    of each code of each quasi column. Rows that `drop` rejects have a missing value where the rule is "drop".
    """

    table: Table
    known: tuple[Known, ...]
    counts: tuple[Integers, ...]
    source: tuple[Column, ...]
    source_counts: tuple[Integers, ...]
    every: tuple[Known, ...]
    """The combinations of the source with the rows that are dropped, and their hashes; their codes are the source's own."""

    @property
    def rows(self) -> int:
        """How many people are published."""
        return self.table.rows

    @property
    def sizes(self) -> list[int]:
        """How many codes each quasi column has, then the sensitive attribute."""
        return [*(column.size for column in self.table.quasi), len(self.table.sensitive.domain)]

    @property
    def stack(self) -> Small:
        """[secrets × codes of the sensitive attribute]: the values of each secret that is protected by itself, one after another.

        Of one attribute these are its own codes.
        """
        domain = self.table.sensitive.domain
        if not self.table.schema.protects_each:
            return np.arange(len(domain), dtype=np.int32)[None, :]
        parts = [domain.part(name) for name in domain.names]
        first = np.cumsum([0, *(len(domain) for domain, _ in parts)]).tolist()
        return np.stack([codes.astype(np.int32) + start for (_, codes), start in zip(parts, first, strict=False)])

    @property
    def types(self) -> tuple[np.dtype[np.unsignedinteger], ...]:
        """The smallest type for the codes of each quasi column, then of the sensitive values."""
        return (*(code_type(column.size) for column in self.table.quasi), code_type(max(len(self.table.sensitive.domain), 1)))


def outline(
    engine: Counting,
    schema: Schema,
    reading: Reading,
    *,
    without: Callable[[Mapping[str, pa.Array]], Counting] | None = None,
    choice: Choice | None = None,
    suspects: tuple[PersonKey, ...] = (),
) -> Outline:
    """Return the table that an engine's source holds, by its different values alone.

    `without` gives the same source without the rows that have one of these values in one of these columns.
    """
    if schema.identifier and schema.one_row_per_person and not schema.people_rule.key:
        several, rows = engine.repeated(schema.identifier)
        if several:
            refuse_repeated(several, rows, schema)
    domains = _Domains.of(engine, schema, reading)
    if not domains.rows:
        raise InputError("the table has no rows", hint="expected one row per person")
    source, source_counts, every = domains.columns, domains.counts, domains.hashed(schema)
    absent = domains.rejected(schema)
    if absent and without is not None:
        domains = _Domains.of(without(absent), schema, reading)
        if not domains.rows:
            raise InputError(
                "every row has a missing value in a column whose rule is drop", hint='use the rule "value" where possible'
            )
    everybody = source_counts[0].sum()
    quasi, values = domains.columns[: len(schema.quasi)], domains.columns[len(schema.quasi) :]
    schema = settled(schema, domains.columns, domains.counts)
    published = [recoded(column, schema) for column in quasi]
    closed = schema.closed_attribute()
    few = [] if closed else [few_values(column, schema) for column in values]
    for column in (*published, *few):
        check_domain(column, schema)
    attribute = closed_of(values, closed) if closed else sensitive_of(few)
    known = [
        Known((column.name,), combinations, column.codes, (_hashes(raw),))
        for column, raw, combinations in zip(published, quasi, domains.combinations, strict=False)
    ]
    known.append(Known(tuple(schema.sensitive), domains.combinations[-1], attribute.codes, tuple(map(_hashes, values))))
    tally = _weighed(attribute.codes, domains.weights[-1], len(attribute.domain))
    table = Table(
        schema=schema,
        quasi=tuple(replace(column, codes=np.zeros(0, column.codes.dtype)) for column in published),
        sensitive=Tallied(attribute.domain, np.zeros(0, attribute.codes.dtype), tally),
        rows=domains.rows,
        dropped=int(everybody) - domains.rows,
        choice=choice,
        suspects=suspects,
        _source=RawColumns((), None, int(everybody)),
    )
    counts = tuple(
        _weighed(column.codes, weight, column.size) for column, weight in zip(published, domains.weights, strict=False)
    )
    return Outline(table, tuple(known), counts, source, source_counts, every)


@dataclass(frozen=True, eq=False)
class _Domains:
    """The different values of every column as coded columns, a row a combination, and how many rows of the source each has."""

    columns: tuple[Column, ...]
    combinations: tuple[pa.Table, ...]
    weights: tuple[Integers, ...]
    of_column: tuple[int, ...]

    @classmethod
    def of(cls, engine: Counting, schema: Schema, reading: Reading) -> _Domains:
        asked = [*((name,) for name in schema.quasi), tuple(schema.sensitive)]
        combinations = tuple(engine.distinct(names) for names in asked)
        columns, of_column = [], []
        for k, (names, table) in enumerate(zip(asked, combinations, strict=True)):
            for j, name in enumerate(names):
                data, sensitive = table.column(f"c{j}"), k == len(asked) - 1
                of_column.append(k)
                if sensitive and schema.closed_attribute():
                    columns.append(cell_column(name, data, reading.decimal))
                else:
                    kind = schema.types.get(name)
                    if reading.guessed and kind is None:
                        data = typed(data, reading.decimal)
                    columns.append(code_column(name, data, kind=kind, show=not sensitive, reading=reading))
        weights = tuple(np.asarray(table.column("n"), dtype=np.int64) for table in combinations)
        return cls(tuple(columns), combinations, weights, tuple(of_column))

    @property
    def rows(self) -> int:
        return int(self.weights[0].sum())

    @property
    def counts(self) -> tuple[Integers, ...]:
        """How often each code of each column occurs."""
        columns = zip(self.columns, self.of_column, strict=True)
        return tuple(_weighed(column.codes, self.weights[k], column.size) for column, k in columns)

    def hashed(self, schema: Schema) -> tuple[Known, ...]:
        """Return every combination with what it hashes to."""
        names = [*((name,) for name in schema.quasi), tuple(schema.sensitive)]
        known = []
        for k, (listed, table) in enumerate(zip(names, self.combinations, strict=True)):
            mine = [column for column, place in zip(self.columns, self.of_column, strict=True) if place == k]
            known.append(Known(listed, table, mine[0].codes, tuple(map(_hashes, mine))))
        return tuple(known)

    def rejected(self, schema: Schema) -> dict[str, pa.Array]:
        """Return the source's values that mean missing, of the columns whose rows are then dropped; raise where none may be."""
        values: dict[str, pa.Array] = {}
        first: dict[int, int] = {}
        for place, k in enumerate(self.of_column):
            first.setdefault(k, place)
        for place, (column, k) in enumerate(zip(self.columns, self.of_column, strict=True)):
            rule = schema.missing_rule(column.name)
            if not column.has_missing or rule == "value":
                continue
            missing = column.codes == len(column.values)
            if rule == "error":
                refuse_missing(column.name, int(self.weights[k][missing].sum()), self.rows)
            values[column.name] = self.combinations[k].column(f"c{place - first[k]}").filter(pa.array(missing)).unique()
        return values


def typed(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return a text column with the type its different values suggest."""
    values, codes = split(column)
    missing = pa.array(codes == len(values))
    indices = pa.array(codes, pa.int32(), mask=np.asarray(missing))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, guess(values, decimal).values)])


def _weighed(codes: Array, weights: Integers, size: int) -> Integers:
    total = np.zeros(size, np.int64)
    np.add.at(total, codes, weights)
    return total


def _hashes(column: Column) -> Unsigned:
    """Return what each combination contributes to the hash of a row, as a fingerprint has it."""
    return value_hashes(column)[column.codes]
