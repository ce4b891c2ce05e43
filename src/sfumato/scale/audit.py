"""The audit of a release whose people are not held in memory: the auditor's own code, on buckets and on people in turn.

Whatever concerns one quasi combination is found where all its people are: published rows and those of the table are put into the
same file by a hash of their quasi values, and one file after another is walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.auditor.audit import completed, read_tables
from sfumato.auditor.buckets import Walked, audit_buckets, walk_dealt
from sfumato.auditor.claims import Case, Histograms
from sfumato.auditor.columns import audit_columns
from sfumato.auditor.counted import Counted
from sfumato.auditor.noisy import Walked as NoisyWalked
from sfumato.auditor.noisy import walk_together
from sfumato.auditor.original import numbered, other_columns, other_schema, true_codes
from sfumato.auditor.ranges import audit_ranges
from sfumato.auditor.result import Audit
from sfumato.errors import FormatError
from sfumato.release.box_tables import box_arrays
from sfumato.release.buckets import BucketsRelease
from sfumato.release.columns import ColumnsRelease
from sfumato.release.counted_ranges import read_ranges
from sfumato.release.files import read_release
from sfumato.release.manifest import Manifest
from sfumato.scale.layout import Blocks, Layout
from sfumato.scale.outline import Outline
from sfumato.scale.reread import Reread, reread
from sfumato.table.coding import dealt, sorted_with_places
from sfumato.table.column import Column
from sfumato.table.table import Table

AT_ONCE = 1 << 21
"""About so many people are walked at once."""


def audit_parts(
    directory: Path,
    manifest: Manifest,
    place: Path,
    outline: Outline | None = None,
    people: Blocks | None = None,
    *,
    draw: bool = True,
) -> Audit:
    """Return the audit of a release on disk, read in parts; with the table's outline and everybody's codes also against those.

    `place` is a private directory for what does not fit in memory. Without `draw` nothing is looked at that depends on coins.
    """
    table = None if outline is None else outline.table
    judged = JUDGES[manifest.form]
    try:
        found = judged(directory, manifest, place, table, people, draw)
    except FormatError as error:
        return Audit(claims=(), problems=(error.message,), with_table=table is not None)
    return completed(found.audit, manifest, found.texts, table, found.problems)


class _Judged(NamedTuple):
    """The audit of a form, every published value once, and what was wrong before."""

    audit: Audit
    texts: dict[str, pa.Table]
    problems: list[str]


def _buckets(directory: Path, manifest: Manifest, place: Path, table: Table | None, people: Blocks | None, draw: bool) -> _Judged:
    read = reread(directory, manifest, place / "release")
    problems = [*read.problems, *read.release.contradictions()]
    shown = {"qit": _empty(read.release.quasi), "st": read.release.tables()["st"].slice(0, 0)}
    comparable = _comparable(manifest, shown, table, problems)

    def walk(release: BucketsRelease, histograms: Histograms, against: Table) -> Walked:
        assert people is not None
        return _walked(read, histograms, against, people, place / "people")

    def walk_noise(release: BucketsRelease, against: Table | None) -> NoisyWalked:
        return _walked_noise(read, against, people, place / "people")

    audit = audit_buckets(Case(read.release, comparable, None, None, None, draw), walk, walk_noise)
    quasi = {f"qit {column.name}": pa.table({column.name: column.values}) for column in read.release.quasi}
    return _Judged(audit, quasi | {"st": read.release.domain.table}, problems)


def _ranges(directory: Path, manifest: Manifest, place: Path, table: Table | None, people: Blocks | None, draw: bool) -> _Judged:
    problems: list[str] = []
    release = read_ranges(directory, manifest, problems)
    if release._disorder is not None:
        problems.append(release._disorder.message)
    problems += release.contradictions()
    none = np.zeros(0, np.int32)
    shown = {"records": pa.table({name: one for box in release.boxes for name, one in box_arrays(box, none).items()})}
    shown["secrets"] = release.domain.table.slice(0, 0)
    comparable = _comparable(manifest, shown, table, problems)
    batches = None
    if comparable is not None:
        assert people is not None
        batches = _Distinct(comparable, people, place / "people")
    audit = audit_ranges(Case(release, comparable, None, None, None, draw), batches)
    texts = {box.name: pa.table({box.name: box.values}) for box in release.boxes}
    return _Judged(audit, texts | {"records": release.domain.table}, problems)


def _columns(directory: Path, manifest: Manifest, place: Path, table: Table | None, people: Blocks | None, draw: bool) -> _Judged:
    stored = read_release(directory)  # all its tables tell of groups, none of people
    problems = list(stored.problems)
    release = read_tables(manifest, stored.tables, problems)
    assert isinstance(release, ColumnsRelease)
    comparable = _comparable(manifest, dict(stored.tables), table, problems)
    batches = None
    if comparable is not None:
        assert people is not None
        batches = _Distinct(comparable, people, place / "people")
    audit = audit_columns(Case(release, comparable, None, None, None, draw), batches)
    return _Judged(audit, dict(stored.tables), problems)


JUDGES = {"buckets": _buckets, "ranges": _ranges, "columns": _columns}
"""The forms that are audited a part at a time."""


def _comparable(manifest: Manifest, shown: dict[str, pa.Table], table: Table | None, problems: list[str]) -> Table | None:
    """Return the table where its people can be compared with those of the release; why not goes to `problems`."""
    if table is None:
        return None
    problems += other_schema(manifest, table)
    unlike = other_columns(manifest, shown, table)
    problems += unlike
    return None if unlike else table


class _Distinct:
    """The different people of a table, by quasi values and true value, one file of quasi combinations after another."""

    def __init__(self, table: Table, people: Blocks, place: Path) -> None:
        self.sizes = [*(column.size for column in table.quasi), len(table.sensitive.domain)]
        place.mkdir(mode=0o700, exist_ok=True)
        wide = Layout(tuple(np.dtype(np.int32) for _ in self.sizes))
        many = max(1, -(-people.total // AT_ONCE))
        self.files = [Blocks(place / f"original{part}", wide) for part in range(many)]
        for *codes, secret in people:
            _scatter([code.astype(np.int32) for code in codes], secret, self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Counted]:
        for file in self.files:
            columns = file.read()
            _, first, times = np.unique(_keys(columns, self.sizes), return_index=True, return_counts=True)
            *codes, secret = (column[first] for column in columns)
            yield Counted(tuple(codes), secret, times.astype(np.int64))


def _empty(quasi: Sequence[Column]) -> pa.Table:
    return pa.table({column.name: column.values.slice(0, 0) for column in quasi})


class _Together(NamedTuple):
    """Published people and those of the table who may have equal quasi values: `key` numbers these, published ones first."""

    key: Integers
    bucket: Array
    secret: Array


def _together(read: Reread, table: Table | None, people: Blocks | None, place: Path) -> Iterator[_Together]:
    """Yield everybody, one file of quasi combinations after another."""
    place.mkdir(mode=0o700, exist_ok=True)
    quasi = read.release.quasi
    names = {column.name: j for j, column in enumerate(quasi if table is None else table.quasi)}
    order = [names[column.name] for column in quasi]
    ours, theirs, sizes = _numbering(quasi, quasi if table is None else [table.quasi[j] for j in order])
    rows = read.rows.total + (0 if people is None else people.total)
    files = max(1, -(-rows // AT_ONCE))
    wide = Layout((*(np.dtype(np.int32) for _ in sizes), np.dtype(np.int32)))
    published, original = ([Blocks(place / f"{name}{part}", wide) for part in range(files)] for name in ("published", "original"))
    for *codes, bucket in read.rows:
        _scatter([place_[code] for place_, code in zip(ours, codes, strict=True)], bucket, published)
    for *codes, secret in people or ():
        _scatter([place_[codes[j]] for place_, j in zip(theirs, order, strict=True)], secret, original)
    for mine, real in zip(published, original, strict=True):
        *codes, bucket = mine.read()
        *others, secret = real.read()
        yield _Together(_keys([np.concatenate(pair) for pair in zip(codes, others, strict=True)], sizes), bucket, secret)
        for file in (mine, real):
            file.path.unlink(missing_ok=True)


def _walked(read: Reread, shown: Histograms, table: Table, people: Blocks, place: Path) -> Walked:
    """Return how the published people differ from those of the table."""
    truth = true_codes(shown.labels, table)
    total = Walked(0, 0, 0, np.zeros(len(shown.value), np.int64))
    for some in _together(read, table, people, place):
        number = numbered(some.key)
        many, published = int(number.max(initial=-1)) + 1, len(some.bucket)
        mine, theirs = dealt(number[:published], many), dealt(number[published:], many)
        found = walk_dealt(mine, theirs, some.bucket, truth[some.secret], shown)
        total.certain[:] += found[3]
        total = Walked(total.invented + found[0], total.lost + found[1], total.misplaced + found[2], total.certain)
    return total


def _walked_noise(read: Reread, table: Table | None, people: Blocks | None, place: Path) -> NoisyWalked:
    """Return the same where counts have noise."""
    buckets, domain = len(read.release.sizes), read.release.domain
    truth = None if table is None else true_codes(domain.labels, table).astype(np.int64)
    total = NoisyWalked(torn=False, truth=np.zeros((buckets, len(domain)), np.int64))
    for some in _together(read, table, people if table is not None else None, place):
        mine = None if truth is None else truth[some.secret]
        found = walk_together(some.key, some.bucket, mine, buckets, len(domain))
        known = None if total.truth is None or found.truth is None else total.truth + found.truth
        lost, invented = total.lost + found.lost, total.invented + found.invented
        total = NoisyWalked(total.torn or found.torn, invented, lost, total.undeclared or found.undeclared, known)
    return total


def _numbering(quasi: Sequence[Column], theirs: Sequence[Column]) -> tuple[list[Array], list[Array], list[int]]:
    """Return for every column a number of each published value and of each of the table's, equal where the values are."""
    ours_as: list[Array] = []
    theirs_as: list[Array] = []
    sizes: list[int] = []
    for column, other in zip(quasi, theirs, strict=True):
        numbers: dict[Any, int] = {}
        for values, listed in ((column, ours_as), (other, theirs_as)):
            listed.append(
                np.array([numbers.setdefault(value, len(numbers)) for value in values.dictionary().to_pylist()], dtype=np.int32)
            )
        sizes.append(len(numbers))
    return ours_as, theirs_as, sizes


def _scatter(codes: list[Array], last: Array, files: list[Blocks]) -> None:
    """Put rows into files by a hash of their codes."""
    word = np.zeros(len(last), np.uint64)
    for code in codes:
        word = (word ^ code.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(29)
    which = (word % np.uint64(len(files))).astype(np.int64)
    places = sorted_with_places(which)[1]
    ends = np.cumsum(np.bincount(which, minlength=len(files)))
    begin = 0
    for file, end in zip(files, ends.tolist(), strict=True):
        some = places[begin:end]
        file.append([*(code[some] for code in codes), last[some].astype(np.int32)])
        begin = end


def _keys(codes: list[Array], sizes: list[int]) -> Integers:
    """Return a number for every row, equal for equal codes."""
    key = np.zeros(len(codes[0]), np.int64)
    room = 1
    for code, size in zip(codes, sizes, strict=True):
        if room * size >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            room = int(key.max(initial=0)) + 1
        key = key * size + code
        room *= size
    return key
