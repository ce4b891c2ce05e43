"""Form *ranges*: per person the ranges and value sets of her group, and a sensitive value, shuffled inside the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from sfumato.arrays import Flags, Floats, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.accounts import account_listing, account_names, account_tables, read_accounts, renumbered
from sfumato.release.base import Release
from sfumato.release.box_tables import box_arrays, possible_columns, read_box
from sfumato.release.boxes import Box, box_ranks, fitting
from sfumato.release.buckets import published_names
from sfumato.release.canonical import Order, Shown, canonical_order
from sfumato.release.coding import code_domain, decoded, groups_of, people_table, require_tables, sensitive_columns, take_table
from sfumato.release.manifest import Manifest
from sfumato.table.column import Domain
from sfumato.table.frames import Native

GROUP = "group"
RECORDS = "records"

_DENSE = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class RangesRelease(Release):
    """`records`: one row per person with her group's ranges and sets, a sensitive value, and the group.

    This is generalization as the literature knows it, every group shown by the smallest box that holds its people. Rows
    carry nothing of a person but her group, so that nothing links a sensitive value to one of the group.
    Groups are numbered 0 … in memory and 1 … in the table. With soft cuts `groups` has their accounts.
    """

    form = "ranges"

    boxes: tuple[Box, ...]
    group: Small
    domain: Domain
    value: Small
    made_from: Native = "pyarrow"
    told: Integers | None = None

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        return np.bincount(self.group).astype(np.int64)

    @cached_property
    def shown(self) -> tuple[Integers, Small, Integers]:
        """The histograms of the groups: where each group's entries start, their values (ascending) and their counts."""
        key, count = np.unique(self.group.astype(np.int64) * len(self.domain) + self.value, return_counts=True)
        start = np.searchsorted(key // len(self.domain), np.arange(len(self.sizes) + 1)).astype(np.int64)
        return start, (key % len(self.domain)).astype(np.int32), count.astype(np.int64)

    def tables(self) -> dict[str, pa.Table]:
        """Return `records`: per quasi column its range or set, the sensitive columns, and the group; after soft cuts `groups`."""
        columns: dict[str, pa.Array] = {}
        for box in self.boxes:
            columns |= box_arrays(box, self.group)
        columns |= sensitive_columns(self.domain, self.value)
        columns[GROUP] = pa.array(self.group + 1, pa.int32())
        return {RECORDS: pa.table(columns), **account_tables(self.told)}

    def beliefs(self, people: Any) -> Floats:
        """Return [people × sensitive values]: the share of each value among all published rows whose ranges fit a person.

        Every group whose box holds her values counts, whichever she is in: a mixture of whole groups, which keeps every bound
        that the groups keep. A person whom no group fits gets NaN.
        """
        start, value, count = self.shown
        table = np.zeros((len(self.sizes), len(self.domain)))
        table[np.repeat(np.arange(len(self.sizes)), np.diff(start)), value] = count

        def shares(fits: Flags) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                mixed: Floats = (fits @ table) / (fits @ self.sizes.astype(np.float64))[:, None]
            return mixed

        return self.over_fitting(people, shares)

    def presence(self, people: Any) -> Floats:
        """Return 1 − Π(1 − |G|/V) over all groups whose ranges hold a person, taken as independent; 0 where none does.

        V is how many combinations of values the ranges and sets of group G cover, of which its people are |G|: generalization
        hides presence too ([AMB, Fig. 3]), by Theorem 1 read on ranges. Nothing of it is claimed: it takes every combination as
        likely as any other, also those at the ends of ranges, where somebody stands for certain.
        """
        if "weaker_claim" in self.manifest.parameters:
            raise FormatError(
                "records with ranges of their own say nothing about presence that could be added up: every range is spanned by "
                "several people, and everybody spans several",
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
        found: Floats = np.concatenate([figure(one) for one in fits])[which.reshape(-1)]
        return found

    def listing(self) -> tuple[tuple[Shown, ...], int]:
        """Return rows by what their group shows, then by value."""
        shown = box_ranks(self.boxes)[self.group] * np.int64(len(self.domain)) + self.value
        return (Shown(RECORDS, self.group, shown), *account_listing(self.told)), len(self.sizes)

    def canonical(self) -> tuple[RangesRelease, Integers]:
        """Return the same release with rows and group numbers in canonical order, and the row here of each of its rows."""
        order = canonical_order(*self.listing())
        return self.arranged(order), order.rows[0]

    def arranged(self, order: Order) -> Self:
        """Return the same release with rows and group numbers in this order."""
        rows = order.rows[0]
        groups = np.argsort(order.number)
        boxes = tuple(box.take(groups) for box in self.boxes)
        told = renumbered(self.told, order.number)
        return replace(self, boxes=boxes, group=order.number[self.group[rows]], value=self.value[rows], told=told)

    @classmethod
    def as_read(cls, manifest: Manifest, tables: Mapping[str, pa.Table], *, in_any_order: bool) -> Self:
        """Return the release whose `records` these are, as they are read; a table that cannot be such is refused."""
        quasi, sensitive, kinds = published_names(manifest)
        require_tables(tables, cls.form, (RECORDS, *account_names(manifest)))
        records = take_table(tables, RECORDS, expected_columns(manifest, tables[RECORDS]), manifest.rows)
        group, groups = groups_of(records, GROUP, RECORDS)
        first = np.empty(groups, np.int64)
        first[group[::-1]] = np.arange(len(group))[::-1]
        boxes = tuple(read_box(records, name, kinds[name], group, first) for name in quasi)
        domain, value = code_domain(records.select(sensitive), tuple(kinds[name] for name in sensitive))
        told = read_accounts(manifest, tables, groups, in_any_order=in_any_order)
        return cls(manifest, boxes, group, domain, value.astype(np.int32), told=told)


def expected_columns(manifest: Manifest, records: pa.Table) -> dict[str, str]:
    """Return the columns that such a table has, and the kind of each; a flag only where it is there."""
    quasi, sensitive, kinds = published_names(manifest)
    there = set(records.column_names)
    shown = {
        name: kind for one in quasi for name, kind in possible_columns(one, kinds[one]).items() if kind != "flag" or name in there
    }
    return shown | {name: kinds[name] for name in sensitive} | {GROUP: "group"}


def positions(boxes: tuple[Box, ...], people: Any) -> Integers:
    """Return [people × columns]: where each person's values lie as the boxes see them."""
    table = people_table(people, [box.name for box in boxes])
    return np.stack([box.positions(decoded(table[box.name])) for box in boxes], axis=1)
