"""A few questions as people ask them, with the true answer beside that of a release."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.errors import QueryError
from sfumato.query import count_many
from sfumato.query.answer import Estimate
from sfumato.query.language.predicate import And, Between, Condition, In, Query
from sfumato.query.workload import true_answers
from sfumato.release import Release
from sfumato.table import Table
from sfumato.table.column import Column, Sensitive, as_text

COLUMNS = 6
"""So many quasi columns are asked about, one question each."""

_SINGLE, _STRETCHES = 10, 4  # an ordered column of more values is asked about in so many stretches


def typical_answers(release: Release, table: Table) -> list[dict[str, Any]]:
    """Return per quasi column one question, the truth, and what the release answers, with its interval where it has one.

    The question is about the largest part of the people in that column and one of the most frequent sensitive values. A release
    that cannot answer such a question gives none.
    """
    asked = _questions(table)
    queries = [query for _, query in asked]
    try:
        answers = count_many(release, queries, workers=1)
    except QueryError:
        return []
    return [
        {"question": words, "truth": int(truth), "answer": answer.value, "low": answer.low, "high": answer.high}
        for (words, _), truth, answer in zip(asked, true_answers(table, queries).tolist(), answers, strict=True)
        if isinstance(answer, Estimate)
    ]


def _questions(table: Table) -> list[tuple[str, Query]]:
    secrets = [part.sensitive for part in table.each()]
    made = []
    for place, column in enumerate(table.quasi[:COLUMNS]):
        if not len(column.values):
            continue
        who, which = _largest(column)
        what, secret = _frequent(secrets[place % len(secrets)], place // len(secrets))
        made.append((f"{who}, {what}", Query(And((which, *secret)), terms="published")))
    return made


def _largest(column: Column) -> tuple[str, Condition]:
    """Return the value that most people have, or of an ordered column of many values the largest stretch; in words too."""
    people = np.bincount(column.codes, minlength=column.size)[: len(column.values)]
    if column.kind == "categorical" or len(people) <= _SINGLE:
        value = column.values[int(people.argmax())].as_py()
        return f"{column.name} {as_text(value)}", In(column.name, (value,))
    edges = np.linspace(0, len(people), _STRETCHES + 1).astype(int).tolist()
    first, last = max(pairwise(edges), key=lambda ends: int(people[ends[0] : ends[1]].sum()))
    low, high = column.values[first].as_py(), column.values[last - 1].as_py()
    return f"{column.name} {as_text(low)} to {as_text(high)}", Between(column.name, low, high)


def _frequent(secret: Sensitive, rank: int) -> tuple[str, list[Condition]]:
    """Return the sensitive value of a rank by frequency, in words and as conditions; none with missing parts."""
    order = np.argsort(-secret.counts, kind="stable").tolist()
    rows = secret.domain.table.take(order).to_pylist()
    whole = [(code, row) for code, row in zip(order, rows, strict=True) if None not in row.values()]
    if not whole:
        return "anybody", []
    code, row = whole[rank % len(whole)]
    return secret.labels[code], [In(name, (value,)) for name, value in row.items()]
