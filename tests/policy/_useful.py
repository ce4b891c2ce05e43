"""How much a release tells, beside knowing shares alone: the figures of docs/policy.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sfumato as sf
from sfumato.query.count import count_many
from sfumato.query.language.predicate import And, In, Missing, Query

CELLS = 40
"""Cells a secret: half of them one-way, with one quasi column, half two-way, with two."""


@dataclass(frozen=True)
class Useful:
    """Σ|error| of all cells ÷ that of independence; shares of answers with an interval, and of intervals that hold."""

    groups: int
    ratio: float
    intervals: float
    held: float
    exposure: float


def useful(release: sf.Release, table: sf.Table, *, exposure: float, seed: int = 1) -> Useful:
    """Return the figures of a release of a table: cells are those of random people, with the secret of other random people."""
    coins = np.random.default_rng(seed)
    queries, truth, alone = [], [], []
    for one in table.each():
        name, secret = one.schema.sensitive[0], one.sensitive
        for number in range(CELLS):
            columns = coins.permutation(len(table.quasi))[: 1 + number % 2]
            person, other = coins.integers(table.rows, size=2)
            value = int(secret.codes[other])
            inside = np.ones(table.rows, bool)
            parts = []
            for place in columns:
                column = table.quasi[place]
                inside &= column.codes == column.codes[person]
                parts.append(_is(column.name, column.values, int(column.codes[person])))
            parts.append(_is(name, secret.domain.table.column(0), value))
            queries.append(Query(And(tuple(parts)), terms="published"))
            truth.append(int((inside & (secret.codes == value)).sum()))
            alone.append(inside.sum() * float((secret.codes == value).mean()))
    answers = count_many(release, queries)
    error = sum(abs(answer.value - true) for answer, true in zip(answers, truth, strict=True))
    blind = sum(abs(guess - true) for guess, true in zip(alone, truth, strict=True))
    within = [(one.low, one.high, true) for one, true in zip(answers, truth, strict=True) if one.low is not None]
    held = np.mean([low - 1e-9 <= true <= high + 1e-9 for low, high, true in within]) if within else float("nan")
    groups = int(release.manifest.parameters.get("groups", 0))
    return Useful(groups, float(error / blind), len(within) / len(answers), float(held), exposure)


def _is(name: str, values: object, code: int) -> In | Missing:
    value = values[code].as_py() if code < len(values) else None  # type: ignore[index, arg-type]
    return Missing(name) if value is None else In(name, (value,))
