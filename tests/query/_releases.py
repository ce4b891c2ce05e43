"""Buckets releases made by hand, without any of the code that makes real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.basis import BasisName
from sfumato.release.buckets import BucketsRelease
from sfumato.release.coding import code_column, code_domain
from sfumato.release.manifest import Manifest
from sfumato.table.column import Column, Sensitive


@dataclass(frozen=True)
class People:
    """A table as workloads see it."""

    quasi: tuple[Column, ...]
    sensitive: Sensitive


def people(table: pa.Table, sensitive: Sequence[str]) -> People:
    """Code a table; every column that is not sensitive is quasi."""

    def kind(name: str) -> Any:
        type_ = table[name].type
        if pa.types.is_date(type_):
            return "date"
        return "categorical" if pa.types.is_string(type_) else "numeric"

    quasi = tuple(code_column(n, kind(n), pa.chunked_array(table[n])) for n in table.column_names if n not in sensitive)
    domain, codes = code_domain(table.select(list(sensitive)), tuple(kind(name) for name in sensitive))
    return People(quasi, Sensitive(domain, codes))


def release_of(
    table: People, bucket: npt.NDArray[Any], *, decoys: Sequence[tuple[int, int]] = (), basis: BasisName = "blind"
) -> BucketsRelease:
    """Publish the table with these buckets; `decoys` are further (bucket, value) pairs shown, equally many per bucket."""
    values = len(table.sensitive.domain)
    shown = np.zeros((int(bucket.max()) + 1, values), np.int64)
    np.add.at(shown, (bucket, table.sensitive.codes), 1)
    for g, v in decoys:
        shown[g, v] += 1
    st_bucket, st_value = np.nonzero(shown)
    domain = table.sensitive.domain
    manifest = Manifest(
        form="buckets",
        basis=basis,
        schema={
            "quasi": [{"name": column.name, "kind": column.kind} for column in table.quasi],
            "sensitive": [{"name": n, "kind": k} for n, k in zip(domain.names, domain.kinds, strict=True)],
        },
        rows=len(bucket),
        requirement={},
        method={"name": "by-hand"},
        claims=(),
        parameters={"decoys": len(decoys) // len(shown)},
    )
    return BucketsRelease(
        manifest,
        table.quasi,
        bucket.astype(np.int32),
        domain,
        st_bucket.astype(np.int32),
        st_value.astype(np.int32),
        shown[st_bucket, st_value],
    )


def blind_buckets(codes: npt.NDArray[Any], sizes: Sequence[int], random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Deal people at random to buckets: an equal part of the people to each size, round robin by value within it."""
    parts = np.array_split(random.permutation(len(codes)), len(sizes))
    bucket = np.empty(len(codes), np.int64)
    first = 0
    for rows, size in zip(parts, sizes, strict=True):
        buckets = max(1, len(rows) // size)
        shuffled_values = random.permutation(int(codes.max()) + 1)
        order = np.lexsort((random.random(len(rows)), shuffled_values[codes[rows]]))
        bucket[rows[order]] = first + np.arange(len(rows)) % buckets
        first += buckets
    return bucket
