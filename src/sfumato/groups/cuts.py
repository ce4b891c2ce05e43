"""Cuts of quasi space: recursive guillotine cuts over coded columns, for every method that cuts.

A *safe* cut is decided by quasi values and by the histogram of the box as a whole: it is made only if both sides would keep the
bounds however the box's values fell on its people, count(v) ≤ ⌊bound(v)·(smaller side)⌋ for every v with a bound below 1. A
*tight* cut is made if the two sides, as they are, keep the bounds; it looks at where values fell, and a refused one tells
something to a reader who reruns the program. A *soft* cut looks at the same, but is refused by coins, and every box keeps account
of what its refusals may have told (`soft.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Array, Flags, Floats, Integers, Small, put_back, taken
from sfumato.basis import BasisName
from sfumato.errors import PolicyError, did_you_mean
from sfumato.groups._cover_kernels import CoverRule
from sfumato.groups._cut_kernels import Incidence, Secret, cut_level
from sfumato.groups._mondrian_kernels import Classical
from sfumato.groups._rule_kernels import LEVELS, LOSSY, ORDERED, Axes, Even, Safe, TightCut
from sfumato.groups.category_order import category_places
from sfumato.groups.grouping import Grouping, need_table
from sfumato.groups.soft import Accounts, SoftTests, soft_rule
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Against
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness, SecureRandomness
from sfumato.table.column import Column

Cutting = Literal["safe", "tight", "soft"]
"""What decides about cuts, by the basis that boxes then have."""


@dataclass(frozen=True, eq=False)
class Space:
    """Quasi space as cuts see it: every column as ordered codes, and where on a line from 0 to 1 each code lies.

    Numbers and dates lie where they are. Categories have no place of their own: they are put in order by where their people
    lie in the other columns, so that neighbours in the order are similar people; but one level is cut from all others where that
    is even enough (`_rule_kernels.cut_of`). Only quasi values are looked at.

    Whoever stands first in the input changes nothing: a position is computed from the values of its own column alone, and the
    order of categories from counts, in integers. So are the widths that cuts compare: floats, but the same for any order of rows.
    """

    codes: Small  # [columns × rows]
    first: Integers  # first code of each column in `position`, one entry more than columns
    kind: Integers  # ORDERED, LOSSY or LEVELS, for each column
    position: Floats

    @classmethod
    def of(cls, columns: Sequence[Column], *, narrow: bool = False) -> Space:
        """Return the space of these columns; `narrow`, in the fewest bytes that kernels of cuts are compiled for."""
        kind = narrow_type([column.size for column in columns]) if narrow else np.dtype(np.int32)
        codes = np.empty((len(columns), len(columns[0].codes)), kind)
        for j, column in enumerate(columns):
            codes[j] = taken(category_places(j, columns), column.codes) if column.kind == "categorical" else column.codes
        return cls(codes, *axes(columns))

    def axes(self, weights: Floats) -> Axes:
        """Return the space without its people, with weights of the columns."""
        return Axes(self.first, self.kind, self.position, weights)

    @property
    def missing(self) -> Flags:
        """Of which columns the last code means missing."""
        lossy: Flags = self.kind == LOSSY
        return lossy

    @property
    def lines(self) -> Space:
        """The same space, in which levels of a category are cut as they lie on their line and never one from all others."""
        return replace(self, kind=on_lines(self.kind))

    @property
    def narrow(self) -> Array:
        """The codes in words of 16 bits where they fit: cuts wait for memory, and take half as long with half of it."""
        widest = int(np.diff(self.first).max(initial=0))
        return self.codes.astype(np.int16, copy=False) if widest <= np.iinfo(np.int16).max else self.codes


def narrow_type(sizes: Sequence[int]) -> np.dtype[Any]:
    """Return the type for codes of columns of these sizes: two bytes where that is enough, else four."""
    return np.dtype(np.int16 if max(sizes) < 1 << 15 else np.int32)


def on_lines(kind: Integers) -> Integers:
    """Return the kinds of columns with levels of categories as values in an order."""
    return np.where(kind == LEVELS, ORDERED, kind)


def axes(columns: Sequence[Column]) -> tuple[Integers, Integers, Floats]:
    """Return where each column's codes begin, of what kind they are, and the positions: by its values alone."""
    kinds = [LEVELS if column.kind == "categorical" else LOSSY if column.has_missing else ORDERED for column in columns]
    first = np.concatenate(([0], np.cumsum([column.size for column in columns]))).astype(np.int64)
    position = np.zeros(int(first[-1]))
    for j, column in enumerate(columns):
        place = position[first[j] : first[j + 1]]
        if column.kind == "categorical":
            place[:] = np.arange(column.size) / max(column.size - 1, 1)
        else:
            place[: len(column.values)] = _on_a_line(column)
    return first, np.array(kinds, dtype=np.int64), position


