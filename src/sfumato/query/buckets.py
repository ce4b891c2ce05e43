"""Count estimates from a buckets release.

Three estimators, for a piece of a query (people with a sensitive value in S who meet a quasi condition):

`paper`
    Σ over buckets of k·s/N: k people meet the quasi condition, s of the N values shown are in S ([F' §7.2.2], Anatomy). Its
    standard error is the exact one of a random placement inside buckets. It has **no interval**: where quasi and sensitive
    values are associated it is biased toward independence by more than its standard error (a nominal 95 % covers 10–50 %).
`em`
    Expectation maximisation over P(condition | sensitive value), few steps from the overall share (the first step is `paper`). No
    interval either.
`likelihood`
    For boxes of near people see `sfumato.query.trend`: the default there, by measurement (benchmarks/boxes.py), and for near
    groups, where it halves the papers' error but has no interval that holds (benchmarks/near_groups.py). For blind buckets
    see `sfumato.query.likelihood`: the default for those of up to 600 sensitive values, by measurement: on a census of
    100,000 (benchmarks/query_error.py) its mean error is 0.2 to 0.92 times the papers' for optimal, top-down and unsuppressed
    Anatomy buckets, and only its intervals hold. Where all buckets have one large size there is little to learn, and
    it can be slightly worse than `paper` (0.132 against 0.124 at worst). Preparing it takes 0.1 s for 50 values and about 3 s
    for 600, once a release.

With σ decoys in a bucket of N people, N + σ values are shown and every formula counts them all, which leaves the estimate
unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import QueryError
from sfumato.query import _kernels
from sfumato.query.answer import Estimate, Estimator
from sfumato.query.compile import Partly, Piece
from sfumato.query.index import BucketIndex, index_of
from sfumato.query.likelihood import MAX_VALUES, association_of
from sfumato.query.trend import FEWEST_BOXES, Trend, boxes_by, trend_of
from sfumato.release.buckets import BucketsRelease

EM_STEPS = 5

NO_INTERVAL = {
    "paper": "no interval: this estimator leans toward independence by more than its standard error",
    "em": "no interval: the error of few EM steps is not known; the standard error is that of the papers' estimator",
    "likelihood": "no interval: in near groups the estimate is off by more than its standard error tells",
}


@dataclass(frozen=True)
class Guess:
    """An estimate before it is dressed: value, standard error, what is certain, and whether an interval would cover the truth."""

    value: float
    std_error: float
    least: float
    most: float
    covers: bool = True

    @property
    def inside(self) -> float:
        """The value, within what is certain."""
        return min(max(self.value, self.least), self.most)


def is_blind(release: BucketsRelease) -> bool:
    """Return whether the manifest says that people were put into buckets regardless of their quasi values."""
    return release.manifest.basis == "blind"


def choose_estimator(release: BucketsRelease, estimator: Estimator | None) -> Estimator:
    """Return the estimator to use: the one asked for if it can be, else the default for this release."""
    few = len(release.domain) <= MAX_VALUES
    boxes = boxes_by(release) is not None
    if estimator is None:
        return "likelihood" if boxes or (is_blind(release) and few) else "paper"
    if estimator not in ("paper", "likelihood", "em"):
        raise QueryError(f"estimator: expected 'paper', 'likelihood' or 'em', got {estimator!r}")
    if estimator == "paper" or (boxes and estimator == "likelihood"):
        return estimator
    if not is_blind(release):
        either = "" if estimator == "em" else f", or at least {FEWEST_BOXES} buckets that are boxes of near people"
        raise QueryError(
            f"the {estimator} estimator needs people assigned to buckets regardless of their quasi values{either}; the "
            "manifest of this release does not say that",
            hint="use estimator='likelihood'" if boxes else "use estimator='paper'",
        )
    if estimator == "likelihood" and not few:
        raise QueryError(
            f"the likelihood estimator works up to {MAX_VALUES} sensitive values; this release has {len(release.domain)}",
            hint="use estimator='paper' or 'em'",
        )
    return estimator


def guess(release: BucketsRelease, pieces: Sequence[Piece], estimator: Estimator) -> Guess:
    """Return the estimated number of people in disjoint pieces of a query."""
    index = index_of(release)
    if estimator == "likelihood" and boxes_by(release) is not None:
        covers = boxes_by(release) in ("safe", "tight")
        found = [_guess_in_boxes(index, trend_of(release), piece, covers=covers) for piece in pieces]
    elif len(pieces) > 1 and estimator != "likelihood":
        return _guess_many(index, pieces, estimator)
    else:
        found = [_guess_one(index, piece, estimator) for piece in pieces]
    if len(found) == 1:
        return found[0]
    # How the errors of pieces go together is not known; adding standard errors covers the worst case.
    return Guess(
        sum(g.value for g in found),
        sum(g.std_error for g in found),
        sum(g.least for g in found),
        min(float(index.rows), sum(g.most for g in found)),
        all(g.covers for g in found),
    )


def guess_partly(release: BucketsRelease, partly: Partly, estimator: Estimator) -> tuple[Guess, Guess, Guess]:
    """Return the guess for a condition that published values meet only partly, and those for its two extremes.

    The value is the mean over the mixtures. Where the people of such a value really are, nobody knows: the standard error takes
    all counts between the extremes as equally likely, on top of the estimator's own.
    """
    sure, possible = guess(release, partly.sure, estimator), guess(release, partly.possible, estimator)
    value = error = 0.0
    for weight, pieces in partly.worlds:
        found = guess(release, pieces, estimator)
        value += weight * found.inside
        error += weight * found.std_error
    spread = max(0.0, possible.inside - sure.inside)
    covers = sure.covers and possible.covers
    return Guess(value, math.hypot(error, spread / math.sqrt(12)), sure.least, possible.most, covers), sure, possible


def dress_partly(
    found: tuple[Guess, Guess, Guess], estimator: Estimator, confidence: float, notes: Sequence[str] = ()
) -> Estimate:
    """Return the answer to a question that is met partly: from the low end of its least to the high end of its most."""
    middle, *ends = found
    low, high = (dress(end, estimator, confidence) for end in ends)
    if low.low is None or high.high is None:
        return dress(middle, estimator, confidence, notes)
    value = middle.inside
    return Estimate(value, middle.std_error, min(low.low, value), max(high.high, value), confidence, estimator, "; ".join(notes))


def dress(found: Guess, estimator: Estimator, confidence: float, notes: Sequence[str] = ()) -> Estimate:
    """Return the answer: with an interval where an honest one is known, inside what the release makes certain."""
    value = found.inside
    low: float | None
    high: float | None
    if found.least == found.most:
        return Estimate(value, 0.0, value, value, confidence, estimator, "; ".join(notes))
    if estimator == "likelihood" and found.covers:
        reach = NormalDist().inv_cdf(0.5 + confidence / 2) * found.std_error
        low, high = max(found.least, found.value - reach), min(found.most, found.value + reach)
        low, high = min(low, value), max(high, value)
    else:
        low = high = None
        notes = [NO_INTERVAL[estimator], *notes]
    return Estimate(value, found.std_error, low, high, confidence, estimator, "; ".join(notes))


def _guess_one(index: BucketIndex, piece: Piece, estimator: Estimator) -> Guess:
    hits = index.hits(piece.rows)
    value, variance, least, most, each = index.weigh(hits, piece.values)
    if estimator == "em" and least != most:
        value = _em(index, piece, hits)
    elif estimator == "likelihood" and least != most:
        association = association_of(index)
        chance = variance
        value, variance = association.estimate(piece, int(hits.sum()), each)
        if index.has_decoys:
            share = float(hits.sum()) / index.rows
            variance += max(0.0, chance - association.chance_variance(piece.values, share))
            # Only a share N/(N+σ) of the slots speaks of people; which ones is not known, so the rest counts as lost data.
            variance *= float(index.shown.sum()) / index.rows
    return Guess(float(value), math.sqrt(variance), float(least), float(most))


def _guess_in_boxes(index: BucketIndex, trend: Trend, piece: Piece, *, covers: bool) -> Guess:
    rows, people = index.table.find(piece.rows)
    hits = index.count(rows, people)
    value, variance, least, most, _ = index.weigh(hits, piece.values)
    if least != most:
        shift, more = trend.estimate(piece, rows, people, hits)
        value, variance = value + shift, variance + more
    return Guess(float(value), math.sqrt(variance), float(least), float(most), covers)


def _em(index: BucketIndex, piece: Piece, hits: Integers) -> float:
    share = float(hits.sum()) / index.rows
    rate = _kernels.em_steps(hits, share, EM_STEPS, index.st_start, index.st_value, index.st_real, index.totals)
    return float((rate * index.totals)[piece.values].sum())


def _guess_many(index: BucketIndex, pieces: Sequence[Piece], estimator: Estimator) -> Guess:
    """Add up pieces for `paper` and `em`, with the exact variance of a random placement.

    Row i of a bucket with M slots fits r_i of them and slot j fits c_j rows; a placement then has the variance
    (Σ r_i − Σ r_i²/M − Σ c_j²/M + (Σ r_i)²/M²) / (M − 1).
    """
    fits = np.zeros(index.rows)
    columns = np.zeros(index.buckets)
    least = most = 0
    value = 0.0
    for piece in pieces:
        buffer, found = index.table.find(piece.rows)
        hits = np.zeros(index.buckets, np.int64)
        _kernels.count_by_bucket(index.bucket, buffer, found, hits)
        wanted = index.wanted(piece.values)
        fits[buffer[:found]] += wanted[index.bucket[buffer[:found]]]
        columns += wanted * hits.astype(float) ** 2
        part = index.weigh(hits, piece.values)
        value += _em(index, piece, hits) if estimator == "em" else part[0]
        least, most = least + part[2], most + part[3]
    total = np.bincount(index.bucket, weights=fits, minlength=index.buckets)
    squares = np.bincount(index.bucket, weights=fits**2, minlength=index.buckets)
    slots = np.maximum(index.shown, 1)
    variance = (total - squares / slots - columns / slots + total**2 / slots**2) / np.maximum(slots - 1, 1)
    error = math.sqrt(max(0.0, float(variance[slots > 1].sum())))
    return Guess(value, error, float(least), float(min(most, index.rows)))
