"""The verbs `count` and `count_many`: from a question and a release to an answer, by the engine of the release's form."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from sfumato.errors import QueryError
from sfumato.query.answer import Answer, Estimator
from sfumato.query.answering import answer
from sfumato.query.apart import ApartEngine
from sfumato.query.buckets import BucketsEngine
from sfumato.query.columns import columns_engine
from sfumato.query.engine import SHELF, Engine, one_thread
from sfumato.query.language.predicate import COUNT, Query
from sfumato.query.language.sql import parse_sql
from sfumato.query.measuring import measure
from sfumato.query.noisy import NoisyEngine
from sfumato.query.randomized import RandomizedEngine
from sfumato.query.ranges import ranges_engine
from sfumato.query.shelf import Shelf
from sfumato.query.synthetic import SyntheticEngine
from sfumato.query.views import ViewsEngine
from sfumato.release.apart import parts_of
from sfumato.release.base import Release

ENGINES: dict[str, Callable[[Any], Engine]] = {
    "buckets": lambda release: (NoisyEngine if release.noisy else BucketsEngine).of(release),
    "columns": columns_engine,
    "randomized": RandomizedEngine.of,
    "ranges": ranges_engine,
    "synthetic": SyntheticEngine.of,
    "views": ViewsEngine.of,
}
"""What makes the engine of a release, by its form."""

_shelves: weakref.WeakKeyDictionary[Release, Shelf] = weakref.WeakKeyDictionary()
_engines: weakref.WeakKeyDictionary[Release, Engine] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def count(release: Release, query: str | Query, *, estimator: Estimator | None = None, confidence: float = 0.95) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY.

    A question may ask for other figures than COUNT(*), see `docs/asking.md`; for several at once it has `SeveralAnswers`.

    `estimator=None` is `likelihood` where the release allows it, else `paper`; see `sfumato.query.buckets`, `ranges`, `columns`,
    `views` and `randomized`. Conditions on recoded columns are understood in original terms, see
    `sfumato.query.language.meaning`. One that cuts through a published value is answered by the share of that value's range
    that is inside; the interval then reaches from all of its people outside to all of them inside, and a note says so.
    """
    asked = query if isinstance(query, Query) else parse_sql(query)
    require_confidence(confidence)
    engine = engine_for(release, asked)
    chosen = choose_estimator(engine, estimator, release.form)
    if asked.select == (COUNT,) and asked.having is None and not asked.order_by and asked.limit is None:
        return answer(engine, asked, chosen, confidence, release.native)
    return measure(engine, asked, chosen, confidence, release.native)


def require_confidence(confidence: float) -> None:
    """Refuse what is no confidence."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise QueryError(f"confidence: expected a number between 0 and 1, got {confidence!r}", hint="0.95 is usual")


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


def engine_of(release: Release) -> Engine:
    """Return the engine of a release, made on first use and kept as long as the release."""
    with _lock:
        return _engine(release)


def _engine(release: Release) -> Engine:
    """Return the engine of a release; of one that protects each column by itself, with the engines of its parts."""
    engine = _engines.get(release)
    if engine is None:
        if release.form not in ENGINES:
            raise QueryError(f"no estimator is known for the form {release.form!r}")
        engine = ApartEngine.of(release, _engine) if release.manifest.apart else ENGINES[release.form](release)
        _engines[release] = engine
        engine.__dict__[SHELF] = _shelves.get(release)
    return engine


def engine_for(release: Release, asked: Query) -> Engine:
    """Return the engine for one question: where each sensitive column is protected by itself, that of the column it names."""
    engine = engine_of(release)
    return engine.asked(asked) if isinstance(engine, ApartEngine) else engine


def remember(release: Release, shelf: Shelf | None) -> None:
    """Let what this release teaches be kept on a shelf, and be taken from it, from its first question on."""
    if shelf is not None:
        with _lock:
            _shelves[release] = shelf
            for place, part in enumerate(parts_of(release) if release.manifest.apart else ()):
                _shelves[part] = replace(shelf, secret=place)


def choose_estimator(engine: Engine, estimator: Estimator | None, form: str) -> Estimator:
    """Return the estimator to use: the one asked for if it can be, else the default for this release."""
    if estimator is None:
        return "paper" if engine.no_likelihood else "likelihood"
    if estimator not in ("paper", "likelihood"):
        raise QueryError(f"estimator: expected 'paper' or 'likelihood' for {form}, got {estimator!r}")
    if estimator == "likelihood" and engine.no_likelihood:
        raise QueryError(engine.no_likelihood, hint="use estimator='paper'")
    return estimator


__all__ = ["count", "count_many", "remember"]
