"""Form *columns*: one table per quasi column that says which values occur in which group, and the groups' sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.accounts import account_listing, account_names, account_tables, read_accounts, renumbered
from sfumato.release.base import Release
from sfumato.release.buckets import published_names
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order, require_canonical
from sfumato.release.coding import (
    code_column,
    dictionary_array,
    entries_table,
    groups_of,
    people_codes,
    require_counts,
    require_distinct,
    require_tables,
    take_table,
    whole_numbers,
)
from sfumato.release.covering import Cover, ShownPart, Weigh, combined_presence, largest_beliefs, mixed_beliefs
from sfumato.release.fragments import COUNT, GROUP, ST, Fragments, auxiliary_names, counted_entries, starts
from sfumato.release.manifest import Manifest
from sfumato.release.secrets import Shows, code_values, shown_values, value_columns
from sfumato.table.coding import ascending, falls
from sfumato.table.column import Column, Domain, Events
from sfumato.table.frames import Native


@dataclass(frozen=True, eq=False, repr=False)
class ColumnsRelease(Shows, Fragments, Release):
    """`at_<column>` per quasi column: value and group, each pair once; `st`: group, sensitive value, count (Ambiguity, [AMB §3]).

    Nothing says which values of a group belong together. Groups are numbered 0 … in memory and 1 … in the tables. The
    entries of a table are sorted by group, then value: `start[j][g]` is the first entry of group g among `columns[j].codes`.
    """

    form = "columns"
    of_several = True

    columns: tuple[Column, ...]
    start: tuple[Integers, ...]
    events: Domain | Events
    st_group: Small
    st_value: Small
    st_count: Integers
    made_from: Native = "pyarrow"
    account: Integers | None = None

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group; everybody has a value of each secret."""
        return np.bincount(self.st_group, weights=self.st_count).astype(np.int64) // len(self.events.secrets)

    @cached_property
    def codes(self) -> tuple[Small, ...]:
        """Per quasi column the codes of its entries, ascending inside a group."""
        return tuple(column.codes.astype(np.int32) for column in self.columns)

    @cached_property
    def group_presence(self) -> Floats:
        """|G| / Π kᵢ per group: a stranger's belief that a person whom it covers is in it ([AMB, Theorem 1])."""
        room = np.prod([np.diff(start).astype(np.float64) for start in self.start], axis=0)
        presence: Floats = np.minimum(1.0, self.sizes / room)
        return presence

    @cached_property
    def cover(self) -> Cover:
        """Which groups cover which combinations of values."""
        return Cover(
            tuple(
                ShownPart(column.size, start, codes)
                for column, start, codes in zip(self.columns, self.start, self.codes, strict=True)
            )
        )

    def tables(self) -> dict[str, pa.Table]:
        """Return `at_<column>` (column, group) per quasi column, `st` (group, sensitive…, count); after soft cuts `groups`."""
        tables = {}
        for name, column, start in zip(self._at_names(), self.columns, self.start, strict=True):
            group = np.repeat(np.arange(len(start) - 1), np.diff(start)) + 1
            tables[name] = pa.table({column.name: dictionary_array(column), GROUP: pa.array(group, pa.int32())})
        st = entries_table(GROUP, self.st_group, shown_values(self.events, self.st_value), self.st_count)
        return tables | {ST: st} | account_tables(self.account)

    def _alone(self, place: int, manifest: Manifest) -> Self:
        low, high = self.events.first[place : place + 2]
        mine = (self.st_value >= low) & (self.st_value < high)
        entries = {"st_group": self.st_group[mine], "st_count": self.st_count[mine]}
        entries["st_value"] = self.st_value[mine] - np.int32(low)
        return replace(self, manifest=manifest, events=self.events.secrets[place], **entries)

    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return the entries of every column's table by value, those of `st` by value and count, and accounts."""
        shown = [
            TableRows(name, np.repeat(np.arange(len(start) - 1), np.diff(start)), column.codes.astype(np.int64))
            for name, column, start in zip(self._at_names(), self.columns, self.start, strict=True)
        ]
        entries = counted_entries(self.st_group, self.st_value, self.st_count)
        return (*shown, entries, *account_listing(self.account)), len(self.sizes)

    def canonical(self) -> ColumnsRelease:
        """Return the same release with group numbers in canonical order."""
        return self.arranged(canonical_order(*self.listing()))

    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with entries and group numbers in this order."""
        groups, entries = np.argsort(order.number), order.rows[len(self.columns)]
        return replace(
            self,
            columns=tuple(column.take(rows) for column, rows in zip(self.columns, order.rows, strict=False)),
            start=tuple(np.concatenate(([0], np.cumsum(np.diff(start)[groups]))).astype(np.int64) for start in self.start),
            st_group=order.number[self.st_group[entries]],
            st_value=self.st_value[entries],
            st_count=self.st_count[entries],
            account=renumbered(self.account, order.number),
        )

    def presence(self, people: Any) -> Floats:
        """Return 1 − Π(1 − |G|/Π kᵢ) over all groups that cover a person, taken as independent; 0 where none does.

        Then she is certainly absent, or among those whom the release says were left out.
        """
        return combined_presence(self.cover, people_codes(self.columns, people), self._weigh)

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the largest share of each value in a group that covers a person; else NaN."""
        return largest_beliefs(self.cover, people_codes(self.columns, people), self._weigh, self._shares, len(self.events))

    def mean_beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the share of each value in the groups that cover a person, if she is present.

        She is taken to be in one of them, each as likely as its presence belief: Σ p·(c/|G|) / Σ p. That is a mixture of groups,
        which keeps every bound that the groups keep. A person whom no group covers gets NaN.
        """
        return mixed_beliefs(self.cover, people_codes(self.columns, people), self._weigh, self._shares, len(self.events))

    @property
    def _shares(self) -> tuple[Integers, Small, Floats]:
        """Where the entries of each group begin, their values and their shares."""
        return self.st_start, self.st_value, self.st_count / self.sizes[self.st_group]

    def _weigh(self, people: Integers) -> Weigh:
        """Return how pairs of a person and a group are weighed: in this form, whoever the person is."""

        def weighed(owner: Integers, group: Small) -> tuple[Floats, Integers]:
            return self.group_presence[group], group.astype(np.int64)

        return weighed

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose auxiliary tables and `st` these are, as they are read; entries of a group stand together.

        Tables that cannot be such are refused.
        """
        quasi, _, kinds = published_names(manifest)
        names = auxiliary_names(quasi)
        require_tables(tables, cls.form, (*names, ST, *account_names(manifest)))
        st = take_table(tables, ST, {GROUP: "group"} | value_columns(manifest) | {COUNT: "count"})
        count = whole_numbers(st, COUNT, ST)
        st_group, groups = groups_of(st, GROUP, ST)
        domain, value = code_values(manifest, st)
        sizes = _sizes(domain, st_group, value, count, manifest.rows)
        require_distinct(st_group * np.int64(len(domain)) + value, "table 'st'")
        columns, group = [], []
        for name, column in zip(names, quasi, strict=True):
            table = take_table(tables, name, {column: kinds[column], GROUP: "group"})
            columns.append(code_column(column, kinds[column], table[column]))
            group.append(groups_of(table, GROUP, name, groups)[0])
            require_distinct(group[-1] * np.int64(columns[-1].size) + columns[-1].codes, f"table {name!r}")
            _require_owners(np.bincount(group[-1], minlength=groups), sizes, name)
        account = read_accounts(manifest, tables, groups, in_any_order=in_any_order)
        if any(falls(groups) for groups in (*group, st_group)):
            if not in_any_order:
                read = zip(names, group, columns, strict=True)
                shown = [TableRows(name, group, column.codes.astype(np.int64)) for name, group, column in read]
                require_canonical([*shown, counted_entries(st_group, value, count)], groups)
            columns = [column.take(ascending(own)) for column, own in zip(columns, group, strict=True)]
            entries = ascending(st_group)
            st_group, value, count = st_group[entries], value[entries], count[entries]
        start = tuple(starts(np.sort(own), groups) for own in group)
        return cls(manifest, tuple(columns), start, domain, st_group, value.astype(np.int32), count, account=account)

    def _at_names(self) -> list[str]:
        return auxiliary_names([column.name for column in self.columns])


def _sizes(domain: Domain | Events, group: Small, value: Integers, count: Integers, rows: int) -> Integers:
    """Return how many people each group has, by the values of each secret; secrets that differ in that are refused."""
    shown = []
    for low, high in pairwise(domain.first.tolist()):
        mine = slice(None) if high - low == len(domain) else (value >= low) & (value < high)
        require_counts(count[mine], rows)
        shown.append(np.bincount(group[mine], weights=count[mine], minlength=int(group.max()) + 1).astype(np.int64))
    if any((people != shown[0]).any() for people in shown):
        raise FormatError("table 'st': some groups show different numbers of people for different secrets")
    return shown[0]


def _require_owners(values: Integers, sizes: Integers, name: str) -> None:
    """Raise `FormatError` where a group shows more values of a column than it has people: each is somebody's."""
    over = int((values > sizes).sum())
    if over:
        raise FormatError(f"table {name!r}: {over} groups show more values than they have people")
