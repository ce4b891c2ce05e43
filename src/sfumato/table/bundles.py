"""What people have where they may have several values of a secret, or none: everybody's *bundle*, a set of values.

A bundle is never published, nor is the list of bundles: about half of the people of a hospital have one of their own. What is
counted are *events*, things that a person has or has not: a value among hers, or one of a named set.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Integers
from sfumato.errors import InputError
from sfumato.table.assemble import (
    Assembled,
    RawColumns,
    Rows,
    check_domain,
    coded_column,
    few_values,
    identity_of,
    kept_rows,
    person_of,
    recoded,
    refuse_missing,
    require_one_row,
    settled,
)
from sfumato.table.coding import Reading, taken
from sfumato.table.column import Column, Domain, Events, Sensitive, code_type
from sfumato.table.gather import Gathered, band_columns

if TYPE_CHECKING:
    from sfumato.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Bundles(Sensitive):
    """The sensitive attribute of people who have any number of values: `codes` are numbers of bundles, not of values.

    `value[start[b] : start[b + 1]]` are the values of bundle b, ascending: numbers among those of all secrets in one list.
    `domain` has the values of the only secret, or the `Events` of several.
    """

    start: Integers
    value: Array

    @property
    def secrets(self) -> tuple[Domain, ...]:
        """The values of each secret."""
        return self.domain.secrets

    @cached_property
    def people(self) -> Integers:
        """How many people have each bundle."""
        return np.bincount(self.codes, minlength=len(self.start) - 1)

    @cached_property
    def _bundle(self) -> Integers:
        """The bundle of each entry of `value`."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    @cached_property
    def counts(self) -> Integers:
        """Number of people with each value; they add up to facts, not to people."""
        return np.bincount(self.value, weights=self.people[self._bundle], minlength=len(self.domain)).astype(np.int64)

    @property
    def facts(self) -> int:
        """How many pairs of a person and a value of hers there are."""
        return int(self.counts.sum())

    def any_of(self, values: Sequence[int]) -> Flags:
        """Return which people have one of these values."""
        wanted = np.zeros(len(self.domain), bool)
        wanted[list(values)] = True
        has = np.zeros(len(self.start) - 1, bool)
        has[self._bundle[wanted[self.value]]] = True
        return cast("Flags", has[self.codes])

    def numbers(self, low: int = 0, high: int | None = None) -> Integers:
        """Return how many values everybody has among those from `low` up to `high`."""
        mine = (self.value >= low) & (self.value < (len(self.domain) if high is None else high))
        return np.bincount(self._bundle[mine], minlength=len(self.start) - 1)[self.codes]

    def incidence(self, sets: Sequence[Sequence[int]] = ()) -> tuple[Integers, Array]:
        """Return everybody's events as where they begin and which they are: values, then numbers of the sets after them."""
        bundle, event = [self._bundle], [self.value.astype(np.int64)]
        for place, members in enumerate(sets, len(self.domain)):
            holding = np.unique(self._bundle[np.isin(self.value, list(members))])
            bundle.append(holding)
            event.append(np.full(len(holding), place))
        of, what = np.concatenate(bundle), np.concatenate(event)
        order = np.lexsort((what, of))
        first = np.searchsorted(of[order], np.arange(len(self.start)))
        length = np.diff(first)[self.codes]
        begin = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
        at = np.repeat(first[self.codes] - begin[:-1], length) + np.arange(begin[-1])
        return begin, what[order][at].astype(np.int32)

    def counted(self, most: Sequence[int], order: Integers) -> tuple[Integers, Array]:
        """Return whom, and of which values, noise counts: at most so many of each secret a person, those first in this order.

        The order is of all facts, as `incidence` lists them. Drawn by coins, it is for each person any order of hers, each as
        likely, whatever others have.
        """
        begin, value = self.incidence()
        person = np.repeat(np.arange(len(self.codes)), np.diff(begin))
        events: Any = self.domain
        secret = np.searchsorted(events.first, value, side="right") - 1
        sort = np.lexsort((order, secret, person))
        key = (person * len(most) + secret)[sort]
        place = np.arange(len(key)) - np.searchsorted(key, key)
        kept = np.sort(sort[place < np.array(most)[secret[sort]]])
        return person[kept], value[kept]

    def each(self) -> tuple[Bundles, ...]:
        """Return what people have of each secret."""
        events: Any = self.domain
        if isinstance(events, Domain):
            return (self,)
        each = []
        for domain, low, high in zip(events.secrets, events.first[:-1].tolist(), events.first[1:].tolist(), strict=True):
            mine = (self.value >= low) & (self.value < high)
            start = np.searchsorted(self._bundle[mine], np.arange(len(self.start)))
            each.append(Bundles(domain, self.codes, start, self.value[mine] - low))
        return tuple(each)

    def lists(self) -> pa.Array:
        """Return everybody's values as lists of texts."""
        begin, value = self.incidence()
        return pa.ListArray.from_arrays(pa.array(begin, pa.int32()), pa.array(self.labels).take(pa.array(value)))

    def at(self, rows: Array) -> Bundles:
        """Return what these people have, among the same values."""
        return replace(self, codes=self.codes[rows])

    def only_used(self) -> Bundles:
        """Return the same without the values that nobody has."""
        used = self.counts > 0
        if used.all():
            return self
        there = self.people[self._bundle] > 0
        start = np.searchsorted(self._bundle[there], np.arange(len(self.start)))
        value = (np.cumsum(used) - 1)[self.value[there]]
        events: Any = self.domain
        domains = [
            Domain(secret.table.take(pa.array(np.flatnonzero(used[low : low + len(secret)]))), secret.kinds)
            for secret, low in zip(events.secrets, events.first[:-1].tolist(), strict=True)
        ]
        domain: Any = domains[0] if len(domains) == 1 else Events(tuple(domains))
        return Bundles(domain, self.codes, start, value)


