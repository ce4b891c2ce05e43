"""A large buckets release, read part by part: people of a group with equal quasi values are counted, not held one by one.

Rows lie in canonical order, so that equal ones follow one another. What questions and beliefs need is how many there are of each;
whoever asks for the rows themselves gets them, in as much memory as they take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Flags, Integers, Small
from sfumato.basis import Basis
from sfumato.errors import FormatError
from sfumato.release.buckets import GROUP, BucketsRelease, Runs, published_names
from sfumato.release.coding import code_column, joined_columns, take_table, whole_numbers
from sfumato.release.counted_ranges import CountedRanges, read_ranges
from sfumato.release.files import files_of, kind_of, not_listed, require_sound, stored_part, stored_table
from sfumato.release.manifest import Manifest
from sfumato.release.margins import require_bands
from sfumato.release.ranges import RECORDS, RangesRelease
from sfumato.table.column import Column


def counts_rows(manifest: Manifest) -> bool:
    """Return whether a release is read by counting: boxes as buckets, or any groups as ranges, in several files."""
    if manifest.form not in _COUNTED or len(manifest.secrets) > 1 or manifest.bundled:
        return False
    rows, possible = _COUNTED[manifest.form]
    return len(manifest.tables.get(rows, {}).get("files", ())) > 1 and possible(manifest.rests_on)


_COUNTED: dict[str, tuple[str, Callable[[Basis], bool]]] = {
    BucketsRelease.form: ("qit", lambda basis: basis.in_boxes),
    RangesRelease.form: (RECORDS, lambda basis: not basis.as_published),
}
"""The forms of which equal rows are counted: the table of people, and on which basis that can be done."""


class CountedBuckets(BucketsRelease):
    """A buckets release of which every distinct row of a group is held once; `quasi` and `group` are made when asked for."""

    @classmethod
    def counted(cls, manifest: Manifest, runs: Runs, facts: dict[str, Any]) -> CountedBuckets:
        """Return the release with these distinct rows, and what the other tables tell of buckets."""
        release: CountedBuckets = object.__new__(cls)
        vars(release).update(manifest=manifest, made_from="pyarrow", distinct=runs, **facts)
        release.__post_init__()
        return release

    def __getattr__(self, name: str) -> Any:
        # Python asks here only for what is not there yet.
        runs: Runs | None = vars(self).get("distinct")
        if runs is None or runs.times is None or name not in ("quasi", "group"):
            raise AttributeError(name)
        made: Any
        if name == "group":
            made = np.repeat(runs.group, runs.times)
        else:
            made = tuple(replace(column, codes=np.repeat(column.codes, runs.times)) for column in runs.quasi)
        vars(self)[name] = made
        return made

    def runs(self) -> Runs:
        """Return the distinct rows of every group, and how many people each stands for."""
        distinct: Runs | None = vars(self).get("distinct")
        return super().runs() if distinct is None else distinct

    def one_by_one(self) -> BucketsRelease:
        """Return the same release with a row a person, in memory."""
        shown = (self.events, self.st_group, self.st_value, self.st_count)
        whole = BucketsRelease(self.manifest, self.quasi, self.group, *shown, self.made_from, self.account, self.draws)
        return replace(whole, margins=self.margins)

    @cached_property
    def _disorder(self) -> FormatError | None:
        runs = self.runs()
        first = np.flatnonzero(np.append(True, runs.group[1:] != runs.group[:-1]))
        alike = np.ones(max(len(first) - 1, 0), bool)
        for column in runs.quasi:
            alike &= column.codes[first[1:]] == column.codes[first[:-1]]
        # Groups that begin alike are told apart by all their rows; boxes never begin alike.
        return self.one_by_one()._disorder if alike.any() else super()._disorder


def read_counted(directory: Path, manifest: Manifest) -> CountedBuckets | CountedRanges:
    """Return a large release in a directory, read a file at a time; files that its manifest does not describe are refused."""
    problems: list[str] = []
    if manifest.shown_as.as_ranges:
        ranges = read_ranges(directory, manifest, problems)
        require_sound(directory, problems)
        ranges.require_canonical()
        return ranges
    kind = kind_of(manifest)
    extra = not_listed(directory, manifest)
    if extra:
        problems.append(f"{extra} files in the release are not listed in its manifest")
    names, _, kinds = published_names(manifest)
    wanted = {name: kinds[name] for name in names} | {GROUP: "group"}
    parts: list[Runs] = []
    for file in files_of("qit", manifest.tables["qit"], kind):
        part = take_table({"qit": stored_part(directory, manifest.tables["qit"], file, problems)}, "qit", wanted)
        group = (whole_numbers(part, GROUP, "qit") - 1).astype(np.int32)
        parts.append(_counted(tuple(code_column(name, kinds[name], part[name]) for name in names), group))
    small: dict[str, pa.Table] = {
        name: stored_table(directory, manifest, name, kind, problems) for name in manifest.tables if name != "qit"
    }
    require_sound(directory, problems)
    runs = _joined(parts)
    sizes = np.bincount(runs.group, weights=runs.times).astype(np.int64)
    if int(sizes.sum()) != manifest.rows:
        raise FormatError(f"table 'qit' has {int(sizes.sum())} rows, the manifest says {manifest.rows}")
    if not len(sizes) or not sizes.all():
        raise FormatError("table 'qit': groups should be numbered 1, 2, … without gaps, the same in every table")
    facts = BucketsRelease.of_groups(manifest, small, sizes)
    times = [np.bincount(column.codes, runs.times, column.size).astype(np.int64) for column in runs.quasi]
    require_bands(facts["margins"], runs.quasi, times)
    release = CountedBuckets.counted(manifest, runs, {**facts, "sizes": sizes})
    release.require_canonical()
    return release


def _counted(columns: tuple[Column, ...], group: Small) -> Runs:
    """Return rows of which equal ones follow one another as distinct ones with their numbers."""
    fresh = _fresh([group, *(column.codes for column in columns)])
    first = np.flatnonzero(fresh)
    times = np.diff(np.append(first, len(fresh))).astype(np.int64)
    return Runs(tuple(column.take(first) for column in columns), group[first], times)


def _fresh(columns: list[Array]) -> Flags:
    """Return for every row whether it differs from the one before."""
    fresh = np.zeros(len(columns[0]), bool)
    fresh[:1] = True
    for codes in columns:
        fresh[1:] |= codes[1:] != codes[:-1]
    return fresh


def _joined(parts: list[Runs]) -> Runs:
    """Return the rows of all parts; what stands for equal rows at the end of one and the beginning of the next becomes one."""
    columns = []
    for j in range(len(parts[0].quasi)):
        whole, places = joined_columns([part.quasi[j] for part in parts])
        codes = [place[part.quasi[j].codes] for place, part in zip(places, parts, strict=True)]
        columns.append(replace(whole, codes=np.concatenate(codes)))
    group = np.concatenate([part.group for part in parts])
    times: Integers = np.concatenate([part.times for part in parts if part.times is not None])
    fresh = _fresh([group, *(column.codes for column in columns)])
    if fresh.all():
        return Runs(tuple(columns), group, times)
    first = np.flatnonzero(fresh)
    return Runs(tuple(column.take(first) for column in columns), group[first], np.add.reduceat(times, first))
