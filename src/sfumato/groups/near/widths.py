"""How wide the domains of columns are: what a range or a set of values is divided by for its cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sfumato.groups.near.order import seen_width
from sfumato.table.column import Column
from sfumato.table.declared import DeclaredDomain
from sfumato.table.schema import Schema


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
