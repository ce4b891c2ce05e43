"""What buckets show of sensitive values, in files: `st` may have as many rows as there are people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.auditor.claims import Histograms, Pieces
from sfumato.errors import FormatError
from sfumato.release.buckets import BUCKET, COUNT, BucketsRelease, published_names
from sfumato.release.coding import code_domain, decoded, require_counts, take_table, whole_numbers
from sfumato.release.fragments import ST
from sfumato.release.manifest import Manifest
from sfumato.scale.layout import Blocks, Layout, scatter
from sfumato.table.column import Domain

AT_ONCE = 1 << 20
"""About so many entries are looked at at once."""

_VALUE, _COUNT = np.dtype(np.int32), np.dtype(np.int64)
_GAPS = "table 'st': buckets should be numbered 1, 2, … without gaps, the same in every table"


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of `st`, sorted by bucket and value: those of bucket b from start[b] on."""

    place: Path
    domain: Domain
    start: Integers
    most: int
    """The largest count."""

    def part(self, low: int, high: int) -> tuple[Array, Integers]:
        """Return value and count of every entry of the buckets low … high − 1."""
        begin, many = int(self.start[low]), int(self.start[high] - self.start[low])
        value = np.fromfile(self.place / "value", _VALUE, many, offset=begin * _VALUE.itemsize)
        return value, np.fromfile(self.place / "count", _COUNT, many, offset=begin * _COUNT.itemsize)

    def keys(self, low: int, high: int) -> tuple[Integers, Integers]:
        """Return numbers that ascend with value and count, as the canonical order compares them, and where buckets begin."""
        value, count = self.part(low, high)
        return value * np.int64(self.most + 1) + count, self.start[low : high + 1] - self.start[low]

    def ranges(self) -> list[tuple[int, int]]:
        """Return buckets in runs of about so many entries as are looked at at once."""
        ends = np.searchsorted(self.start[1:], np.arange(AT_ONCE, int(self.start[-1]) + AT_ONCE, AT_ONCE)) + 1
        cuts = np.unique(np.append(ends.clip(max=len(self.start) - 1), [0, len(self.start) - 1])).tolist()
        return list(pairwise(cuts))

    def shown(self, release: BucketsRelease) -> Pieces:
        """Return how often each bucket shows each value, some buckets at a time."""
        told = release.told

        def pieces() -> Iterator[Histograms]:
            for low, high in self.ranges():
                group = np.repeat(np.arange(high - low, dtype=np.int32), np.diff(self.start[low : high + 1]))
                own = None if told is None else told[low:high]
                yield Histograms(group, *self.part(low, high), release.sizes[low:high], self.domain, release.decoys, own)

        return Pieces(release.sizes, self.domain, pieces, release.decoys, told)

    def crowded(self, certain: Certain) -> int:
        """Return how many entries count fewer people than are certainly there."""
        found = 0
        for (low, high), file in zip(self.ranges(), certain.files, strict=True):
            bucket, value, people = file.take()
            mine, count = self.part(low, high)
            key = np.repeat(np.arange(low, high), np.diff(self.start[low : high + 1])) * len(self.domain) + mine
            total = np.zeros(len(key), np.int64)
            np.add.at(total, np.searchsorted(key, bucket * len(self.domain) + value), people)
            found += int((total > count).sum())
        return found


class Certain:
    """People who are certainly in a bucket with a value, in files by bucket."""

    def __init__(self, entries: Entries, place: Path) -> None:
        place.mkdir(mode=0o700, exist_ok=True)
        self.begins = np.array([low for low, _ in entries.ranges()])
        self.files = [Blocks(place / f"certain{k}", Layout((_COUNT, _COUNT, _COUNT))) for k in range(len(self.begins))]

    def add(self, bucket: Integers, value: Array, people: Integers) -> None:
        """Keep how many people there are with a value in a bucket, where there are any."""
        some = people > 0
        which = np.searchsorted(self.begins, bucket[some], side="right") - 1
        scatter([bucket[some], value[some], people[some]], which, self.files)


