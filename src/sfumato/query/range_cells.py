"""The cells of a ranges release: the single values, or stretches between published ends, that a condition takes or leaves.

Whole numbers and days have a cell each, recoded columns one for each value that the recoding can publish. Other numbers and
moments form a continuum: its cells are the published ends and the stretches between them, and a condition cuts stretches at
the constants that it names.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.arrays import Bytes, Flags, Floats, Integers, Small
from sfumato.exact import exact
from sfumato.query.literals import fit
from sfumato.query.predicate import Atom, Between, In
from sfumato.query.vocabulary import Words
from sfumato.release.boxes import Ranges, Sets
from sfumato.table.recode import Bands, DateTo, Recode, Rounded

Cells = Literal["discrete", "continuous"]

MAX_CELLS = 1 << 17
"""Columns with more possible values than this are taken as a continuum."""


@dataclass(frozen=True, eq=False)
class Inside:
    """Per cell how much of it a condition takes: its share, and whether any or all of it; the missing value comes last."""

    share: Floats
    some: Bytes
    whole: Bytes


@dataclass(frozen=True, eq=False)
class Line:
    """A numeric or date column in cells, ascending; `low` and `high` are the cells of each group's ends, −1 without values.

    `width` is what a cell weighs when people lie evenly; `ends` numbers the published ends, for continua.
    """

    name: str
    type: pa.DataType
    low: Small
    high: Small
    missing: Bytes
    width: Floats
    has_missing: bool
    values: tuple[Any, ...]
    continuous: bool

    def words(self, atoms: Sequence[Atom]) -> tuple[Words, Cut | None]:
        """Return the words that conditions are understood in, and for a continuum how they make up its cells."""
        if not self.continuous:
            return Words(self.name, self.type, self.values, self.has_missing), None
        plain = Words(self.name, self.type, self.values, self.has_missing)
        constants = {fit(constant, plain, atom) for atom in atoms for constant in _constants(atom)}
        inside = [c for c in constants if _finite(c) and self.values and self.values[0] < c < self.values[-1]]
        breaks: list[Any] = sorted({*self.values, *(float(c) if not isinstance(c, date) else c for c in inside)})
        reps, cell, width = [], [], []
        for k, at in enumerate(breaks):
            place = bisect_left(self.values, at)
            published = place < len(self.values) and self.values[place] == at
            reps.append(at)
            cell.append(2 * place if published else 2 * place - 1)
            width.append(0.0)
            middle = None if k + 1 == len(breaks) else _middle(at, breaks[k + 1])
            if middle is not None:
                reps.append(middle)
                cell.append(2 * place + 1 if published else 2 * place - 1)
                width.append(_length(at, breaks[k + 1]))
        words = Words(self.name, self.type, tuple(reps), self.has_missing)
        return words, Cut(np.array(cell, np.int64), np.array(width), len(self.width))

    def inside(self, accepted: Flags, cut: Cut | None) -> Inside:
        """Return what a set of codes takes of the cells."""
        known = accepted[: len(accepted) - 1] if self.has_missing else accepted
        missing = np.array([bool(accepted[-1])] if self.has_missing else [False])
        if cut is None:
            flags = np.concatenate([known, missing])
            return Inside(flags.astype(np.float64), flags.view(np.uint8), flags.view(np.uint8))
        share, some, whole = cut.of(known)
        return Inside(
            np.concatenate([share, missing.astype(np.float64)]),
            np.concatenate([some, missing]).view(np.uint8),
            np.concatenate([whole, missing]).view(np.uint8),
        )


@dataclass(frozen=True, eq=False)
class Cut:
    """How the codes of one query make up the cells of a continuum: the cell and the width of each code."""

    cell: Integers
    width: Floats
    cells: int
    total: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", np.bincount(self.cell, weights=self.width, minlength=self.cells))

    def of(self, accepted: Flags) -> tuple[Floats, Flags, Flags]:
        """Return the share of each cell that is accepted, and whether any and all of it is."""
        taken = np.bincount(self.cell, weights=self.width * accepted, minlength=self.cells)
        number = np.bincount(self.cell, weights=accepted, minlength=self.cells)
        whole = number == np.bincount(self.cell, minlength=self.cells)
        share = np.where(self.total > 0, taken / np.where(self.total > 0, self.total, 1.0), number > 0)
        return np.where(whole, 1.0, share), number > 0, whole


@dataclass(frozen=True, eq=False)
class Bag:
    """A categorical column: per group a set of codes."""

    words_: Words
    start: Integers
    codes: Small
    has_missing: bool

    @property
    def name(self) -> str:
        """The column's name."""
        return self.words_.name


