"""The audit of a release whose people are not held in memory: the auditor's own code, on groups and on people in turn.

Whatever concerns one quasi combination is found where all its people are: published rows and those of the table are put into the
same file by a hash of their quasi values, and one file after another is walked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Floats, Integers
from sfumato.auditor.audit import audit_stored, completed, in_own_types, read_tables
from sfumato.auditor.buckets import BucketWalk, audit_buckets, walk_dealt
from sfumato.auditor.claims import Case
from sfumato.auditor.columns import audit_columns
from sfumato.auditor.each import audit_each
from sfumato.auditor.margins import true_margins
from sfumato.auditor.noisy import NoisyWalk, walk_together
from sfumato.auditor.original import PeopleCounts, numbered, other_columns, true_codes, unlike_schema
from sfumato.auditor.parts import PartCounts, PartPairs, ReadParts, added_counts, count_parts
from sfumato.auditor.randomized import audit_randomized
from sfumato.auditor.ranges import audit_ranges
from sfumato.auditor.replay import replay_buckets, replay_ranges
from sfumato.auditor.result import Audit
from sfumato.auditor.weight import crowds_of
from sfumato.errors import FormatError, NotInPartsError
from sfumato.release.box_tables import box_arrays
from sfumato.release.buckets import BucketsRelease
from sfumato.release.counted_ranges import read_ranges
from sfumato.release.files import read_release
from sfumato.release.manifest import Manifest
from sfumato.scale.entries import Certain, Entries, Lists, runs
from sfumato.scale.layout import Blocks, Layout, hashed, scatter
from sfumato.scale.outline import Outline
from sfumato.scale.reread import Reread, RereadRecords, reread, reread_records, row_keys
from sfumato.table.coding import dealt
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
    in_parts: Integers | None = None,
) -> Audit:
    """Return the audit of a release on disk, read in parts; with the table's outline and everybody's codes also against those.

    `place` is a private directory for what does not fit in memory. Without `draw` nothing is looked at that depends on coins.
    `in_parts` is what the publisher of a randomized release knows: [parts × values] how many people are where.
    """
    table = None if outline is None else outline.table
    try:
        judged = JUDGES[manifest.form](_AuditTask(directory, manifest, place, table, people, draw, in_parts))
    except FormatError as error:
        if isinstance(error, NotInPartsError) and table is None:
            return audit_stored(read_release(directory, manifest))
        return Audit(claims=(), problems=(error.message,), with_table=table is not None)
    return completed(judged.audit, manifest, judged.texts, table, judged.problems)


class _AuditTask(NamedTuple):
    """What is audited, and against what: see `audit_parts`."""

    directory: Path
    manifest: Manifest
    place: Path
    table: Table | None
    people: Blocks | None
    draw: bool
    in_parts: Integers | None


class _Judged(NamedTuple):
    """The audit of a form, every published value once, and what was wrong before."""

    audit: Audit
    texts: dict[str, pa.Table]
    problems: list[str]


def _buckets(asked: _AuditTask) -> _Judged:
    directory, manifest, place, table, people, draw, _ = asked
    read = reread(directory, manifest, place / "release")
    whole = read.release
    problems = [*read.problems, *whole.contradictions(), *crowds_of(manifest, whole.quasi, read.rows)]
    secrets = [part.domain.table.slice(0, 0) for part in whole.each]
    comparable = _comparable(manifest, {"qit": _empty(read.release.quasi), **_named(secrets)}, table, problems)
    own = _own_codes(comparable)
    passes = count()

    def judge(case: Case[BucketsRelease], k: int) -> Audit:
        def walk(against: Table) -> BucketWalk:
            assert people is not None
            return _walked(read, read.entries[k], against, people, place / f"people{next(passes)}", own[k])

        def walk_noise(release: BucketsRelease, against: Table | None) -> NoisyWalk:
            return _walked_noise(read, against, people, place / f"people{next(passes)}")

        return audit_buckets(case, (read.entries[k].shown(case.release), walk) if read.entries else None, walk_noise)

    audit = _each(whole, comparable, draw, judge)
    if read.entries:
        shown = [own.shown(part) for own, part in zip(read.entries, whole.each, strict=True)]
        audit = replay_buckets(audit, Case(whole), read.rows, shown)
    quasi = {f"qit {column.name}": pa.table({column.name: column.values}) for column in read.release.quasi}
    return _Judged(audit, quasi | _named([part.domain.table for part in whole.each]), problems)


def _named(secrets: Sequence[pa.Table]) -> dict[str, pa.Table]:
    return {f"st{k}": table for k, table in enumerate(secrets)}


def _each(release: Any, table: Table | None, draw: bool, judge: Callable[[Case[Any], int], Audit]) -> Audit:
    """Return the audit of a release by that of each of its secrets."""

    def judged(case: Case[Any]) -> Audit:
        return judge(case, next(k for k, part in enumerate(release.each) if part is case.release))

    return audit_each(Case(release, table, None, None, None, draw), judged)


def _distinct(table: Table | None, people: Blocks | None, place: Path) -> Callable[[int], _Distinct | None]:
    """Return who gives the people of a table with a value of the k-th secret; nobody where there is no table."""
    if table is None:
        return lambda k: None
    assert people is not None
    own, everybody = _own_codes(table), _Distinct(table, people, place / "people")
    return lambda k: everybody.of(own[k])


def _own_codes(table: Table | None) -> list[Array]:
    """Return for each secret that is protected by itself which of its values each code of the sensitive attribute has."""
    if table is None:
        return []
    domain = table.sensitive.domain
    if not table.schema.protects_each:
        return [np.arange(len(domain))]
    return [domain.part(name)[1] for name in domain.names]


def _ranges(asked: _AuditTask) -> _Judged:
    directory, manifest, place, table, people, draw, _ = asked
    problems: list[str] = []
    release = read_ranges(directory, manifest, problems)
    each = release.each
    if each[0]._disorder is not None:
        problems.append(each[0]._disorder.message)
    problems += release.contradictions()
    none = np.zeros(0, np.int32)
    shown = {"records": pa.table({name: array for box in each[0].boxes for name, array in box_arrays(box, none).items()})}
    shown |= _named([part.domain.table.slice(0, 0) for part in each])
    comparable = _comparable(manifest, shown, table, problems)
    everybody = _distinct(comparable, people, place)
    audit = _each(release, comparable, draw, lambda case, k: audit_ranges(case, everybody(k)))
    audit = replay_ranges(audit, Case(release, comparable), everybody(0))
    texts = {box.name: pa.table({box.name: box.values}) for box in each[0].boxes}
    return _Judged(audit, texts | _named([part.domain.table for part in each]), problems)


def _columns(asked: _AuditTask) -> _Judged:
    directory, manifest, place, table, people, draw, _ = asked
    stored = read_release(directory)  # all its tables tell of groups, none of people
    problems = list(stored.problems)
    release: Any = read_tables(manifest, stored.tables, problems)
    shown = in_own_types(release, stored.tables)
    comparable = _comparable(manifest, dict(shown), table, problems)
    everybody = _distinct(comparable, people, place)
    audit = _each(release, comparable, draw, lambda case, k: audit_columns(case, everybody(k)))
    return _Judged(audit, dict(shown), problems)


def _randomized(asked: _AuditTask) -> _Judged:
    read = reread_records(asked.directory, asked.manifest, asked.place / "release")
    problems = [*read.problems, *read.release.contradictions()]
    problems += crowds_of(asked.manifest, read.release.quasi, read.rows)
    shown = {"records": _empty(read.release.quasi), "secrets": read.release.domain.table.slice(0, 0)}
    comparable = _comparable(asked.manifest, shown, asked.table, problems)
    passes = count()

    def counted(numbers: ReadParts, table: Table) -> Iterator[PartCounts]:
        truth = true_codes(read.release.domain.labels, table).astype(np.int64)
        for some in _Files(read, table, asked.people, asked.place / f"people{next(passes)}")(read.rows):
            yield count_parts(some.key, some.group.astype(np.int64), truth[some.secret], numbers.slots)

    def walk(numbers: ReadParts, table: Table) -> PartCounts:
        return added_counts(counted(numbers, table), numbers.slots, _Exposed(lambda: counted(numbers, table)))

    slots = ReadParts.of(read.release).slots
    in_parts = None if asked.in_parts is None else asked.in_parts[slots.part, slots.value]
    audit = audit_randomized(Case(read.release, comparable, None, None, None, asked.draw), walk, in_parts)
    quasi = {f"records {column.name}": pa.table({column.name: column.values}) for column in read.release.quasi}
    return _Judged(audit, quasi | {"records": read.release.domain.table}, problems)


class _Exposed:
    """The mean belief of readers over people who are counted some at a time."""

    def __init__(self, parts: Callable[[], Iterator[PartCounts]]) -> None:
        self.parts = parts

    def exposure(self, slots: PartPairs, shares: Floats, kept: Floats) -> float:
        """Return the mean belief in the true value of a reader who takes these shares of each part as prior (per slot)."""
        total, people = 0.0, 0
        for part in self.parts():
            rows = int(part.totals.sum())
            total += part.classes.exposure(slots, shares, kept) * rows
            people += rows
        return total / max(1, people)


JUDGES = {"buckets": _buckets, "ranges": _ranges, "columns": _columns, "randomized": _randomized}
"""The forms that are audited a part at a time."""


def _comparable(manifest: Manifest, shown: dict[str, pa.Table], table: Table | None, problems: list[str]) -> Table | None:
    """Return the table where its people can be compared with those of the release; why not goes to `problems`."""
    if table is None:
        return None
    problems += unlike_schema(manifest, table)
    unlike = other_columns(manifest, shown, table)
    problems += unlike
    return None if unlike else table


class _Distinct:
    """The different people of a table, by quasi values and true value, one file of quasi combinations after another."""

    def __init__(self, table: Table, people: Blocks, place: Path) -> None:
        self.sizes = [*(column.size for column in table.quasi), len(table.sensitive.domain)]
        self.own: Array = np.arange(len(table.sensitive.domain))
        place.mkdir(mode=0o700, exist_ok=True)
        wide = Layout(tuple(np.dtype(np.int32) for _ in self.sizes))
        many = max(1, -(-people.total // AT_ONCE))
        self.files = [Blocks(place / f"original{part}", wide) for part in range(many)]
        for *codes, secret in people:
            _scatter([code.astype(np.int32) for code in codes], [secret], self.files)

    def of(self, codes: Array) -> _Distinct:
        """Return the same people with a value of one secret, given for each code of the sensitive attribute."""
        same = copy(self)
        same.own = codes
        return same

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[PeopleCounts]:
        for file in self.files:
            columns = file.read()
            columns[-1] = self.own[columns[-1]]
            _, first, times = np.unique(row_keys(columns, self.sizes), return_index=True, return_counts=True)
            *codes, secret = (column[first] for column in columns)
            yield PeopleCounts(tuple(codes), secret, times.astype(np.int64))


def _empty(quasi: Sequence[Column]) -> pa.Table:
    return pa.table({column.name: column.values.slice(0, 0) for column in quasi})


class _Together(NamedTuple):
    """Published people and those of the table who may have equal quasi values: `key` numbers these, published ones first."""

    key: Integers
    published: list[Array]
    """Further columns of published people."""
    secret: Array

    @property
    def group(self) -> Array:
        """The first of these columns."""
        return self.published[0]


class _Files:
    """Everybody in files by a hash of quasi values."""

    def __init__(self, read: Reread | RereadRecords, table: Table | None, people: Blocks | None, place: Path) -> None:
        place.mkdir(mode=0o700, exist_ok=True)
        self.read, self.table, self.people, self.place = read, table, people, place
        self.many = max(1, -(-(read.rows.total + (0 if people is None else people.total)) // AT_ONCE))

    def __call__(
        self, rows: Iterable[Sequence[Array]], along: Callable[[Integers, Integers], None] | None = None
    ) -> Iterator[_Together]:
        """Yield everybody, one file after another; `rows` are the published ones: codes, then any further columns.

        `along` is told the first of these columns, and which file each row goes to.
        """
        quasi, table = self.read.release.quasi, self.table
        names = {column.name: j for j, column in enumerate(quasi if table is None else table.quasi)}
        order = [names[column.name] for column in quasi]
        ours, theirs, sizes = _numbering(quasi, quasi if table is None else [table.quasi[j] for j in order])
        wide: list[np.dtype[Any]] = [np.dtype(np.int32)] * len(sizes)
        published: list[Blocks] = []
        for columns in rows:
            codes, rest = columns[: len(sizes)], columns[len(sizes) :]
            if not published:
                layout = Layout((*wide, *(np.dtype(np.int32) for _ in rest)))
                published = [Blocks(self.place / f"published{k}", layout) for k in range(self.many)]
            _scatter([place[code] for place, code in zip(ours, codes, strict=True)], rest, published, along)
        original = [Blocks(self.place / f"original{k}", Layout((*wide, np.dtype(np.int32)))) for k in range(self.many)]
        for *codes, secret in self.people or ():
            _scatter([place[codes[j]] for place, j in zip(theirs, order, strict=True)], [secret], original)
        for mine, real in zip(published, original, strict=True):
            columns, (*others, secret) = mine.take(), real.take()
            key = row_keys([np.concatenate(pair) for pair in zip(columns, others, strict=False)], sizes)
            yield _Together(key, columns[len(sizes) :], secret)


def _walked(read: Reread, entries: Entries, table: Table, people: Blocks, place: Path, own: Array) -> BucketWalk:
    """Return how the published people differ from those of the table, `own` being what each code of a person stands for."""
    truth = true_codes(entries.domain.labels, table)[own]
    files = _Files(read, table, people, place)
    lists, certain = Lists(entries, place / "lists", files.many), Certain(entries, place / "certain")
    invented = lost = misplaced = 0
    for k, some in enumerate(files(runs(read.rows, AT_ONCE), lists.add)):
        group, times = some.published
        number = numbered(some.key)
        many, published = int(number.max(initial=-1)) + 1, len(group)
        mine, theirs = dealt(np.repeat(number[:published], times), many), dealt(number[published:], many)
        known, shown = lists.read(k)
        walked = walk_dealt(mine, theirs, np.repeat(np.searchsorted(known, group), times), truth[some.secret], shown)
        invented, lost, misplaced = invented + walked[0], lost + walked[1], misplaced + walked[2]
        certain.add(known[shown.group], shown.value, walked[3])
    return BucketWalk(invented, lost, misplaced, entries.crowded(certain))


def _walked_noise(read: Reread, table: Table | None, people: Blocks | None, place: Path) -> NoisyWalk:
    """Return the same where counts have noise."""
    groups, domain = len(read.release.sizes), read.release.domain
    truth = None if table is None else true_codes(domain.labels, table).astype(np.int64)
    total = NoisyWalk(torn=False, truth=np.zeros((groups, len(domain)), np.int64))
    for some in _Files(read, table, people if table is not None else None, place)(read.rows):
        mine = None if truth is None else truth[some.secret]
        walked = walk_together(some.key, some.group, mine, groups, len(domain))
        known = None if total.truth is None or walked.truth is None else total.truth + walked.truth
        lost, invented = total.lost + walked.lost, total.invented + walked.invented
        total = NoisyWalk(total.torn or walked.torn, invented, lost, total.undeclared or walked.undeclared, known)
    if read.release.margins is None or table is None or people is None or truth is None or total.truth is None:
        return total
    own = truth
    return total._replace(
        margins=true_margins(read.release, table.quasi, lambda: ((codes, own[secret]) for *codes, secret in people))
    )


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


def _scatter(
    codes: list[Array], rest: Sequence[Array], files: list[Blocks], along: Callable[[Integers, Integers], None] | None = None
) -> None:
    """Put rows into files by a hash of their codes; `along` gets the first of the other columns, and the file of each row."""
    which = (hashed(codes) % np.uint64(len(files))).astype(np.int64)
    if along is not None:
        along(rest[0], which)
    scatter([*codes, *rest], which, files)
