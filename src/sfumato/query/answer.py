"""What a count question is answered with: an estimate with its error, or one estimate per cell of a GROUP BY."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from sfumato import notebook
from sfumato.charts.pictures import Library
from sfumato.errors import QueryError
from sfumato.table.column import MISSING, as_text
from sfumato.table.frames import Native, to_native

Estimator = Literal["paper", "likelihood"] | str
"""`paper`, `likelihood`, or the name of one that is installed (`sfumato.query.models.installed`)."""

SHOWN = 20
"""Cells of a grouped answer that its text shows."""


def require_confidence(confidence: float) -> None:
    """Refuse what is no confidence."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise QueryError(f"confidence: expected a number between 0 and 1, got {confidence!r}", hint="0.95 is usual")


class Framed(ABC):
    """What has its figures as a table, in Arrow or as a frame."""

    native: Native

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the figures as a table."""

    def frame(self, kind: Native | None = None) -> Any:
        """Return the same table as a frame of the caller's own kind, or of the kind asked for (pandas, polars, pyarrow)."""
        return to_native(self.to_arrow(), kind or self.native)

    def to_pandas(self) -> Any:
        """Return the same table as a pandas frame."""
        return self.frame("pandas")


@dataclass(frozen=True, repr=False)
class Estimate(Framed):
    """An estimated number of people, or another figure of them: `measure` is its name.

    >>> Estimate(120.4, 3.1, 114.3, 126.5, 0.95, "likelihood")
    Estimate(120.4 ± 3.1; 114.3 to 126.5 with 95 % confidence)

    `low` and `high` hold the true count with the given confidence; both are None where no honest interval is known, and `note`
    says why. Then `std_error` is what chance alone leaves open; the estimate may be off by many times as much, so that it is not
    shown (`error` is None). `note` also tells when a value that the query names does not occur. `value` lies within what the
    release makes certain; `raw` is the estimate before that, where the form has an unbiased one (randomized): it may be
    negative, and the raw estimates of a GROUP BY's cells add up as well. Where numbers were binned, `value` is that of the bins'
    middles, and `low` and `high` hold the true figure wherever numbers lie in their bins. A weighted figure is of the population:
    `std_error` then has in it the `sampling_error`, and what the release leaves open.
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
    measure: str = "count"
    sampling_error: float | None = None

    @property
    def release_error(self) -> float | None:
        """What the release leaves open, beside `sampling_error`; None where figures are of the people published."""
        if self.sampling_error is None:
            return None
        return math.sqrt(max(0.0, self.std_error**2 - self.sampling_error**2))

    @property
    def parts_text(self) -> str:
        """Of what the standard error of a weighted figure is made, as text; "" where it is not shown."""
        if not self.sampling_text or self.release_error is None:
            return ""
        left = self.written(self.release_error, ",")
        return f"weighted: {self.sampling_text} by sampling, {left} by what the release leaves open"

    @property
    def error(self) -> float | None:
        """The standard error as it is shown: None beside no interval, and beside what is only certain, where it misleads."""
        if self.low is None or self.high is None or (self.confidence == 1.0 and self.low < self.high):
            return None
        return self.std_error

    @property
    def error_text(self) -> str:
        """The standard error as text; "" where it is not shown."""
        return "" if self.error is None else self.written(self.error, ",")

    @property
    def sampling_text(self) -> str:
        """The part of the standard error that is that of drawing a sample, as text; "" where it is not shown."""
        return "" if self.error is None or self.sampling_error is None else self.written(self.sampling_error, ",")

    def written(self, number: float, group: str = "") -> str:
        """Return a figure of this estimate as text: counts with one decimal, others with as many as they need."""
        small = self.measure != "count" and abs(number) < 1000
        return f"{number:.4g}" if small else f"{number:{group}.1f}"

    def __repr__(self) -> str:
        value, error = self.written(self.value), self.written(self.std_error)
        if self.low is None or self.high is None:
            return f"Estimate({value}, no interval)"
        within = f"{self.written(self.low)} to {self.written(self.high)} with {100 * self.confidence:g} % confidence"
        return f"Estimate({value} ± {error}; {within})"

    def _repr_html_(self) -> str:
        under = f"{interval_text(self)} ({100 * self.confidence:g} %). {self.note}"
        return notebook.card(self.written(self.value, ","), under=under)

    def columns(self) -> dict[str, float | None]:
        """Return the figures by name, as frames have them."""
        figures = {self.measure: self.value, "std_error": self.error, "low": self.low, "high": self.high}
        if self.sampling_error is None:
            return figures
        shown = self.error is not None
        parts = {"sampling_error": self.sampling_error, "release_error": self.release_error}
        return figures | {name: part if shown else None for name, part in parts.items()}

    def to_arrow(self) -> pa.Table:
        """Return a table of one row: the figure under its name (count), std_error, low, high.

        std_error, low and high are null where there is no interval.
        """
        return pa.table({name: pa.array([figure], pa.float64()) for name, figure in self.columns().items()})

    def plot(self, library: Library | None = None) -> Any:
        """Return a picture of the point with its interval, drawn by altair (the extra `report`) or matplotlib."""
        from sfumato.query.plots import plot_answer

        return plot_answer([("", self)], (), library)

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            text = f"{self.written(self.value)} (no interval)"
        else:
            ends = f"{self.written(self.low)} to {self.written(self.high)}"
            text = f"{self.written(self.value)} ({ends} with {100 * self.confidence:g} % confidence)"
        return "; ".join(part for part in (text, self.parts_text, self.note) if part)


@dataclass(frozen=True, repr=False)
class GroupedAnswer(Framed):
    """One estimate per cell of a GROUP BY; counts add up to the estimate of the same question without GROUP BY, `total`.

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
        lines = text_table([self._headings, *self._rows("none")], keys=len(self.columns))
        return "\n".join([*lines, *self._more, f"in all: {self.total}"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the cells as a table, the first of them when there are many, and the total."""
        shown = notebook.table(self._headings, self._rows(), right=range(len(self.columns), len(self._headings)))
        return notebook.card(f"{len(self.cells):,} cells", shown, notebook.paragraphs([*self._more, f"in all: {self.total}"]))

    @property
    def _headings(self) -> tuple[str, ...]:
        parts = ("by sampling",) if self.weighted else ()
        return (*self.columns, self.total.measure, "std. error", *parts, f"{100 * self.total.confidence:g} % interval")

    @property
    def weighted(self) -> bool:
        """Whether figures are those of the population."""
        return any(estimate.sampling_error is not None for _, estimate in self.cells)

    @property
    def _more(self) -> list[str]:
        return [f"… and {len(self.cells) - SHOWN:,} more"] if len(self.cells) > SHOWN else []

    def _rows(self, none: str = "no interval") -> list[tuple[str, ...]]:
        rows = []
        for key, estimate in self.cells[:SHOWN]:
            parts = (estimate.sampling_text,) if self.weighted else ()
            figures = estimate.written(estimate.value, ","), estimate.error_text, *parts, interval_text(estimate, none)
            rows.append((*cell_texts(self.columns, key), *figures))
        return rows

    def plot(self, library: Library | None = None) -> Any:
        """Return a picture of the cells, each a point with its interval, drawn by altair (the extra `report`) or matplotlib."""
        from sfumato.query.plots import plot_answer

        cells = [(", ".join(cell_texts(self.columns, key)), estimate) for key, estimate in self.cells]
        return plot_answer(cells, self.columns, library)

    def to_arrow(self) -> pa.Table:
        """Return a table: the grouped columns, then the figure under its name (count), std_error, low, high."""
        data: dict[str, pa.Array] = {
            name: pa.array([key[name] for key, _ in self.cells], kind)
            for name, kind in zip(self.columns, self.types, strict=True)
        }
        figures = [estimate.columns() for _, estimate in self.cells]
        listed = figures[0] if figures else self.total.columns()
        for name, free in zip(listed, free_names(self.columns, listed), strict=True):
            data[free] = pa.array([figure[name] for figure in figures], pa.float64())
        return pa.table(data)


@dataclass(frozen=True, repr=False)
class SeveralAnswers(Framed):
    """The answers to a question that asks for several figures, by their names: of the same cells, in the same order."""

    answers: tuple[Estimate | GroupedAnswer, ...]
    names: tuple[str, ...]
    native: Native = "pyarrow"

    def __getitem__(self, name: str) -> Estimate | GroupedAnswer:
        return self.answers[self.names.index(name)]

    def __iter__(self) -> Iterator[tuple[str, Estimate | GroupedAnswer]]:
        return iter(zip(self.names, self.answers, strict=True))

    def __len__(self) -> int:
        return len(self.answers)

    def __str__(self) -> str:
        return "\n\n".join(f"{name}\n{answer}" for name, answer in self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook.card("", *(notebook.card(name, answer._repr_html_()) for name, answer in self))

    def to_arrow(self) -> pa.Table:
        """Return a table: the grouped columns, then for each figure its name, name_std_error, name_low and name_high."""
        data: dict[str, pa.Array] = {}
        for name, answer in self:
            frame = answer.to_arrow()
            keys = () if isinstance(answer, Estimate) else answer.columns
            data |= {key: frame.column(place) for place, key in enumerate(keys)}
            # Alone an answer may have put underscores behind its figures; behind the name of this one they need none.
            figures = (figure.rstrip("_") for figure in frame.column_names[len(keys) + 1 :])
            own = free_names(tuple(data), [name, *(f"{name}_{figure}" for figure in figures)])
            data |= {free: frame.column(place) for place, free in enumerate(own, len(keys))}
        return pa.table(data)


def free_names(taken: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """Return the names wanted, each with as many underscores behind it as it takes to be no name that is taken."""
    names: list[str] = []
    for name in wanted:
        while name in taken or name in names:
            name += "_"
        names.append(name)
    return names


def interval_text(estimate: Estimate, none: str = "no interval") -> str:
    """Return the interval as text, or that there is none."""
    if estimate.low is None or estimate.high is None:
        return none
    return f"{estimate.written(estimate.low, ',')} to {estimate.written(estimate.high, ',')}"


def cell_texts(columns: tuple[str, ...], key: Mapping[str, Any]) -> list[str]:
    """Return the values of a cell as texts."""
    return [MISSING if key[name] is None else as_text(key[name]) for name in columns]


def text_table(rows: Sequence[Sequence[str]], *, keys: int = 1) -> list[str]:
    """Return the lines of a table in text: the first `keys` columns on the left of their place, the others on the right."""
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = [str.ljust] * keys + [str.rjust] * (len(wide) - keys)
    return ["  ".join(side(text, w) for text, w, side in zip(row, wide, sides, strict=True)).rstrip() for row in rows]


Answer = Estimate | GroupedAnswer | SeveralAnswers
