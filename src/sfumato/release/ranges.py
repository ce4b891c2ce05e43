"""Form *ranges*: per person the ranges and value sets of her group, and a sensitive value, shuffled inside the group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Floats, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.accounts import account_listing, account_names, account_tables, read_accounts, renumbered
from sfumato.release.base import Release
from sfumato.release.box_tables import box_arrays, possible_columns, read_box
from sfumato.release.boxes import Box, box_ranks, fitting
from sfumato.release.buckets import published_names
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order
from sfumato.release.coding import (
    code_domain,
    decoded,
    entries_table,
    groups_of,
    people_table,
    require_tables,
    sensitive_columns,
    take_table,
)
from sfumato.release.held import ST, Held, HeldEntries, held_names, read_entries, read_held, two_values
from sfumato.release.manifest import Manifest
from sfumato.release.secrets import Shows, shown_values
from sfumato.table.column import Domain, Events
from sfumato.table.fingerprint import mix
from sfumato.table.frames import Native

GROUP = "group"
RECORDS = "records"

_DENSE = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class RangesRelease(Shows, Release):
    """`records`: one row per person with her group's ranges and sets, a sensitive value, and the group.

    This is generalization as the literature knows it, every group shown by the smallest box that holds its people. Rows
    carry nothing of a person but her group, so that nothing links a sensitive value to one of the group.
    Groups are numbered 0 … in memory and 1 … in the table. With soft cuts `groups` has their accounts.

    `value` has the value of each row, sorted inside groups; of several secrets [secrets × rows], each sorted by itself. In the
    table the values of the second secret, and so on, are spread over the rows of their group in an order that follows from the
    numbers of rows alone: nothing says that the values of one row belong together. Where people may have several values, rows
    show none: `entries` says how many people of each group have each, as `st`, and `held` what else groups show.
    """

    form = "ranges"
    of_several = True

    boxes: tuple[Box, ...]
    group: Small
    events: Domain | Events
    value: Small
    made_from: Native = "pyarrow"
    account: Integers | None = None
    entries: HeldEntries | None = None
    held: Held | None = None

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        return np.bincount(self.group).astype(np.int64)

    @cached_property
    def shown(self) -> tuple[Integers, Small, Integers]:
        """The histograms of the groups: where each group's entries start, their values (ascending) and their counts."""
        if self.entries is not None:
            start = np.searchsorted(self.entries.group, np.arange(len(self.sizes) + 1)).astype(np.int64)
            return start, self.entries.value, self.entries.people
        key, count = np.unique((self.group.astype(np.int64) * len(self.events) + self.value).ravel(), return_counts=True)
        start = np.searchsorted(key // len(self.events), np.arange(len(self.sizes) + 1)).astype(np.int64)
        return start, (key % len(self.events)).astype(np.int32), count.astype(np.int64)

    def tables(self) -> dict[str, pa.Table]:
        """Return `records`: per quasi column its range or set, the sensitive columns, and the group; after soft cuts `groups`."""
        columns: dict[str, pa.Array] = {}
        for box in self.boxes:
            columns |= box_arrays(box, self.group)
        for k, (domain, value) in enumerate(self._values() if self.entries is None else ()):
            columns |= sensitive_columns(domain, spread(value, self.group, k).astype(np.int32) if k else value)
        columns[GROUP] = pa.array(self.group + 1, pa.int32())
        return {RECORDS: pa.table(columns), **account_tables(self.account), **self._held_tables()}

    def _held_tables(self) -> dict[str, pa.Table]:
        """Return `st`, `sets` and `numbers` where people may have several values."""
        if self.entries is None or self.held is None:
            return {}
        shown = shown_values(self.events, self.entries.value)
        return {ST: entries_table(GROUP, self.entries.group, shown, self.entries.people), **self.held.tables(self.manifest)}

    def _values(self) -> Iterator[tuple[Domain, Small]]:
        """Yield the values of each secret, and the code of each row's among them."""
        for secret, first, value in zip(self.events.secrets, self.events.first[:-1], np.atleast_2d(self.value), strict=True):
            yield secret, value - np.int32(first)

    def _alone(self, place: int, manifest: Manifest) -> Self:
        if self.entries is not None and self.held is not None:
            low, high = self.events.first[place : place + 2].tolist()
            sets = [k for k, entry in enumerate(self.manifest.sets) if entry.get("secret") == self.secrets[place]]
            held = self.held.of(place, np.array(sets, dtype=np.int32))
            own = self.events.secrets[place]
            return replace(self, manifest=manifest, events=own, entries=self.entries.of(low, high), held=held)
        domain, value = list(self._values())[place]
        return replace(self, manifest=manifest, events=domain, value=value)

    @property
    def facts(self) -> HeldEntries:
        """How many people of a group have a value among theirs."""
        start, value, count = self.shown
        return HeldEntries(np.repeat(np.arange(len(self.sizes), dtype=np.int32), np.diff(start)), value, count)

    def of_two(self, manifest: Manifest, events: Domain, having: Integers) -> Self:
        """Return the release of people who have the first of two values, so many of each group, or the second."""
        both, group, value = two_values(having, self.sizes)
        own = replace(self, manifest=manifest, events=events, entries=None, held=None)
        return replace(own, group=np.repeat(group, both), value=np.repeat(value, both))

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the largest share of each value in a group whose ranges fit a person.

        A person whom no group fits gets NaN. Records with ranges of their own are in no groups: theirs are `mean_beliefs`.
        """
        if self.manifest.own_ranges:
            return self.mean_beliefs(people)
        shares = self._counts / self.sizes[:, None]

        def most(fits: Flags) -> Floats:
            return np.array(
                [shares[fitting].max(axis=0) if fitting.any() else np.full(len(self.events), np.nan) for fitting in fits]
            )

        return self.over_fitting(people, most)

    def mean_beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the share of each value among all published rows whose ranges fit a person.

        Every group whose box holds her values counts, whichever she is in: a mixture of whole groups, which keeps every bound
        that the groups keep. A person whom no group fits gets NaN.
        """
        counts = self._counts

        def shares(fits: Flags) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                mixed: Floats = (fits @ counts) / (fits @ self.sizes.astype(np.float64))[:, None]
            return mixed

        return self.over_fitting(people, shares)

    @property
    def _counts(self) -> Floats:
        """[groups × sensitive values]: how often each occurs."""
        start, value, count = self.shown
        table = np.zeros((len(self.sizes), len(self.events)))
        table[np.repeat(np.arange(len(self.sizes)), np.diff(start)), value] = count
        return table

    def presence(self, people: Any) -> Floats:
        """Return 1 − Π(1 − |G|/V) over all groups whose ranges hold a person, taken as independent; 0 where none does.

        V is how many combinations of values the ranges and sets of group G cover, of which its people are |G|: generalization
        hides presence too ([AMB, Fig. 3]), by Theorem 1 read on ranges. Nothing of it is claimed: it takes every combination as
        likely as any other, also those at the ends of ranges, where somebody stands for certain.
        """
        if self.manifest.own_ranges:
            raise FormatError(
                "records with ranges of their own make no statement about presence: each fits several people, and each person "
                "fits several",
                hint="ranges of shared groups do, and the forms columns (method ambiguity) and views (method priview)",
            )
        room = np.prod([box.combinations() for box in self.boxes], axis=0)
        with np.errstate(divide="ignore"):
            absent = np.log1p(-np.minimum(1.0, self.sizes / room))

        def together(fits: Flags) -> Floats:
            present: Floats = 0.0 - np.expm1(np.where(fits, absent, 0.0).sum(axis=1))
            return present

        return self.over_fitting(people, together)

    def over_fitting(self, people: Any, figure: Callable[[Flags], Floats]) -> Floats:
        """Return a figure per person, from [people × groups]: which groups fit. Equal people are computed once."""
        distinct, which = np.unique(positions(self.boxes, people), axis=0, return_inverse=True)
        step = max(1, _DENSE // len(self.sizes))
        blocks = [distinct[begin : begin + step] for begin in range(0, max(1, len(distinct)), step)]
        fits = (np.array([fitting(self.boxes, row) for row in block]).reshape(-1, len(self.sizes)) for block in blocks)
        beliefs: Floats = np.concatenate([figure(fitting) for fitting in fits])[which.reshape(-1)]
        return beliefs

    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return rows by what their group shows, then by value; of every further secret the values of each group."""
        if self.entries is not None and self.held is not None:
            rows = TableRows(RECORDS, self.group, box_ranks(self.boxes)[self.group].astype(np.int64))
            beside = (*account_listing(self.account), self.entries.listing(), *self.held.listing())
            return (rows, *beside), len(self.sizes)
        (domain, value), *others = self._values()
        shown = box_ranks(self.boxes)[self.group] * np.int64(len(domain)) + value
        spread_values = (TableRows(RECORDS, self.group, codes.astype(np.int64)) for _, codes in others)
        return (TableRows(RECORDS, self.group, shown), *account_listing(self.account), *spread_values), len(self.sizes)

    def canonical(self) -> tuple[RangesRelease, Integers]:
        """Return the same release with rows and group numbers in canonical order, and the row here of each of its rows."""
        order = canonical_order(*self.listing())
        return self.arranged(order), order.rows[0]

    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with rows and group numbers in this order."""
        rows = order.rows[0]
        groups = np.argsort(order.number)
        boxes = tuple(box.take(groups) for box in self.boxes)
        account = renumbered(self.account, order.number)
        if self.entries is not None and self.held is not None:
            entries = self.entries.arranged(order.rows[-3], order.number)
            held = self.held.arranged(order.rows[-2], order.rows[-1], order.number)
            return replace(self, boxes=boxes, group=order.number[self.group[rows]], account=account, entries=entries, held=held)
        value = self.value[rows] if self.value.ndim == 1 else self._arranged_values(order)
        return replace(self, boxes=boxes, group=order.number[self.group[rows]], value=value, account=account)

    def _arranged_values(self, order: CanonicalOrder) -> Small:
        others = order.rows[len(order.rows) - len(self.value) + 1 :]
        return np.stack([codes[rows] for codes, rows in zip(self.value, (order.rows[0], *others), strict=True)])

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `records` these are, as they are read; a table that cannot be such is refused."""
        quasi, _, kinds = published_names(manifest)
        beside = (ST, *held_names(manifest)) if manifest.bundled else ()
        require_tables(tables, cls.form, (RECORDS, *account_names(manifest), *beside))
        records = take_table(tables, RECORDS, expected_columns(manifest, tables[RECORDS]), manifest.rows)
        group, groups = groups_of(records, GROUP, RECORDS)
        first = np.empty(groups, np.int64)
        first[group[::-1]] = np.arange(len(group))[::-1]
        boxes = tuple(read_box(records, name, kinds[name], group, first) for name in quasi)
        account = read_accounts(manifest, tables, groups, in_any_order=in_any_order)
        if manifest.bundled:
            events, entries = read_entries(manifest, tables, groups)
            held = read_held(manifest, tables, np.bincount(group).astype(np.int64), events, entries)
            none = np.zeros(0, np.int32)
            return cls(manifest, boxes, group, events, none, account=account, entries=entries, held=held)
        domain, value = _read_values(manifest, records, group, in_any_order=in_any_order)
        return cls(manifest, boxes, group, domain, value, account=account)


def _read_values(manifest: Manifest, records: pa.Table, group: Small, *, in_any_order: bool) -> tuple[Domain | Events, Small]:
    """Return the values of all secrets, and the codes of each row's; those that were spread as they were before."""
    _, sensitive, kinds = published_names(manifest)
    if len(manifest.secrets) == 1:
        domain, value = code_domain(records.select(sensitive), tuple(kinds[name] for name in sensitive))
        return domain, value.astype(np.int32)
    domains, codes = zip(*(code_domain(records.select([name]), (kinds[name],)) for name in sensitive), strict=True)
    events = Events(domains)
    gather = [code if in_any_order or not k else gathered(code, group, k) for k, code in enumerate(codes)]
    return events, np.stack([code.astype(np.int32) + np.int32(first) for code, first in zip(gather, events.first, strict=False)])


def expected_columns(manifest: Manifest, records: pa.Table) -> dict[str, str]:
    """Return the columns that such a table has, and the kind of each; a flag only where it is there."""
    quasi, sensitive, kinds = published_names(manifest)
    there = set(records.column_names)
    shown = {
        name: kind
        for column in quasi
        for name, kind in possible_columns(column, kinds[column]).items()
        if kind != "flag" or name in there
    }
    return shown | {name: kinds[name] for name in sensitive if not manifest.bundled} | {GROUP: "group"}


def positions(boxes: tuple[Box, ...], people: Any) -> Integers:
    """Return [people × columns]: where each person's values lie as the boxes see them."""
    table = people_table(people, [box.name for box in boxes])
    return np.stack([box.positions(decoded(table[box.name])) for box in boxes], axis=1)


def spread(values: Array, group: Array, column: int, first: int = 0) -> Integers:
    """Return values, sorted by group, spread over the rows of their group: by the numbers of rows and column alone.

    `first` is the number of the first row, where only some groups are given.
    """
    placed = np.empty(len(values), np.int64)
    placed[_order(group, column, first)] = values
    return placed


def gathered(values: Array, group: Array, column: int, first: int = 0) -> Array:
    """Return the values that were spread, as they were before."""
    return values[_order(group, column, first)]


def _order(group: Array, column: int, first: int) -> Integers:
    """Return the rows by group, in a group scattered: the rows that its first, second, … value goes to."""
    row = np.arange(first, first + len(group), dtype=np.uint64)
    return np.lexsort((mix((row + np.uint64(column << 40)) * np.uint64(0x9E3779B97F4A7C15)), group))
