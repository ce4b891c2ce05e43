"""Margins, noisy one-way tables beside noisy boxes: how often each declared value occurs in each band of a column, or of a pair.

**Bands** follow from what `qit` shows: a column of up to `LEVELS` values has a band for each. Of more values, the most frequent
categories have their own and all others the last one; of numbers and dates those that a sixteenth of the people has have their
own, the others lie in bands of about equally many people, and missing ones in the last. A pair of columns has a band for every
band of the one with every band of the other. So nobody's sensitive value decides about a band, and tables need not repeat which
values are in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Bytes, Integers
from sfumato.errors import FormatError
from sfumato.release.coding import MOST_PEOPLE, decoded, take_table, whole_numbers
from sfumato.release.manifest import Manifest
from sfumato.release.secrets import code_values, shown_values, value_columns
from sfumato.table.column import Column, Domain, Events

MARGINS, MARGIN, BAND, COUNT = "margins", "margin", "band", "count"

LEVELS = 32
"""Most bands of a column."""


_HEAVY = 16


def bands_of(column: Column, times: Integers) -> Bytes:
    """Return the band of each code, of which so many people have each; in whole numbers, so that everybody finds the same."""
    there = times > 0
    if np.count_nonzero(there) <= LEVELS:
        each: Bytes = np.maximum(np.cumsum(there) - 1, 0).astype(np.uint8)
        return each
    if column.kind == "categorical":
        band = np.full(column.size, LEVELS - 1, np.uint8)
        band[np.argsort(-times, kind="stable")[: LEVELS - 1]] = np.arange(LEVELS - 1)
        return band
    own = times[: len(column.values)].astype(np.int64)
    heavy = _HEAVY * own >= own.sum()
    light = np.where(heavy, 0, own)
    parts = LEVELS - 1 - 2 * int(heavy.sum())  # a value of its own may divide a band of others
    place = (2 * np.cumsum(light) - light) * parts // max(2 * int(light.sum()), 1)  # of the middle of a value among the others
    turn = 2 * np.cumsum(heavy) - heavy
    key = turn * LEVELS + np.where(heavy, 0, np.clip(place, 0, LEVELS - 1))
    known = np.unique(key[own > 0])
    shared = np.minimum(np.searchsorted(known, key), len(known) - 1)
    return np.append(shared, len(known))[: column.size].astype(np.uint8)


@dataclass(frozen=True, eq=False)
class Margins:
    """The noisy tables of a release: the quasi columns of each by number, its bands, and [bands of all × values] counts."""

    columns: tuple[tuple[int, ...], ...]
    bands: tuple[int, ...]
    counts: Integers

    def table(self, events: Domain | Events) -> pa.Table:
        """Return the table that is published: by table, band and value."""
        values = self.counts.shape[1]
        margin = np.repeat(np.arange(1, len(self.bands) + 1), self.bands)
        band = np.concatenate([np.arange(1, many + 1) for many in self.bands])
        value = np.tile(np.arange(values, dtype=np.int32), len(band))
        placed = {name: pa.array(np.repeat(one, values), pa.int32()) for name, one in ((MARGIN, margin), (BAND, band))}
        return pa.table({**placed, **shown_values(events, value), COUNT: pa.array(self.counts.ravel(), pa.int64())})

    def of(self, low: int, high: int) -> Margins:
        """Return the same tables of the values of one of several secrets."""
        return replace(self, counts=np.ascontiguousarray(self.counts[:, low:high]))


def numbered_bands(columns: Sequence[Column], times: Sequence[Integers], tables: Sequence[Sequence[int]]) -> tuple[Banded, ...]:
    """Return the bands of each table of quasi columns, of which so many people have each code."""
    own = [bands_of(column, many) for column, many in zip(columns, times, strict=True)]
    sizes = [int(band[many > 0].max(initial=0)) + 1 for band, many in zip(own, times, strict=True)]
    return tuple(Banded(tuple(table), tuple(own[j] for j in table), tuple(sizes[j] for j in table)) for table in tables)


@dataclass(frozen=True, eq=False)
class Banded:
    """The bands of one table: the band of every code of its columns, and how many bands each column has."""

    columns: tuple[int, ...]
    of_codes: tuple[Bytes, ...]
    widths: tuple[int, ...]

    @property
    def many(self) -> int:
        """Number of bands."""
        return prod(self.widths)

    def of(self, codes: Sequence[Array]) -> Integers:
        """Return the band of every row, given the codes of all quasi columns."""
        band = np.zeros(len(codes[self.columns[0]]), np.int64)
        for j, own, width in zip(self.columns, self.of_codes, self.widths, strict=True):
            band = band * width + own[codes[j]]
        return band


def require_bands(margins: Margins | None, columns: Sequence[Column], times: Sequence[Integers]) -> None:
    """Raise `FormatError` where tables have other bands than the published people."""
    if margins is None:
        return
    banded = numbered_bands(columns, times, margins.columns)
    if tuple(own.many for own in banded) != margins.bands:
        raise FormatError(f"table {MARGINS!r} has other bands than the people of table 'qit'")


def stated_margins(manifest: Manifest) -> Mapping[str, Any] | None:
    """Return what a manifest says of noisy tables beside boxes; None where there are none."""
    stated: Mapping[str, Any] | None = manifest.parameters.get(MARGINS) if manifest.rests_on.noisy else None
    return stated


def margin_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the table that such a release has beside those of its form."""
    return () if stated_margins(manifest) is None else (MARGINS,)


