"""A large ranges release, read part by part: the rows of a group are alike but for their values, and these are counted.

Whoever asks for the rows themselves gets them, in as much memory as they take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers, Small
from sfumato.errors import FormatError, NotInPartsError
from sfumato.release.accounts import account_listing, account_names, read_accounts
from sfumato.release.box_tables import MISSING, joined_boxes, read_box, require_flag
from sfumato.release.boxes import Box, Ranges, box_ranks
from sfumato.release.buckets import published_names
from sfumato.release.canonical import TableRows, require_canonical
from sfumato.release.coding import code_domain, decoded, require_tables, take_table, whole_numbers
from sfumato.release.files import files_of, kind_of, not_listed, stored_part, stored_table
from sfumato.release.manifest import Manifest
from sfumato.release.ranges import GROUP, RECORDS, RangesRelease, expected_columns, gathered
from sfumato.table.column import Domain, Events, Kind

_ORDER = "not in the canonical order, and another order could carry information"


class CountedRanges(RangesRelease):
    """A ranges release of which every value of a group is held once; `group` and `value` are made when asked for."""

    @classmethod
    def counted(
        cls,
        manifest: Manifest,
        boxes: tuple[Box, ...],
        domain: Domain,
        entries: tuple[Small, Small, Integers],
        account: Integers | None,
    ) -> CountedRanges:
        """Return the release with these values of every group, given as group, value and count, sorted."""
        release: CountedRanges = object.__new__(cls)
        vars(release).update(
            manifest=manifest, boxes=boxes, events=domain, account=account, made_from="pyarrow", histogram=entries
        )
        release.__post_init__()
        return release

    @classmethod
    def together(cls, manifest: Manifest, each: tuple[CountedRanges, ...]) -> CountedRanges:
        """Return the release of several secrets, of which only the release of each is held."""
        release: CountedRanges = object.__new__(cls)
        kept = {name: vars(each[0])[name] for name in ("boxes", "account", "made_from")}
        kept |= {"sizes": each[0].sizes, "_disorder": each[0]._disorder}
        vars(release).update(manifest=manifest, events=Events(tuple(shown.domain for shown in each)), each=each, **kept)
        return release

    def __getattr__(self, name: str) -> Any:
        # Python asks here only for what is not there yet.
        if name not in ("group", "value") or "histogram" not in vars(self):
            raise AttributeError(name)
        group, value, count = vars(self)["histogram"]
        made = np.repeat(group if name == "group" else value, count)
        vars(self)[name] = made
        return made

    @cached_property
    def sizes(self) -> Integers:
        """Number of people in each group."""
        group, _, count = vars(self)["histogram"]
        return np.bincount(group, weights=count).astype(np.int64)

    @cached_property
    def shown(self) -> tuple[Integers, Small, Integers]:
        """The histograms of the groups."""
        group, value, count = vars(self)["histogram"]
        return np.searchsorted(group, np.arange(len(self.sizes) + 1)).astype(np.int64), value, count

    @cached_property
    def _disorder(self) -> FormatError | None:
        rank = box_ranks(self.boxes)
        if (rank[1:] < rank[:-1]).any():
            return FormatError(f"the numbers of groups are {_ORDER}")
        tied = rank[1:] == rank[:-1]
        if not tied.any():
            return None
        # Groups that show the same of people are told apart by their values, and by their accounts.
        some = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        start, value, count = self.shown
        length = np.diff(start)[some]
        entry = np.repeat(start[:-1][some] - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))
        times = count[entry]
        group = np.repeat(np.repeat(np.arange(len(some)), length), times)
        key = rank[some][group] * np.int64(len(self.domain)) + np.repeat(value[entry], times)
        try:
            account = None if self.account is None else self.account[some]
            require_canonical([TableRows(RECORDS, group, key), *account_listing(account)], len(some))
        except FormatError as error:
            return error
        return None


def read_ranges(directory: Path, manifest: Manifest, problems: list[str]) -> CountedRanges:
    """Return a large release in a directory, read a file at a time; what is wrong with its files goes to `problems`."""
    kind = kind_of(manifest)
    extra = not_listed(directory, manifest)
    if extra:
        problems.append(f"{extra} files in the release are not listed in its manifest")
    require_tables(dict.fromkeys(manifest.tables, pa.table({})), RangesRelease.form, (RECORDS, *account_names(manifest)))
    quasi, sensitive, kinds = published_names(manifest)
    boxes: list[list[Box]] = []
    numbers: list[Integers] = []
    several = len(manifest.secrets) > 1
    secrets = [_Secret([name], kinds) for name in sensitive] if several else [_Secret(sensitive, kinds)]
    flags: set[str] = set()
    files = files_of(RECORDS, manifest.tables[RECORDS], kind)
    parts = (stored_part(directory, manifest.tables[RECORDS], file, problems) for file in files)
    for row, part in _whole_groups(parts) if several else ((0, part) for part in parts):
        records = take_table({RECORDS: part}, RECORDS, expected_columns(manifest, part))
        flags |= {name for name in records.column_names if name.endswith(MISSING)}
        number = whole_numbers(records, GROUP, RECORDS) - 1
        first = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
        local = np.cumsum(np.append(False, number[1:] != number[:-1])).astype(np.int32)
        boxes.append([read_box(records, name, kinds[name], local, first, part=True) for name in quasi])
        numbers.append(number[first])
        for k, secret in enumerate(secrets):
            secret.add(records, number, k, row)
    number = np.concatenate(numbers)
    known = number[np.append(True, number[1:] != number[:-1])]
    if not np.array_equal(known, np.arange(len(known))):
        raise FormatError(f"table {RECORDS!r}: groups should be numbered 1, 2, … without gaps, in their order")
    shown = tuple(joined_boxes([part[j] for part in boxes], number) for j in range(len(quasi)))
    for box in shown:
        if isinstance(box, Ranges) and box.name + MISSING in flags:
            require_flag(box)
    small = {name: stored_table(directory, manifest, name, kind, problems) for name in manifest.tables if name != RECORDS}
    account = read_accounts(manifest, small, len(known))
    if several and len(np.unique(box_ranks(shown))) < len(known):
        raise NotInPartsError("two groups show the same ranges; such a release of several secrets is audited in memory")
    counted = zip(manifest.each, (secret.whole(manifest.rows) for secret in secrets), strict=True)
    each = tuple(CountedRanges.counted(own, shown, *values, account) for own, values in counted)
    return each[0] if len(each) == 1 else CountedRanges.together(manifest, each)


def _whole_groups(parts: Iterable[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of parts, whole groups at a time, and the number of the first row: a group may go on in the next part."""
    held: pa.Table | None = None
    row = 0
    for part in parts:
        both = part if held is None else pa.concat_tables([held, part]).unify_dictionaries()
        group = np.asarray(decoded(both[GROUP])) if GROUP in both.column_names else np.zeros(both.num_rows)
        border = int(np.flatnonzero(group != group[-1])[-1]) + 1 if (group != group[-1]).any() else 0
        if border:
            yield row, both.slice(0, border)
        row, held = row + border, both.slice(border)
    if held is not None:
        yield row, held


