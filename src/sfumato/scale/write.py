"""Writing a release from its parts: every file as one release in memory would write it, the manifest last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.release import files
from sfumato.release.accounts import account_tables, noise_tables
from sfumato.release.box_tables import box_arrays
from sfumato.release.boxes import Box
from sfumato.release.buckets import BUCKET, COUNT
from sfumato.release.coding import dictionary_array, sensitive_columns
from sfumato.release.manifest import Manifest
from sfumato.release.ranges import GROUP, RECORDS
from sfumato.scale.collect import Collected
from sfumato.scale.outline import Outline
from sfumato.table.column import Domain


def write_buckets(
    directory: Path, manifest: Manifest, outline: Outline, boxes: Collected, *, domain: Domain | None = None, draws: Any = None
) -> Manifest:
    """Write the form buckets to an empty directory, part by part, and return the manifest that was written.

    The values of boxes are codes of the domain, the table's own where none is given.
    """
    shown = outline.table.sensitive.domain if domain is None else domain
    tables = {
        "qit": _write(directory, "qit", boxes.rows, lambda begin, end: _qit(outline, boxes, begin, end)),
        "st": _write(directory, "st", len(boxes.value), _st(shown, boxes)),
    }
    return _completed(directory, manifest, tables, {**account_tables(boxes.told), **noise_tables(draws, BUCKET)})


def write_ranges(directory: Path, manifest: Manifest, outline: Outline, boxes: Collected, shown: tuple[Box, ...]) -> Manifest:
    """Write the form ranges in the same way: the rows of a box follow from what it shows and from its counts."""
    domain, ends = outline.table.sensitive.domain, np.cumsum(boxes.count)
    of_entry = np.repeat(np.arange(len(boxes.sizes), dtype=np.int32), boxes.entries)

    def part(begin: int, end: int) -> pa.Table:
        low, high = np.searchsorted(ends, begin, side="right"), np.searchsorted(ends, end, side="left") + 1
        times = np.minimum(ends[low:high], end) - np.maximum(ends[low:high] - boxes.count[low:high], begin)
        group, value = (np.repeat(one[low:high], times) for one in (of_entry, boxes.value))
        columns: dict[str, pa.Array] = {}
        for box in shown:
            columns |= box_arrays(box, group)
        columns |= sensitive_columns(domain, value.astype(np.int32))
        return pa.table({**columns, GROUP: pa.array(group + 1, pa.int32())})

    tables = {RECORDS: _write(directory, RECORDS, boxes.rows, part)}
    return _completed(directory, manifest, tables, account_tables(boxes.told))


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


def _qit(outline: Outline, boxes: Collected, begin: int, end: int) -> pa.Table:
    codes, box = boxes.part(begin, end)
    columns: dict[str, pa.Array] = {
        column.name: dictionary_array(replace(column, codes=mine))
        for column, mine in zip(outline.table.quasi, codes, strict=True)
    }
    columns[BUCKET] = pa.array((box + 1).astype(np.int32))
    return pa.table(columns)


def _st(domain: Domain, boxes: Collected) -> Any:
    group = np.repeat(np.arange(1, len(boxes.sizes) + 1, dtype=np.int32), boxes.entries)

    def part(begin: int, end: int) -> pa.Table:
        st: dict[str, pa.Array] = {BUCKET: pa.array(group[begin:end])}
        st |= sensitive_columns(domain, boxes.value[begin:end].astype(np.int32))
        st[COUNT] = pa.array(boxes.count[begin:end], pa.int64())
        return pa.table(st)

    return part
