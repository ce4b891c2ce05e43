"""Releases that protect each of several sensitive columns by itself: one table of sensitive values a column, the rest shared.

Such a release is a release of each sensitive column alone, all with the same groups. What two sensitive columns have to do with
one another inside a group is not shown: in the form *ranges*, whose records have a value of every column, each is spread over the
rows of its group in an order that follows from the number of the row alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.canonical import Order, Shown, canonical_order
from sfumato.release.coding import require_tables
from sfumato.release.columns import ColumnsRelease
from sfumato.release.consistent import inconsistencies
from sfumato.release.fragments import ST, auxiliary_names
from sfumato.release.manifest import Manifest
from sfumato.release.ranges import GROUP, RECORDS, RangesRelease
from sfumato.table.fingerprint import mix
from sfumato.table.frames import Native


def parts_of(release: Release) -> Sequence[Any]:
    """Return the releases of each sensitive column alone; one that protects no column by itself is its own only part."""
    parts: Sequence[Any] = release.parts if release.manifest.apart else (release,)  # type: ignore[attr-defined]
    return parts


@dataclass(frozen=True, eq=False, repr=False)
class ApartRelease(Release):
    """`parts` are the releases of each sensitive column alone, with the same people, groups and group numbers."""

    parts: tuple[Any, ...]

    one: ClassVar[Any]
    """The release of one sensitive column alone."""

    @property
    def made_from(self) -> Native:
        """The kind of frame that the table came in."""
        kind: Native = self.parts[0].made_from
        return kind

    @property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        sizes: Integers = self.parts[0].sizes
        return sizes

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive columns, in the order of `parts`."""
        return self.manifest.secrets

    def of(self, column: str) -> Release:
        """Return the release of one sensitive column alone."""
        part: Release = self.parts[self.secrets.index(column)]
        return part

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of all sensitive columns as text, each after the name of its column."""
        return tuple(f"{name}: {label}" for name, part in zip(self.secrets, self.parts, strict=True) for label in part.labels)

    def beliefs(self, people: Any) -> Floats:
        """Return [people × values of all columns]: the reader's belief in the values of each column by itself."""
        return np.hstack([part.beliefs(people) for part in self.parts])

    def presence(self, people: Any) -> Floats:
        """Return a stranger's belief in presence, which rests on quasi values alone."""
        present: Floats = self.parts[0].presence(people)
        return present

    @cached_property
    def _place(self) -> int:
        """Which table of a part's listing has its sensitive values."""
        return 1

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables of a release of one column, with `st_<column>` per sensitive column in the place of `st`."""
        own = {name: part.secret_table() for name, part in zip(secret_names(self.manifest), self.parts, strict=True)}
        tables: dict[str, pa.Table] = {}
        for name, table in self.parts[0].tables().items():
            tables |= own if name == ST else {name: table}
        return tables

    def listing(self) -> tuple[tuple[Shown, ...], int]:
        """Return the tables of the first part, and of every other one its sensitive values."""
        tables, groups = self.parts[0].listing()
        return (*tables, *(part.listing()[0][self._place] for part in self.parts[1:])), groups

    def canonical(self) -> ApartRelease:
        """Return the same release with rows and group numbers in canonical order."""
        return self.arranged(canonical_order(*self.listing()))

    def arranged(self, order: Order) -> Self:
        """Return the same release in this order; all parts share what is not their sensitive values."""
        shared, place = len(order.rows) - len(self.parts) + 1, self._place
        parts = []
        for k, part in enumerate(self.parts):
            mine = [*range(shared)]
            mine[place] = mine[place] if k == 0 else shared + k - 1
            parts.append(part.arranged(Order(order.number, tuple(order.rows[one] for one in mine))))
        return replace(self, parts=_sharing(parts))

    def contradictions(self) -> list[str]:
        """Return where the manifest has words of its own, or names what the release does not have, in any of its parts."""
        found = inconsistencies(self.manifest)
        if any(claim != self.in_fixed_words(claim) for claim in self.claims):
            found.append("manifest.json: a claim is not made in the words that such a claim has")
        inside = [fault for part in self.parts for fault in part.contradictions()]
        return [*found, *(fault for fault in dict.fromkeys(inside) if fault not in found)]

    @classmethod
    def _split(cls, manifest: Manifest, tables: Mapping[str, pa.Table]) -> list[Mapping[str, pa.Table]]:
        """Return the tables that each sensitive column would have alone."""
        names = secret_names(manifest)
        if not set(names) <= set(tables):
            require_tables(tables, cls.form, names)
        shared = {name: table for name, table in tables.items() if name not in names}
        return [{**shared, ST: tables[name]} for name in names]

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose tables these are, as they are read; tables that cannot be such are refused."""
        own = zip(manifest.secrets, cls._split(manifest, tables), strict=True)
        return cls(manifest, _sharing([cls.one.as_read(manifest.of(name), one, in_any_order=in_any_order) for name, one in own]))