def cells_of(box: Ranges | Sets, recode: Recode | None, cells: Cells) -> Line | Bag:
    """Return the cells of a box column."""
    if isinstance(box, Sets):
        words = Words(box.name, box.values.type, tuple(box.values.to_pylist()), box.has_missing)
        return Bag(words, box.start, box.codes, box.has_missing)
    ends = box.values.to_pylist()
    grid = _grid(ends, box.values.type, recode, box.name, cells)
    missing = box.missing.astype(np.uint8)
    if grid is not None:
        number = {value: k for k, value in enumerate(grid)}
        place = np.array([*(number[end] for end in ends), -1], dtype=np.int32)
        width = np.ones(len(grid))
        return Line(
            box.name, box.values.type, place[box.low], place[box.high], missing, width, box.has_missing, tuple(grid), False
        )
    width = np.zeros(max(0, 2 * len(ends) - 1))
    width[1::2] = [_length(low, high) for low, high in itertools.pairwise(ends)]
    low, high = (np.where(codes < 0, -1, 2 * codes).astype(np.int32) for codes in (box.low, box.high))
    return Line(box.name, box.values.type, low, high, missing, width, box.has_missing, tuple(ends), True)


def _grid(ends: list[Any], kind: pa.DataType, recode: Recode | None, name: str, cells: Cells) -> list[Any] | None:
    """Return the values that a column can have between its published ends, None for a continuum."""
    if not ends:
        return []
    if pa.types.is_date(kind):
        days = [ends[0] + timedelta(days=k) for k in range((ends[-1] - ends[0]).days + 1)]
        if not isinstance(recode, DateTo):
            return days
        first = recode.apply(pa.array(days, pa.date32()), "date", name)[0].to_pylist()
        return sorted({*ends, *(day for day in first if day >= ends[0])})
    if pa.types.is_timestamp(kind) or cells == "continuous":
        return None
    step = Fraction(1)
    if isinstance(recode, Bands) and recode.width is not None:
        step = exact(recode.width)
    elif isinstance(recode, Rounded):
        step = exact(recode.round)
    elif not all(float(end).is_integer() for end in ends):
        return None
    many = math.floor((Fraction(ends[-1]) - Fraction(ends[0])) / step)
    if many >= MAX_CELLS:
        return None
    whole = pa.types.is_integer(kind) and step.denominator == 1
    steps = [Fraction(ends[0]) + k * step for k in range(many + 1)]
    listed = pa.array([int(at) if whole else float(at) for at in steps], pa.int64() if whole else pa.float64())
    if isinstance(recode, (Bands, Rounded)):
        listed = recode.apply(listed, "numeric", name)[0]
    native = int if pa.types.is_integer(kind) else float
    return sorted({*ends, *(native(at) for at in listed.to_pylist() if ends[0] < at < ends[-1])})


def _constants(atom: Atom) -> list[Any]:
    if isinstance(atom, In):
        return list(atom.values)
    return [end for end in (atom.low, atom.high) if end is not None] if isinstance(atom, Between) else []


def _finite(constant: Any) -> bool:
    return isinstance(constant, date) or math.isfinite(constant)


def _length(low: Any, high: Any) -> float:
    """Return how far two values lie apart; moments in microseconds."""
    return (high - low) / timedelta(microseconds=1) if isinstance(low, date) else float(high) - float(low)


def _middle(low: Any, high: Any) -> Any:
    """Return a value strictly between two others, None where there is none."""
    middle = low + (high - low) / 2 if isinstance(low, datetime) else (float(low) + float(high)) / 2
    return middle if low < middle < high else None
