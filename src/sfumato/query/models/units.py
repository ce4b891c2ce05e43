"""The units of a column that is shown in ranges: the single values, or stretches between published ends, that a condition takes.

Whole numbers and days are a unit each, recoded columns have one for each value that the recoding can publish. Other numbers and
moments form a continuum: its units are the published ends and the stretches between them, and a condition cuts stretches at
the constants that it names.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.arrays import Bytes, Flags, Floats, Integers, Small
from sfumato.exact import exact
from sfumato.query.language.predicate import Atom, constants_of
from sfumato.query.language.vocabulary import ColumnValues, fit
from sfumato.release.boxes import Ranges, Sets
from sfumato.table.recode import Bands, DateTo, Recode, Rounded

UnitKind = Literal["discrete", "continuous"]

MAX_UNITS = 1 << 17
"""Columns with more possible values than this are taken as a continuum."""


class Ends(NamedTuple):
    """The units of each group's ends, −1 in a group without values, and whether it holds people without one."""

    low: Small
    high: Small
    missing: Bytes


class UnitCoverage(NamedTuple):
    """Per unit how much of it a condition takes: its share, and whether any or all of it; the missing value comes last."""

    share: Floats
    some: Bytes
    whole: Bytes


@dataclass(frozen=True, eq=False)
class CodeUnits:
    """How the codes of one question make up the units of a continuum: the unit and the width of each code."""

    unit: Integers
    width: Floats
    units: int

    def inside(self, accepted: Flags) -> tuple[Floats, Flags, Flags]:
        """Return the share of each unit that is accepted, and whether any and all of it is."""
        total, taken = (np.bincount(self.unit, weights=w, minlength=self.units) for w in (self.width, self.width * accepted))
        number = np.bincount(self.unit, weights=accepted, minlength=self.units)
        whole = number == np.bincount(self.unit, minlength=self.units)
        share = np.where(total > 0, taken / np.where(total > 0, total, 1.0), number > 0)
        return np.where(whole, 1.0, share), number > 0, whole


@dataclass(frozen=True, eq=False)
class RangeColumn:
    """A numeric or date column in units, ascending; `width` is what a unit weighs when people lie evenly."""

    plain: ColumnValues
    ends: Ends
    width: Floats
    continuous: bool

    def words(self, atoms: Sequence[Atom]) -> tuple[ColumnValues, CodeUnits | None]:
        """Return the words that conditions are understood in, and for a continuum how they make up its units."""
        if not self.continuous:
            return self.plain, None
        values = self.plain.values
        own = [atom for atom in atoms if atom.column == self.plain.name]
        constants = {fit(constant, self.plain, atom) for atom in own for constant in constants_of(atom)}
        inside = [c for c in constants if values and values[0] < c < values[-1]]
        breaks: list[Any] = sorted({*values, *(float(c) if not isinstance(c, date) else c for c in inside)})
        codes, unit, width = [], [], []
        for k, at in enumerate(breaks):
            place = bisect_left(values, at)
            published = place < len(values) and values[place] == at
            codes.append(at)
            unit.append(2 * place if published else 2 * place - 1)
            width.append(0.0)
            middle = None if k + 1 == len(breaks) else _middle(at, breaks[k + 1])
            if middle is not None:
                codes.append(middle)
                unit.append(2 * place + 1 if published else 2 * place - 1)
                width.append(_length(at, breaks[k + 1]))
        words = ColumnValues(self.plain.name, self.plain.type, tuple(codes), self.plain.has_missing)
        return words, CodeUnits(np.array(unit, np.int64), np.array(width), len(self.width))

    def inside(self, accepted: Flags, cut: CodeUnits | None) -> UnitCoverage:
        """Return what a set of codes takes of the units."""
        known = accepted if self.plain.has_missing else np.append(accepted, False)
        if cut is None:
            flags = known.view(np.uint8)
            return UnitCoverage(known.astype(np.float64), flags, flags)
        share, some, whole = (np.append(part, known[-1]) for part in cut.inside(known[:-1]))
        return UnitCoverage(share, some.view(np.uint8), whole.view(np.uint8))


