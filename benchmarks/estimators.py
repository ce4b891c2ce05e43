"""How far are answers from the truth, and do intervals hold it, for the questions that people ask? Estimators side by side.

Safe, soft, tight and noisy boxes and matched groups, 8f+0.02 and 1/5. Classes of questions: random sets and ranges (the
papers' workloads), one- and two-way cells with one sensitive value (where independence expects ten or five people), age
decades, links (one-way cells with a lift of 2 or more, or of ½ or less, and ten people), and the strongest cell of each
value. Coverage is that of 95 % intervals; answers that say that they are mostly prior have none and are counted apart.
Errors are the sum of |error| over the sum of the true answers, and the median relative error. *Adding alone* is the one of
the two models that adds; beside noisy boxes it is shown without what noise adds to the error.

`--table FILE` takes a table whose secret is `occupation`; columns whose name begins with that are left out. Without it: the
bundled census and hospital.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sfumato
from benchmarks._releases import BASES, people_of, released, tables
from benchmarks._show import Cell, Show
from sfumato.arrays import Floats
from sfumato.errors import SfumatoError
from sfumato.query import And, Between, Estimate, In, Query, anatomy_workload, count_many, range_workload, true_answers
from sfumato.query.count import engine_of
from sfumato.query.language.compile import compile_condition

CLASSES = ("sets", "ranges", "one-way", "two-way", "decades", "links", "strongest")
LIKELY = 1.96


@dataclass(frozen=True)
class Found:
    """Answers of one class: truths, and per estimator value, low and high (NaN for none)."""

    truth: Floats
    paper: Floats
    today: Floats
    default: Floats

    def error(self, answers: Floats) -> str:
        """Return the whole error and the median one."""
        off = np.abs(answers[:, 0] - self.truth)
        return f"{off.sum() / self.truth.sum():.3f} / {np.median(off / self.truth):.3f}"

    def coverage(self, answers: Floats) -> float | None:
        """Return the share of intervals that hold the truth."""
        told = ~np.isnan(answers[:, 1])
        inside = (answers[told, 1] <= self.truth[told]) & (self.truth[told] <= answers[told, 2])
        return float(inside.mean()) if told.any() else None


def run(show: Show, quick: bool, table: Path | None = None) -> None:
    """Show every class for every release, and what learning and asking cost."""
    queries = 60 if quick else 300
    for name, frame, secret in tables(quick, table):
        own = people_of(frame, secret)
        asked = {kind: met(own, made) for kind, made in questions(own, secret, queries).items()}
        for basis in (*BASES, "matched"):
            for bound in ("8f+0.02", "1/5"):
                try:
                    release = released(own, frame, basis, bound)
                except SfumatoError as refused:
                    show.note(f"- {name}, {basis}, {bound}: {refused}")
                    continue
                _show(show, f"{name}, {basis}, {bound}", release, asked)


def questions(table: sfumato.Table, secret: str, many: int, *, below: float = 0.5) -> dict[str, list[Query]]:
    """Return up to `many` questions of each class; a link has a lift of 2 or more, or of at most `below`."""
    random = np.random.default_rng(7)
    codes = table.sensitive.codes
    values = table.sensitive.domain.table[secret].to_pylist()
    share = np.bincount(codes, minlength=len(values)) / len(codes)
    one, links = [], []
    strongest: dict[int, tuple[float, Query]] = {}
    for column in table.quasi:
        seen = np.bincount(column.codes.astype(np.int64) * len(values) + codes, minlength=column.size * len(values))
        cells = seen.reshape(column.size, len(values))
        alone = cells.sum(axis=1, keepdims=True) * share
        for code, value in zip(*np.nonzero(alone >= 10), strict=True):
            query = _cell(secret, values[value], {column.name: column.dictionary()[int(code)].as_py()})
            if query is None:
                continue
            one.append(query)
            lift = cells[code, value] / alone[code, value]
            if cells[code, value] >= 10 and (lift >= 2 or lift <= below):
                links.append(query)
            clear = (cells[code, value] - alone[code, value]) / math.sqrt(alone[code, value])
            if clear > strongest.get(int(value), (0.0, query))[0]:
                strongest[int(value)] = clear, query
    two: list[Query] = []
    for person in random.integers(len(codes), size=20 * many):
        j, k = random.permutation(len(table.quasi))[:2]
        value, pair = int(random.integers(len(values))), (table.quasi[j], table.quasi[k])
        here = np.logical_and.reduce([column.codes == column.codes[person] for column in pair])
        named = {column.name: column.dictionary()[int(column.codes[person])].as_py() for column in pair}
        query = _cell(secret, values[value], named) if here.sum() * share[value] >= 5 else None
        if query is not None and len(two) < many:
            two.append(query)
    ages = list(range(20, 80, 10)) if any(column.name == "age" for column in table.quasi) else []
    decades = [
        Query(And((Between("age", low, low + 9), In(secret, (value,)))), terms="published")
        for low in ages
        for value in values
        if value is not None
    ]

    def some(made: list[Query]) -> list[Query]:
        return [made[place] for place in random.permutation(len(made))[:many]]

    return {
        "sets": list(anatomy_workload(table, queries=many, seed=3)),
        "ranges": list(range_workload(table, queries=many, seed=4)),
        "one-way": some(one),
        "two-way": two,
        "decades": some(decades),
        "links": some(links),
        "strongest": [query for _, query in strongest.values()],
    }


def _cell(secret: str, value: Any, named: dict[str, Any]) -> Query | None:
    """Return the question about one cell; None where a value is missing."""
    if value is None or None in named.values():
        return None
    return Query(And((*(In(name, (own,)) for name, own in named.items()), In(secret, (value,)))), terms="published")


def met(table: sfumato.Table, queries: list[Query]) -> tuple[list[Query], Floats]:
    """Return the questions that somebody meets, and their answers."""
    truth = true_answers(table, queries)
    return [query for query, right in zip(queries, truth, strict=True) if right], truth[truth > 0].astype(np.float64)


def _show(show: Show, title: str, release: sfumato.Release, asked: dict[str, tuple[list[Query], Floats]]) -> None:
    engine: Any = engine_of(release)
    if engine.no_likelihood:
        show.note(f"- {title}: {engine.no_likelihood}")
        return
    start = time.process_time()
    engine.trend  # noqa: B018  (learned here)
    adding = time.process_time()
    engine.inside  # noqa: B018
    learned = time.process_time()
    rows: list[list[Cell]] = []
    for kind in CLASSES:
        queries, truth = asked[kind]
        if not queries:
            continue
        found = Found(truth, asked_of(release, queries, "paper"), _adding(engine, queries), asked_of(release, queries, None))
        told = float((~np.isnan(found.default[:, 1])).mean())
        errors = [found.error(one) for one in (found.paper, found.today, found.default)]
        rows.append([kind, len(queries), *errors, found.coverage(found.today), found.coverage(found.default), 1 - told])
    columns = [
        "questions",
        "number",
        "error: paper",
        "adding alone",
        "default",
        "coverage: adding alone",
        "default",
        "mostly prior",
    ]
    show.table(f"{title}, {engine.index.groups} boxes", columns, rows)
    show.note(
        f"- learning: {adding - start:.1f} s the adding model, {learned - adding:.1f} s the multiplying one (processor time)"
    )


def asked_of(release: sfumato.Release, queries: list[Query], estimator: Any) -> Floats:
    rows = []
    for answer in count_many(release, queries, estimator=estimator):
        assert isinstance(answer, Estimate)
        rows.append([answer.value, *(math.nan if end is None else end for end in (answer.low, answer.high))])
    return np.array(rows)


def _adding(engine: Any, queries: list[Query]) -> Floats:
    """Return what the additive model alone says, with its own interval."""
    words = engine.vocabulary.for_terms("published")
    rows = []
    for query in queries:
        low = high = middle = error = 0.0
        for piece in compile_condition(query.condition, words).pieces:
            asked = engine.asked(piece)
            value, known = asked.uniform.value, asked.uniform
            if not known.certain:
                found = engine.trend.estimate(asked)
                value, error = found.value, error + math.sqrt(max(0.0, found.variance))
            middle, low, high = middle + value, low + known.least, high + known.most
        reach = LIKELY * error
        inside = min(max(middle, low), high)
        rows.append([inside, min(max(low, middle - reach), inside), max(min(high, middle + reach), inside)])
    return np.array(rows)