def secret_of(sensitive: Array | Incidence, bounds: Bounds) -> Secret | Incidence:
    """Return the sensitive values and the sets of them as kernels see them; `sensitive` has a row for each of several columns.

    Where people have any number of values, it has everybody's events, sets among them.
    """
    if isinstance(sensitive, Incidence):
        if sensitive.events != len(bounds.events):
            raise ValueError("events of people are those of the bounds")
        return sensitive
    codes = np.ascontiguousarray(np.atleast_2d(sensitive), dtype=np.int32)
    if len(codes) != len(bounds.secrets) or codes.max() >= bounds.valued:
        raise ValueError("codes of sensitive values are those of the bounds, a row for each column")
    return Secret(codes, bounds.valued, *bounds.incidence)


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


def accepting(
    bounds: Bounds,
    cutting: Cutting,
    floor: int,
    rule: SoftTests | None,
    random: Randomness,
    *,
    cover: CoverRule | None = None,
    most: int | None = None,
    **account: int,
) -> Safe | TightCut | Accounts:
    """Return what accepts cuts, whose sides must cover enough combinations where there is a `cover`.

    Whoever cuts only some of the people says how many they are at `most` and, for soft cuts, with what account they come: see
    `Accounts`.
    """
    if cutting == "soft":
        assert rule is not None
        return Accounts(bounds, rule, floor, random, cover=cover, most=most, **account)
    return (TightCut if cutting == "tight" else Safe)(*need_table(bounds, most=most), max(floor, 1), cover)


@dataclass(frozen=True)
class Cuts:
    """What decides about cuts, fixed before the first one; wherever the people of a box lie.

    `cutting` is the basis that boxes then have; ``"noisy"`` ones are cut by quasi values alone. Boxes hold at least `floor`
    people. Tight cuts may go by the ``"association"`` of columns with sensitive values. `soft` are the tests of soft cuts,
    `classical` what Mondrian accepts, in place of the rule of the basis; `alpha` is a bound on presence that every box keeps.
    """

    cutting: Cutting | Literal["noisy"]
    floor: int = 1
    weights: Mapping[str, float] | Literal["association"] | None = None
    soft: SoftTests | None = None
    classical: Classical | None = None
    alpha: Fraction | None = None

    @classmethod
    def against(
        cls, against: Against, bounds: Bounds, *, floor: int, weights: Any, patience: int | None, alpha: Fraction | None = None
    ) -> Cuts:
        """Return the cuts that an adversary allows: tight against a reader, else soft, or safe where patience is 0."""
        soft = None if against == "reader" else soft_rule(bounds, patience)
        return cls("tight" if against == "reader" else "safe" if soft is None else "soft", floor, weights, soft, None, alpha)

    def accepting(
        self, bounds: Bounds, random: Randomness, *, cover: CoverRule | None = None, most: int | None = None, **account: int
    ) -> tuple[Any, ...] | Accounts:
        """Return what accepts these cuts: see `accepting`."""
        if self.cutting == "noisy":
            return Even(self.floor)
        if self.classical is not None:
            need, start = need_table(bounds, most=most)
            return self.classical._replace(need=need, start=start)
        return accepting(bounds, self.cutting, self.floor, self.soft, random, cover=cover, most=most, **account)