def bundles_of(domain: Domain | Events, person: Integers, value: Integers, people: int) -> Bundles:
    """Return the attribute of people who have these values, each counted once.

    Bundles are numbered by what is in them, whatever the order of the rows.
    """
    pairs = np.unique(person * np.int64(len(domain)) + value)
    owner, value = np.divmod(pairs, len(domain))
    start = np.searchsorted(owner, np.arange(people + 1))
    packed = value.astype(">u4")
    own = [packed[low:high].tobytes() for low, high in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)]
    listed = sorted(set(own))
    number = {bundle: k for k, bundle in enumerate(listed)}
    values = np.frombuffer(b"".join(listed), ">u4").astype(np.int32)
    lengths = np.array([len(bundle) // 4 for bundle in listed], np.int64)
    codes = np.array([number[bundle] for bundle in own], dtype=code_type(len(listed)))
    return Bundles(cast("Domain", domain), codes, np.concatenate(([0], np.cumsum(lengths))), values)


def assemble_bundles(data: pa.Table, rows: Rows, gathered: Gathered, reading: Reading) -> Assembled:
    """Return the coded table of data that `gather` stacked, whose people may have several values of a secret."""
    schema, first = rows.schema, gathered.first
    quasi = [taken(coded_column(data, name, schema, reading), first) for name in schema.quasi if name in data.column_names]
    quasi += band_columns(gathered, schema.people_rule)
    kept = kept_rows(quasi, schema, gathered.people)
    cells = schema.closed is not None
    coded = [coded_column(data, name, schema, reading, cells=cells) for name in schema.sensitive]
    if not cells:
        schema = settled(schema, coded, [_people_with(column, gathered) for column in coded])
    secrets = [] if cells else [few_values(column, schema) for column in coded]
    people = data.take(pa.array(first))
    if not schema.people_rule.key:
        require_one_row(people, schema)
    identity, told = identity_of(people, schema, schema.people_rule.key), person_of(people, schema)
    attribute = _declared(coded, schema, gathered) if cells else _attribute(secrets, schema, gathered)
    texts = (_as_texts(name, secret) for name, secret in zip(schema.sensitive, attribute.each(), strict=True))
    times = gathered.times if schema.people_rule.all else None
    source = RawColumns((*quasi, *texts), identity, gathered.people, kept, told, times)
    if kept is not None:
        quasi, attribute = [taken(column, kept) for column in quasi], attribute.at(kept)
        attribute = attribute if cells else attribute.only_used()
    schema = settled(schema, quasi)
    published = tuple(recoded(column, schema) for column in quasi)
    for column in (*published, *secrets):
        check_domain(column, schema)
    return Assembled(published, attribute, source, schema)


def _people_with(column: Column, gathered: Gathered) -> Integers:
    """Return how many people have each code of a stacked column, however often."""
    pairs = np.unique(gathered.owner * np.int64(column.size) + column.codes)
    return np.bincount(pairs % column.size, minlength=column.size)


def _attribute(columns: Sequence[Column], schema: Schema, gathered: Gathered) -> Bundles:
    """Return what people have; an empty cell is no fact.

    Where the rule says so, to have none is a value: that of whoever has no other.
    """
    owner, domains, persons, values, first = gathered.owner, [], [], [], 0
    for column in columns:
        rule = schema.missing.get(column.name)
        cell = np.zeros(len(column.codes), bool)
        cell[gathered.entries[column.name]] = True
        present = cell & (column.codes < len(column.values))
        if rule == "error" and present.sum() < cell.sum():
            refuse_missing(column.name, int(cell.sum() - present.sum()), int(cell.sum()))
        counted = present | _nobodys(present, gathered) if rule == "value" else present
        used, codes = np.unique(column.codes[counted], return_inverse=True)
        if not len(used):
            raise InputError(f"secret {column.name!r}: nobody has a value", hint="is it the right column? [secrets]")
        domain = Domain(pa.table({column.name: column.dictionary().take(pa.array(used))}), (column.kind,))
        if len(set(domain.labels)) < len(domain):
            raise InputError(
                f"sensitive values of {column.name!r}: two different ones are written the same way",
                hint='rename values that are called "(missing)"',
            )
        domains.append(domain)
        persons.append(owner[counted])
        values.append(codes + first)
        first += len(used)
    events: Domain | Events = domains[0] if len(domains) == 1 else Events(tuple(domains))
    return bundles_of(events, np.concatenate(persons), np.concatenate(values).astype(np.int64), gathered.people)


def _declared(columns: Sequence[Column], schema: Schema, gathered: Gathered) -> Bundles:
    """Return what people have of the declared values; another value is the one for all others, an empty cell is no fact."""
    owner, domains, persons, values, first = gathered.owner, [], [], [], 0
    for column in columns:
        own = schema.only(column.name).closed_attribute()
        assert own is not None
        present = column.codes < len(column.values)
        whole = Column(column.name, column.kind, column.values, np.arange(len(column.values), dtype=np.int32))
        domains.append(own.domain)
        persons.append(owner[present])
        values.append(own.codes([whole])[column.codes[present]] + first)
        first += len(own.domain)
    events: Domain | Events = domains[0] if len(domains) == 1 else Events(tuple(domains))
    return bundles_of(events, np.concatenate(persons), np.concatenate(values).astype(np.int64), gathered.people)


def _nobodys(present: Flags, gathered: Gathered) -> Flags:
    """Return one entry of everybody who has no value."""
    has = np.zeros(gathered.people, bool)
    has[gathered.owner[present]] = True
    entries = np.zeros(len(present), bool)
    entries[gathered.first[~has]] = True
    return entries


def _as_texts(name: str, own: Bundles) -> Column:
    """Return everybody's bundle as text, for fingerprints of a table, which are private."""
    labels = own.labels
    spelled = [
        json.dumps([labels[value] for value in own.value[low:high].tolist()], ensure_ascii=False)
        for low, high in zip(own.start[:-1].tolist(), own.start[1:].tolist(), strict=True)
    ]
    listed, codes = np.unique(np.array(spelled, dtype=object), return_inverse=True)
    return Column(name, "categorical", pa.array(listed.tolist(), pa.string()), codes[own.codes].astype(code_type(len(listed))))
