"""What a count question is answered with: an estimate with its error, or one estimate per cell of a GROUP BY."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from sfumato import notebook
from sfumato.table.column import MISSING, as_text
from sfumato.table.frames import Native, to_native

Estimator = Literal["paper", "likelihood"]

SHOWN = 20
"""Cells of a grouped answer that its text shows."""


@dataclass(frozen=True, repr=False)
class Estimate:
    """An estimated number of people.

    >>> Estimate(120.4, 3.1, 114.3, 126.5, 0.95, "likelihood")
    Estimate(120.4 ± 3.1; 114.3 to 126.5 with 95 % confidence)

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
    native: Native = field(default="pyarrow", compare=False)

    def __repr__(self) -> str:
        if self.low is None or self.high is None:
            return f"Estimate({self.value:.1f}, standard error {self.std_error:.1f}, no interval)"
        within = f"{self.low:.1f} to {self.high:.1f} with {100 * self.confidence:g} % confidence"
        return f"Estimate({self.value:.1f} ± {self.std_error:.1f}; {within})"

    def _repr_html_(self) -> str:
        return notebook.card(f"{self.value:,.1f}", under=f"{_range(self)} ({100 * self.confidence:g} %). {self.note}")

    def to_arrow(self) -> pa.Table:
        """Return a table of one row: count, std_error, low, high."""
        figures = {"count": self.value, "std_error": self.std_error, "low": self.low, "high": self.high}
        return pa.table({name: pa.array([figure], pa.float64()) for name, figure in figures.items()})

    def frame(self, kind: Native | None = None) -> Any:
        """Return the same table as a frame of the caller's own kind, or of the kind asked for (pandas, polars, pyarrow)."""
        return to_native(self.to_arrow(), kind or self.native)

    def to_pandas(self) -> Any:
        """Return the same table as a pandas frame."""
        return self.frame("pandas")

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            text = f"{self.value:.1f} (standard error {self.std_error:.1f}, no interval)"
        else:
            text = f"{self.value:.1f} ({self.low:.1f} to {self.high:.1f} with {100 * self.confidence:g} % confidence)"
        return f"{text}; {self.note}" if self.note else text


@dataclass(frozen=True, repr=False)
class GroupedAnswer:
    """One estimate per cell of a GROUP BY; the cells add up to the estimate of the same question without GROUP BY.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "illness": ["Flu", "Gout", "Flu", "Gout"]})
    >>> release = sf.publish(people, sf.LDiversity(2), quasi=["sex"], sensitive="illness", random=1)
    >>> release.count("SELECT sex, COUNT(*) GROUP BY sex").to_arrow().column_names
    ['sex', 'count', 'std_error', 'low', 'high']
    """

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

    def _repr_html_(self) -> str:
        """Return the cells as a table, the first of them when there are many, and the total."""
        headings = (*self.columns, "count", "std. error", f"{100 * self.total.confidence:g} % interval")
        rows = [
            (
                *(MISSING if key[name] is None else as_text(key[name]) for name in self.columns),
                f"{estimate.value:,.1f}",
                f"{estimate.std_error:,.1f}",
                _range(estimate),
            )
            for key, estimate in self.cells[:SHOWN]
        ]
        more = [f"… and {len(self.cells) - SHOWN:,} more"] if len(self.cells) > SHOWN else []
        places = range(len(self.columns), len(headings))
        shown = notebook.table(headings, rows, right=tuple(places))
        return notebook.card(f"{len(self.cells):,} cells", shown, notebook.paragraphs([*more, f"in all: {self.total}"]))

    def to_pandas(self) -> Any:
        """Return the cells as a pandas frame: the grouped columns, then count, std_error, low, high."""
        return self.frame("pandas")

    def to_arrow(self) -> pa.Table:
        """Return a table: the grouped columns, then count, std_error, low, high."""
        data: dict[str, pa.Array] = {
            name: pa.array([key[name] for key, _ in self.cells], kind)
            for name, kind in zip(self.columns, self.types, strict=True)
        }
        for figure, name in (("value", "count"), ("std_error", "std_error"), ("low", "low"), ("high", "high")):
            free = name
            while free in data:
                free += "_"
            data[free] = pa.array([getattr(estimate, figure) for _, estimate in self.cells], pa.float64())
        return pa.table(data)

    def frame(self, kind: Native | None = None) -> Any:
        """Return the same table as a frame of the caller's own kind, or of the kind asked for (pandas, polars, pyarrow)."""
        return to_native(self.to_arrow(), kind or self.native)


def _range(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{estimate.low:,.1f} to {estimate.high:,.1f}"


Answer = Estimate | GroupedAnswer
