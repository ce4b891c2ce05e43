"""The verbs `count` and `count_many`: from a question and a release to an answer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from sfumato.errors import QueryError
from sfumato.query._one_thread import one_thread
from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer
from sfumato.query.buckets import Guess, choose_estimator, dress, dress_partly, guess, guess_partly
from sfumato.query.cells import Places, cut_to_cell, find_places, occurring_cells, reconcile
from sfumato.query.columns import count_columns
from sfumato.query.compile import Compiled, Partly, Piece, compile_condition
from sfumato.query.index import BucketIndex, index_of
from sfumato.query.predicate import Query
from sfumato.query.randomized import count_randomized
from sfumato.query.ranges import count_ranges
from sfumato.query.sql import parse_sql
from sfumato.query.views import as_buckets
from sfumato.query.vocabulary import Vocabulary
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.release.columns import ColumnsRelease
from sfumato.release.randomized import RandomizedRelease
from sfumato.release.ranges import RangesRelease
from sfumato.release.views import ViewsRelease


def count(release: Release, query: str | Query, *, estimator: Estimator | None = None, confidence: float = 0.95) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY.

    `estimator=None` takes the default of the form, see `sfumato.query.buckets`, `ranges`, `columns`, `views` and `randomized`.
    Conditions on recoded columns are understood in original terms, see `sfumato.query.meaning`. One that cuts through a
    published value is answered by the share of that value's range that is inside; the interval then reaches from all of its
    people outside to all of them inside, and a note says so.
    """
    asked = query if isinstance(query, Query) else parse_sql(query)
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise QueryError(f"confidence: expected a number between 0 and 1, got {confidence!r}", hint="0.95 is usual")
    if isinstance(release, RangesRelease):
        return count_ranges(release, asked, estimator=estimator, confidence=confidence)
    if isinstance(release, RandomizedRelease):
        return count_randomized(release, asked, estimator=estimator, confidence=confidence)
    if isinstance(release, ColumnsRelease):
        return count_columns(release, asked, estimator=estimator, confidence=confidence)
    if isinstance(release, ViewsRelease):
        release, estimator = as_buckets(release, estimator), "paper"
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
    with one_thread(), ThreadPoolExecutor(threads) as pool:
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
    vocabulary = index.vocabulary
    places = find_places(vocabulary, group_by)
    keys, found = [], []
    for cell in occurring_cells(index.table, vocabulary, places, compiled.pieces):
        pieces = cut_to_cell(vocabulary, places, cell, compiled.pieces)
        if not pieces:
            continue
        part = _find(release, pieces, _cut_partly(vocabulary, places, cell, compiled.partly), estimator)
        if part.guess.most > 0:
            keys.append({name: words.decode(code) for name, (_, _, words), code in zip(group_by, places, cell, strict=True)})
            found.append(part)
    if estimator != "paper":
        moved = reconcile([part.guess for part in found], total.guess)
        found = [replace(part, guess=guess) for part, guess in zip(found, moved, strict=True)]
    cells = tuple((key, part.dressed(estimator, confidence)) for key, part in zip(keys, found, strict=True))
    types = tuple(words.type for _, _, words in places)
    return GroupedAnswer(group_by, cells, types, total.dressed(estimator, confidence, compiled.notes), release.native)


def _cut_partly(vocabulary: Vocabulary, places: Places, cell: tuple[int, ...], partly: Partly | None) -> Partly | None:
    return None if partly is None else partly.cut(lambda pieces: cut_to_cell(vocabulary, places, cell, pieces))


__all__ = ["Answer", "Estimate", "count", "count_many"]