def read_entries(manifest: Manifest, tables: Iterable[pa.Table], sizes: Integers, place: Path) -> Entries:
    """Return the entries that the parts of a table list, in files; what cannot be such a table raises `FormatError`."""
    place.mkdir(mode=0o700, exist_ok=True)
    _, names, kinds = published_names(manifest)
    wanted = {BUCKET: "group"} | {one: kinds[one] for one in names} | {COUNT: "count"}
    buckets, secret, decoys = len(sizes), tuple(kinds[one] for one in names), int(manifest.parameters.get("decoys", 0))
    total = manifest.rows + decoys * buckets
    listed, shown = np.zeros(buckets, np.int64), np.zeros(buckets, np.int64)
    domains: list[pa.Table] = []
    local, largest = Blocks(place / "local", Layout((_VALUE, _VALUE, _COUNT))), 0
    for table in tables:
        part = take_table({ST: table}, ST, wanted)
        bucket, count = whole_numbers(part, BUCKET, ST) - 1, whole_numbers(part, COUNT, ST)
        if not len(bucket) or int(bucket.max()) >= buckets:
            raise FormatError(_GAPS)
        if int(count.max()) > total:
            require_counts(count, total)
        domain, value = code_domain(part.select(names), secret)
        domains.append(pa.table({one: decoded(domain.table[one]) for one in names}))
        local.append([bucket, value, count])
        listed += np.bincount(bucket, minlength=buckets)
        shown += np.bincount(bucket, weights=count, minlength=buckets).astype(np.int64)
        largest = max(largest, int(count.max()))
    if not listed.all():
        raise FormatError(_GAPS)
    require_counts(shown, total)
    wrong = int((shown != sizes + decoys).sum())
    if wrong:
        raise FormatError(f"{wrong} buckets show another number of sensitive values than they have people (and decoys)")
    whole, codes = code_domain(pa.concat_tables(domains), secret)
    _write(place, local, whole, np.split(codes, np.cumsum([len(one) for one in domains])[:-1]))
    return Entries(place, whole, np.concatenate(([0], np.cumsum(listed))).astype(np.int64), largest)


def _write(place: Path, local: Blocks, domain: Domain, codes: Sequence[Integers]) -> None:
    """Write values, as numbers of the whole domain, and counts, after comparing each entry with the next."""
    last, twice = -1, 0
    with (place / "value").open("wb") as values, (place / "count").open("wb") as counts:
        for (bucket, value, count), own in zip(local, codes, strict=True):
            number = own[value]
            key = np.append(last, bucket.astype(np.int64) * len(domain) + number)
            if (key[1:] < key[:-1]).any():
                raise FormatError("the rows of table 'st' are not in the canonical order, and another order could tell anything")
            twice += int((key[1:] == key[:-1]).sum())
            last = int(key[-1])
            values.write(number.astype(_VALUE).tobytes())
            counts.write(count.astype(_COUNT).tobytes())
    local.path.unlink()
    if twice:
        raise FormatError(f"{twice} rows of table 'st' occur twice")


class Lists:
    """For every file of quasi combinations the values that each of its buckets shows."""

    def __init__(self, entries: Entries, place: Path, files: int) -> None:
        self.entries, self.kind = entries, np.min_scalar_type(max(len(entries.domain) - 1, 1))
        place.mkdir(mode=0o700, exist_ok=True)
        self.heads = [Blocks(place / f"heads{k}", Layout((_COUNT, _COUNT))) for k in range(files)]
        self.values = [Blocks(place / f"values{k}", Layout((self.kind,))) for k in range(files)]

    def add(self, bucket: Integers, which: Integers) -> None:
        """Keep what these buckets, which ascend, show; `which` is the file that a row of each goes to."""
        low, high = int(bucket[0]), int(bucket[-1]) + 1
        pairs = np.unique(which * np.int64(high - low) + (bucket - low))
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

    def read(self, k: int) -> tuple[Integers, Histograms]:
        """Return the buckets of a file, ascending, and what they show, numbered in that order."""
        bucket, length = self.heads[k].take()
        (value,) = self.values[k].take()
        group = np.repeat(np.arange(len(bucket), dtype=np.int32), length)
        return bucket, Histograms(group, value.astype(np.int32), np.ones(len(value), np.int64), length, self.entries.domain)


def runs(rows: Blocks, at_once: int) -> Iterator[list[Array]]:
    """Yield rows, which are sorted by bucket and codes, equal ones once: codes, bucket, and how many there are."""
    for block in rows:
        for begin in range(0, len(block[0]), at_once):
            columns = [column[begin : begin + at_once] for column in block]
            fresh = np.ones(len(columns[0]), bool)
            fresh[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
            heads = np.flatnonzero(fresh)
            yield [*(column[heads] for column in columns), np.diff(np.append(heads, len(fresh)))]