@dataclass(frozen=True, eq=False)
class SetColumn:
    """A categorical column: the codes of group g's set are `codes[start[g] : start[g + 1]]`."""

    plain: ColumnValues
    start: Integers
    codes: Small

    continuous = False

    def words(self, atoms: Sequence[Atom]) -> tuple[ColumnValues, None]:
        """Return the words that conditions are understood in."""
        return self.plain, None


def column_of(box: Ranges | Sets, recode: Recode | None, units: UnitKind) -> RangeColumn | SetColumn:
    """Return what a release shows of a column."""
    ends = tuple(box.values.to_pylist())
    if isinstance(box, Sets):
        return SetColumn(ColumnValues(box.name, box.values.type, ends, box.has_missing), box.start, box.codes)
    missing = box.missing.astype(np.uint8)
    grid = _grid(list(ends), box.values.type, recode, box.name, units)
    if grid is not None:
        number = {value: k for k, value in enumerate(grid)}
        place = np.array([*(number[end] for end in ends), -1], dtype=np.int32)
        words = ColumnValues(box.name, box.values.type, tuple(grid), box.has_missing)
        return RangeColumn(words, Ends(place[box.low], place[box.high], missing), np.ones(len(grid)), continuous=False)
    width = np.zeros(max(0, 2 * len(ends) - 1))
    width[1::2] = [_length(low, high) for low, high in itertools.pairwise(ends)]
    low, high = (np.where(codes < 0, -1, 2 * codes).astype(np.int32) for codes in (box.low, box.high))
    words = ColumnValues(box.name, box.values.type, ends, box.has_missing)
    return RangeColumn(words, Ends(low, high, missing), width, continuous=True)


def _grid(ends: list[Any], kind: pa.DataType, recode: Recode | None, name: str, units: UnitKind) -> list[Any] | None:
    """Return the values that a column can have between its published ends, None for a continuum."""
    if not ends:
        return []
    if pa.types.is_date(kind):
        days = [ends[0] + timedelta(days=k) for k in range((ends[-1] - ends[0]).days + 1)]
        if not isinstance(recode, DateTo):
            return days
        first = recode.apply(pa.array(days, pa.date32()), "date", name)[0].to_pylist()
        return sorted({*ends, *(day for day in first if day >= ends[0])})
    if pa.types.is_timestamp(kind) or units == "continuous":
        return None
    step = Fraction(1)
    if isinstance(recode, Bands) and recode.width is not None:
        step = exact(recode.width)
    elif isinstance(recode, Rounded):
        step = exact(recode.round)
    elif not all(float(end).is_integer() for end in ends):
        return None
    many = math.floor((Fraction(ends[-1]) - Fraction(ends[0])) / step)
    if many >= MAX_UNITS:
        return None
    whole = pa.types.is_integer(kind) and step.denominator == 1
    steps = [Fraction(ends[0]) + k * step for k in range(many + 1)]
    listed = pa.array([int(at) if whole else float(at) for at in steps], pa.int64() if whole else pa.float64())
    if isinstance(recode, (Bands, Rounded)):
        listed = recode.apply(listed, "numeric", name)[0]
    native = int if pa.types.is_integer(kind) else float
    return sorted({*ends, *(native(at) for at in listed.to_pylist() if ends[0] < at < ends[-1])})


def _length(low: Any, high: Any) -> float:
    """Return how far two values lie apart; moments in microseconds."""
    return (high - low) / timedelta(microseconds=1) if isinstance(low, date) else float(high) - float(low)


def _middle(low: Any, high: Any) -> Any:
    """Return a value strictly between two others, None where there is none."""
    middle = low + (high - low) / 2 if isinstance(low, datetime) else (float(low) + float(high)) / 2
    return middle if low < middle < high else None
