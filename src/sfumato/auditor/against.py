"""The release against the original table: nothing lost, nothing invented, everybody's true value where she is, and exposure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers, Small
from sfumato.auditor._kernels import walk_people
from sfumato.auditor.published import Published
from sfumato.release.careful import value_type
from sfumato.release.manifest import Manifest, own_bounds
from sfumato.table.column import Column
from sfumato.table.sorting import sorted_with_places
from sfumato.table.table import Table


@dataclass(frozen=True)
class Comparison:
    """What the original tells: differences and the true shares; and the mean belief in people's true values."""

    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    shares: dict[str, Fraction]
    exposure: float | None


def other_schema(manifest: Manifest, table: Table) -> list[str]:
    """Return which columns, kinds, recodings, bins or declared values the manifest tells otherwise than the table has them."""
    domain = table.sensitive.domain
    own = {
        "quasi": [{"name": column.name, "kind": column.kind} for column in table.quasi],
        "sensitive": [{"name": name, "kind": kind} for name, kind in zip(domain.names, domain.kinds, strict=True)],
        "declared": table.schema.to_dict(),
    }
    told = {key: json.dumps(manifest.schema.get(key), sort_keys=True) for key in own}
    wrong = [key for key, value in own.items() if told[key] != json.dumps(value, sort_keys=True)]
    problems = [f"the manifest's schema is not that of the table: {', '.join(wrong)} differ"] if wrong else []
    if not set(table.sensitive.labels).issuperset(own_bounds(manifest.requirement)):
        problems.append("the requirement bounds values that the table does not have")
    return problems


def other_types(tables: Mapping[str, pa.Table], table: Table) -> list[str]:
    """Return which columns are published with another type than the table's: 30 and 30.0 would be two spellings."""
    own = {name: {str(column.values.type)} for column in table.quasi for name in _shown_as(column)}
    own |= {field.name: {str(field.type)} for field in table.sensitive.domain.table.schema}
    wrong = {
        field.name
        for published in tables.values()
        for field in published.schema
        if field.name in own and str(value_type(field.type)) not in own[field.name] | {"list<element: string>"}
    }
    return [f"{len(wrong)} columns are published with other types than the table has"] if wrong else []


def _shown_as(column: Column) -> tuple[str, ...]:
    """Return the names under which a release may show a column: itself, or the ends of its ranges."""
    return (column.name,) if column.kind == "categorical" else (column.name, f"{column.name}_min", f"{column.name}_max")


def compare(published: Published, table: Table, *, suppression: bool) -> Comparison:
    """Compare the published rows and values with the table they come from; with suppression some may be missing."""
    labels = table.sensitive.labels
    counts = np.bincount(table.sensitive.codes, minlength=len(labels))
    shares = {label: Fraction(int(count), table.rows) for label, count in zip(labels, counts, strict=True)}
    if set(published.quasi) != {column.name for column in table.quasi} or published.sensitive != table.sensitive.domain.names:
        return Comparison(("the release and the table do not have the same quasi and sensitive columns",), (), shares, None)
    key, order = sorted_with_places(quasi_keys(published, table))
    start, value, count, share = _entries(published)
    invented, lost, misplaced, certain = walk_people(
        key,
        order,
        published.people,
        published.row_bucket,
        _true_codes(published, table),
        start,
        value,
        share,
        len(published.labels),
    )
    problems: list[str] = []
    if invented:
        problems.append(f"{invented} published rows are not rows of the table")
    if lost and not suppression:
        problems.append(f"{lost} rows of the table are not published")
    if misplaced:
        problems.append(f"{misplaced} people have a sensitive value that no bucket with their quasi values shows")
    crowded = int((certain > count).sum())
    if crowded:
        problems.append(f"{crowded} counts of st are smaller than the number of people who are in the bucket with that value")
    problems += wrong_totals(published, dict(zip(labels, map(int, counts), strict=True)), lost if suppression else 0)
    warnings = (f"{lost} people of the table were suppressed",) if lost and suppression else ()
    return Comparison(tuple(problems), warnings, shares, published.exposure)


def _entries(published: Published) -> tuple[Small, Small, Integers, Floats]:
    """Return where each bucket's entries start, and their values, counts and shares."""
    order = np.argsort(published.bucket, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(published.bucket, minlength=len(published.sizes)))))
    share = published.count / np.maximum(published.shown, 1)[published.bucket]
    return start.astype(np.int32), published.value[order], published.count[order], share[order]


def _true_codes(published: Published, table: Table) -> Small:
    number = {label: k for k, label in enumerate(published.labels)}
    return np.array([number.get(label, -1) for label in table.sensitive.labels], dtype=np.int32)[table.sensitive.codes]


def quasi_keys(published: Published, table: Table) -> Integers:
    """Number equal quasi rows equally: the published rows, then those of the table."""
    columns = {column.name: column for column in table.quasi}
    key = np.zeros(published.people + table.rows, np.int64)
    room = 1
    for name in published.quasi:
        column = columns[name]
        theirs = pa.DictionaryArray.from_arrays(pa.array(column.codes), column.dictionary())
        width, *pieces = _codes(published.qit[name], theirs)
        if room * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            room = int(key.max(initial=0)) + 1
        key *= width
        key[: published.people] += pieces[0]
        key[published.people :] += pieces[1]
        room *= width
    return key


def _codes(published: pa.ChunkedArray, original: pa.DictionaryArray) -> tuple[int, Small, Small]:
    """Return a number above all codes, then the codes of published and original rows, equal values coded equally."""
    words: dict[object, int] = {}
    pieces = []
    chunk = published.combine_chunks()
    for array in (chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode("encode"), original):
        meaning = np.array(
            [words.setdefault(value, len(words)) for value in [*array.dictionary.to_pylist(), None]], dtype=np.int32
        )
        index = array.indices.fill_null(len(meaning) - 1) if array.indices.null_count else array.indices
        pieces.append(meaning[np.asarray(index)])
    return len(words), pieces[0], pieces[1]


def wrong_totals(published: Published, counts: dict[str, int], missing: int) -> list[str]:
    """Return what is wrong with the totals of st, when `missing` people may be left out."""
    invented = sorted(set(published.labels) - set(counts))
    if invented:
        return [f"st shows {len(invented)} values that the table does not have"]
    if published.decoys:
        return []
    shown = dict(zip(published.labels, map(int, published.totals), strict=True))
    gaps = {label: count - shown.get(label, 0) for label, count in counts.items()}
    wrong = sum(gap != 0 for gap in gaps.values())
    if min(gaps.values()) < 0 or sum(gaps.values()) != missing:
        return [f"{wrong} sensitive values are shown another number of times than the table has them"]
    return []
