"""Declared domains: the values a column may have, whether or not this table has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Flags
from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import exact, plain
from sfumato.table.column import Kind, as_text

Limit = Fraction | date


@dataclass(frozen=True)
class DeclaredDomain:
    """What a column may hold as it is published, after recoding: the listed `values`, or all from `minimum` to `maximum`."""

    values: tuple[str, ...] | None = None
    minimum: Limit | None = None
    maximum: Limit | None = None

    def to_plain(self) -> list[str] | dict[str, Any]:
        """Return the domain as a policy writes it, in JSON types."""
        if self.values is not None:
            return list(self.values)
        return {"min": _limit_plain(self.minimum), "max": _limit_plain(self.maximum)}

    def outside(self, values: pa.Array, kind: Kind, column: str) -> Flags:
        """Return which of a column's distinct values the domain does not allow."""
        if self.values is not None:
            allowed = set(self.values)
            return np.array([as_text(value) not in allowed for value in values.to_pylist()], dtype=bool)
        low, high = self._limits(kind, column)
        numbers: Any
        if kind == "date":
            numbers = pc.cast(values, pa.date32(), safe=False).to_numpy(zero_copy_only=False).astype("datetime64[D]")
        else:
            numbers = values.to_numpy(zero_copy_only=False)
        return np.asarray((numbers < low) | (numbers > high))

    def _limits(self, kind: Kind, column: str) -> tuple[Any, Any]:
        if kind == "date" and isinstance(self.minimum, date) and isinstance(self.maximum, date):
            return np.datetime64(self.minimum, "D"), np.datetime64(self.maximum, "D")
        if kind == "numeric" and isinstance(self.minimum, Fraction) and isinstance(self.maximum, Fraction):
            return float(self.minimum), float(self.maximum)
        expected = {"numeric": "two numbers", "date": "two ISO dates", "categorical": "a list of values"}[kind]
        raise PolicyError(
            f"domain of {column!r}: the column is {kind}, so its domain is {expected}",
            hint={
                "numeric": "{ min = 0, max = 120 }",
                "date": '{ min = "2024-01-01", max = "2024-12-31" }',
                "categorical": '["f", "m"]',
            }[kind],
        )


def declared_domain(spec: DeclaredDomain | Sequence[Any] | Mapping[str, Any], column: str) -> DeclaredDomain:
    """Return the domain that a policy describes: a list of values, or `{"min": …, "max": …}`."""
    if isinstance(spec, DeclaredDomain):
        return spec
    if isinstance(spec, Mapping):
        for key in spec:
            if key not in ("min", "max"):
                raise PolicyError(f"domain of {column!r}: unknown key {key!r}", hint=did_you_mean(str(key), ("min", "max")))
        if len(spec) < 2:
            raise PolicyError(f"domain of {column!r}: needs both min and max", hint="{ min = 0, max = 120 }")
        low, high = (_limit(spec[key], f"domain of {column!r}: {key}") for key in ("min", "max"))
        if isinstance(low, date) != isinstance(high, date):
            raise PolicyError(f"domain of {column!r}: min and max must both be numbers or both dates", hint="min = 0, max = 9")
        if low > high:  # type: ignore[operator]
            raise PolicyError(f"domain of {column!r}: min is above max", hint="swap the two")
        return DeclaredDomain(minimum=low, maximum=high)
    if isinstance(spec, (str, bytes)) or not isinstance(spec, Sequence) or not spec:
        raise PolicyError(f"domain of {column!r}: expected a list of values or {{ min, max }}, got {spec!r}", hint='["f", "m"]')
    texts = tuple(str(value).lower() if isinstance(value, bool) else as_text(value) for value in spec)
    if len(set(texts)) < len(texts):
        raise PolicyError(f"domain of {column!r}: a value is listed twice", hint="list each value once")
    return DeclaredDomain(values=texts)


def _limit(given: Any, name: str) -> Limit:
    if isinstance(given, datetime):
        return given.date()
    if isinstance(given, date):
        return given
    if isinstance(given, str):
        try:
            return date.fromisoformat(given)
        except ValueError:
            pass
    return exact(given, name)


def _limit_plain(limit: Limit | None) -> int | float | str | None:
    if isinstance(limit, date):
        return limit.isoformat()
    return None if limit is None else plain(limit)
