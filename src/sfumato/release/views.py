"""Form *views*: most quasi columns of everybody in one table, the others with the sensitive values in a second one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.buckets import published_names
from sfumato.release.canonical import CanonicalOrder, TableRows, canonical_order
from sfumato.release.coding import (
    code_column,
    code_domain,
    dictionary_array,
    entries_table,
    groups_of,
    require_counts,
    require_distinct,
    require_tables,
    row_keys,
    sensitive_columns,
    take_table,
    whole_numbers,
)
from sfumato.release.covering import Cover, ShownPart, Weigh, combined_presence, largest_beliefs, mixed_beliefs
from sfumato.release.fragments import COUNT, GROUP, ST, Fragments, counted_entries, starts
from sfumato.release.manifest import Manifest
from sfumato.table.column import Column, Domain, combined
from sfumato.table.frames import Native

AT = "at"
MOVED = "moved"


@dataclass(frozen=True, eq=False)
class RowCounts:
    """Distinct rows of one table's quasi columns: `rows` of them, and how often each occurs in each group, sorted by group.

    `row[e]` is the distinct row of entry e, `times[e]` how often its group has it, and `start[g]` the first entry of group g.
    """

    columns: tuple[Column, ...]
    start: Integers
    row: Small
    times: Integers

    def find(self, people: Any) -> Integers:
        """Return which distinct row each person has, −1 where none."""
        known, wanted = row_keys(self.columns, people)
        order = np.argsort(known)
        place = order[np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)]
        row: Integers = np.where(known[place] == wanted, place, -1)
        return row

    def entry(self, group: Small, row: Integers) -> Integers:
        """Return the entry of each group that has this distinct row; every group is taken to have it."""
        rows = len(self.columns[0])
        return np.searchsorted(self._keys, group.astype(np.int64) * rows + row)

    @cached_property
    def _keys(self) -> Integers:
        group = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        keys: Integers = group * len(self.columns[0]) + self.row
        return keys


def meeting_chance(size: Integers, left: Integers, right: Integers) -> Floats:
    """Return 1 − C(size−right, left) / C(size, left): the share of matchings in which one of `left` meets one of `right`."""
    from scipy.special import gammaln

    rest = np.maximum(size - right - left, 0)
    apart = gammaln(size - right + 1) - gammaln(rest + 1) - gammaln(size + 1) + gammaln(size - left + 1)
    overlap: Floats = np.where(left + right > size, 1.0, -np.expm1(apart))
    return overlap


def counted(columns: tuple[Column, ...], group: Array, count: Integers, groups: int) -> RowCounts:
    """Return how often each distinct row of these columns occurs in each group."""
    _, first, row = np.unique(combined(columns), return_index=True, return_inverse=True)
    key, where = np.unique(group.astype(np.int64) * len(first) + row, return_inverse=True)
    times = np.bincount(where, weights=count).astype(np.int64)
    distinct = tuple(column.take(first) for column in columns)
    return RowCounts(distinct, starts(key // len(first), groups), (key % len(first)).astype(np.int32), times)


@dataclass(frozen=True, eq=False, repr=False)
class ViewsRelease(Fragments, Release):
    """`at`: everybody's quasi columns but the moved ones, and group; `st`: group, moved columns, sensitive, count ([AMB §8]).

    Only the group says which row of `at` goes with which of `st`. Groups are numbered 0 … in memory and 1 … in the tables.
    The entries of `st` are sorted by group, moved columns and value.
    """

    form = "views"

    at_columns: tuple[Column, ...]
    at_group: Small
    st_columns: tuple[Column, ...]
    domain: Domain
    st_group: Small
    st_value: Small
    st_count: Integers
    made_from: Native = "pyarrow"

    @property
    def moved(self) -> tuple[str, ...]:
        """The quasi columns that stand with the sensitive ones."""
        return tuple(column.name for column in self.st_columns)

    @cached_property
    def kept(self) -> RowCounts:
        """The distinct rows of `at`, and how often each group has them."""
        return counted(self.at_columns, self.at_group, np.ones(len(self.at_group), np.int64), len(self.sizes))

    @cached_property
    def joined(self) -> RowCounts:
        """The distinct values of the moved columns, and how often each group has them."""
        return counted(self.st_columns, self.st_group, self.st_count, len(self.sizes))

    @cached_property
    def entry_joined(self) -> Integers:
        """For each entry of `st` the entry of `joined` that has its group and its value of the moved columns."""
        return _joined_keys(self.st_group, self.st_columns)

    @cached_property
    def cover(self) -> Cover:
        """Which groups cover which pairs of a row of `at` and a value of the moved columns."""
        return Cover(tuple(ShownPart(len(view.columns[0]), view.start, view.row) for view in (self.kept, self.joined)))

    def tables(self) -> dict[str, pa.Table]:
        """Return `at` (quasi…, group) and `st` (group, moved quasi…, sensitive…, count)."""
        at = {column.name: dictionary_array(column) for column in self.at_columns}
        at[GROUP] = pa.array(self.at_group + 1, pa.int32())
        shown = {column.name: dictionary_array(column) for column in self.st_columns}
        shown |= sensitive_columns(self.domain, self.st_value)
        return {AT: pa.table(at), ST: entries_table(GROUP, self.st_group, shown, self.st_count)}

    def listing(self) -> tuple[tuple[TableRows, ...], int]:
        """Return the rows of `at` by their quasi values, and the entries of `st` by moved columns, value and count."""
        moved = np.unique(combined(self.st_columns), return_inverse=True)[1].astype(np.int64)
        entries = counted_entries(self.st_group, moved * len(self.domain) + self.st_value, self.st_count)
        return (TableRows(AT, self.at_group, combined(self.at_columns)), entries), len(self.sizes)

    def canonical(self) -> ViewsRelease:
        """Return the same release with rows and group numbers in canonical order."""
        return self.arranged(canonical_order(*self.listing()))

    def arranged(self, order: CanonicalOrder) -> Self:
        """Return the same release with rows and group numbers in this order."""
        rows, entries = order.rows
        return replace(
            self,
            at_columns=tuple(column.take(rows) for column in self.at_columns),
            at_group=order.number[self.at_group[rows]],
            st_columns=tuple(column.take(entries) for column in self.st_columns),
            st_group=order.number[self.st_group[entries]],
            st_value=self.st_value[entries],
            st_count=self.st_count[entries],
        )

    def presence(self, people: Any) -> Floats:
        """Return a stranger's belief that a person is in the table, all matchings of `at` and `st` in a group equally likely.

        Combined over all groups that cover her, taken as independent; 0 where none does. Then she is certainly absent, or among
        those whom the release says were left out.
        """
        return combined_presence(self.cover, self.find(people), self._weigh)

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: how often each value stands with a person's joined value in a group at most.

        Of all groups that cover her, the one that shows most of a value counts. A person whom no group covers gets NaN.
        """
        return largest_beliefs(self.cover, self.find(people), self._weigh, self._shares, len(self.domain))

    def mean_beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: how often each value stands with a person's joined value in groups that cover her.

        She is taken to be in one of them, each as likely as its presence belief. A person whom no group covers gets NaN.
        """
        return mixed_beliefs(self.cover, self.find(people), self._weigh, self._shares, len(self.domain))

    @property
    def _shares(self) -> tuple[Integers, Small, Floats]:
        """Where the entries of each joined value of a group begin, their sensitive values and shares."""
        first = np.searchsorted(self.entry_joined, np.arange(len(self.joined.row) + 1))
        return first, self.st_value, self.st_count / self.joined.times[self.entry_joined]

    def find(self, people: Any) -> Integers:
        """Return [people × 2]: everybody's distinct row of `at`, and her value of the moved columns."""
        return np.stack([self.kept.find(people), self.joined.find(people)], axis=1)

    def _weigh(self, people: Integers) -> Weigh:
        """Return how pairs of a person and a group are weighed: by the matchings in which her two rows meet."""

        def weighed(owner: Integers, group: Small) -> tuple[Floats, Integers]:
            mine = people[owner]
            joined = self.joined.entry(group, mine[:, 1])
            times = self.kept.times[self.kept.entry(group, mine[:, 0])]
            return meeting_chance(self.sizes[group], times, self.joined.times[joined]), joined

        return weighed

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `at` and `st` these are, as they are read; tables that cannot be such are refused."""
        quasi, sensitive, kinds = published_names(manifest)
        moved = _moved(manifest, quasi)
        kept = [name for name in quasi if name not in moved]
        require_tables(tables, cls.form, (AT, ST))
        at = take_table(tables, AT, {name: kinds[name] for name in kept} | {GROUP: "group"})
        st = take_table(tables, ST, {GROUP: "group"} | {name: kinds[name] for name in [*moved, *sensitive]} | {COUNT: "count"})
        count = whole_numbers(st, COUNT, ST)
        require_counts(count, manifest.rows)
        st_group, groups = groups_of(st, GROUP, ST)
        at_group, _ = groups_of(at, GROUP, AT, groups)
        if (np.bincount(at_group) != np.bincount(st_group, weights=count).astype(np.int64)).any():
            raise FormatError("tables 'at' and 'st' do not show the same number of people in every group")
        st_columns = tuple(code_column(name, kinds[name], st[name]) for name in moved)
        domain, value = code_domain(st.select(sensitive), tuple(kinds[name] for name in sensitive))
        require_distinct(_joined_keys(st_group, st_columns) * len(domain) + value, "table 'st'")
        at_columns = tuple(code_column(name, kinds[name], at[name]) for name in kept)
        return cls(manifest, at_columns, at_group, st_columns, domain, st_group, value.astype(np.int32), count)


def _moved(manifest: Manifest, quasi: list[str]) -> list[str]:
    moved = manifest.parameters.get(MOVED)
    names = [name for name in moved if isinstance(name, str)] if isinstance(moved, list) else []
    if names != moved or not names or not set(names) < set(quasi) or names != [name for name in quasi if name in names]:
        raise FormatError("manifest.json: a views release names, as 'moved', some of the quasi columns but not all of them")
    return names


def _joined_keys(group: Array, columns: tuple[Column, ...]) -> Integers:
    """Return a number per entry for its group and its value of the moved columns, ascending in both, and small."""
    distinct, row = np.unique(combined(columns), return_inverse=True)
    keys: Integers = np.unique(group.astype(np.int64) * len(distinct) + row, return_inverse=True)[1].astype(np.int64)
    return keys
