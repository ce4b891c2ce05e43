"""What a count question is answered with: an estimate with its error, or one estimate per cell of a GROUP BY."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from sfumato.table.column import MISSING, as_text
from sfumato.table.frames import Native, to_native

Estimator = Literal["paper", "likelihood"]

SHOWN = 20
"""Cells of a grouped answer that its text shows."""


@dataclass(frozen=True)
class Estimate:
    """An estimated number of people.

    `low` and `high` hold the true count with the given confidence; both are None where no honest interval is known, and `note`
    says why. `note` also tells when a value that the query names does not occur. `value` lies within what the release makes
    certain; `raw` is the estimate before that, where the form has an unbiased one (randomized): it may be negative, and the raw
    estimates of a GROUP BY's cells add up as well.
    """

    value: float
    std_error: float
    low: float | None
    high: float | None
    confidence: float
    estimator: Estimator
    note: str = ""
    raw: float | None = None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            text = f"{self.value:.1f} (standard error {self.std_error:.1f}, no interval)"
        else:
            text = f"{self.value:.1f} ({self.low:.1f} to {self.high:.1f} with {100 * self.confidence:g} % confidence)"
        return f"{text}; {self.note}" if self.note else text


@dataclass(frozen=True, repr=False)
class GroupedAnswer:
    """One estimate per cell of a GROUP BY; the cells add up to the estimate of the same question without GROUP BY."""

    columns: tuple[str, ...]
    cells: tuple[tuple[Mapping[str, Any], Estimate], ...]
    types: tuple[pa.DataType, ...]
    total: Estimate
    native: Native = "pyarrow"

    def __iter__(self) -> Iterator[tuple[Mapping[str, Any], Estimate]]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        """Return the cells as a small table in text, the first of them when there are many, then the notes."""
        confidence = self.total.confidence
        rows = [(*self.columns, "count", "std. error", f"{100 * confidence:g} % interval")]
        for key, estimate in self.cells[:SHOWN]:
            named = [MISSING if key[name] is None else as_text(key[name]) for name in self.columns]
            low, high = estimate.low, estimate.high
            interval = "none" if low is None or high is None else f"{low:,.1f} to {high:,.1f}"
            rows.append((*named, f"{estimate.value:,.1f}", f"{estimate.std_error:,.1f}", interval))
        wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
        keys = len(self.columns)
        lines = [
            "  ".join(text.ljust(w) if j < keys else text.rjust(w) for j, (text, w) in enumerate(zip(row, wide, strict=True)))
            for row in rows
        ]
        if len(self.cells) > SHOWN:
            lines.append(f"… and {len(self.cells) - SHOWN:,} more")
        lines.append(f"in all: {self.total}")
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def to_arrow(self) -> pa.Table:
        """Return a table: the grouped columns, then count, std_error, low, high."""
        data: dict[str, pa.Array] = {
            name: pa.array([key[name] for key, _ in self.cells], kind)
            for name, kind in zip(self.columns, self.types, strict=True)
        }
        for field, name in (("value", "count"), ("std_error", "std_error"), ("low", "low"), ("high", "high")):
            free = name
            while free in data:
                free += "_"
            data[free] = pa.array([getattr(estimate, field) for _, estimate in self.cells], pa.float64())
        return pa.table(data)

    def frame(self, kind: Native | None = None) -> Any:
        """Return the same table as a frame of the caller's own kind, or of the kind asked for (pandas, polars, pyarrow)."""
        return to_native(self.to_arrow(), kind or self.native)


Answer = Estimate | GroupedAnswer
