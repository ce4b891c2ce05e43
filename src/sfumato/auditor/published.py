"""The published tables as an auditor reads them, straight from the columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import FormatError
from sfumato.release.manifest import Manifest
from sfumato.table.column import MISSING, as_text
from sfumato.table.sensitive import SEPARATOR

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Published:
    """`qit` and `st` in numbers: buckets are renumbered 0 …, sensitive values numbered in the order of `labels`."""

    qit: pa.Table
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    row_bucket: Integers
    bucket: Integers
    value: Integers
    count: Integers
    labels: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    sizes: Integers
    decoys: int

    @property
    def people(self) -> int:
        """Number of rows of qit."""
        return len(self.row_bucket)

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
        return len(self.bucket) - len(np.unique(self.bucket * len(self.labels) + self.value))

    def worst_parts(self) -> dict[str, float]:
        """Return per sensitive column the worst belief in one of its values, when there are several columns."""
        worst: dict[str, float] = {}
        if len(self.sensitive) < 2:
            return worst
        for k, name in enumerate(self.sensitive):
            part = np.unique([parts[k] for parts in self.parts], return_inverse=True)[1]
            key, where = np.unique(self.bucket * (part.max() + 1) + part[self.value], return_inverse=True)
            together = np.bincount(where, weights=self.count)
            size = self.sizes[key // (part.max() + 1)] + self.decoys
            worst[name] = float((together / np.maximum(size, 1)).max())
        return worst


def read_published(manifest: Manifest, qit: pa.Table, st: pa.Table) -> Published:
    """Return the tables in numbers, or say which column is not as the manifest describes it."""
    quasi = tuple(column["name"] for column in manifest.schema["quasi"])
    sensitive = tuple(column["name"] for column in manifest.schema["sensitive"])
    row_bucket, bucket = _numbers(qit, "bucket"), _numbers(st, "bucket")
    known, joined = np.unique(np.concatenate([row_bucket, bucket]), return_inverse=True)
    row_bucket, bucket = joined[: len(row_bucket)], joined[len(row_bucket) :]
    text = [_texts(st[name]) for name in sensitive]
    combined = [np.unique(codes, return_inverse=True)[1] for codes, _ in text]
    key = np.zeros(st.num_rows, np.int64)
    for codes in combined:
        key = key * (int(codes.max(initial=0)) + 1) + codes
    _, first, value = np.unique(key, return_index=True, return_inverse=True)
    parts = tuple(tuple(words[codes[row]] for codes, words in text) for row in first)
    decoys = manifest.parameters.get("decoys", 0)
    if not isinstance(decoys, int) or decoys < 0:
        raise FormatError("manifest.json: the number of decoys is not a whole number")
    return Published(
        qit=qit,
        quasi=quasi,
        sensitive=sensitive,
        row_bucket=row_bucket,
        bucket=bucket,
        value=value.astype(np.int64),
        count=_numbers(st, "count"),
        labels=tuple(SEPARATOR.join(words) for words in parts),
        parts=parts,
        sizes=np.bincount(row_bucket, minlength=len(known)).astype(np.int64),
        decoys=decoys,
    )


def _numbers(table: pa.Table, name: str) -> Integers:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


def _texts(column: pa.ChunkedArray) -> tuple[Integers, list[str]]:
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    words = [MISSING if value is None else as_text(value) for value in encoded.dictionary.to_pylist()]
    return np.asarray(encoded.indices, dtype=np.int64), words
