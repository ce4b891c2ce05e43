"""A buckets release on disk, read part by part: who is where stays on disk as codes, what is told of buckets is in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.errors import FormatError
from sfumato.release.buckets import BUCKET, BucketsRelease, published_names
from sfumato.release.coding import code_column, joined_columns, take_table, whole_numbers
from sfumato.release.files import files_of, kind_of, not_listed, stored_part, stored_table
from sfumato.release.manifest import Manifest
from sfumato.scale.layout import Blocks, Layout
from sfumato.table.column import Column

_ORDER = "not in the canonical order, and another order could tell anything"


@dataclass(frozen=True, eq=False)
class Reread:
    """The release without its people's rows, and those rows as blocks: a code a quasi column, then the bucket from 0 on.

    `rows` of the release's own columns are none; its sizes of buckets were counted from the blocks.
    """

    release: BucketsRelease
    rows: Blocks
    problems: tuple[str, ...]


def reread(directory: Path, manifest: Manifest, place: Path) -> Reread:
    """Return what a release of the form buckets holds, read a part at a time into a private place.

    What cannot be such a release raises `FormatError`; what can be said about it all the same is listed.
    """
    problems: list[str] = []
    kind = kind_of(manifest)
    extra = not_listed(directory, manifest)
    if extra:
        problems.append(f"{extra} files lie in the release that its manifest does not list")
    quasi_names, _, kinds = published_names(manifest)
    wanted = {name: kinds[name] for name in quasi_names} | {BUCKET: "group"}
    local = _Local(place, quasi_names)
    for file in files_of("qit", manifest.tables["qit"], kind):
        part = take_table({"qit": stored_part(directory, manifest.tables["qit"], file, problems)}, "qit", wanted)
        bucket = whole_numbers(part, BUCKET, "qit") - 1
        local.add([code_column(name, kinds[name], part[name]) for name in quasi_names], bucket)
    quasi, rows = local.joined()
    sizes, ordered = _sizes(rows, [column.size for column in quasi])
    if int(sizes.sum()) != manifest.rows:
        raise FormatError(f"table 'qit' has {int(sizes.sum())} rows, the manifest says {manifest.rows}")
    if not len(sizes) or not sizes.all():
        raise FormatError("table 'qit': buckets should be numbered 1, 2, … without gaps, the same in every table")
    if not ordered:
        problems.append(f"the rows or groups of table 'qit' are {_ORDER}")
    small: dict[str, pa.Table] = {}
    for name in manifest.tables:
        if name != "qit":
            small[name] = stored_table(directory, manifest, name, kind, problems)
    release = BucketsRelease.from_buckets(manifest, small, quasi, sizes)
    return Reread(release, rows, tuple(problems))


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


def _sizes(rows: Blocks, widths: list[int]) -> tuple[Integers, bool]:
    """Return how many rows each bucket has, and whether rows are sorted by bucket and values, and buckets by their first rows.

    Buckets that begin with the same row are compared no further here: boxes never do.
    """
    sizes, ordered = np.zeros(0, np.int64), True
    last: list[int] | None = None
    head: list[int] | None = None
    for *codes, bucket in rows:
        many = int(bucket.max(initial=-1)) + 1
        if many > len(sizes):
            sizes = np.concatenate([sizes, np.zeros(many - len(sizes), np.int64)])
        sizes += np.bincount(bucket, minlength=len(sizes))
        keys = [bucket, *codes]
        if last is not None:
            keys = [np.concatenate([np.array([before], key.dtype), key]) for before, key in zip(last, keys, strict=True)]
        ordered = ordered and not _falls(keys)
        fresh = np.flatnonzero(np.concatenate([[last is None or last[0] != bucket[0]], bucket[1:] != bucket[:-1]]))
        heads = [code[fresh] for code in codes]
        if head is not None:
            heads = [np.concatenate([np.array([before], one.dtype), one]) for before, one in zip(head, heads, strict=True)]
        if len(heads[0]):
            ordered = ordered and not _falls(heads)
            head = [int(one[-1]) for one in heads]
        last = [int(bucket[-1]), *(int(code[-1]) for code in codes)]
    return sizes, ordered


def _falls(keys: list[Array]) -> bool:
    """Return whether a row comes after the next one."""
    equal = np.ones(len(keys[0]) - 1, bool)
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return True
        equal &= key[1:] == key[:-1]
    return False
