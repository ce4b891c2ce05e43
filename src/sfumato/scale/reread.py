"""A release on disk, read part by part: who is where, and what groups show of values, stay on disk as codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.errors import FormatError, NotInPartsError
from sfumato.release.buckets import GROUP, BucketsRelease, published_names
from sfumato.release.canonical import TableRows, groups_fall
from sfumato.release.coding import code_column, code_domain, decoded, joined_columns, require_tables, take_table, whole_numbers
from sfumato.release.files import files_of, kind_of, not_listed, stored_part, stored_table
from sfumato.release.fragments import ST
from sfumato.release.manifest import Manifest
from sfumato.release.parts import listed_values, part_entries
from sfumato.release.randomized import PART, RECORDS, RandomizedRelease, part_numbers
from sfumato.scale.entries import Entries, keys_of_each, read_entries
from sfumato.scale.layout import Blocks, Layout
from sfumato.table.column import Column, Domain, Events

_ORDER = "not in the canonical order, and another order could carry information"


@dataclass(frozen=True, eq=False)
class Reread:
    """The release without its people's rows, and those rows as blocks: a code a quasi column, then the group from 0 on.

    `rows` of the release's own columns are none; its sizes of buckets were counted from the blocks. Nor has it rows of `st`,
    which lie in `entries`; only where counts have noise, and every group shows every value, it does.
    """

    release: BucketsRelease
    rows: Blocks
    problems: tuple[str, ...]
    entries: tuple[Entries, ...]
    """What groups show of each secret."""


def reread(directory: Path, manifest: Manifest, place: Path) -> Reread:
    """Return what a release of the form buckets holds, read a part at a time into a private place.

    What cannot be such a release raises `FormatError`; what can be said about it all the same is listed.
    """
    problems, kind = _unlisted(directory, manifest), kind_of(manifest)
    quasi_names, _, kinds = published_names(manifest)
    wanted = {name: kinds[name] for name in quasi_names} | {GROUP: "group"}
    local, listed = _Local(place, quasi_names), _facts(manifest, "qit")
    for file in files_of("qit", listed, kind):
        part = take_table({"qit": stored_part(directory, listed, file, problems)}, "qit", wanted)
        group = whole_numbers(part, GROUP, "qit") - 1
        local.add([code_column(name, kinds[name], part[name]) for name in quasi_names], group)
    quasi, rows = local.joined()
    sizes, ordered = _sizes(rows)
    if int(sizes.sum()) != manifest.rows:
        raise FormatError(f"table 'qit' has {int(sizes.sum())} rows, the manifest says {manifest.rows}")
    if not len(sizes) or not sizes.all():
        raise FormatError("table 'qit': groups should be numbered 1, 2, … without gaps, the same in every table")
    noisy = manifest.rests_on.noisy
    small = {
        name: stored_table(directory, manifest, name, kind, problems)
        for name in manifest.tables
        if name != "qit" and (noisy or name != ST)
    }
    shown: list[Keys] = []
    entries: tuple[Entries, ...] = ()
    if noisy:
        release = BucketsRelease.from_groups(manifest, small, quasi, sizes)
    else:
        facts = _facts(manifest, ST)
        parts = (stored_part(directory, facts, file, problems) for file in files_of(ST, facts, kind))
        entries = read_entries(manifest, parts, sizes, place)
        release = _of_entries(manifest, small, quasi, sizes, entries)
        shown.append(partial(keys_of_each, entries))
    shown += [_keys(counts, len(sizes)) for counts in release.shown_of_groups()[0 if noisy else 1 :]]
    if not ordered or _buckets_fall(rows, [column.size for column in quasi], shown):
        problems.append(f"the rows or groups of table 'qit' are {_ORDER}")
    return Reread(release, rows, tuple(problems), entries)


def _of_entries(
    manifest: Manifest, tables: dict[str, Any], quasi: tuple[Column, ...], sizes: Integers, entries: tuple[Entries, ...]
) -> BucketsRelease:
    """Return a release whose entries lie in files, and so do those of each of its secrets."""
    each = tuple(
        BucketsRelease.without_entries(own, tables, quasi, sizes, entry.domain)
        for own, entry in zip(manifest.each, entries, strict=True)
    )
    if len(each) == 1:
        return each[0]
    events = Events(tuple(entry.domain for entry in entries))
    release = BucketsRelease.without_entries(manifest, tables, quasi, sizes, events)
    vars(release)["each"] = each
    return release


def _facts(manifest: Manifest, name: str) -> Mapping[str, Any]:
    """Return what a stranger's manifest says of a table that releases of the form have."""
    if name not in manifest.tables:
        raise FormatError(f"the table {name!r} is not there")
    return manifest.tables[name]


