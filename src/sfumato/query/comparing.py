"""Two figures side by side: their difference and their ratio, with intervals in which is what both have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from sfumato import notebook
from sfumato.errors import QueryError
from sfumato.query.answer import Estimate, Estimator, interval_text, require_confidence
from sfumato.query.count import choose_estimator, engine_for, having
from sfumato.query.engine import CountEngine, one_thread
from sfumato.query.figures import Asking, Figure
from sfumato.query.held import as_one_event, plain
from sfumato.query.language.predicate import COUNT, And, Or, Query
from sfumato.query.language.sql import parse_sql
from sfumato.query.measuring import Teller
from sfumato.query.sums import merged
from sfumato.release.base import Release


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two figures, by how much the first is larger, and how many times as large. `ratio` is None where it has no meaning."""

    a: Estimate
    b: Estimate
    difference: Estimate
    ratio: Estimate | None

    def __str__(self) -> str:
        lines = [f"a: {self.a}", f"b: {self.b}", f"a − b: {self.difference}"]
        return "\n".join([*lines, f"a ÷ b: {self.ratio}"] if self.ratio is not None else lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        named = [("a", self.a), ("b", self.b), ("a − b", self.difference), ("a ÷ b", self.ratio)]
        rows = [
            (name, estimate.written(estimate.value, ","), interval_text(estimate))
            for name, estimate in named
            if estimate is not None
        ]
        headings = ("", self.a.measure, f"{100 * self.a.confidence:g} % interval")
        notes = dict.fromkeys(estimate.note for _, estimate in named if estimate is not None and estimate.note)
        return notebook.card("comparison", notebook.table(headings, rows, right=(1, 2)), notebook.paragraphs(notes))


def compare(
    release: Release,
    a: str | Query,
    b: str | Query,
    *,
    of: str | None = None,
    estimator: Estimator | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """Return two figures with their difference and ratio, from the release alone.

    `a` and `b` are questions with one figure and no GROUP BY, or conditions; then `of` says of what: `"AVG(age)"`,
    `"SHARE(diagnosis = 'Flu')"`, a count without it. If `b` is a condition only, it is asked for the figure of `a`. Quantiles
    cannot be compared.
    """
    require_confidence(confidence)
    first, second = (side if isinstance(side, Query) else parse_sql(side) for side in (a, b))
    if of is not None:
        first = _of(first, parse_sql(of))
        second = _of(second, parse_sql(of))
    elif second.select == (COUNT,):
        second = replace(second, select=first.select)
    asked = [_checked(side) for side in (first, second)]
    engine, asked, why = _engine(release, asked)
    chosen = choose_estimator(engine, estimator, release.form)
    conditions = [side.condition for side in asked] + [
        figure.condition for side in asked for figure in side.select if figure.condition is not None
    ]
    if asked[0].terms != asked[1].terms:
        raise QueryError("the two questions have different terms", hint="ask both in original or both in published terms")
    question = engine.ask(Query(Or(tuple(conditions)), terms=asked[0].terms), chosen)
    name = asked[0].select[0].name
    with one_thread():
        figures: list[Figure] = []
        for label, side in zip("ab", asked, strict=True):
            figure = Asking.of(question, engine.vocabulary, side.select[0], side.condition).figure()
            if figure is None:
                raise QueryError(f"{label}: nobody meets the condition, so there is no such figure", hint="ask COUNT(*) of it")
            figures.append(figure)
        teller = Teller(question, chosen, confidence, release.native, name)
        mine, other = (teller.estimate(figure) for figure in figures)
        made = Comparison(mine, other, replace(teller.estimate(_gap(*figures)), measure="difference"), _ratio(teller, *figures))
    if not why:
        return made
    ratio = None if made.ratio is None else plain(made.ratio, why)
    return Comparison(plain(made.a, why), plain(made.b, why), plain(made.difference, why), ratio)


def _engine(release: Any, asked: list[Query]) -> tuple[CountEngine, list[Query], str]:
    """Return the engine for both questions, the questions as it takes them, and why there is no interval, if so."""
    if release.manifest.bundled:
        event = as_one_event(release, asked, having(release))
        return event.engine, list(event.asked), event.no_interval
    named = tuple(figure for side in asked for figure in side.select)
    return engine_for(release, Query(Or(tuple(side.condition for side in asked)), select=named)), asked, ""


def _of(asked: Query, figure: Query) -> Query:
    return replace(asked, select=figure.select, condition=And((asked.condition, figure.condition)))


def _checked(asked: Query) -> Query:
    if asked.group_by or len(asked.select) != 1:
        raise QueryError("each side of a comparison is one figure, without GROUP BY", hint="compare two conditions, with of=…")
    if asked.select[0].kind == "quantile":
        raise QueryError("quantiles cannot be compared", hint="compare AVG, or SHARE(column <= …)")
    return asked


def _gap(a: Figure, b: Figure) -> Figure:
    """Return by how much a is larger than b; by the ends of bins it is least where a is least and b largest."""
    terms = merged([*a.linear, *(replace(term, times=-term.times) for term in b.linear)])
    bounds = (a.least - b.most, a.most - b.least)
    reason, note = a.no_interval or b.no_interval, "; ".join(dict.fromkeys(filter(None, (a.note, b.note))))
    ends = None
    if a.ends is not None or b.ends is not None:
        mine, other = a.ends or (a, a), b.ends or (b, b)
        ends = _gap(mine[0], other[1]), _gap(mine[1], other[0])
    return Figure(a.value - b.value, terms, *bounds, reason, note, ends)


def _ratio(teller: Teller, a: Figure, b: Figure) -> Estimate | None:
    """Return a ÷ b; its interval is symmetric in the logarithm, and reaches as far as the ends of bins let it."""
    if a.value <= 0 or b.value <= 0:
        return None
    if (a.ends is not None or b.ends is not None) and not (a.no_interval or b.no_interval):
        mine, other = a.ends or (a, a), b.ends or (b, b)
        middle = _ratio(teller, replace(a, ends=None), replace(b, ends=None))
        least, largest = _ratio(teller, mine[0], other[1]), _ratio(teller, mine[1], other[0])
        if middle is None or least is None or largest is None:
            return None
        error = math.hypot(middle.std_error, (largest.value - least.value) / math.sqrt(12))
        return replace(middle, std_error=error, low=least.low, high=largest.high)
    terms = merged(
        [
            *(replace(term, times=term.times / a.value) for term in a.linear),
            *(replace(term, times=-term.times / b.value) for term in b.linear),
        ]
    )
    total = teller.question.add(terms)
    error, value = math.sqrt(max(0.0, total.variance)), a.value / b.value
    reason = a.no_interval or b.no_interval or (total.note if error else "")
    ends = (None, None) if reason else (value * math.exp(-teller.reach * error), value * math.exp(teller.reach * error))
    made = teller.estimate(Figure(value, [], 0.0, math.inf, reason))
    return replace(made, std_error=value * error, low=ends[0], high=ends[1], measure="ratio")
