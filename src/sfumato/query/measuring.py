"""From a question for other figures than a count to its answer: intervals, quantiles, and cells in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query.answer import Answer, Estimate, Estimator, GroupedAnswer, SeveralAnswers
from sfumato.query.answering import answer
from sfumato.query.buckets import CERTAIN
from sfumato.query.engine import CountEngine, Question, one_thread
from sfumato.query.figures import BEYOND, MIDDLES, WITHIN, Asking, Figure, Narrow
from sfumato.query.group_by import find_columns, narrow
from sfumato.query.language.compile import few
from sfumato.query.language.predicate import COUNT, And, Between, Condition, In, Missing, Not, Or, Query
from sfumato.query.models.installed import vouched
from sfumato.query.models.protocol import Moments
from sfumato.query.sums import Term
from sfumato.query.weighted import Design, apart, sampling_variance
from sfumato.table.frames import Native

OPEN = "no interval: it reaches into a bin without an end"


def measure(engine: CountEngine, asked: Query, estimator: Estimator, confidence: float, native: Native) -> Answer:
    """Return the answer to any question: figures of all who meet its condition, or of the cells of its GROUP BY."""
    with one_thread():
        answers = [_one(engine, replace(asked, select=(figure,)), estimator, confidence, native) for figure in asked.select]
    names = tuple(figure.name for figure in asked.select)
    if asked.group_by:
        common = _common([answer for answer in answers if isinstance(answer, GroupedAnswer)])
        answers = list(arranged(common, names, asked))
    return answers[0] if len(answers) == 1 else SeveralAnswers(tuple(answers), names, native)


def _one(engine: CountEngine, asked: Query, estimator: Estimator, confidence: float, native: Native) -> Estimate | GroupedAnswer:
    """Return the answer to a question for one figure, its cells as they come."""
    figure = asked.select[0]
    if figure.kind == "count" and not asked.weighted:
        return renamed(answer(engine, replace(asked, select=(COUNT,)), estimator, confidence, native), figure.name)
    question = ask(engine, asked, estimator)
    design = Design.of(question.vocabulary) if asked.weighted else None
    asking = Asking.of(question, engine.vocabulary, figure, asked.condition, design)
    teller = Teller(question, estimator, confidence, native, figure.name, design)
    absent = few([*asking.whole.notes, *(asking.inside.notes if asking.inside is not None else ())])
    if not asked.group_by:
        estimate = teller.tell(asking)
        if estimate is None:
            raise QueryError("nobody meets the condition, so there is no such figure", hint="ask COUNT(*) of it")
        return replace(estimate, note="; ".join(filter(None, [estimate.note, *absent])))
    columns = find_columns(question.vocabulary, asked.group_by)
    cells: list[tuple[Mapping[str, Any], Estimate]] = []
    for cell in question.cells(columns, asking.whole.pieces):
        to_cell = narrow(question.vocabulary, columns, cell)
        if question.guess(to_cell(asking.whole.pieces)).most <= 0:
            continue
        estimate = teller.tell(asking, to_cell)
        if estimate is not None:
            key = {words.name: words.decode(code) for (_, _, words), code in zip(columns, cell, strict=True)}
            cells.append((key, estimate))
    if figure.kind == "share" and figure.condition is None:
        total = Estimate(1.0, 0.0, 1.0, 1.0, confidence, estimator, native=native, measure=figure.name)
    else:
        total = teller.tell(asking) or Estimate(math.nan, 0.0, None, None, confidence, estimator, measure=figure.name)
    total = replace(total, note="; ".join(filter(None, [total.note, *absent])))
    return GroupedAnswer(asked.group_by, tuple(cells), tuple(words.type for _, _, words in columns), total, native)


def ask(engine: CountEngine, asked: Query, estimator: Estimator) -> Question:
    """Return a question whose words are those of all its conditions, also of its shares."""
    conditions = [figure.condition for figure in asked.select if figure.condition is not None]
    return engine.ask(replace(asked, condition=And((asked.condition, *conditions))) if conditions else asked, estimator)


def renamed(answer: Estimate | GroupedAnswer, name: str) -> Estimate | GroupedAnswer:
    """Return an answer under another name."""
    if name == "count":
        return answer
    if isinstance(answer, Estimate):
        return replace(answer, measure=name)
    cells = tuple((key, replace(estimate, measure=name)) for key, estimate in answer.cells)
    return replace(answer, cells=cells, total=replace(answer.total, measure=name))


class Teller:
    """How figures become estimates: with which confidence, and under which name."""

    def __init__(
        self,
        question: Question,
        estimator: Estimator,
        confidence: float,
        native: Native,
        name: str,
        design: Design | None = None,
    ) -> None:
        self.question, self.estimator, self.confidence, self.native, self.name = question, estimator, confidence, native, name
        self.design = design
        self.reach = NormalDist().inv_cdf(0.5 + confidence / 2)

    def tell(self, asking: Asking, to_cell: Narrow | None = None) -> Estimate | None:
        """Return the estimate of an aggregate for a part of the people."""
        if asking.aggregate.kind == "quantile":
            return self.quantile(asking, to_cell)
        figure = asking.figure(to_cell)
        return None if figure is None else self.estimate(figure)

    def estimate(self, figure: Figure) -> Estimate:
        """Return a figure with its interval, where an honest one is known.

        Where in their bins numbers lie, nobody knows: the interval reaches from the low end of the least figure to the high end
        of the largest, and the standard error takes all between them as equally likely.
        """
        total = self.question.add(figure.linear)
        open_, sampling = self._variances(total, figure.linear)
        error = math.sqrt(open_ + sampling)
        made = self._told(figure, error, figure.no_interval or (total.note if total.variance > 0 else ""))
        return made if self.design is None else replace(made, sampling_error=math.sqrt(sampling))

    def _variances(self, total: Moments, linear: list[Term]) -> tuple[float, float]:
        """Return what the release leaves open of a linear figure, and what another sample would change; see `weighted`."""
        if self.design is None:
            return max(0.0, total.variance), 0.0
        return apart(total, sampling_variance(self.question, linear, self.design))

    def _told(self, figure: Figure, error: float, reason: str) -> Estimate:
        """Return a figure with this standard error, or `reason` why it has no interval."""
        if reason:
            limits = None if figure.no_interval or self.design is not None else self._limits(figure)
            note = "; ".join(filter(None, [reason if limits is None else CERTAIN, figure.note]))
            if limits is None:
                return self._made(figure.value, error, None, None, note)
            low, high = min(limits[0], figure.value), max(limits[1], figure.value)
            return replace(self._made(figure.value, error, low, high, note), confidence=1.0)
        low, high = (min(max(figure.value + side * error, figure.least), figure.most) for side in (-self.reach, self.reach))
        if figure.ends is not None:
            least, largest = (self.estimate(end) for end in figure.ends)
            if least.low is None or largest.high is None:
                return self._made(figure.value, error, None, None, least.note or largest.note)
            low, high = least.low, largest.high
            error = math.hypot(error, (largest.value - least.value) / math.sqrt(12))
        note = figure.note if figure.ends is None else f"{figure.note}; {WITHIN}"
        return self._made(figure.value, error, min(low, figure.value), max(high, figure.value), note)

    def _limits(self, figure: Figure) -> tuple[float, float] | None:
        """Return what a figure is certainly between, wherever numbers lie in their bins; None where that is not known."""
        low, high = (self._between(end) for end in figure.ends or (figure, figure))
        return None if low is None or high is None else (low[0], high[1])

    def _between(self, figure: Figure) -> tuple[float, float] | None:
        if figure.sure is None:
            return None
        total = self.question.add(figure.sure[0])
        if not math.isfinite(total.least):
            return None
        low, high = (min(max(end / figure.sure[1], figure.least), figure.most) for end in (total.least, total.most))
        return low, high

    def quantile(self, asking: Asking, to_cell: Narrow | None) -> Estimate | None:
        """Return the least number that at least the asked part of people do not exceed.

        Its interval has the numbers at which the share of people below is not clearly less, and not clearly more, than that part.
        """
        scale, part = asking.scale, asking.aggregate.part
        assert scale is not None
        order = np.unique(scale.low[scale.known])
        shares: dict[int, Figure | None] = {}
        spreads: dict[int, float] = {}

        def share(place: int) -> Figure | None:
            if place not in shares:
                shares[place] = asking.below(float(order[place]), to_cell)
            return shares[place]

        whole = share(len(order) - 1)
        if whole is None:
            return None

        def first(side: float) -> int:
            low, high = 0, len(order) - 1
            while low < high:
                middle = (low + high) // 2
                below = share(middle)
                assert below is not None
                if side and middle not in spreads:
                    spreads[middle] = math.sqrt(sum(self._variances(self.question.add(below.linear), below.linear)))
                more = side * spreads[middle] if side else 0.0
                low, high = (low, middle) if below.value + more >= part - 1e-12 else (middle + 1, high)
            return low

        place = first(0.0)
        here = share(place)
        assert here is not None
        total = self.question.add(here.linear)
        reason = here.no_interval or (total.note if total.variance > 0 else "")
        code = {float(start): c for c, start in enumerate(scale.low) if not math.isnan(start)}
        value = self._number(scale.middle[code[float(order[place])]], scale.name)
        ends = [code[float(order[at])] for at in sorted((first(self.reach), place, first(-self.reach)))]
        low, high = float(scale.low[ends[0]]), float(scale.high[ends[-1]])
        finite = [abs(end - value) for end in (low, high) if math.isfinite(end)]
        error = sum(finite) / max(len(finite), 1) / self.reach
        if scale.beyond[ends].any():
            reason = reason or BEYOND.format(scale.name)
        if reason or len(finite) < 2:
            return self._made(value, error, None, None, reason or OPEN)
        binned = (MIDDLES, WITHIN) if low < high and scale.spans else ()
        made = self._made(value, error, low, high, "; ".join(filter(None, [here.note, *binned])))
        if self.design is None:
            return made
        open_, sampling = self._variances(total, here.linear)
        return replace(made, sampling_error=error * math.sqrt(sampling / max(open_ + sampling, 1e-300)))

    def _number(self, value: float, name: str) -> float:
        if math.isfinite(value):
            return float(value)
        raise QueryError(f"the quantile of {name!r} lies in a bin without an end", hint="ask for another part")

    def _made(self, value: float, error: float, low: float | None, high: float | None, note: str) -> Estimate:
        note = "; ".join(filter(None, [note, vouched(self.estimator) if low is not None and error > 0 else ""]))
        return Estimate(value, error, low, high, self.confidence, self.estimator, note, native=self.native, measure=self.name)


def _common(answers: Sequence[GroupedAnswer]) -> list[GroupedAnswer]:
    """Return the answers with those cells that all of them have: an average of nobody is none."""
    kept = [{tuple(key.values()) for key, _ in answer.cells} for answer in answers]
    common = set.intersection(*kept)
    return [
        replace(answer, cells=tuple(cell for cell in answer.cells if tuple(cell[0].values()) in common))
        if len(answers) > 1
        else answer
        for answer in answers
    ]


def arranged(answers: Sequence[GroupedAnswer], names: tuple[str, ...], asked: Query) -> Sequence[GroupedAnswer]:
    """Return the cells that HAVING keeps, in the order asked for, up to the limit."""
    if asked.having is None and not asked.order_by and asked.limit is None:
        return answers
    rows = [
        {**cell[0], **{name: answer.cells[place][1].value for name, answer in zip(names, answers, strict=True)}}
        for place, cell in enumerate(answers[0].cells)
    ]
    places = [place for place, row in enumerate(rows) if asked.having is None or _meets(asked.having, row)]
    for order in reversed(asked.order_by):
        places.sort(key=lambda place: _missing_last(rows[place][order.name]), reverse=order.descending)
    places = places[: asked.limit]
    return [replace(answer, cells=tuple(answer.cells[place] for place in places)) for answer in answers]


def _missing_last(value: Any) -> tuple[bool, Any]:
    return value is None, value


def _meets(condition: Condition, row: Mapping[str, Any]) -> bool:
    """Return whether a cell meets a condition on its grouped columns and figures; what is missing or unlike meets none."""
    return _truth(condition, row) is True


def _truth(condition: Condition, row: Mapping[str, Any]) -> bool | None:
    if isinstance(condition, Not):
        inner = _truth(condition.part, row)
        return None if inner is None else not inner
    if isinstance(condition, (And, Or)):
        parts = [_truth(part, row) for part in condition.parts]
        decisive = isinstance(condition, Or)
        return decisive if decisive in parts else None if None in parts else not decisive
    value = row[condition.column]
    if isinstance(condition, Missing):
        return value is None
    if value is None:
        return None
    if isinstance(condition, In):
        return any(_equal(value, wanted) for wanted in condition.values)
    if not isinstance(condition, Between):
        raise QueryError("HAVING compares by =, <>, <, <=, >, >=, BETWEEN and IN", hint="put LIKE into WHERE")
    try:
        above = condition.low is None or (value > condition.low if condition.strict_low else value >= condition.low)
        below = condition.high is None or (value < condition.high if condition.strict_high else value <= condition.high)
    except TypeError:
        raise QueryError(f"HAVING: {condition.column!r} cannot be compared with this constant") from None
    return bool(above and below)


def _equal(value: Any, wanted: Any) -> bool:
    return bool(value == wanted) or str(value) == str(wanted)
