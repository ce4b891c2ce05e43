"""What groups show of sensitive values, in files: `st` may have as many rows as there are people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.auditor.claims import ChunkedCounts, ShownCounts
from sfumato.errors import FormatError
from sfumato.release.buckets import COUNT, GROUP, BucketsRelease
from sfumato.release.coding import code_domain, decoded, require_counts, take_table, whole_numbers
from sfumato.release.fragments import ST
from sfumato.release.manifest import Manifest
from sfumato.release.secrets import code_values, value_columns
from sfumato.scale.layout import Blocks, Layout, scatter
from sfumato.table.column import Domain, Events

AT_ONCE = 1 << 20
"""About so many entries are looked at at once."""

_VALUE, _COUNT = np.dtype(np.int32), np.dtype(np.int64)
_GAPS = "table 'st': groups should be numbered 1, 2, … without gaps, the same in every table"


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of `st`, sorted by group and value: those of group b from start[b] on."""

    place: Path
    domain: Domain
    start: Integers
    most: int
    """The largest count."""

    def part(self, low: int, high: int) -> tuple[Array, Integers]:
        """Return value and count of every entry of the groups low … high − 1."""
        begin, many = int(self.start[low]), int(self.start[high] - self.start[low])
        value = np.fromfile(self.place / "value", _VALUE, many, offset=begin * _VALUE.itemsize)
        return value, np.fromfile(self.place / "count", _COUNT, many, offset=begin * _COUNT.itemsize)

    def ranges(self) -> list[tuple[int, int]]:
        """Return groups in runs of about so many entries as are looked at at once."""
        ends = np.searchsorted(self.start[1:], np.arange(AT_ONCE, int(self.start[-1]) + AT_ONCE, AT_ONCE)) + 1
        cuts = np.unique(np.append(ends.clip(max=len(self.start) - 1), [0, len(self.start) - 1])).tolist()
        return list(pairwise(cuts))

    def shown(self, release: BucketsRelease) -> ChunkedCounts:
        """Return how often each group shows each value, some groups at a time."""
        account = release.account

        def pieces() -> Iterator[ShownCounts]:
            for low, high in self.ranges():
                group = np.repeat(np.arange(high - low, dtype=np.int32), np.diff(self.start[low : high + 1]))
                own = None if account is None else account[low:high]
                yield ShownCounts(group, *self.part(low, high), release.sizes[low:high], self.domain, release.decoys, own)

        return ChunkedCounts(release.sizes, self.domain, pieces, release.decoys, account)

    def crowded(self, certain: Certain) -> int:
        """Return how many entries count fewer people than are certainly there."""
        broken = 0
        for (low, high), file in zip(self.ranges(), certain.files, strict=True):
            group, value, people = file.take()
            mine, count = self.part(low, high)
            key = np.repeat(np.arange(low, high), np.diff(self.start[low : high + 1])) * len(self.domain) + mine
            total = np.zeros(len(key), np.int64)
            np.add.at(total, np.searchsorted(key, group * len(self.domain) + value), people)
            broken += int((total > count).sum())
        return broken


class Certain:
    """People who are certainly in a group with a value, in files by group."""

    def __init__(self, entries: Entries, place: Path) -> None:
        place.mkdir(mode=0o700, exist_ok=True)
        self.begins = np.array([low for low, _ in entries.ranges()])
        self.files = [Blocks(place / f"certain{k}", Layout((_COUNT, _COUNT, _COUNT))) for k in range(len(self.begins))]

    def add(self, group: Integers, value: Array, people: Integers) -> None:
        """Keep how many people there are with a value in a group, where there are any."""
        some = people > 0
        which = np.searchsorted(self.begins, group[some], side="right") - 1
        scatter([group[some], value[some], people[some]], which, self.files)


def read_entries(manifest: Manifest, tables: Iterable[pa.Table], sizes: Integers, place: Path) -> tuple[Entries, ...]:
    """Return the entries of each secret that the parts of `st` list, in files; what cannot be such raises `FormatError`."""
    place.mkdir(mode=0o700, exist_ok=True)
    columns = value_columns(manifest)
    wanted, kinds = {GROUP: "group"} | columns | {COUNT: "count"}, tuple(columns.values())
    groups, decoys, largest = len(sizes), int(manifest.parameters.get("decoys", 0)), 0
    total = (manifest.rows + decoys * groups) * len(manifest.secrets)
    shown_parts, there = list[pa.Table](), np.zeros(groups, bool)
    local = Blocks(place / "local", Layout((_VALUE, _VALUE, _COUNT)))
    for table in tables:
        part = take_table({ST: table}, ST, wanted)
        group, count = whole_numbers(part, GROUP, ST) - 1, whole_numbers(part, COUNT, ST)
        if not len(group) or int(group.max()) >= groups:
            raise FormatError(_GAPS)
        if int(count.max()) > total:
            require_counts(count, total)
        # Of several secrets these are names and texts: their types are known when all of them are.
        domain, value = code_domain(part.select(list(columns)), kinds)  # type: ignore[arg-type]
        shown_parts.append(pa.table({name: decoded(domain.table[name]) for name in columns}))
        local.append([group, value, count])
        largest, there[group] = max(largest, int(count.max())), True
    if not there.all():
        raise FormatError(_GAPS)
    whole, codes = code_values(manifest, pa.concat_tables(shown_parts))
    kept = [_Kept(place / f"secret{k}", domain, groups) for k, domain in enumerate(whole.secrets)]
    _write(local, whole, np.split(codes, np.cumsum([len(shown) for shown in shown_parts])[:-1]), kept)
    return tuple(file.entries(sizes + decoys, largest) for file in kept)