def _sharing(parts: Sequence[Any]) -> tuple[Any, ...]:
    """Return the parts with the arrays of the first where they hold the same, so that memory holds them once."""
    kept = {"quasi", "bucket", "boxes", "group", "columns", "start", "told", "draws"} & set(vars(parts[0]))
    shared = {name: getattr(parts[0], name) for name in kept}
    return (parts[0], *(replace(part, **shared) for part in parts[1:]))


def secret_names(manifest: Manifest) -> list[str]:
    """Return the name of the table of each sensitive column: st_<column>."""
    return auxiliary_names(manifest.secrets, ST)


@dataclass(frozen=True, eq=False, repr=False)
class ApartBuckets(ApartRelease, apart=True):
    """`qit` as in every release of buckets, and `st_<column>`: bucket, sensitive value, count."""

    form, one = "buckets", BucketsRelease

    @property
    def noisy(self) -> bool:
        """Whether counts have noise."""
        return self.manifest.basis == "noisy"


@dataclass(frozen=True, eq=False, repr=False)
class ApartColumns(ApartRelease, apart=True):
    """`at_<column>` per quasi column, and `st_<column>` per sensitive one: group, value, count."""

    form, one = "columns", ColumnsRelease
    hides_presence = True

    @cached_property
    def _place(self) -> int:
        return len(self.parts[0].columns)


@dataclass(frozen=True, eq=False, repr=False)
class ApartRanges(ApartRelease, apart=True):
    """`records`: ranges and sets of the group, a value of every sensitive column, each spread by itself, and the group."""

    form, one = "ranges", RangesRelease

    @cached_property
    def _place(self) -> int:
        return 0

    def listing(self) -> tuple[tuple[Shown, ...], int]:
        """Return the records of the first column, and of every other column its values."""
        tables, groups = self.parts[0].listing()
        others = [Shown(RECORDS, part.group, part.value.astype(np.int64)) for part in self.parts[1:]]
        return (*tables, *others), groups

    def tables(self) -> dict[str, pa.Table]:
        """Return `records`, and `groups` after soft cuts."""
        tables: dict[str, pa.Table] = self.parts[0].tables()
        records = tables[RECORDS]
        at = records.column_names.index(GROUP)
        for place, (name, part) in enumerate(zip(self.secrets[1:], self.parts[1:], strict=True)):
            column = part.domain.table.column(name).combine_chunks()
            records = records.add_column(at + place, name, column.take(pa.array(spread(part.value, part.group, place + 1))))
        return tables | {RECORDS: records}

    @classmethod
    def _split(cls, manifest: Manifest, tables: Mapping[str, pa.Table]) -> list[Mapping[str, pa.Table]]:
        if RECORDS not in tables:
            require_tables(tables, cls.form, (RECORDS,))
        records, names = tables[RECORDS], manifest.secrets
        found: list[Mapping[str, pa.Table]] = []
        for name in names:
            others = [one for one in names if one != name and one in records.column_names]
            found.append({**tables, RECORDS: records.drop_columns(others) if others else records})
        return found

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `records` these are, as they are read, but for values that the order spread."""
        release = super().as_read(manifest, tables, in_any_order=in_any_order)
        if in_any_order:
            return release
        own = (replace(part, value=gathered(part.value, part.group, k)) for k, part in enumerate(release.parts[1:], 1))
        return replace(release, parts=(release.parts[0], *own))


def spread(values: Array, group: Array, column: int, first: int = 0) -> Integers:
    """Return values, sorted by group, spread over the rows of their group: by the numbers of rows and column alone.

    `first` is the number of the first row, where only some groups are given.
    """
    found = np.empty(len(values), np.int64)
    found[_order(group, column, first)] = values
    return found


def gathered(values: Array, group: Array, column: int, first: int = 0) -> Array:
    """Return the values that were spread, as they were before."""
    return values[_order(group, column, first)]


def _order(group: Array, column: int, first: int) -> Integers:
    """Return the rows by group, in a group scattered: the rows that its first, second, … value goes to."""
    row = np.arange(first, first + len(group), dtype=np.uint64)
    return np.lexsort((mix((row + np.uint64(column << 40)) * np.uint64(0x9E3779B97F4A7C15)), group))
