"""A large ranges release, read part by part: the rows of a group are alike but for their values, and these are counted.

Whoever asks for the rows themselves gets them, in as much memory as they take.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers, Small
from sfumato.errors import FormatError
from sfumato.release.accounts import account_listing, account_names, read_accounts
from sfumato.release.box_tables import MISSING, joined_boxes, read_box, require_flag
from sfumato.release.boxes import Box, Ranges, box_ranks
from sfumato.release.buckets import published_names
from sfumato.release.canonical import Shown, require_canonical
from sfumato.release.coding import code_domain, require_tables, take_table, whole_numbers
from sfumato.release.files import files_of, kind_of, not_listed, stored_part, stored_table
from sfumato.release.manifest import Manifest
from sfumato.release.ranges import GROUP, RECORDS, RangesRelease, expected_columns
from sfumato.table.column import Domain

_ORDER = "not in the canonical order, and another order could tell anything"


class CountedRanges(RangesRelease):
    """A ranges release of which every value of a group is held once; `group` and `value` are made when asked for."""

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        boxes: tuple[Box, ...],
        domain: Domain,
        entries: tuple[Small, Small, Integers],
        told: Integers | None,
    ) -> CountedRanges:
        """Return the release with these values of every group, given as group, value and count, sorted."""
        release: CountedRanges = object.__new__(cls)
        vars(release).update(manifest=manifest, boxes=boxes, domain=domain, told=told, made_from="pyarrow", entries=entries)
        release.__post_init__()
        return release

    def __getattr__(self, name: str) -> Any:
        # Python asks here only for what is not there yet.
        if name not in ("group", "value") or "entries" not in vars(self):
            raise AttributeError(name)
        group, value, count = vars(self)["entries"]
        made = np.repeat(group if name == "group" else value, count)
        vars(self)[name] = made
        return made

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        group, _, count = vars(self)["entries"]
        return np.bincount(group, weights=count).astype(np.int64)

    @cached_property
    def shown(self) -> tuple[Integers, Small, Integers]:
        """The histograms of the groups."""
        group, value, count = vars(self)["entries"]
        return np.searchsorted(group, np.arange(len(self.sizes) + 1)).astype(np.int64), value, count

    @cached_property
    def _disorder(self) -> FormatError | None:
        rank = box_ranks(self.boxes)
        if (rank[1:] < rank[:-1]).any():
            return FormatError(f"the numbers of groups are {_ORDER}")
        tied = rank[1:] == rank[:-1]
        if not tied.any():
            return None
        # Groups that show the same of people are told apart by their values, and by what they told.
        some = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        start, value, count = self.shown
        length = np.diff(start)[some]
        entry = np.repeat(start[:-1][some] - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))
        times = count[entry]
        group = np.repeat(np.repeat(np.arange(len(some)), length), times)
        key = rank[some][group] * np.int64(len(self.domain)) + np.repeat(value[entry], times)
        try:
            told = None if self.told is None else self.told[some]
            require_canonical([Shown(RECORDS, group, key), *account_listing(told)], len(some))
        except FormatError as error:
            return error
        return None


def read_ranges(directory: Path, manifest: Manifest, problems: list[str]) -> CountedRanges:
    """Return a large release in a directory, read a file at a time; what is wrong with its files goes to `problems`."""
    kind = kind_of(manifest)
    extra = not_listed(directory, manifest)
    if extra:
        problems.append(f"{extra} files lie in the release that its manifest does not list")
    require_tables(dict.fromkeys(manifest.tables, pa.table({})), RangesRelease.form, (RECORDS, *account_names(manifest)))
    quasi, sensitive, kinds = published_names(manifest)
    boxes: list[list[Box]] = []
    numbers, groups, values, counts, domains = [], [], [], [], []
    flags: set[str] = set()
    for file in files_of(RECORDS, manifest.tables[RECORDS], kind):
        part = stored_part(directory, manifest.tables[RECORDS], file, problems)
        records = take_table({RECORDS: part}, RECORDS, expected_columns(manifest, part))
        flags |= {name for name in records.column_names if name.endswith(MISSING)}
        number = whole_numbers(records, GROUP, RECORDS) - 1
        domain, value = code_domain(records.select(sensitive), tuple(kinds[name] for name in sensitive))
        key = number * len(domain) + value
        if (key[1:] < key[:-1]).any():
            raise FormatError(f"the rows of table {RECORDS!r} are {_ORDER}")
        first = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
        local = np.cumsum(np.append(False, number[1:] != number[:-1])).astype(np.int32)
        boxes.append([read_box(records, name, kinds[name], local, first, part=True) for name in quasi])
        entry = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        numbers.append(number[first])
        groups.append(number[entry])
        values.append(value[entry])
        counts.append(np.diff(np.append(entry, len(key))).astype(np.int64))
        domains.append(domain)
    number = np.concatenate(numbers)
    known = number[np.append(True, number[1:] != number[:-1])]
    if not np.array_equal(known, np.arange(len(known))):
        raise FormatError(f"table {RECORDS!r}: groups should be numbered 1, 2, … without gaps, in their order")
    shown = tuple(joined_boxes([part[j] for part in boxes], number) for j in range(len(quasi)))
    for box in shown:
        if isinstance(box, Ranges) and box.name + MISSING in flags:
            require_flag(box)
    whole, code = code_domain(
        pa.concat_tables([one.table.select(sensitive) for one in domains]), tuple(kinds[name] for name in sensitive)
    )
    begins = np.cumsum([0, *(len(one) for one in domains)])
    value = np.concatenate([code[begin:][some] for begin, some in zip(begins[:-1].tolist(), values, strict=True)])
    entries = _joined(np.concatenate(groups), value, np.concatenate(counts), len(whole))
    if int(entries[2].sum()) != manifest.rows:
        raise FormatError(f"table {RECORDS!r} has {int(entries[2].sum())} rows, the manifest says {manifest.rows}")
    small = {name: stored_table(directory, manifest, name, kind, problems) for name in manifest.tables if name != RECORDS}
    told = read_accounts(manifest, small, len(known))
    return CountedRanges.of(manifest, shown, whole, entries, told)


def _joined(group: Integers, value: Integers, count: Integers, values: int) -> tuple[Small, Small, Integers]:
    """Return the entries of all parts; those at the end of one and the beginning of the next may be one."""
    key = group * values + value
    if (key[1:] < key[:-1]).any():
        raise FormatError(f"the rows of table {RECORDS!r} are {_ORDER}")
    fresh = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    return group[fresh].astype(np.int32), value[fresh].astype(np.int32), np.add.reduceat(count, fresh)
