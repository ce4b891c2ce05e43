"""How many people have each value of a column as published, in as many bars as a picture has room for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.table.column import Column, Sensitive
from sfumato.table.table import Table

BARS = 24


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many people have each published value; `ordered` where values have an order."""

    labels: tuple[str, ...]
    people: Array
    ordered: bool

    @classmethod
    def of_column(cls, column: Column) -> Histogram:
        """Return that of a quasi column."""
        return cls(column.labels(), np.bincount(column.codes, minlength=column.size), column.kind != "categorical")

    @classmethod
    def of_secret(cls, secret: Sensitive) -> Histogram:
        """Return that of a sensitive column."""
        return cls(secret.labels, secret.counts, secret.domain.kinds[0] != "categorical")

    @property
    def whole(self) -> bool:
        """Whether every value is in one of the bars."""
        return self.ordered or len(self.people) <= BARS

    def bars(self) -> list[tuple[str, int]]:
        """Return at most `BARS` bars: neighbours together where an ordered column has many values, else the most frequent."""
        size = len(self.people)
        if self.ordered and size > BARS:
            edges = np.linspace(0, size, BARS + 1).astype(int)
            sums = np.add.reduceat(self.people, edges[:-1])
            ends = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), sums.tolist(), strict=True)
            return [(f"{self.labels[a]} to {self.labels[b]}", int(many)) for a, b, many in ends]
        order = np.arange(size) if self.ordered else np.argsort(-self.people, kind="stable")
        return [(self.labels[k], int(self.people[k])) for k in order[:BARS].tolist()]


def histograms(table: Table) -> dict[str, Histogram]:
    """Return how many people have each value of the columns that are published, as they are published."""
    quasi = {column.name: Histogram.of_column(column) for column in table.quasi}
    return quasi | {secret.domain.names[0]: Histogram.of_secret(secret) for secret in table.sensitive.each()}
