"""From a question put to a form's engine to its answer: values met partly, GROUP BY and intervals, the same for all forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sfumato.query.answer import Estimate, Estimator, GroupedAnswer
from sfumato.query.engine import CountEngine, CountEstimate, Question
from sfumato.query.group_by import find_columns, narrow, reconcile
from sfumato.query.language.compile import Compiled, compile_condition
from sfumato.query.language.predicate import Query
from sfumato.query.models.installed import vouched
from sfumato.table.frames import Native


def answer(
    engine: CountEngine, asked: Query, estimator: Estimator, confidence: float, native: Native
) -> Estimate | GroupedAnswer:
    """Return the estimated count: an `Estimate`, or a `GroupedAnswer` for a GROUP BY."""
    question = engine.ask(asked, estimator)
    compiled = compile_condition(asked.condition, question.vocabulary)
    total = _outcome(question, compiled)
    whole = replace(total.estimate(estimator, confidence, compiled.notes), native=native)
    if not asked.group_by:
        return whole
    columns = find_columns(question.vocabulary, asked.group_by)
    keys, outcomes = [], []
    for cell in question.cells(columns, compiled.pieces):
        part = _outcome(question, compiled.narrowed(narrow(question.vocabulary, columns, cell)))
        if part.middle.most > 0:
            keys.append({words.name: words.decode(code) for (_, _, words), code in zip(columns, cell, strict=True)})
            outcomes.append(part)
    settled = reconcile([part.middle for part in outcomes], total.middle)
    cells = tuple(
        (key, replace(part, middle=middle).estimate(estimator, confidence))
        for key, part, middle in zip(keys, outcomes, settled, strict=True)
    )
    return GroupedAnswer(asked.group_by, cells, tuple(words.type for _, _, words in columns), whole, native)


@dataclass(frozen=True)
class _Outcome:
    """The guess for a condition, and where published values meet it only partly those for its two extremes, and why."""

    middle: CountEstimate
    ends: tuple[CountEstimate, CountEstimate] | None = None
    note: str = ""

    def estimate(self, estimator: Estimator, confidence: float, notes: Sequence[str] = ()) -> Estimate:
        """Return the answer, with an interval where an honest one is known: from the low end of its least to the high end of
        its most."""
        middle, value = self.middle, self.middle.inside
        low, high = (_interval(end, confidence) for end in self.ends or (middle, middle))
        remarks = [*([self.note] if self.note else []), *notes]
        error = 0.0 if middle.certain else middle.std_error
        if low is None or high is None:
            text = "; ".join([middle.no_interval, *remarks])
            return Estimate(value, error, None, None, confidence, estimator, text, middle.raw)
        bottom, top = min(low[0], value), max(high[1], value)
        if middle.limits and not middle.certain:
            confidence, remarks = 1.0, [middle.no_interval, *remarks]
        remarks += [] if middle.certain else filter(None, [vouched(estimator)])
        return Estimate(value, error, bottom, top, confidence, estimator, "; ".join(remarks), middle.raw)


def _interval(guess: CountEstimate, confidence: float) -> tuple[float, float] | None:
    """Return the ends of an interval, inside what the release makes certain; None where none would be honest."""
    if guess.limits:
        return guess.least, guess.most
    if guess.no_interval and not guess.certain:
        return None
    times = 0.0 if guess.certain else NormalDist().inv_cdf(0.5 + confidence / 2)
    above = max(_above(guess, times), guess.further * times / _LIKELY)
    low, high = max(guess.least, guess.value - times * guess.std_error), min(guess.most, guess.value + above)
    return min(low, guess.inside), max(high, guess.inside)


_LIKELY = NormalDist().inv_cdf(0.975)

FACTOR = 4.0  # most that an interval reaches up by unknown weights, in the logarithm


def _above(guess: CountEstimate, times: float) -> float:
    """Return how far up so many standard errors reach: what weights leave open is a factor, all else is added.

    Down they reach as far as if all were added: a factor never comes to 0, and some values nobody of a kind has.
    """
    loose = min(guess.loose, guess.std_error**2)
    linear = times * math.sqrt(loose)
    factor = guess.value * math.expm1(min(linear / max(guess.value, 1.0), FACTOR))
    return math.hypot(max(factor, linear), times * math.sqrt(guess.std_error**2 - loose))


def _outcome(question: Question, compiled: Compiled) -> _Outcome:
    """Return what is estimated for a condition.

    Where published values meet it only partly, the value is the mean over the mixtures. Where their people really are, nobody
    knows: the standard error takes all counts between the extremes as equally likely, on top of the estimator's own.
    """
    partly = compiled.partly
    if partly is None:
        return _Outcome(question.guess(compiled.pieces))
    sure, possible = question.guess(partly.sure), question.guess(partly.possible)
    if sure.certain and possible.certain and sure.least == possible.least:
        return _Outcome(sure)  # nobody has a value that is cut through
    value = error = raw = 0.0
    for weight, pieces in partly.worlds:
        guess = question.guess(pieces)
        value += weight * guess.inside
        error += weight * guess.std_error
        raw += weight * (guess.raw or 0.0)
    width = max(0.0, possible.inside - sure.inside)
    middle = CountEstimate(
        value,
        math.hypot(error, width / math.sqrt(12)),
        sure.least,
        possible.most,
        sure.no_interval or possible.no_interval,
        None if sure.raw is None else raw,
        limits=sure.limits,
    )
    return _Outcome(middle, (sure, possible), partly.note)
