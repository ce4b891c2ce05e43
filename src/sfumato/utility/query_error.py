"""How wrong count answers are: a release's estimates beside the truth, and beside answers that need no release."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.errors import InputError
from sfumato.query.answer import Estimate, Estimator
from sfumato.query.count import count_many
from sfumato.query.facts import having
from sfumato.query.language.disjoint import disjoint
from sfumato.query.language.predicate import Query
from sfumato.query.rows import RowIndex
from sfumato.query.workload import TableLike, Workload, exact_pieces, true_answers, vocabulary_of
from sfumato.release.base import Release

CLASSES: tuple[tuple[str, int, float], ...] = (
    ("1–9", 1, 10),
    ("10–99", 10, 100),
    ("100–999", 100, 1000),
    ("≥ 1000", 1000, float("inf")),
)
"""Answers of a size together: an error of 5 people means little in 1,000 and much in 10."""


@dataclass(frozen=True)
class ErrorClass:
    """Relative errors of the queries whose true answer lies in a class.

    `intervals` is the share of answers that have an interval, and `held` that of these intervals which hold the truth;
    `coverage` is the same where every answer has one, else None.
    """

    name: str
    queries: int
    mean: float
    median: float
    independence_mean: float
    independence_median: float
    coverage: float | None
    intervals: float
    held: float | None


@dataclass(frozen=True)
class WorkloadError(ErrorClass):
    """Relative error |estimate − truth| / truth over a workload; queries whose true answer is 0 are dropped and counted.

    A release whose error is not below that of assuming independence tells nothing about the association.
    """

    estimator: str
    classes: tuple[ErrorClass, ...]
    dropped: int


@dataclass(frozen=True)
class TrueAnswers:
    """Questions that somebody meets, the true answers, and those of assuming independence; `dropped` were met by nobody."""

    queries: tuple[Query, ...]
    truth: Floats
    alone: Floats
    dropped: int


def asked_of(table: TableLike, workload: Workload) -> TrueAnswers:
    """Return the questions of a workload that somebody in the table meets, with their answers."""
    truth = true_answers(table, workload)
    kept = np.flatnonzero(truth > 0)
    if not len(kept):
        raise InputError("no query of the workload has a true answer above 0", hint="ask less selective questions")
    queries = tuple(workload.queries[i] for i in kept)
    alone = independence(table, Workload(workload.name, queries))
    return TrueAnswers(queries, truth[kept].astype(float), alone, len(truth) - len(kept))


def query_error(
    release: Release, table: TableLike, workload: Workload, *, estimator: Estimator | None = None, confidence: float = 0.95
) -> WorkloadError:
    """Return how far a release's answers are from the truth. For the publisher: it reads the original table."""
    return error_of(release, asked_of(table, workload), estimator=estimator, confidence=confidence)


def error_of(
    release: Release,
    asked: TrueAnswers,
    *,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
    workers: int | None = None,
) -> WorkloadError:
    """Return how far a release's answers are from true ones that are known already."""
    answers = count_many(release, asked.queries, estimator=estimator, confidence=confidence, workers=workers)
    estimates = [answer for answer in answers if isinstance(answer, Estimate)]
    actual = asked.truth
    errors = np.abs(np.array([e.value for e in estimates]) - actual) / actual
    alone_errors = np.abs(asked.alone - actual) / actual
    pairs = zip(estimates, actual.tolist(), strict=True)
    inside = np.array([np.nan if e.low is None or e.high is None else e.low <= a <= e.high for e, a in pairs])

    def of(name: str, chosen: Flags) -> ErrorClass:
        mine, other, hit = errors[chosen], alone_errors[chosen], inside[chosen]
        known = hit[~np.isnan(hit)]
        return ErrorClass(
            name,
            int(chosen.sum()),
            float(mine.mean()),
            float(np.median(mine)),
            float(other.mean()),
            float(np.median(other)),
            float(known.mean()) if len(known) == len(hit) else None,
            len(known) / len(hit),
            float(known.mean()) if len(known) else None,
        )

    classes = [(name, (actual >= low) & (actual < high)) for name, low, high in CLASSES]
    return WorkloadError(
        **vars(of("all", np.ones(len(actual), bool))),
        estimator=estimates[0].estimator,
        classes=tuple(of(name, chosen) for name, chosen in classes if chosen.any()),
        dropped=asked.dropped,
    )


def independence(table: TableLike, workload: Workload) -> Floats:
    """Return the answers of somebody who knows the quasi table and the shares of sensitive values, but no link."""
    rows = len(table.sensitive.codes)
    index = RowIndex.of(table.quasi, rows)
    several = getattr(table, "bundles", None) is not None
    known = None if several else vocabulary_of(table)
    answers = []
    for query in workload:
        people, asked = having(table, query) if several else (table, query)
        pieces, counts = exact_pieces(asked, known or vocabulary_of(people)), people.sensitive.counts
        answers.append(sum(index.find(piece.rows)[1] * counts[piece.values].sum() / rows for piece in pieces))
    return np.array(answers, dtype=float)


def marginals(table: TableLike, workload: Workload) -> Floats:
    """Return the answers of somebody who knows every column's shares and the number of people, but no two columns together.

    N · Π_j share_j · share_S, columns and sensitive values taken as unrelated: what one-way marginals alone are good for.
    """
    vocabulary = vocabulary_of(table)
    rows = len(table.sensitive.codes)
    shares = [np.bincount(column.codes, minlength=column.size) / rows for column in table.quasi]
    answers = []
    for query in workload:
        total = 0.0
        for piece in exact_pieces(query, vocabulary):
            people = float(table.sensitive.counts[piece.values].sum())
            for conjunction in disjoint(piece.rows):
                total += people * math.prod(float(shares[j][accepted].sum()) for j, accepted in conjunction.items())
        answers.append(total)
    return np.array(answers, dtype=float)
