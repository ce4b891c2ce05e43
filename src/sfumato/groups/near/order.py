"""Where people lie: the scale of every column, orders in which near people follow each other, and who is nearest to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.groups.cuts import Space
from sfumato.groups.near._order_kernels import BLOCK, FINE, NearestPeople, RowScale, find_neighbours, kd_order
from sfumato.randomness import Randomness
from sfumato.table.column import Column
from sfumato.table.declared import DeclaredDomain
from sfumato.table.schema import Schema
from sfumato.threads import in_threads

NEIGHBOURS = 32


@dataclass(frozen=True, eq=False)
class BoxCost:
    """What a box costs: categories `unit` each after the first, numbers by how far apart their `place`s are.

    `codes` are the columns', rows first. A numeric column has the unit 0, a categorical one the place 0 everywhere.
    """

    codes: Small  # [rows × columns]
    first: Integers  # first code of each column in `place`, one entry more than columns
    place: Floats
    unit: Floats
    absent: Integers  # the code that means missing in a numeric or date column, −1 for none

    @classmethod
    def of(cls, columns: Sequence[Column], widths: Sequence[float], space: Space | None = None) -> BoxCost:
        """Return the scale of columns whose domains have these widths: upper − lower end, or categories − 1.

        `space` is theirs, where it is known; the columns then need no rows.
        """
        space = space or Space.of(columns)
        unit, place, absent = np.zeros(len(columns)), np.zeros(int(space.first[-1])), np.full(len(columns), -1, np.int64)
        for j, (column, width) in enumerate(zip(columns, widths, strict=True)):
            if column.kind == "categorical":
                unit[j] = 1 / width if width > 0 else 0.0
                continue
            absent[j] = len(column.values) if column.has_missing else -1
            seen = seen_width(column)
            if width > 0:
                place[space.first[j] : space.first[j + 1]] = space.position[space.first[j] : space.first[j + 1]] * seen / width
        return cls(np.ascontiguousarray(space.codes.T), space.first, place, unit, absent)

    @cached_property
    def steps(self) -> Integers:
        """The places in whole numbers: their sums are the same in any order of the rows."""
        return np.rint(self.place * FINE).astype(np.int64)

    def take(self, rows: Array) -> BoxCost:
        """Return the scale with these rows."""
        return BoxCost(np.ascontiguousarray(self.codes[rows]), self.first, self.place, self.unit, self.absent)

    def order(self, random: Randomness, *, wobble: float) -> Integers:
        """Return an order in which near people follow each other; `wobble` > 0 lets chance choose among good ones."""
        seed = random.words(1)
        return np.asarray(kd_order(self.codes, self.first, self.steps, self.unit, wobble, seed.copy()))


def seen_width(column: Column) -> float:
    """Return upper − lower end of the values seen, dates in days, or categories − 1."""
    if column.kind == "categorical":
        return float(max(column.size - 1, 0))
    if len(column.values) < 2:
        return 0.0
    apart = column.values[-1].as_py() - column.values[0].as_py()
    return float(apart.total_seconds() / 86_400) if column.kind == "date" else float(apart)


def domain_widths(columns: Sequence[Column], schema: Schema) -> list[float]:
    """Return for each column the width of its domain as declared, else as seen: upper − lower end, or categories − 1.

    Dates are counted in days. A missing value counts as one more category.
    """
    return [_width(column, schema.domain(column.name)) for column in columns]


def _width(column: Column, domain: DeclaredDomain | None) -> float:
    if domain is None:
        return seen_width(column)
    if column.kind == "categorical":
        known = len(column.values) if domain.values is None else len(domain.values)
        return float(known + int(column.has_missing) - 1)
    if domain.values is None:
        return _apart(domain.minimum, domain.maximum)
    listed = sorted(date.fromisoformat(text) if column.kind == "date" else float(text) for text in domain.values)
    return _apart(listed[0], listed[-1])


def _apart(low: Any, high: Any) -> float:
    apart = high - low
    return apart / timedelta(days=1) if isinstance(low, (date, datetime)) else float(apart)


def neighbours(scale: BoxCost, orders: Sequence[Integers], random: Randomness) -> Small:
    """Return for every row its nearest rows among those close to it in one of the orders; −1 where there are fewer."""
    shape = len(scale.codes), NEIGHBOURS
    nearest = NearestPeople(np.full(shape, -1, np.int32), np.full(shape, np.inf, np.float32))
    rows = RowScale(scale.codes, scale.first, scale.place, scale.unit)
    for order in orders:
        turn = int(random.below(BLOCK, 1)[0])
        blocks = -(-(len(order) + turn) // BLOCK)
        edges = np.linspace(0, blocks, min(blocks, 16) + 1).astype(int).tolist()
        look = partial(find_neighbours, rows, order, turn, nearest)
        for _ in in_threads(lambda pair, look=look: look(*pair), list(pairwise(edges))):  # type: ignore[misc]
            pass
    near: Small = nearest.near
    return near
