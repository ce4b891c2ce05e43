"""Quasi values as matching sees them: places on lines and categories with weights, in small integers.

The cost of a set of matches is its ΣNCP: (high − low) / (upper − lower end of the domain) for numbers and dates, (values − 1) /
(values of the domain − 1) for categories. A missing number or date costs nothing, a missing category is one like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers, Small
from sfumato.papers.heterogeneous._assignment_kernel import FORBIDDEN
from sfumato.papers.heterogeneous._match_kernels import NOTHING
from sfumato.table.column import Column
from sfumato.table.declared import DeclaredDomain
from sfumato.table.schema import Schema

_FINEST = 1 << 20


@dataclass(frozen=True, eq=False)
class Costs:
    """Per row its `places` in the numeric columns (NaN: no value) and its `codes` in the categorical ones; `weights` of these."""

    places: Floats  # [numeric columns × rows]
    codes: Small  # [categorical columns × rows]
    first: Integers  # where each categorical column's codes begin, one entry more than columns
    weights: Floats

    @classmethod
    def of(cls, columns: Sequence[Column], schema: Schema | None = None) -> Costs:
        """Return the costs of these columns, normalised by the domains that the schema declares, else by those seen."""
        rows = len(columns[0])
        places, codes, weights, first = [], [], [], [0]
        for column in columns:
            domain = None if schema is None else schema.domain(column.name)
            if column.kind == "categorical":
                known = len(column.values) if domain is None or domain.values is None else len(domain.values)
                size = known + int(column.has_missing)
                codes.append(column.codes.astype(np.int32) + first[-1])
                weights.append(1 / (size - 1) if size > 1 else 0.0)
                first.append(first[-1] + column.size)
            else:
                places.append(np.append(_line(column, domain), np.nan)[column.codes.astype(np.int64)])
        return cls(
            np.array(places, dtype=np.float64).reshape(len(places), rows),
            np.array(codes, dtype=np.int32).reshape(len(codes), rows),
            np.array(first, dtype=np.int64),
            np.array(weights, dtype=np.float64),
        )

    def of_rows(self, rows: Integers) -> Costs:
        """Return the costs of some of the rows."""
        return Costs(self.places[:, rows], self.codes[:, rows], self.first, self.weights)

    def at(self, slots: Integers, largest: int) -> tuple[Small, Small, Small]:
        """Return places, codes and weights at these rows (−1: a dummy, which has no values), in units that fit a round's sum.

        `largest` is the largest number of matches that one round adds up.
        """
        columns = max(len(self.places) + len(self.codes), 1)
        unit = max(1, min(_FINEST, (FORBIDDEN >> 1) // (columns * max(largest, 1))))
        dummy = slots < 0
        with np.errstate(invalid="ignore"):
            places = np.where(np.isnan(self.places[:, slots]) | dummy, NOTHING, np.round(self.places[:, slots] * unit))
        codes = np.where(dummy, -1, self.codes[:, slots])
        return places.astype(np.int32), codes.astype(np.int32), np.round(self.weights * unit).astype(np.int32)


def _line(column: Column, domain: DeclaredDomain | None) -> Floats:
    """Return where each value of a numeric or date column lies, its domain being as long as 1."""
    values = column.values
    numbers = _numbers(values, column.kind)
    if domain is None:
        width = numbers[-1] - numbers[0] if len(numbers) else 0.0
    elif domain.values is not None:
        listed = _numbers(pa.array([_read(text, column.kind) for text in domain.values]), column.kind)
        width = float(listed.max() - listed.min())
    else:
        width = float(np.diff(_numbers(pa.array([_plain(domain.minimum), _plain(domain.maximum)]), column.kind))[0])
    return (numbers - numbers[0]) / width if width > 0 else np.zeros(len(numbers))


def _read(text: str, kind: str) -> Any:
    return date.fromisoformat(text) if kind == "date" else float(text)


def _plain(limit: Any) -> Any:
    return float(limit) if isinstance(limit, Fraction) else limit


def _numbers(values: pa.Array, kind: str) -> Floats:
    """Return values as numbers, dates as days."""
    if kind == "date":
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64) / 86_400_000_000
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
