"""Cuts of quasi space: recursive guillotine cuts over coded columns, for every method that cuts.

A *safe* cut is decided by quasi values and by the histogram of the box as a whole: it is made only if both sides would keep the
bounds however the box's values fell on its people, count(v) ≤ ⌊bound(v)·(smaller side)⌋ for every v with a bound below 1. A
*tight* cut is made if the two sides, as they are, keep the bounds; it looks at where values fell, and a refused one tells
something to a reader who reruns the program. A *soft* cut looks at the same, but is refused by coins, and every box keeps account
of what its refusals may have told (`soft.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small, put_back, taken
from sfumato.basis import Basis
from sfumato.errors import PolicyError, did_you_mean
from sfumato.groups._cut_kernels import Safe, Secret, Tight, cut_level
from sfumato.groups.category_order import category_places
from sfumato.groups.grouping import Grouping
from sfumato.privacy.requirement import Bounds
from sfumato.progress import Progress, silent
from sfumato.table.column import Column


class Ledger(ABC):
    """An acceptance that is another one for every level of boxes, because boxes have accounts of their own."""

    @abstractmethod
    def level(self, low: Integers, high: Integers) -> tuple[Any, ...]:
        """Return the acceptance of the boxes rows[low:high], without coins."""

    @property
    @abstractmethod
    def waiting(self) -> Integers:
        """Which boxes of the level came to a test, and wait for coins."""

    @abstractmethod
    def tossed(self, boxes: Integers, low: Integers, high: Integers) -> tuple[Any, ...]:
        """Return the acceptance of these boxes of the level, with coins."""

    @abstractmethod
    def settle(self, low: Integers, done: Flags) -> None:
        """Close the accounts of the boxes that are done; the others hand theirs down to both sides."""

    @property
    @abstractmethod
    def told(self) -> Integers:
        """What each final box told, in thousandths rounded down, boxes from left to right along the cuts."""


_ENDLESS = 1 << 62
"""A need beyond what any table has."""


@dataclass(frozen=True, eq=False)
class Space:
    """Quasi space as cuts see it: every column as ordered codes, and where on a line from 0 to 1 each code lies.

    Numbers and dates lie where they are. Categories have no place of their own: they are put in order by where their people
    lie in the other columns, so that neighbours in the order are similar people. Only quasi values are looked at.

    Whoever stands first in the input changes nothing: a position is computed from the values of its own column alone, and the
    order of categories from counts, in integers. So are the widths that cuts compare: floats, but the same for any order of rows.
    """

    codes: Small  # [columns × rows]
    first: Integers  # first code of each column in `position`, one entry more than columns
    missing: Integers  # 1 where the last code of a column means missing
    position: Floats

    @classmethod
    def of(cls, columns: Sequence[Column], *, narrow: bool = False) -> Space:
        """Return the space of these columns; `narrow`, in the fewest bytes that kernels of cuts are compiled for."""
        kind = narrow_type([column.size for column in columns]) if narrow else np.dtype(np.int32)
        codes = np.empty((len(columns), len(columns[0].codes)), kind)
        for j, column in enumerate(columns):
            codes[j] = taken(category_places(j, columns), column.codes) if column.kind == "categorical" else column.codes
        return cls(codes, *axes(columns))

    @property
    def narrow(self) -> Array:
        """The codes in words of 16 bits where they fit: cuts wait for memory, and take half as long with half of it."""
        widest = int(np.diff(self.first).max(initial=0))
        return self.codes.astype(np.int16, copy=False) if widest <= np.iinfo(np.int16).max else self.codes


def narrow_type(sizes: Sequence[int]) -> np.dtype[Any]:
    """Return the type for codes of columns of these sizes: two bytes where that is enough, else four."""
    return np.dtype(np.int16 if max(sizes) < 1 << 15 else np.int32)


def axes(columns: Sequence[Column]) -> tuple[Integers, Integers, Floats]:
    """Return where each column's codes begin, whether its last one means missing, and the positions: by its values alone."""
    missing = np.array([int(column.has_missing and column.kind != "categorical") for column in columns], dtype=np.int64)
    first = np.concatenate(([0], np.cumsum([column.size for column in columns]))).astype(np.int64)
    position = np.zeros(int(first[-1]))
    for j, column in enumerate(columns):
        place = position[first[j] : first[j + 1]]
        if column.kind == "categorical":
            place[:] = np.arange(column.size) / max(column.size - 1, 1)
        else:
            place[: len(column.values)] = _on_a_line(column)
    return first, missing, position


def need_table(bounds: Bounds, scale: int = 1, most: int | None = None) -> tuple[Integers, Integers]:
    """Return the smallest group for every count of every event up to its own, exactly, and where each event's entries start.

    That is ⌈scale · count / bound⌉, and 0 for a bound of 1: it may fill any group, so it needs no room of its own. Whoever has
    only some of the people says how many they are at `most`: larger counts are then left out.
    """
    counts = [count if most is None else min(count, most) for count in bounds.event_counts]
    start = np.concatenate(([0], np.cumsum([count + 1 for count in counts]))).astype(np.int64)
    need = np.zeros(int(start[-1]), np.int64)
    for k, (count, limit) in enumerate(zip(counts, bounds.event_limits, strict=True)):
        if limit < 1:
            need[start[k] : start[k + 1]] = _ceilings(count, limit / scale)
    return need, start