class _Secret:
    """The values of one secret, some groups at a time."""

    def __init__(self, names: list[str], kinds: Mapping[str, Kind]) -> None:
        self.names, self.kinds = names, tuple(kinds[name] for name in names)
        self.groups: list[Integers] = []
        self.values: list[Integers] = []
        self.counts: list[Integers] = []
        self.domains: list[Domain] = []

    def add(self, records: pa.Table, number: Integers, place: int, row: int) -> None:
        """Count the values of these records; those of a second secret, and so on, are spread over the rows of their groups."""
        domain, value = code_domain(records.select(self.names), self.kinds)
        if place:
            value = gathered(value, number, place, row)
        key = number * len(domain) + value
        if (key[1:] < key[:-1]).any():
            raise FormatError(f"the rows of table {RECORDS!r} are {_ORDER}")
        entry = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        self.groups.append(number[entry])
        self.values.append(value[entry])
        self.counts.append(np.diff(np.append(entry, len(key))).astype(np.int64))
        self.domains.append(domain)

    def whole(self, rows: int) -> tuple[Domain, tuple[Small, Small, Integers]]:
        """Return all values, and group, value and count of every entry."""
        domain, code = code_domain(pa.concat_tables([domain.table.select(self.names) for domain in self.domains]), self.kinds)
        begins = np.cumsum([0, *(len(domain) for domain in self.domains)])
        value = np.concatenate([code[begin:][some] for begin, some in zip(begins[:-1].tolist(), self.values, strict=True)])
        entries = _joined(np.concatenate(self.groups), value, np.concatenate(self.counts), len(domain))
        if int(entries[2].sum()) != rows:
            raise FormatError(f"table {RECORDS!r} has {int(entries[2].sum())} rows, the manifest says {rows}")
        return domain, entries


def _joined(group: Integers, value: Integers, count: Integers, values: int) -> tuple[Small, Small, Integers]:
    """Return the entries of all parts; those at the end of one and the beginning of the next may be one."""
    key = group * values + value
    if (key[1:] < key[:-1]).any():
        raise FormatError(f"the rows of table {RECORDS!r} are {_ORDER}")
    fresh = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    return group[fresh].astype(np.int32), value[fresh].astype(np.int32), np.add.reduceat(count, fresh)