def cut_boxes(
    space: Space,
    sensitive: Array | Incidence,
    bounds: Bounds,
    *,
    tight: bool,
    floor: int,
    weights: Floats,
    soft: SoftTests | None = None,
    random: Randomness | None = None,
    cover: CoverRule | None = None,
    strata: Array | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return the boxes of tight or safe cuts, or of soft ones with coins, as a grouping.

    Boxes are disjoint in quasi space and hold at least `floor` people. People of different `strata` never share a box: each
    stratum is cut by itself, and begins with a whole account.
    """
    cutting: Cutting = "tight" if tight else "safe" if soft is None else "soft"
    acceptance = accepting(bounds, cutting, floor, soft, random or SecureRandomness(), cover=cover)
    secret = secret_of(sensitive, bounds)
    rows, begins = in_strata(space.codes.shape[1], strata)
    return cut_space(space, secret, rows, acceptance, basis=cutting, weights=weights, begins=begins, progress=progress)


def in_strata(people: int, strata: Array | None) -> tuple[Small, Integers]:
    """Return everybody in the order of strata, and where each stratum begins; all in one where there are none."""
    if strata is None:
        return np.arange(people, dtype=np.int32), np.zeros(1, np.int64)
    sizes = np.bincount(strata)
    sizes = sizes[sizes > 0]
    return np.argsort(strata, kind="stable").astype(np.int32), np.cumsum(sizes) - sizes


def cut_space(
    space: Space,
    secret: Secret | Incidence,
    rows: Small,
    acceptance: tuple[Any, ...] | Accounts,
    *,
    basis: BasisName,
    weights: Floats,
    begins: Integers | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return the boxes that are left when no cut is acceptable any more, numbered from left to right along the cuts.

    `rows` is the order in which an acceptance meets people; it is changed. The columns of a box are tried by falling weight ·
    width, equal ones in their own order. Where `begins` says where strata begin, these are cut. All processors cut boxes of one
    level at once; each box is cut by itself, so their number changes nothing.
    """
    codes, axes = space.narrow, space.axes(weights)

    def cut(low: Integers, high: Integers) -> Integers:
        if not isinstance(acceptance, Accounts):
            return cut_level(codes, axes, secret, rows, low, high, acceptance)
        where = cut_level(codes, axes, secret, rows, low, high, acceptance.level(low, high))
        late = acceptance.waiting
        tossed = acceptance.tossed(late, low[late], high[late])
        where[late] = cut_level(codes, axes, secret, rows, low[late], high[late], tossed)
        acceptance.settle(low, where < 0)
        return where

    if isinstance(acceptance, Accounts) and begins is not None:
        acceptance.begin_with(len(begins))
    final = [(low[where < 0], high[where < 0]) for low, high, where in cut_levels(len(rows), cut, progress, begins)]
    begins, ends = (np.concatenate(parts) for parts in zip(*final, strict=True))
    order = np.argsort(begins)
    group = put_back(np.repeat(np.arange(len(begins), dtype=np.int32), (ends - begins)[order]), rows)
    return Grouping(group, len(begins), basis, account=acceptance.account if isinstance(acceptance, Accounts) else None)


CutLevel = tuple[Integers, Integers, Integers]
"""Where the boxes of a level begin and end, and where each is cut, −1 for a final one."""


def cut_levels(
    people: int,
    cut: Callable[[Integers, Integers], Integers],
    progress: Progress = silent,
    begins: Integers | None = None,
) -> Iterator[CutLevel]:
    """Cut everybody, and both sides of every cut, until nothing is cut any more; `cut(low, high)` says where boxes are cut."""
    low = np.zeros(1, np.int64) if begins is None else begins
    high = np.append(low[1:], people)
    settled = 0
    while len(low):
        progress("cutting quasi space", settled / people)
        where = cut(low, high)
        yield low, high, where
        parted = where >= 0
        settled += int((high - low)[~parted].sum())
        low, high = (np.stack(ends, axis=1)[parted].ravel() for ends in ((low, where), (where, high)))


def tree_of(levels: Iterable[CutLevel]) -> tuple[Integers, Integers, Integers]:
    """Return where all boxes begin and end, level by level, and the two that each was cut into, −1 for a final one."""
    low, high, where = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    sides = np.full((len(where), 2), -1, np.int64)
    sides[where >= 0] = 1 + np.arange(2 * int((where >= 0).sum())).reshape(-1, 2)
    return low, high, sides


def _on_a_line(column: Column) -> Floats:
    """Return where the values of a numeric or date column lie between the smallest (0) and the largest (1)."""
    values = column.values
    if column.kind == "date":
        import pyarrow as pa

        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64) / 2  # the widest column has a finite width too
    width = numbers[-1] - numbers[0] if len(numbers) else 0.0
    return (numbers - numbers[0]) / width if width > 0 else np.zeros(len(numbers))
