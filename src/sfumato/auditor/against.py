"""The release against the original table: nothing lost, nothing invented, everybody's true value where she is, and exposure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.auditor.published import Published
from sfumato.table.table import Table

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """What the original tells: differences, the true shares, and the mean belief in people's true values."""

    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    shares: dict[str, Fraction]
    exposure: float | None


def compare(published: Published, table: Table, *, suppression: bool) -> Comparison:
    """Compare the published rows and values with the table they come from; with suppression some may be missing."""
    labels = table.sensitive.labels
    counts = np.bincount(table.sensitive.codes, minlength=len(labels))
    shares = {label: Fraction(int(count), table.rows) for label, count in zip(labels, counts, strict=True)}
    problems: list[str] = []
    lacking = [name for name in published.quasi if name not in [column.name for column in table.quasi]]
    if lacking:
        return Comparison((f"the table has no quasi column {', '.join(lacking)}",), (), shares, None)
    mine, theirs = _row_ids(published, table)
    invented, lost = _row_differences(mine, theirs)
    if invented:
        problems.append(f"{invented} published rows are not rows of the table")
    if lost and not suppression:
        problems.append(f"{lost} rows of the table are not published")
    problems += _values(published, dict(zip(labels, map(int, counts), strict=True)), suppression)
    exposure, misplaced = _true_values(published, table, mine, theirs)
    if misplaced:
        problems.append(f"{misplaced} people have a sensitive value that no bucket with their quasi values shows")
    warnings = (f"{lost} people of the table were suppressed",) if lost and suppression else ()
    return Comparison(tuple(problems), warnings, shares, exposure)


def _row_ids(published: Published, table: Table) -> tuple[Integers, Integers]:
    """Number equal quasi rows of both tables equally."""
    columns = {column.name: column for column in table.quasi}
    key = np.zeros(published.people + table.rows, np.int64)
    room = 1
    for name in published.quasi:
        column = columns[name]
        theirs = pa.DictionaryArray.from_arrays(pa.array(column.codes.astype(np.int32)), column.dictionary())
        both = _codes(published.qit[name], theirs)
        width = int(both.max(initial=0)) + 1
        if room * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1]
            room = int(key.max(initial=0)) + 1
        key, room = key * width + both, room * width
    ids = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return ids[: published.people], ids[published.people :]


def _codes(published: pa.ChunkedArray, original: pa.DictionaryArray) -> Integers:
    """Return codes of published rows followed by original rows, equal values coded equally."""
    words: dict[object, int] = {}
    pieces = []
    chunk = published.combine_chunks()
    for array in (chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode("encode"), original):
        meaning = np.array(
            [words.setdefault(value, len(words)) for value in [*array.dictionary.to_pylist(), None]], dtype=np.int64
        )
        index = np.asarray(array.indices.fill_null(len(meaning) - 1), dtype=np.int64)
        pieces.append(meaning[index])
    return np.concatenate(pieces)


def _row_differences(mine: Integers, theirs: Integers) -> tuple[int, int]:
    """Return how many published rows the table lacks, and how many of its rows are not published."""
    width = int(max(mine.max(initial=0), theirs.max(initial=0))) + 1
    gap = np.bincount(mine, minlength=width) - np.bincount(theirs, minlength=width)
    return int(gap[gap > 0].sum()), int(-gap[gap < 0].sum())


def _values(published: Published, counts: dict[str, int], suppression: bool) -> list[str]:
    invented = sorted(set(published.labels) - set(counts))
    if invented:
        return [f"st shows {len(invented)} values that the table does not have"]
    if published.decoys:
        return []
    shown = dict(zip(published.labels, map(int, published.totals), strict=True))
    wrong = [
        label
        for label in counts
        if shown.get(label, 0) > counts[label] or (shown.get(label, 0) < counts[label] and not suppression)
    ]
    return [f"{len(wrong)} sensitive values are shown another number of times than the table has them"] if wrong else []


def _true_values(published: Published, table: Table, mine: Integers, theirs: Integers) -> tuple[float | None, int]:
    """Return the exposure, and how many people are in no bucket that could hold them.

    A reader spreads her belief evenly over the rows with the person's quasi values; each row says the shares of its bucket.
    """
    number = {label: k for k, label in enumerate(published.labels)}
    code = np.array([number.get(label, -1) for label in table.sensitive.labels], dtype=np.int64)[table.sensitive.codes]
    values = len(published.labels) + 1
    pair, times = np.unique(theirs * values + (code + 1), return_counts=True)
    who, what = pair // values, pair % values - 1
    order = np.argsort(mine, kind="stable")
    first, last = np.searchsorted(mine[order], who), np.searchsorted(mine[order], who, side="right")
    fits = last - first
    owner = np.repeat(np.arange(len(pair)), fits)
    row = order[np.repeat(first, fits) + np.arange(len(owner)) - np.repeat(np.cumsum(fits) - fits, fits)]
    entry = published.bucket * values + published.value
    sort = np.argsort(entry)
    wanted = published.row_bucket[row] * values + what[owner]
    place = np.minimum(np.searchsorted(entry[sort], wanted), max(len(entry) - 1, 0))
    hit = entry[sort[place]] == wanted
    share = np.where(hit, published.count[sort[place]] / np.maximum(published.shown[published.row_bucket[row]], 1), 0.0)
    belief = np.bincount(owner, weights=share, minlength=len(pair)) / np.maximum(fits, 1)
    possible = np.bincount(owner, weights=hit, minlength=len(pair)) > 0
    misplaced = int(times[~possible & (fits > 0)].sum())
    return float((belief * times).sum() / times.sum()), misplaced
