"""The weight of a release beside what its manifest says: no number but one a bin, and no bin with fewer people than the floor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Integers
from sfumato.release.coding import decoded
from sfumato.release.manifest import Manifest
from sfumato.table.column import Column


def weight_faults(manifest: Manifest, tables: Mapping[str, pa.Table]) -> list[str]:
    """Return what is wrong with the weights that tables show, in rows or as ends of ranges."""
    stated = _stated(manifest)
    if stated is None:
        return []
    known = [float(Fraction(str(value))) for value in stated["values"]]
    edges = [float("inf") if edge == "inf" else float(Fraction(str(edge))) for edge in stated["bins"]]
    inside = len(edges) == len(known) + 1 and all(
        low <= value <= high and value > 0 for value, low, high in zip(known, edges, edges[1:], strict=False)
    )
    faults = [] if inside else ["manifest.json: the values of weight bins lie outside their bins"]
    names = [stated["column"], *(f"{stated['column']}_{end}" for end in ("min", "max"))]
    shown = {value for table in tables.values() for name in names if name in table.column_names for value in _values(table[name])}
    if others := len(shown - set(known)):
        faults.append(f"the weight {stated['column']!r}: {others} published values belong to no bin")
    return faults


def crowds(manifest: Manifest, tables: Mapping[str, pa.Table]) -> list[str]:
    """Return which bins have fewer people than the floor, where every row of a table is a person with her weight."""
    stated = _stated(manifest)
    if stated is None or not manifest.shown_as.exact_quasi:
        return []
    rows = [table[stated["column"]] for table in tables.values() if stated["column"] in table.column_names]
    times = Counter(value for column in rows for value in decoded(column).to_pylist())
    return _few(stated, times.values())


def crowds_of(manifest: Manifest, quasi: tuple[Column, ...], blocks: Iterable[list[Any]]) -> list[str]:
    """Return the same where people's codes lie in blocks, a column after another."""
    stated = _stated(manifest)
    place = next((j for j, column in enumerate(quasi) if stated is not None and column.name == stated["column"]), None)
    if stated is None or place is None:
        return []
    times: Integers = np.zeros(quasi[place].size, np.int64)
    for block in blocks:
        times += np.bincount(block[place], minlength=len(times))
    return _few(stated, times[times > 0].tolist())


def _few(stated: Mapping[str, Any], times: Iterable[int]) -> list[str]:
    floor = int(stated.get("floor", 0))
    few = sum(people < floor for people in times)
    return [f"the weight {stated['column']!r}: {few} bins have fewer people than the floor of {floor}"] if few else []


def _stated(manifest: Manifest) -> Mapping[str, Any] | None:
    stated: Mapping[str, Any] | None = manifest.schema.get("declared", {}).get("weight")
    return stated


def _values(column: pa.ChunkedArray) -> set[Any]:
    return set(decoded(column).unique().to_pylist())