class _Kept:
    """The entries of one secret, written as they come."""

    def __init__(self, place: Path, domain: Domain, groups: int) -> None:
        place.mkdir(mode=0o700, exist_ok=True)
        self.place, self.domain = place, domain
        self.listed, self.shown = np.zeros(groups, np.int64), np.zeros(groups, np.int64)

    def add(self, group: Array, value: Array, count: Array) -> None:
        """Write values and counts."""
        for name, numbers, kind in (("value", value, _VALUE), ("count", count, _COUNT)):
            with (self.place / name).open("ab") as file:
                file.write(numbers.astype(kind).tobytes())
        self.listed += np.bincount(group, minlength=len(self.listed))
        self.shown += np.bincount(group, weights=count, minlength=len(self.shown)).astype(np.int64)

    def entries(self, shown: Integers, largest: int) -> Entries:
        """Return the entries; groups must show as many values as they have people, and decoys."""
        if not self.listed.all():
            raise FormatError(_GAPS)
        require_counts(self.shown, int(shown.sum()))
        wrong = int((self.shown != shown).sum())
        if wrong:
            raise FormatError(f"{wrong} groups show another number of sensitive values than they have people (and decoys)")
        return Entries(self.place, self.domain, np.concatenate(([0], np.cumsum(self.listed))).astype(np.int64), largest)


def _write(local: Blocks, domain: Domain | Events, codes: Sequence[Integers], kept: Sequence[_Kept]) -> None:
    """Write the entries of each secret, as numbers of its domain, after comparing each entry with the next."""
    last, twice = -1, 0
    for (group, value, count), own in zip(local, codes, strict=True):
        number = own[value]
        key = np.append(last, group.astype(np.int64) * len(domain) + number)
        if (key[1:] < key[:-1]).any():
            raise FormatError("the rows of table 'st' are not in the canonical order, and another order could carry information")
        twice += int((key[1:] == key[:-1]).sum())
        last = int(key[-1])
        for file, (low, high) in zip(kept, pairwise(domain.first.tolist()), strict=True):
            mine = slice(None) if len(kept) == 1 else (number >= low) & (number < high)
            file.add(group[mine], number[mine] - low, count[mine])
    local.path.unlink()
    if twice:
        raise FormatError(f"{twice} rows of table 'st' occur twice")


def keys_of_each(each: Sequence[Entries], low: int, high: int) -> tuple[Integers, Integers]:
    """Return numbers that ascend with the entries of these groups, those of one secret after another, and where groups begin."""
    keyed, first = [], 0
    for entries in each:
        value, count = entries.part(low, high)
        group = np.repeat(np.arange(high - low), np.diff(entries.start[low : high + 1]))
        keyed.append((group, (value.astype(np.int64) + first) * (entries.most + 1) + count))
        first += len(entries.domain)
    group, key = (np.concatenate(parts) for parts in zip(*keyed, strict=True))
    order = np.argsort(group, kind="stable")
    return key[order], np.searchsorted(group[order], np.arange(high - low + 1)).astype(np.int64)


class Lists:
    """For every file of quasi combinations the values that each of its groups shows."""

    def __init__(self, entries: Entries, place: Path, files: int) -> None:
        self.entries, self.kind = entries, np.min_scalar_type(max(len(entries.domain) - 1, 1))
        place.mkdir(mode=0o700, exist_ok=True)
        self.heads = [Blocks(place / f"heads{k}", Layout((_COUNT, _COUNT))) for k in range(files)]
        self.values = [Blocks(place / f"values{k}", Layout((self.kind,))) for k in range(files)]

    def add(self, group: Integers, which: Integers) -> None:
        """Keep what these groups, which ascend, show; `which` is the file that a row of each goes to."""
        low, high = int(group[0]), int(group[-1]) + 1
        pairs = np.unique(which * np.int64(high - low) + (group - low))
        file, mine = np.divmod(pairs, high - low)
        value, _ = self.entries.part(low, high)
        start = self.entries.start[low : high + 1] - self.entries.start[low]
        length = np.diff(start)[mine]
        after = np.cumsum(length)
        entry = np.repeat(start[mine] - (after - length), length) + np.arange(int(after[-1]))
        ends = np.searchsorted(file, np.arange(len(self.heads)), side="right")
        listed = np.append(0, after)[ends]
        begin, first = 0, 0
        for k, (end, last) in enumerate(zip(ends.tolist(), listed.tolist(), strict=True)):
            self.heads[k].append([mine[begin:end] + low, length[begin:end]])
            self.values[k].append([value[entry[first:last]]])
            begin, first = end, last

    def read(self, k: int) -> tuple[Integers, ShownCounts]:
        """Return the groups of a file, ascending, and what they show, numbered in that order."""
        group, length = self.heads[k].take()
        (value,) = self.values[k].take()
        place = np.repeat(np.arange(len(group), dtype=np.int32), length)
        return group, ShownCounts(place, value.astype(np.int32), np.ones(len(value), np.int64), length, self.entries.domain)


def runs(rows: Blocks, at_once: int) -> Iterator[list[Array]]:
    """Yield rows, which are sorted by group and codes, equal ones once: codes, group, and how many there are."""
    for block in rows:
        for begin in range(0, len(block[0]), at_once):
            columns = [column[begin : begin + at_once] for column in block]
            fresh = np.ones(len(columns[0]), bool)
            fresh[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
            heads = np.flatnonzero(fresh)
            yield [*(column[heads] for column in columns), np.diff(np.append(heads, len(fresh)))]
