"""The verbs `count` and `count_many`: from a question and a release to an answer, by the engine of the release's form."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

from sfumato.errors import QueryError, did_you_mean
from sfumato.query.answer import Answer, Estimator, require_confidence
from sfumato.query.answering import answer
from sfumato.query.buckets import BucketsEngine
from sfumato.query.columns import columns_engine
from sfumato.query.engine import MODEL_CACHE, CountEngine, one_thread
from sfumato.query.having import Having, having_of
from sfumato.query.held import answer_held, refuse_held
from sfumato.query.language.predicate import COUNT, Query
from sfumato.query.language.sql import parse_sql
from sfumato.query.language.vocabulary import Vocabulary, declared_in
from sfumato.query.measuring import measure
from sfumato.query.model_cache import ModelCache
from sfumato.query.models.installed import INSTALLED, OWN
from sfumato.query.noisy import NoisyEngine
from sfumato.query.randomized import RandomizedEngine
from sfumato.query.ranges import ranges_engine
from sfumato.query.several import SecretsEngine
from sfumato.query.synthetic import SyntheticEngine
from sfumato.query.views import ViewsEngine
from sfumato.query.weighted import require_weights
from sfumato.release.base import Release

ENGINES: dict[str, Callable[[Any], CountEngine]] = {
    "buckets": lambda release: (NoisyEngine if release.noisy else BucketsEngine).of(release),
    "columns": columns_engine,
    "randomized": RandomizedEngine.of,
    "ranges": ranges_engine,
    "synthetic": SyntheticEngine.of,
    "views": ViewsEngine.of,
}
"""What makes the engine of a release, by its form."""

_caches: weakref.WeakKeyDictionary[Release, ModelCache] = weakref.WeakKeyDictionary()
_engines: weakref.WeakKeyDictionary[Release, CountEngine] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def count(
    release: Release,
    query: str | Query,
    *,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    weighted: bool = False,
) -> Answer:
    """Return the estimated count from the release alone: an `Estimate`, or a `GroupedAnswer` for a GROUP BY.

    A question may ask for other figures than COUNT(*), see `docs/asking.md`; for several at once it has `SeveralAnswers`.

    `estimator=None` is `likelihood` where the release allows it, else `paper`; see `sfumato.query.buckets`, `ranges`, `columns`,
    `views` and `randomized`. Conditions on recoded columns are understood in original terms, see
    `sfumato.query.language.meaning`. One that cuts through a published value is answered by the share of that value's range
    that is inside; the interval then reaches from all of its people outside to all of them inside, and a note says so.
    `weighted` figures are those of the population, by the weight that the release declares: see `sfumato.query.weighted`.
    """
    asked = query if isinstance(query, Query) else parse_sql(query)
    if weighted:
        require_weights(release)
        asked = replace(asked, weighted=True)
    require_confidence(confidence)
    with one_thread(loaded=True):  # matrices are small: threads would wait for each other
        if release.manifest.bundled:
            return count_held(release, asked, estimator, confidence)
        return _answered(engine_for(release, asked), release, asked, estimator, confidence)


def count_held(release: Any, asked: Query, estimator: Estimator | None, confidence: float) -> Answer:
    """Return the same where people may have several values of a secret: a condition on one is that somebody has a value of it."""

    def ask(engine: CountEngine, query: Query) -> Answer:
        return _answered(engine, release, query, estimator, confidence)

    return answer_held(release, asked, ask, having(release))


def having(release: Any) -> Having:
    """Return the engines of a release of people who may have several values."""
    return having_of(release, _caches.get(release))


def _answered(engine: CountEngine, release: Release, asked: Query, estimator: Estimator | None, confidence: float) -> Answer:
    chosen = choose_estimator(engine, estimator, release.form)
    if asked.select == (COUNT,) and not asked.weighted and asked.having is None and not asked.order_by and asked.limit is None:
        return answer(engine, asked, chosen, confidence, release.native)
    return measure(engine, asked, chosen, confidence, release.native)


def count_many(
    release: Release,
    queries: Iterable[str | Query],
    *,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    weighted: bool = False,
    workers: int | None = None,
) -> list[Answer]:
    """Return the answers to many questions, in order, computed on all processors (or on `workers` threads)."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise QueryError(f"workers: expected a whole number from 1 on, got {workers!r}")
    listed = list(queries)
    threads = min(workers or os.cpu_count() or 1, max(1, len(listed)))
    if threads == 1:
        return [count(release, query, estimator=estimator, confidence=confidence, weighted=weighted) for query in listed]
    with one_thread(), ThreadPoolExecutor(threads) as pool:
        return list(
            pool.map(lambda query: count(release, query, estimator=estimator, confidence=confidence, weighted=weighted), listed)
        )


def engine_of(release: Release) -> CountEngine:
    """Return the engine of a release, made on first use and kept as long as the release."""
    refuse_held(release)
    with _lock:
        return _engine(release)


def words_of(release: Release) -> Vocabulary:
    """Return the columns of a release and their values, as questions name them."""
    if not release.manifest.bundled:
        return engine_of(release).vocabulary
    quasi = having(release).engine(())[0].vocabulary.quasi
    parts = [Vocabulary.of((), part.domain, declared_in(part.manifest.schema)) for part in cast("Any", release).each]
    every = tuple(words.parts[0] for words in parts), tuple(words.part_codes[0] for words in parts)
    return Vocabulary(quasi, *every, declared_in(release.manifest.schema))


def _engine(release: Release) -> CountEngine:
    """Return the engine of a release; of several secrets with the engine of each."""
    engine = _engines.get(release)
    if engine is None:
        if release.form not in ENGINES:
            raise QueryError(f"no estimator supports the form {release.form!r}")
        engine = SecretsEngine.of(release, _engine) if len(release.each) > 1 else ENGINES[release.form](release)
        _engines[release] = engine
        engine.__dict__[MODEL_CACHE] = _caches.get(release)
    return engine


def engine_for(release: Release, asked: Query) -> CountEngine:
    """Return the engine for one question: where each sensitive column is protected by itself, that of the column it names."""
    engine = engine_of(release)
    return engine.asked(asked) if isinstance(engine, SecretsEngine) else engine


def remember(release: Release, cache: ModelCache | None) -> None:
    """Let what this release teaches be kept in a cache, and be taken from it, from its first question on."""
    if cache is not None:
        with _lock:
            _caches[release] = cache
            for place, part in enumerate(release.each if len(release.each) > 1 else ()):
                _caches[part] = replace(cache, secret=place)


def choose_estimator(engine: CountEngine, estimator: Estimator | None, form: str) -> Estimator:
    """Return the estimator to use: the one asked for if it can be, else the default for this release, one of sfumato's own."""
    if estimator is None:
        return "paper" if engine.no_likelihood else "likelihood"
    if estimator not in (*OWN, *INSTALLED):
        known = did_you_mean(str(estimator), (*OWN, *INSTALLED))
        raise QueryError(f"estimator: expected 'paper' or 'likelihood' for {form}, got {estimator!r}", hint=known)
    if estimator not in OWN and not isinstance(engine, BucketsEngine):
        raise QueryError(
            f"the estimator {estimator!r} answers questions about one secret in the form 'buckets'", hint="use estimator='paper'"
        )
    if estimator == "likelihood" and engine.no_likelihood:
        raise QueryError(engine.no_likelihood, hint="use estimator='paper'")
    return estimator


__all__ = ["count", "count_many", "remember"]
