"""The verbs `count` and `count_many`: from a question and a release to an answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer
from sfumato.query.buckets import Guess, choose_estimator, dress, dress_partly, guess, guess_partly
from sfumato.query.compile import Compiled, Partly, Piece, Pieces, compile_condition, restrict
from sfumato.query.fragments import Mask
from sfumato.query.index import BucketIndex, index_of
from sfumato.query.predicate import Query
from sfumato.query.ranges import count_ranges
from sfumato.query.sql import parse_sql
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.ranges import RangesRelease

MAX_CELLS = 10_000
"""Cells of a GROUP BY that are answered at once."""


def count(release: Release, query: str | Query, *, estimator: Estimator | None = None, confidence: float = 0.95) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY.

    `estimator=None` takes the default of the form: for blind buckets `likelihood`, see `sfumato.query.buckets`. Conditions on
    recoded columns are understood in original terms, see `sfumato.query.meaning`. One that cuts through a published value is
    answered by the share of that value's range that is inside; the interval then reaches from all of its people outside to all
    of them inside, and a note says so.
    """
    asked = query if isinstance(query, Query) else parse_sql(query)
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise QueryError(f"confidence: expected a number between 0 and 1, got {confidence!r}", hint="0.95 is usual")
    if isinstance(release, RangesRelease):
        return count_ranges(release, asked, estimator=estimator, confidence=confidence)
    if not isinstance(release, BucketsRelease):
        raise QueryError(f"no estimator is known for the form {release.form!r}")
    chosen = choose_estimator(release, estimator)
    index = index_of(release)
    vocabulary = index.vocabulary if asked.terms == "original" else index.vocabulary.published
    compiled = compile_condition(asked.condition, vocabulary)
    total = _find(release, compiled.pieces, compiled.partly, chosen)
    if not asked.group_by:
        return total.dressed(chosen, confidence, compiled.notes)
    return _grouped(release, index, asked.group_by, compiled, total, chosen, confidence)


