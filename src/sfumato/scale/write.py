"""Writing a release from its parts: every file as one release in memory would write it, the manifest last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array
from sfumato.release import files
from sfumato.release.accounts import account_tables
from sfumato.release.box_tables import box_arrays
from sfumato.release.boxes import Box
from sfumato.release.buckets import COUNT
from sfumato.release.coding import dictionary_array, sensitive_columns
from sfumato.release.fragments import ST
from sfumato.release.manifest import Manifest
from sfumato.release.randomized import PART
from sfumato.release.ranges import GROUP, RECORDS, spread
from sfumato.release.secrets import shown_values
from sfumato.scale.blind import Dealt
from sfumato.scale.collect import Collected
from sfumato.scale.outline import Outline
from sfumato.scale.places import Series
from sfumato.table.column import Domain, Events


def write_buckets(
    directory: Path,
    manifest: Manifest,
    outline: Outline,
    boxes: Collected,
    *,
    domain: Domain | Events | None = None,
    beside: Mapping[str, pa.Table] | None = None,
) -> Manifest:
    """Write the form buckets to an empty directory, part by part, and return the manifest that was written.

    The values of boxes are codes of the domain, the table's own where none is given; `beside` are small tables of their own.
    """

    def rows(begin: int, end: int) -> pa.Table:
        codes, box = boxes.part(begin, end)
        return _qit(outline, codes, box)

    values = outline.table.events if domain is None else domain
    group = np.repeat(np.arange(1, len(boxes.sizes) + 1, dtype=np.int32), boxes.entries)

    def entries(begin: int, end: int) -> pa.Table:
        return _entries(values, *(array[begin:end] for array in (group, boxes.value, boxes.count)))

    tables = {"qit": _write(directory, "qit", boxes.rows, rows), ST: _write(directory, ST, len(group), entries)}
    return _completed(directory, manifest, tables, {**account_tables(boxes.account), **(beside or {})})


def write_ranges(directory: Path, manifest: Manifest, outline: Outline, boxes: Collected, shown: tuple[Box, ...]) -> Manifest:
    """Write the form ranges in the same way: the rows of a box follow from what it shows and from its counts."""
    secrets = _secrets(outline.table.events, boxes)
    ends = [np.cumsum(count) for *_, count in secrets]
    last = np.cumsum(boxes.sizes)

    def rows(k: int, begin: int, end: int) -> tuple[Array, Array]:
        """Return group, from 1 on, and value of these rows, of the k-th secret; values ascend in every group."""
        _, group, value, count = secrets[k]
        low, high = np.searchsorted(ends[k], begin, side="right"), np.searchsorted(ends[k], end, side="left") + 1
        times = np.minimum(ends[k][low:high], end) - np.maximum(ends[k][low:high] - count[low:high], begin)
        return np.repeat(group[low:high], times), np.repeat(value[low:high], times)

    def part(begin: int, end: int) -> pa.Table:
        group, value = rows(0, begin, end)
        columns: dict[str, pa.Array] = {}
        for box in shown:
            columns |= box_arrays(box, group - 1)
        columns |= sensitive_columns(secrets[0][0], value.astype(np.int32))
        for k, (domain, *_) in enumerate(secrets[1:], 1):  # spread over whole groups
            low, high = int(last[group[0] - 1] - boxes.sizes[group[0] - 1]), int(last[group[-1] - 1])
            group_, value = rows(k, low, high)
            mine = spread(value, group_, k, low)[begin - low : end - low]
            columns[domain.names[0]] = domain.table.column(0).combine_chunks().take(pa.array(mine))
        return pa.table({**columns, GROUP: pa.array(group, pa.int32())})

    tables = {RECORDS: _write(directory, RECORDS, boxes.rows, part)}
    return _completed(directory, manifest, tables, account_tables(boxes.account))


def write_dealt(directory: Path, manifest: Manifest, outline: Outline, dealt: Dealt) -> Manifest:
    """Write the form buckets from rows and entries that lie in files."""
    domain = outline.table.sensitive.domain

    def rows(begin: int, end: int) -> pa.Table:
        *codes, group = dealt.rows.part(begin, end)
        return _qit(outline, codes, group)

    def entries(begin: int, end: int) -> pa.Table:
        group, value, count = dealt.entries.part(begin, end)
        return _entries(domain, group + 1, value, count)

    tables = {
        "qit": _write(directory, "qit", dealt.rows.total, rows),
        ST: _write(directory, ST, dealt.entries.total, entries),
    }
    return _completed(directory, manifest, tables, {})


def write_records(directory: Path, manifest: Manifest, outline: Outline, domain: Domain, rows: Series) -> Manifest:
    """Write the form randomized from records that lie in files."""

    def records(begin: int, end: int) -> pa.Table:
        part, *codes, value = rows.part(begin, end)
        columns = {**_quasi(outline, codes), PART: pa.array((part + 1).astype(np.int32))}
        return pa.table({**columns, **sensitive_columns(domain, value.astype(np.int32))})

    return _completed(directory, manifest, {RECORDS: _write(directory, RECORDS, rows.total, records)}, {})


def _quasi(outline: Outline, codes: Sequence[Array]) -> dict[str, pa.Array]:
    return {
        column.name: dictionary_array(replace(column, codes=mine))
        for column, mine in zip(outline.table.quasi, codes, strict=True)
    }


def write_small(directory: Path, manifest: Manifest, tables: dict[str, pa.Table]) -> Manifest:
    """Write a release whose tables tell of groups alone."""
    return _completed(directory, manifest, {}, tables)


def _completed(directory: Path, manifest: Manifest, tables: dict[str, Any], small: dict[str, pa.Table]) -> Manifest:
    """Write small tables and, last, the manifest."""
    for name, table in small.items():
        tables[name] = _write(directory, name, table.num_rows, _slices(table))
    written = replace(manifest, tables=tables)
    files.write_manifest(directory, written)
    return written


def _write(directory: Path, name: str, rows: int, part: Any) -> dict[str, Any]:
    """Write a table, each file from the rows that `part(begin, end)` gives."""
    facts, at, columns = [], 0, []
    for file, many in files.part_names(name, rows, "parquet"):
        table = part(at, at + many)
        columns = files.described_columns(table.schema)
        facts.append(files.write_part(directory, file, table))
        at += many
    return {"rows": rows, "columns": columns, "files": facts}


def _slices(table: pa.Table) -> Any:
    return lambda begin, end: table.slice(begin, end - begin)


def _qit(outline: Outline, codes: Sequence[Array], group: Array) -> pa.Table:
    return pa.table({**_quasi(outline, codes), GROUP: pa.array((group + 1).astype(np.int32))})


def _secrets(values: Domain | Events, boxes: Collected) -> list[tuple[Domain, Array, Array, Array]]:
    """Return domain, group, value and count of every entry of each secret."""
    group = np.repeat(np.arange(1, len(boxes.sizes) + 1, dtype=np.int32), boxes.entries)
    parts = []
    for domain, (low, high) in zip(values.secrets, pairwise(values.first.tolist()), strict=True):
        mine = (boxes.value >= low) & (boxes.value < high)
        parts.append((domain, group[mine], boxes.value[mine] - low, boxes.count[mine]))
    return parts


def _entries(domain: Domain | Events, group: Array, value: Array, count: Array) -> pa.Table:
    values = shown_values(domain, value.astype(np.int32))
    return pa.table({GROUP: pa.array(group.astype(np.int32)), **values, COUNT: pa.array(count, pa.int64())})
