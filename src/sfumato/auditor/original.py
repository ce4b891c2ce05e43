"""The original table beside a release: the same columns, the same people, the same values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers, Small, taken
from sfumato.auditor.claims import AnyCounts
from sfumato.release.coding import value_type
from sfumato.release.manifest import Manifest, own_bounds
from sfumato.table.column import Column
from sfumato.table.table import Table


class PeopleCounts(NamedTuple):
    """Different people: their codes in the table's quasi columns, the code of their sensitive value, and how many they are."""

    codes: tuple[Array, ...]
    secret: Array
    weight: Integers


class Batches(Protocol):
    """The different people of a table whose rows are not in memory, some at a time: those with equal quasi values together."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[PeopleCounts]: ...


def other_schema(manifest: Manifest, table: Table) -> list[str]:
    """Return which columns, kinds, recodings, bins or declared values the manifest states otherwise than the table has them."""
    domain = table.sensitive.domain
    own = {
        "quasi": [{"name": column.name, "kind": column.kind} for column in table.quasi],
        "sensitive": [{"name": name, "kind": kind} for name, kind in zip(domain.names, domain.kinds, strict=True)],
        "declared": table.schema.to_dict(),
    }
    wrong = [key for key in own if json.dumps(manifest.schema.get(key), sort_keys=True) != json.dumps(own[key], sort_keys=True)]
    problems = [f"the manifest's schema is not that of the table: {', '.join(wrong)} differ"] if wrong else []
    # Which of the declared values somebody has must decide nothing: whoever alone has one would be told by a refusal.
    known = table.sensitive.labels if table.schema.closed is None else table.schema.to_dict()["closed"]["values"]
    if not set(known).issuperset(own_bounds(manifest.requirement)):
        problems.append("the requirement bounds values that the table does not have")
    return problems


def unlike_schema(manifest: Manifest, table: Table) -> list[str]:
    """Return the same of each of several secrets."""
    if len(manifest.secrets) == 1 or manifest.secrets != table.sensitive.domain.names or not table.schema.protects_each:
        return other_schema(manifest, table)
    parts = zip(manifest.secrets, table.each(), strict=True)
    return [f"{name}: {problem}" for name, part in parts for problem in other_schema(manifest.of(name), part)]


def other_columns(manifest: Manifest, tables: Mapping[str, pa.Table], table: Table) -> list[str]:
    """Return why rows cannot be compared: other columns than the table has, or other types (30 and 30.0 are two spellings)."""
    quasi, sensitive = ([(column["name"], column["kind"]) for column in manifest.schema[role]] for role in ("quasi", "sensitive"))
    domain = table.sensitive.domain
    if {*quasi} != {(column.name, column.kind) for column in table.quasi} or [name for name, _ in sensitive] != [*domain.names]:
        return ["the release and the table do not have the same quasi and sensitive columns"]
    own = {name: str(column.values.type) for column in table.quasi for name in _shown_as(column)}
    own |= {field.name: str(field.type) for secret in domain.secrets for field in secret.table.schema}
    wrong = {
        field.name
        for published in tables.values()
        for field in published.schema
        if field.name in own and str(value_type(field.type)) not in (own[field.name], "list<element: string>")
    }
    return [f"{len(wrong)} columns are published with other types than the table has"] if wrong else []


def _shown_as(column: Column) -> tuple[str, ...]:
    """Return the names under which a release may show a column: itself, or the ends of its ranges."""
    return (column.name,) if column.kind == "categorical" else (column.name, f"{column.name}_min", f"{column.name}_max")


def true_values(labels: Sequence[str], table: Table) -> Integers:
    """Return everybody's true value as the release numbers values, −1 for one that it does not have."""
    return true_codes(labels, table).astype(np.int64)[table.sensitive.codes]


def true_codes(labels: Sequence[str], table: Table) -> Small:
    """Return the release's number of each of the table's values, −1 for one that it does not have."""
    number = {label: k for k, label in enumerate(labels)}
    return np.array([number.get(label, -1) for label in table.sensitive.labels], dtype=np.int32)


def numbered(key: Integers) -> Array:
    """Return equal keys as equal numbers, from 0 on in no particular order: found by hashing, which is faster than sorting."""
    return np.asarray(pa.array(key).dictionary_encode().indices)


def quasi_numbers(quasi: Sequence[Column], table: Table) -> tuple[Array, Array, int]:
    """Return small numbers of the published quasi rows and of the table's, equal for equal rows, and how many there may be."""
    rows = len(quasi[0])
    places = [_as_numbers(column, table) for column in quasi]
    room = math.prod(many for _, _, many in places)
    if room > rows + table.rows:
        number = numbered(quasi_keys(quasi, table))
        return number[:rows], number[rows:], int(number.max(initial=-1)) + 1
    ours = np.zeros(rows, np.int32)
    theirs = np.zeros(table.rows, np.int32)
    for column, (ours_as, theirs_as, many) in zip(quasi, places, strict=True):
        for number, codes, as_numbers in ((ours, column.codes, ours_as), (theirs, table.column(column.name).codes, theirs_as)):
            number *= np.int32(many)
            number += taken(as_numbers, codes)
    return ours, theirs, room


def _as_numbers(column: Column, table: Table) -> tuple[Small, Small, int]:
    """Return a number for each published value of a column and for each of the table's, equal for equal ones, and how many."""
    numbers: dict[object, int] = {}
    ours, theirs = (
        np.array([numbers.setdefault(value, len(numbers)) for value in coded.dictionary().to_pylist()], dtype=np.int32)
        for coded in (column, table.column(column.name))
    )
    return ours, theirs, len(numbers)


def quasi_keys(quasi: Sequence[Column], table: Table) -> Integers:
    """Number equal quasi rows equally: the published rows, then those of the table."""
    rows = len(quasi[0])
    key = np.zeros(rows + table.rows, np.int64)
    room = 1
    for column in quasi:
        ours_as, theirs_as, many = _as_numbers(column, table)
        if room * many >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            room = int(key.max(initial=0)) + 1
        key *= many
        key[:rows] += taken(ours_as, column.codes)
        key[rows:] += taken(theirs_as, table.column(column.name).codes)
        room *= many
    return key


def wrong_totals(shown: AnyCounts, table: Table, missing: int) -> list[str]:
    """Return what is wrong with how often values are shown, when `missing` people may be left out."""
    counts = table.sensitive.histogram()
    invented = set(shown.labels) - set(counts)
    if invented:
        return [f"the release shows {len(invented)} values that the table does not have"]
    if shown.decoys:
        return []
    gaps = [count - shown.totals.get(label, 0) for label, count in counts.items()]
    if min(gaps) < 0 or sum(gaps) != missing:
        return [f"{sum(gap != 0 for gap in gaps)} sensitive values are shown another number of times than the table has them"]
    return []