def _unlisted(directory: Path, manifest: Manifest) -> list[str]:
    extra = not_listed(directory, manifest)
    return [f"{extra} files in the release are not listed in its manifest"] if extra else []


Keys = Callable[[int, int], tuple[Integers, Integers]]
"""Given the first group and the one after the last: a number for every row of a table, and where each group begins."""


def _keys(table: TableRows, groups: int) -> Keys:
    start = np.searchsorted(table.group, np.arange(groups + 1)).astype(np.int64)
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
    def counted(cls, manifest: Manifest, quasi: tuple[Column, ...], domain: Domain, tally: Integers) -> CountedRecords:
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
            release = CountedRecords.counted(manifest, (), known, tally)
            number = np.full(tally.shape, -1, np.int64)
            ranked = [part.described for part in release.parts]
            if sorted(ranked) != ranked:
                problems.append(f"the numbers of parts are {_ORDER}")
            if any(part == two for part, two in pairwise(ranked)):
                raise NotInPartsError("two parts are described alike; such a release is audited in memory")
            for i, of_part in enumerate(release.parts):
                number[i, of_part.values] = np.arange(len(of_part)) + (number >= 0).sum()
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
    return RereadRecords(CountedRecords.counted(manifest, quasi, release.domain, release.tally), rows, tuple(problems))


class _Local:
    """Parts as they come, each with values of its own, and then with the values of all of them."""

    def __init__(self, place: Path, names: list[str]) -> None:
        self.place, self.names = place, names
        self.parts: list[tuple[list[Column], Blocks]] = []
        place.mkdir(mode=0o700, exist_ok=True)

    def add(self, columns: list[Column], group: Integers) -> None:
        layout = Layout((*(column.codes.dtype for column in columns), np.dtype(np.int32)))
        blocks = Blocks(self.place / f"part{len(self.parts)}", layout)
        blocks.append([*(column.codes for column in columns), group.astype(np.int32)])
        empty = [replace(column, codes=column.codes[:0]) for column in columns]
        self.parts.append((empty, blocks))

    def joined(self) -> tuple[tuple[Column, ...], Blocks]:
        joined = [joined_columns([parts[j] for parts, _ in self.parts]) for j in range(len(self.names))]
        columns, places = [column for column, _ in joined], [place for _, place in joined]
        whole = Blocks(self.place / "rows", Layout((*(column.codes.dtype for column in columns), np.dtype(np.int32))))
        for number, (_, blocks) in enumerate(self.parts):
            for *codes, group in blocks:
                whole.append([*(places[j][number][code] for j, code in enumerate(codes)), group])
            blocks.path.unlink()
        return tuple(columns), whole


def _sizes(rows: Blocks) -> tuple[Integers, bool]:
    """Return how many rows each group has, and whether rows are sorted by group and values."""
    sizes = np.zeros(0, np.int64)
    for *_, group in rows:
        many = int(group.max(initial=-1)) + 1
        if many > len(sizes):
            sizes = np.concatenate([sizes, np.zeros(many - len(sizes), np.int64)])
        sizes += np.bincount(group, minlength=len(sizes))
    return sizes, not _rows_fall([group, *codes] for *codes, group in rows)


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
    """Return whether a group comes after the next one, rows being sorted: by its rows, then by what else is told of it."""
    held: list[Array] | None = None  # the rows of the last group of a block, which may go on in the next one
    for block, columns in enumerate(rows):
        if held is not None:
            columns = [np.concatenate(pair) for pair in zip(held, columns, strict=True)]
        *codes, group = columns
        low, high = int(group[0]), int(group[-1])
        begin = int(np.searchsorted(group, high))
        held = [column[begin:] for column in columns]
        end = high + (block == len(rows.rows) - 1)
        if end - low > 1:
            whole = slice(0, len(group) if end > high else begin)
            own = np.searchsorted(group[whole], np.arange(low, end + 1)).astype(np.int64)
            others = [table(low, end) for table in tables]
            keys = [row_keys([code[whole] for code in codes], widths), *(key for key, _ in others)]
            if groups_fall(keys, [own, *(start for _, start in others)]):
                return True
        if low < high and end == high:
            # The next block begins with the last group again; the one before it is compared with it there.
            previous = int(np.searchsorted(group, high - 1))
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
