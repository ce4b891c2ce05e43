"""Every table of one or two columns that a release answers: what a page shows, and a database holds, of it.

Two sensitive columns are in no table together: where each is protected by itself, how they go together is not published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sfumato.errors import QueryError
from sfumato.query.answer import Estimator, GroupedAnswer
from sfumato.query.count import count, words_of
from sfumato.query.crosstab import Crosstab, crosstab
from sfumato.query.group_by import MAX_CELLS
from sfumato.query.language.predicate import Query
from sfumato.release.base import Release


@dataclass(frozen=True)
class Margin:
    """A column with the estimated number of people of each of its values."""

    name: str
    secret: bool
    answer: GroupedAnswer


@dataclass(frozen=True)
class ColumnPair:
    """Two columns, and how many cells they have; `secret` if the second is a sensitive one."""

    names: tuple[str, str]
    cells: int
    secret: bool


def margins(release: Release, *, confidence: float = 0.95, estimator: Estimator | None = None) -> list[Margin]:
    """Return every column that can be counted, quasi columns first."""
    words = words_of(release)
    listed = [(column.name, False) for column in words.quasi] + [(column.name, True) for column in words.parts]
    found = []
    for name, secret in listed:
        try:
            answer: Any = count(release, Query(group_by=(name,)), confidence=confidence, estimator=estimator)
        except QueryError:
            continue  # more values than anybody reads
        found.append(Margin(name, secret, answer))
    return found


def pairs(columns: list[Margin]) -> list[ColumnPair]:
    """Return the pairs of a quasi column with a secret, then of two quasi columns, those of few cells first."""
    listed = []
    for a, b in combinations(columns, 2):
        if not (a.secret and b.secret):
            listed.append(ColumnPair((a.name, b.name), len(a.answer) * len(b.answer), b.secret))
    return sorted(listed, key=lambda pair: (not pair.secret, pair.cells))


def cross_tables(
    release: Release, listed: list[ColumnPair], *, most: int, confidence: float = 0.95, estimator: Estimator | None = None
) -> Iterator[tuple[ColumnPair, Crosstab | str]]:
    """Yield every pair with its cross table, or with why there is none: so many cells in all are looked at, at `most`."""
    left = most
    for pair in listed:
        room = min(left, MAX_CELLS)
        if pair.cells > room:
            yield pair, f"{pair.cells:,} cells, where there is room for {room:,}"
            continue
        try:
            table = crosstab(release, *pair.names, confidence=confidence, estimator=estimator)
        except QueryError as refused:
            yield pair, str(refused.message)
            continue
        left -= pair.cells
        yield pair, table