def count_many(
    release: Release,
    queries: Iterable[str | Query],
    *,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    workers: int | None = None,
) -> list[Answer]:
    """Return the answers to many questions, in order, computed on all processors (or on `workers` threads)."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise QueryError(f"workers: expected a whole number from 1 on, got {workers!r}")
    listed = list(queries)
    threads = min(workers or os.cpu_count() or 1, max(1, len(listed)))
    if threads == 1:
        return [count(release, query, estimator=estimator, confidence=confidence) for query in listed]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda query: count(release, query, estimator=estimator, confidence=confidence), listed))


@dataclass(frozen=True)
class _Found:
    """A guess, and where published values meet the condition only partly those for its two extremes, and why."""

    guess: Guess
    ends: tuple[Guess, Guess] | None = None
    note: str = ""

    def dressed(self, estimator: Estimator, confidence: float, notes: Sequence[str] = ()) -> Estimate:
        """Return the answer."""
        if self.ends is None:
            return dress(self.guess, estimator, confidence, notes)
        return dress_partly((self.guess, *self.ends), estimator, confidence, [self.note, *notes])


def _find(release: BucketsRelease, pieces: Sequence[Piece], partly: Partly | None, estimator: Estimator) -> _Found:
    if partly is None:
        return _Found(guess(release, pieces, estimator))
    middle, sure, possible = guess_partly(release, partly, estimator)
    if sure.least == sure.most == possible.least == possible.most:
        return _Found(sure)  # nobody has a value that is cut through
    return _Found(middle, (sure, possible), partly.note)


def _grouped(
    release: BucketsRelease,
    index: BucketIndex,
    group_by: tuple[str, ...],
    compiled: Compiled,
    total: _Found,
    estimator: Estimator,
    confidence: float,
) -> GroupedAnswer:
    places = [index.vocabulary.find(name) for name in group_by]
    if len(set(group_by)) < len(group_by):
        raise QueryError("GROUP BY names a column twice")
    keys, found = [], []
    for cell in _cells(index, places, compiled.pieces):
        pieces = _cut(index, places, cell, compiled.pieces)
        if not pieces:
            continue
        part = _find(release, pieces, _cut_partly(index, places, cell, compiled.partly), estimator)
        if part.guess.most > 0:
            keys.append({name: words.decode(code) for name, (_, _, words), code in zip(group_by, places, cell, strict=True)})
            found.append(part)
    if estimator != "paper":
        moved = reconcile([part.guess for part in found], total.guess)
        found = [replace(part, guess=guess) for part, guess in zip(found, moved, strict=True)]
    cells = tuple((key, part.dressed(estimator, confidence)) for key, part in zip(keys, found, strict=True))
    types = tuple(words.type for _, _, words in places)
    return GroupedAnswer(group_by, cells, types, total.dressed(estimator, confidence, compiled.notes), release.native)


def _cells(index: BucketIndex, places: Sequence[tuple[bool, int, Any]], pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """Return the combinations of codes that can occur, ascending: per piece those of its rows with those of its values."""
    quasi = [j for sensitive, j, _ in places if not sensitive]
    parts = [j for sensitive, j, _ in places if sensitive]
    cells: set[tuple[int, ...]] = set()
    for piece in pieces:
        buffer, found = index.table.find(piece.rows)
        rows = _distinct([index.table.codes[j][buffer[:found]] for j in quasi], found)
        values = _distinct([index.vocabulary.part_codes[j][piece.values] for j in parts], int(piece.values.sum()))
        if len(rows) * len(values) + len(cells) > MAX_CELLS:
            raise QueryError(
                f"GROUP BY makes more than {MAX_CELLS} cells", hint="group by fewer columns, or add a WHERE condition"
            )
        for row in rows:
            for value in values:
                of_quasi, of_parts = iter(row), iter(value)
                cells.add(tuple(next(of_parts) if sensitive else next(of_quasi) for sensitive, _, _ in places))
    return sorted(cells)


def _distinct(columns: list[Any], length: int) -> list[tuple[int, ...]]:
    if not columns:
        return [()] if length else []
    return [tuple(map(int, row)) for row in np.unique(np.stack([c.astype(np.int64) for c in columns], axis=1), axis=0)]


def _cut(index: BucketIndex, places: Sequence[tuple[bool, int, Any]], cell: tuple[int, ...], pieces: Sequence[Piece]) -> Pieces:
    """Return the pieces cut down to one cell."""
    result = []
    for piece in pieces:
        values: Mask = piece.values
        rows = piece.rows
        for (sensitive, column, words), code in zip(places, cell, strict=True):
            if sensitive:
                values = values & (index.vocabulary.part_codes[column] == code)
            else:
                accepted = np.zeros(words.size, bool)
                accepted[code] = True
                rows = restrict(rows, column, accepted)
        if values.any():
            result.append(Piece(values, rows))
    return tuple(result)


def _cut_partly(
    index: BucketIndex, places: Sequence[tuple[bool, int, Any]], cell: tuple[int, ...], partly: Partly | None
) -> Partly | None:
    return None if partly is None else partly.cut(lambda pieces: _cut(index, places, cell, pieces))


def reconcile(parts: list[Guess], total: Guess) -> list[Guess]:
    """Return the parts moved so that they add up to the total: each in proportion to its variance, within what is certain."""
    goal = total.inside
    values = np.array([part.inside for part in parts])
    least, most = np.array([part.least for part in parts]), np.array([part.most for part in parts])
    weight = np.array([part.std_error**2 for part in parts]) + 1e-12
    for _ in range(100):
        gap = goal - values.sum()
        free = (values < most) if gap > 0 else (values > least)
        if abs(gap) < 1e-9 * max(1.0, goal) or not free.any():
            break
        values = np.clip(values + gap * np.where(free, weight, 0.0) / weight[free].sum(), least, most)
    return [Guess(float(value), part.std_error, part.least, part.most) for value, part in zip(values, parts, strict=True)]


__all__ = ["Answer", "Estimate", "count", "count_many"]
