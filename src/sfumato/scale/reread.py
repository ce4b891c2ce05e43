"""A release on disk, read part by part: who is where, and what buckets show of values, stay on disk as codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.errors import FormatError
from sfumato.release.apart import secret_names
from sfumato.release.buckets import BUCKET, BucketsRelease, published_names
from sfumato.release.canonical import Shown, groups_fall
from sfumato.release.coding import code_column, code_domain, decoded, joined_columns, require_tables, take_table, whole_numbers
from sfumato.release.files import files_of, kind_of, not_listed, stored_part, stored_table
from sfumato.release.fragments import ST
from sfumato.release.manifest import Manifest
from sfumato.release.parts import listed_values, part_entries
from sfumato.release.randomized import PART, RECORDS, RandomizedRelease, part_numbers
from sfumato.scale.entries import Entries, read_entries
from sfumato.scale.layout import Blocks, Layout
from sfumato.table.column import Column, Domain

_ORDER = "not in the canonical order, and another order could tell anything"


@dataclass(frozen=True, eq=False)
class Reread:
    """The release without its people's rows, and those rows as blocks: a code a quasi column, then the bucket from 0 on.

    `rows` of the release's own columns are none; its sizes of buckets were counted from the blocks. Nor has it rows of `st`,
    which lie in `entries`; only where counts have noise, and every bucket shows every value, it does.
    """

    release: BucketsRelease
    rows: Blocks
    problems: tuple[str, ...]
    each: tuple[BucketsRelease, ...]
    """Where each of several secrets is protected by itself: the release of each; the first is `release`."""
    entries: tuple[Entries, ...]
    """What buckets show of each of them."""


def reread(directory: Path, manifest: Manifest, place: Path) -> Reread:
    """Return what a release of the form buckets holds, read a part at a time into a private place.

    What cannot be such a release raises `FormatError`; what can be said about it all the same is listed.
    """
    problems, kind = _unlisted(directory, manifest), kind_of(manifest)
    quasi_names, _, kinds = published_names(manifest)
    wanted = {name: kinds[name] for name in quasi_names} | {BUCKET: "group"}
    local = _Local(place, quasi_names)
    for file in files_of("qit", manifest.tables["qit"], kind):
        part = take_table({"qit": stored_part(directory, manifest.tables["qit"], file, problems)}, "qit", wanted)
        bucket = whole_numbers(part, BUCKET, "qit") - 1
        local.add([code_column(name, kinds[name], part[name]) for name in quasi_names], bucket)
    quasi, rows = local.joined()
    sizes, ordered = _sizes(rows)
    if int(sizes.sum()) != manifest.rows:
        raise FormatError(f"table 'qit' has {int(sizes.sum())} rows, the manifest says {manifest.rows}")
    if not len(sizes) or not sizes.all():
        raise FormatError("table 'qit': buckets should be numbered 1, 2, … without gaps, the same in every table")
    secrets = secret_names(manifest) if manifest.apart else [ST]
    stated = [manifest.of(name) for name in manifest.secrets] if manifest.apart else [manifest]
    noisy = manifest.basis == "noisy"
    small = {
        name: stored_table(directory, manifest, name, kind, problems)
        for name in manifest.tables
        if name != "qit" and (noisy or name not in secrets)
    }
    each, entries = [], []
    for k, (name, own) in enumerate(zip(secrets, stated, strict=True)):
        if noisy:
            tables = {(ST if one == name else one): table for one, table in small.items() if one == name or one not in secrets}
            each.append(BucketsRelease.from_buckets(own, tables, quasi, sizes))
            continue
        if name not in manifest.tables:
            raise FormatError(f"the table {name!r} is not there")
        files = files_of(name, manifest.tables[name], kind)
        parts = (stored_part(directory, manifest.tables[name], file, problems) for file in files)
        entries.append(read_entries(own, parts, sizes, place / f"secret{k}"))
        each.append(BucketsRelease.without_entries(own, small, quasi, sizes, entries[k].domain))
    # As a release of several secrets lists its tables: those of the first, then what the others show of values.
    shown: list[Keys] = [_keys(one, len(sizes)) for one in each[0].shown_of_buckets()[0 if noisy else 1 :]]
    if noisy:
        shown += [_keys(one.shown_of_buckets()[0], len(sizes)) for one in each[1:]]
    else:
        shown = [entries[0].keys, *shown, *(one.keys for one in entries[1:])]
    if not ordered or _buckets_fall(rows, [column.size for column in quasi], shown):
        problems.append(f"the rows or groups of table 'qit' are {_ORDER}")
    return Reread(each[0], rows, tuple(problems), tuple(each), tuple(entries))


def _unlisted(directory: Path, manifest: Manifest) -> list[str]:
    extra = not_listed(directory, manifest)
    return [f"{extra} files lie in the release that its manifest does not list"] if extra else []


Keys = Callable[[int, int], tuple[Integers, Integers]]
"""Given the first bucket and the one after the last: a number for every row of a table, and where each bucket begins."""


def _keys(table: Shown, buckets: int) -> Keys:
    start = np.searchsorted(table.group, np.arange(buckets + 1)).astype(np.int64)
    return lambda low, high: (table.key[start[low] : start[high]], start[low : high + 1] - start[low])


@dataclass(frozen=True, eq=False)
class RereadRecords:
    """A randomized release without its rows, and those as blocks: a code a quasi column, then the slot (part and value)."""

    release: CountedRecords
    rows: Blocks
    problems: tuple[str, ...]


class CountedRecords(RandomizedRelease):
    """A randomized release of which it is only known how often each part publishes each value."""

    @classmethod
    def of(cls, manifest: Manifest, quasi: tuple[Column, ...], domain: Domain, tally: Integers) -> CountedRecords:
        """Return the release with these numbers, [parts × values]."""
        none = np.zeros(0, np.int32)
        release = cls(manifest, quasi, domain, none, none)
        vars(release)["tally"] = tally
        return release


def reread_records(directory: Path, manifest: Manifest, place: Path) -> RereadRecords:
    """Return what a release of the form randomized holds, read a part at a time into a private place; see `reread`."""
    problems = _unlisted(directory, manifest)
    names, secret, kinds = published_names(manifest)
    require_tables(dict.fromkeys(manifest.tables, pa.table({})), RandomizedRelease.form, (RECORDS,))
    wanted = {name: kinds[name] for name in names} | {PART: "group"} | {name: kinds[name] for name in secret}
    entries, local = part_entries(manifest), _Local(place, names)
    release: CountedRecords | None = None
    for file in files_of(RECORDS, manifest.tables[RECORDS], kind_of(manifest)):
        records = take_table({RECORDS: stored_part(directory, manifest.tables[RECORDS], file, problems)}, RECORDS, wanted)
        listed = listed_values(entries, records.select(secret))
        both = pa.concat_tables([listed, pa.table({name: decoded(records[name]) for name in secret})])
        domain, codes = code_domain(both, tuple(kinds[name] for name in secret))
        known = code_domain(listed, domain.kinds)[0]
        if len(known) != len(domain):
            raise FormatError("table 'records' shows values that no part has")
        if release is None:
            tally = np.zeros((len(entries), len(domain)), np.int64)
            release = CountedRecords.of(manifest, (), known, tally)
            number = np.full(tally.shape, -1, np.int64)
            ranked = [one.described for one in release.parts]
            if sorted(ranked) != ranked:
                problems.append(f"the numbers of parts are {_ORDER}")
            if any(one == two for one, two in pairwise(ranked)):
                raise FormatError("two parts are described alike; such a release is audited in memory")
            for i, one in enumerate(release.parts):
                number[i, one.values] = np.arange(len(one)) + (number >= 0).sum()
        part, value = part_numbers(records, len(entries)), codes[listed.num_rows :]
        if (number[part, value] < 0).any():
            raise FormatError(f"{int((number[part, value] < 0).sum())} records show a value that their part does not have")
        np.add.at(release.tally, (part, value), 1)
        columns = [code_column(name, kinds[name], records[name]) for name in names]
        local.add(columns, number[part, value])
    assert release is not None
    if int(release.tally.sum()) != manifest.rows:
        raise FormatError(f"table 'records' has {int(release.tally.sum())} rows, the manifest says {manifest.rows}")
    quasi, rows = local.joined()
    part_of, value_of = np.nonzero(number >= 0)
    slot = np.argsort(number[part_of, value_of])
    part_of, value_of = part_of[slot], value_of[slot]
    if _rows_fall([part_of[slots], *codes, value_of[slots]] for *codes, slots in rows):
        problems.append(f"the rows of table 'records' are {_ORDER}")
    return RereadRecords(CountedRecords.of(manifest, quasi, release.domain, release.tally), rows, tuple(problems))


class _Local:
    """Parts as they come, each with values of its own, and then with the values of all of them."""

    def __init__(self, place: Path, names: list[str]) -> None:
        self.place, self.names = place, names
        self.parts: list[tuple[list[Column], Blocks]] = []
        place.mkdir(mode=0o700, exist_ok=True)

    def add(self, columns: list[Column], bucket: Integers) -> None:
        layout = Layout((*(column.codes.dtype for column in columns), np.dtype(np.int32)))
        blocks = Blocks(self.place / f"part{len(self.parts)}", layout)
        blocks.append([*(column.codes for column in columns), bucket.astype(np.int32)])
        empty = [replace(column, codes=column.codes[:0]) for column in columns]
        self.parts.append((empty, blocks))

    def joined(self) -> tuple[tuple[Column, ...], Blocks]:
        found = [joined_columns([parts[j] for parts, _ in self.parts]) for j in range(len(self.names))]
        columns, places = [column for column, _ in found], [place for _, place in found]
        whole = Blocks(self.place / "rows", Layout((*(column.codes.dtype for column in columns), np.dtype(np.int32))))
        for number, (_, blocks) in enumerate(self.parts):
            for *codes, bucket in blocks:
                whole.append([*(places[j][number][code] for j, code in enumerate(codes)), bucket])
            blocks.path.unlink()
        return tuple(columns), whole


def _sizes(rows: Blocks) -> tuple[Integers, bool]:
    """Return how many rows each bucket has, and whether rows are sorted by bucket and values."""
    sizes = np.zeros(0, np.int64)
    for *_, bucket in rows:
        many = int(bucket.max(initial=-1)) + 1
        if many > len(sizes):
            sizes = np.concatenate([sizes, np.zeros(many - len(sizes), np.int64)])
        sizes += np.bincount(bucket, minlength=len(sizes))
    return sizes, not _rows_fall([bucket, *codes] for *codes, bucket in rows)


def _rows_fall(blocks: Iterable[list[Array]]) -> bool:
    """Return whether a row comes after the next one, in a block or at the border of two."""
    last: list[int] | None = None
    for keys in blocks:
        if last is not None and _falls([np.array([before, key[0]]) for before, key in zip(last, keys, strict=True)]):
            return True
        if _falls(keys):
            return True
        last = [int(key[-1]) for key in keys]
    return False


def _buckets_fall(rows: Blocks, widths: list[int], tables: Sequence[Keys]) -> bool:
    """Return whether a bucket comes after the next one, rows being sorted: by its rows, then by what else is told of it."""
    held: list[Array] | None = None  # the rows of the last bucket of a block, which may go on in the next one
    for block, columns in enumerate(rows):
        if held is not None:
            columns = [np.concatenate(pair) for pair in zip(held, columns, strict=True)]
        *codes, bucket = columns
        low, high = int(bucket[0]), int(bucket[-1])
        begin = int(np.searchsorted(bucket, high))
        held = [column[begin:] for column in columns]
        end = high + (block == len(rows.rows) - 1)
        if end - low > 1:
            whole = slice(0, len(bucket) if end > high else begin)
            own = np.searchsorted(bucket[whole], np.arange(low, end + 1)).astype(np.int64)
            others = [one(low, end) for one in tables]
            keys = [row_keys([code[whole] for code in codes], widths), *(key for key, _ in others)]
            if groups_fall(keys, [own, *(start for _, start in others)]):
                return True
        if low < high and end == high:
            # The next block begins with the last bucket again; the one before it is compared with it there.
            previous = int(np.searchsorted(bucket, high - 1))
            held = [column[previous:] for column in columns]
    return False


def row_keys(codes: Sequence[Array], sizes: Sequence[int]) -> Integers:
    """Return a number for every row that ascends with its codes, equal for equal ones."""
    key = np.zeros(len(codes[0]), np.int64)
    room = 1
    for code, size in zip(codes, sizes, strict=True):
        if room * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            room = int(key.max(initial=0)) + 1
        key = key * size + code
        room *= size
    return key


def _falls(keys: list[Array]) -> bool:
    """Return whether a row comes after the next one."""
    equal = np.ones(len(keys[0]) - 1, bool)
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return True
        equal &= key[1:] == key[:-1]
    return False