def secret_of(sensitive: Array, bounds: Bounds) -> Secret:
    """Return the sensitive values and the sets of them as kernels see them; `sensitive` has a row for each of several columns."""
    codes = np.ascontiguousarray(np.atleast_2d(sensitive), dtype=np.int32)
    if len(codes) != max(1, len(bounds.apart)) or codes.max() >= len(bounds.values):
        raise ValueError("codes of sensitive values are those of the bounds, a row for each column")
    return Secret(codes, len(bounds.values), bounds.apart[0] if bounds.apart else len(bounds.values), *bounds.incidence)


def _ceilings(count: int, limit: Fraction) -> Integers:
    """Return ⌈k / limit⌉ for k = 0 … count."""
    over, under = limit.denominator, limit.numerator
    if count * over < _ENDLESS and under < _ENDLESS:
        found: Integers = -(-over * np.arange(count + 1) // under)
        return found
    return np.array([min(-(-(k * over) // under), _ENDLESS) for k in range(count + 1)], dtype=np.int64)


def column_weights(columns: Sequence[Column], weights: Mapping[str, float] | None) -> Floats:
    """Return a weight per column, 1 unless given; an unknown column or a weight that is not positive is an error."""
    given = dict(weights or {})
    names = [column.name for column in columns]
    for name, weight in given.items():
        if name not in names:
            raise PolicyError(f"weights: {name!r} is not a quasi column", hint=did_you_mean(name, names))
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise PolicyError(f"weights: {name!r} needs a positive number, got {weight!r}")
    return np.array([float(given.get(name, 1.0)) for name in names])


def cut_boxes(
    space: Space,
    sensitive: Array,
    bounds: Bounds,
    *,
    tight: bool,
    floor: int,
    weights: Floats,
) -> Grouping:
    """Return the boxes as a grouping. Boxes are disjoint in quasi space and hold at least `floor` people."""
    need, start = need_table(bounds)
    acceptance = (Tight if tight else Safe)(need, start, max(floor, 1))
    secret = secret_of(sensitive, bounds)
    rows = np.arange(secret.codes.shape[1], dtype=np.int32)
    return cut_space(space, secret, rows, acceptance, basis="tight" if tight else "safe", weights=weights)


def cut_space(
    space: Space,
    secret: Secret,
    rows: Small,
    acceptance: tuple[Any, ...] | Ledger,
    *,
    basis: Basis,
    weights: Floats,
    progress: Progress = silent,
) -> Grouping:
    """Return the boxes that are left when no cut is acceptable any more, numbered from left to right along the cuts.

    `rows` is the order in which an acceptance meets people; it is changed. The columns of a box are tried by falling weight ·
    width, equal ones in their own order. All processors cut boxes of one level at once; each box is cut by itself, so their
    number changes nothing.
    """

    codes = space.narrow

    def cut(low: Integers, high: Integers, level: tuple[Any, ...]) -> Integers:
        return cut_level(codes, secret, rows, low, high, space.first, space.missing, space.position, weights, level)

    low, high = np.array([0], dtype=np.int64), np.array([len(rows)], dtype=np.int64)
    final: list[tuple[Integers, Integers]] = []
    settled = 0
    while len(low):
        progress("cutting quasi space", settled / len(rows))
        where = cut(low, high, acceptance.level(low, high) if isinstance(acceptance, Ledger) else acceptance)
        if isinstance(acceptance, Ledger):
            late = acceptance.waiting
            where[late] = cut(low[late], high[late], acceptance.tossed(late, low[late], high[late]))
        done = where < 0
        if isinstance(acceptance, Ledger):
            acceptance.settle(low, done)
        final.append((low[done], high[done]))
        settled += int((high[done] - low[done]).sum())
        low, high = (
            np.stack([low[~done], where[~done]], axis=1).ravel(),
            np.stack([where[~done], high[~done]], axis=1).ravel(),
        )
    begins, ends = (np.concatenate(parts) for parts in zip(*final, strict=True))
    order = np.argsort(begins)
    group = put_back(np.repeat(np.arange(len(begins), dtype=np.int32), (ends - begins)[order]), rows)
    return Grouping(group, len(begins), basis, told=acceptance.told if isinstance(acceptance, Ledger) else None)


def _on_a_line(column: Column) -> Floats:
    """Return where the values of a numeric or date column lie between the smallest (0) and the largest (1)."""
    values = column.values
    if column.kind == "date":
        import pyarrow as pa

        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64) / 2  # the widest column has a finite width too
    width = numbers[-1] - numbers[0] if len(numbers) else 0.0
    return (numbers - numbers[0]) / width if width > 0 else np.zeros(len(numbers))