def margin_columns(manifest: Manifest) -> tuple[tuple[int, ...], ...]:
    """Return the quasi columns of each table, by number, as the manifest names them."""
    names = [column["name"] for column in manifest.schema["quasi"]]
    stated = stated_margins(manifest)
    try:
        return tuple(tuple(names.index(name) for name in table) for table in (stated or {}).get("tables", ()))
    except ValueError:
        raise FormatError("manifest.json: parameters.margins names a column that is not a quasi column") from None


def margin_variance(manifest: Manifest) -> float:
    """Return the variance of the noise in a count of these tables."""
    ratio = Fraction(str((stated_margins(manifest) or {})["ratio"]))
    return float(2 * ratio / (1 - ratio) ** 2)


def read_margins(
    manifest: Manifest, tables: Mapping[str, pa.Table], events: Domain | Events, *, in_any_order: bool = False
) -> Margins | None:
    """Return the noisy tables of a release; a table that does not show every value once in every band is refused."""
    if not margin_names(manifest):
        return None
    table = take_table(tables, MARGINS, {MARGIN: "group", BAND: "group"} | value_columns(manifest) | {COUNT: "count"})
    columns = margin_columns(manifest)
    margin, band = (whole_numbers(table, name, MARGINS) - 1 for name in (MARGIN, BAND))
    shown, value = code_values(manifest, table)
    if shown.labels != events.labels:
        raise FormatError(f"table {MARGINS!r} should show the values that table 'st' shows")
    bands = [int(band[margin == k].max(initial=-1)) + 1 for k in range(len(columns))]
    first = np.concatenate(([0], np.cumsum(bands)))
    if margin.max(initial=-1) != len(columns) - 1 or not all(bands):
        raise FormatError(f"table {MARGINS!r} should show the {len(columns)} tables that the manifest names, and no other")
    cell = (first[margin] + band) * len(events) + value
    count = np.asarray(decoded(table[COUNT]).to_numpy(zero_copy_only=False), dtype=np.int64)
    if np.abs(count).max(initial=0) > MOST_PEOPLE:
        raise FormatError(f"table {MARGINS!r}: a count is larger than any noise makes it")
    many = int(first[-1]) * len(events)
    if len(cell) != many or (np.bincount(cell, minlength=many) != 1).any():
        raise FormatError(f"table {MARGINS!r} should show every sensitive value once in every band")
    if not in_any_order and (np.diff(cell) < 0).any():
        raise FormatError(
            f"the rows of table {MARGINS!r} are not in the canonical order, and another order could carry information"
        )
    counts = np.empty(many, np.int64)
    counts[cell] = count
    return Margins(columns, tuple(bands), counts.reshape(int(first[-1]), len(events)))
