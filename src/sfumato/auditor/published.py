"""The published tables as an auditor reads them, straight from the columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers, Small
from sfumato.errors import FormatError
from sfumato.release.buckets import published_names
from sfumato.release.manifest import Manifest
from sfumato.table.column import MISSING, as_text
from sfumato.table.sensitive import SEPARATOR


@dataclass(frozen=True, eq=False)
class Published:
    """`qit` and `st` in numbers: buckets are renumbered 0 …, sensitive values numbered in the order of `labels`."""

    qit: pa.Table
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    row_bucket: Small
    bucket: Small
    value: Small
    count: Integers
    labels: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    sizes: Integers
    decoys: int

    @property
    def people(self) -> int:
        """Number of rows of qit."""
        return len(self.row_bucket)

    @property
    def exposure(self) -> float | None:
        """The mean over published people of the share of their true value in their own bucket; None where nobody is published.

        That is the belief of a reader who knows which row is hers; one who sees several rows that fit believes less. Of the
        values shown with decoys, as many as there are people are taken as real, each as likely as the next.
        """
        if not self.people:
            return None
        shown = np.maximum(self.shown, 1)
        real = self.count * (self.sizes / shown)[self.bucket]
        return float((real * self.count / shown[self.bucket]).sum()) / self.people

    @cached_property
    def shown(self) -> Integers:
        """Number of sensitive values shown per bucket."""
        return np.bincount(self.bucket, weights=self.count, minlength=len(self.sizes)).astype(np.int64)

    @cached_property
    def totals(self) -> Integers:
        """How often each sensitive value is shown."""
        return np.bincount(self.value, weights=self.count, minlength=len(self.labels)).astype(np.int64)

    @cached_property
    def repeated(self) -> int:
        """How many rows of st name a bucket and value that another row names too."""
        key = np.sort(self.bucket.astype(np.int64) * len(self.labels) + self.value)
        return int((key[1:] == key[:-1]).sum())

    def worst_parts(self) -> dict[str, float]:
        """Return per sensitive column the worst belief in one of its values, when there are several columns."""
        worst: dict[str, float] = {}
        if len(self.sensitive) < 2:
            return worst
        for k, name in enumerate(self.sensitive):
            part = np.unique([parts[k] for parts in self.parts], return_inverse=True)[1]
            key, where = np.unique(self.bucket.astype(np.int64) * (part.max() + 1) + part[self.value], return_inverse=True)
            together = np.bincount(where, weights=self.count)
            size = self.sizes[key // (part.max() + 1)]
            worst[name] = float((together / np.maximum(size, 1)).max())
        return worst


def read_published(manifest: Manifest, qit: pa.Table, st: pa.Table) -> Published:
    """Return the tables in numbers, or say which column is not as the manifest describes it."""
    names, parts_of, _ = published_names(manifest)
    quasi, sensitive = tuple(names), tuple(parts_of)
    row_bucket, bucket, buckets = _renumbered(_numbers(qit, "bucket"), _numbers(st, "bucket"))
    text = [texts(st[name]) for name in sensitive]
    if len(text) == 1:
        value, parts = text[0][0], tuple((word,) for word in text[0][1])
    else:
        value, first = distinct([codes for codes, _ in text])
        parts = tuple(tuple(words[codes[row]] for codes, words in text) for row in first)
    decoys = manifest.parameters.get("decoys", 0)
    if isinstance(decoys, bool) or not isinstance(decoys, int) or not 0 <= decoys <= len(bucket):
        raise FormatError("manifest.json: the number of decoys is not a whole number")
    return Published(
        qit=qit,
        quasi=quasi,
        sensitive=sensitive,
        row_bucket=row_bucket.astype(np.int32, copy=False),
        bucket=bucket.astype(np.int32, copy=False),
        value=value.astype(np.int32, copy=False),
        count=_numbers(st, "count"),
        labels=tuple(SEPARATOR.join(words) for words in parts),
        parts=parts,
        sizes=np.bincount(row_bucket, minlength=buckets).astype(np.int64),
        decoys=decoys,
    )


def distinct(codes: list[Integers]) -> tuple[Integers, Integers]:
    """Return each row's combination of codes by number, and a row that has each combination."""
    key = codes[0]
    for more in codes[1:]:
        key = np.unique(key, return_inverse=True)[1] * (int(more.max(initial=0)) + 1) + more
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number, first


def _renumbered(rows: Array, entries: Array) -> tuple[Array, Array, int]:
    """Return the bucket numbers of qit and st as 0 … without gaps, and how many buckets there are."""
    low = int(min(rows.min(initial=1), entries.min(initial=1)))
    high = int(max(rows.max(initial=0), entries.max(initial=0)))
    if low < 0 or high > 4 * (len(rows) + len(entries)):
        known, joined = np.unique(np.concatenate([rows, entries]), return_inverse=True)
        return joined[: len(rows)], joined[len(rows) :], len(known)
    used = (np.bincount(rows, minlength=high + 1) + np.bincount(entries, minlength=high + 1)) > 0
    number = (np.cumsum(used) - 1).astype(np.int32)
    return number[rows], number[entries], int(used.sum())


def _numbers(table: pa.Table, name: str) -> Integers:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


def texts(column: pa.ChunkedArray) -> tuple[Integers, list[str]]:
    """Return a code per row, and the text of each code."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    words = [MISSING if value is None else as_text(value) for value in encoded.dictionary.to_pylist()]
    return np.asarray(encoded.indices, dtype=np.int64), words
