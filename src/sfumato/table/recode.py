"""Recodings of columns: coarser values that are published instead of the original ones.

A recoding comes before anything else: groups, bounds, queries and claims only ever see the recoded column. It is applied to the
distinct values of a column, never to its rows, and leaves a missing value missing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import PolicyError, did_you_mean
from sfumato.exact import Number, exact, plain, typed
from sfumato.table.column import Kind
from sfumato.table.icd import chapter

_SMALL = 2**61
"""Whole numbers up to here can be added and subtracted in 64 bits."""

_LONGEST_PREFIX = 1_000_000

DateUnit = Literal["day", "week", "month", "quarter", "year"]


@dataclass(frozen=True, kw_only=True)
class Recode(ABC):
    """What all recodings share: the kind of column they need, what a policy calls them, how they are written down and applied."""

    needs: ClassVar[Kind]
    called: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the keys as a policy writes them; what has its default is left out."""
        given = {key.name: getattr(self, key.name) for key in fields(self) if getattr(self, key.name) != key.default}
        return {name: plain(value) if isinstance(value, Fraction) else copy(value) for name, value in given.items()}

    def apply(self, values: pa.Array, kind: Kind, column: str) -> tuple[pa.Array, Kind]:
        """Return the published value of each distinct value, and their kind."""
        if kind != self.needs:
            raise PolicyError(
                f"recode of {column!r}: {self.called} needs a {self.needs} column, and this one is {kind}",
                hint=f'for a {kind} column: {_FOR_KIND[kind]}; or types={{"{column}": "{self.needs}"}}',
            )
        return self._published(values), kind

    @abstractmethod
    def _published(self, values: pa.Array) -> pa.Array:
        """Return the published value of each distinct value of a column of the right kind."""


@dataclass(frozen=True, kw_only=True)
class Bands(Recode):
    """Numeric bands of one width, top-coding and bottom-coding, in any combination.

    A band is published as its lower edge and stays numeric: with `width=5` the value 30 means "30 to under 35". Everything from
    `top` on is published as `top`; everything that would be published below `bottom` is published as `bottom`. Edges are
    published as whole numbers only where all original numbers are whole too, so that a reader knows that 30 means "30 to 34".
    """

    needs, called = "numeric", "width, top or bottom"
    width: Number | None = None
    top: Number | None = None
    bottom: Number | None = None
    origin: Number = 0

    def __post_init__(self) -> None:
        for name in ("width", "top", "bottom", "origin"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, exact(given, name))
        if self.width is not None and exact(self.width) <= 0:
            raise PolicyError(f"width: a band must be wider than 0, got {plain(exact(self.width))}", hint="width = 5")
        if self.width is None and exact(self.origin) != 0:
            raise PolicyError("origin: it says where the bands start, so it needs a width", hint="add width = 5")
        if self.width is None and self.top is None and self.bottom is None:
            raise PolicyError("a numeric recoding needs width, top or bottom", hint="{ width = 5, top = 90 }")
        if self.top is not None and self.bottom is not None and exact(self.bottom) >= exact(self.top):
            raise PolicyError(
                f"bottom = {plain(exact(self.bottom))} must be below top = {plain(exact(self.top))}",
                hint="swap the two, or leave one out",
            )

    def with_width(self, width: Number) -> Bands:
        """Return bands of another width, whose ends are edges of theirs.

        An end that is none moves down to the edge of the band that holds it: that whole band is the last one then, and whoever
        was beyond the end stays together with all others there. Two ends within one band stay where they are.
        """
        made = replace(self, width=width)
        ends = {name: made.edge_below(end) for name in ("bottom", "top") if (end := getattr(self, name)) is not None}
        return made if len(ends) == 2 and ends["bottom"] == ends["top"] else replace(made, **ends)

    def edge_below(self, number: Number) -> Fraction:
        """Return where the band that holds a number starts."""
        width, origin = exact(self.width or 1), exact(self.origin)
        return origin + (exact(number) - origin) // width * width

    def _published(self, values: pa.Array) -> pa.Array:
        numbers = values.to_numpy(zero_copy_only=False)
        low = numbers if self.width is None else self._bands(numbers)
        if self.bottom is not None:
            low = np.maximum(low, _native(exact(self.bottom)))
        if self.top is not None:
            top = _native(exact(self.top))
            low = np.where(numbers >= top, top, low)
        return _numeric(low)

    def _bands(self, numbers: Any) -> Any:
        """Return the lower edge of each number's band; of what is published as `top` or `bottom` no band is looked for."""
        inside = numbers
        if numbers.dtype.kind == "f":
            low, high = (None if end is None else float(exact(end)) for end in (self.bottom, self.top))
            inside = numbers if low is None and high is None else np.clip(numbers, low, high)
        low = lower_edges(inside, exact(self.width or 1), exact(self.origin))
        return low if inside is numbers or _are_whole(numbers) else low.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class Rounded(Recode):
    """Numbers rounded to the nearest multiple of `round`, halves upwards."""

    needs, called = "numeric", "round"
    round: Number

    def __post_init__(self) -> None:
        object.__setattr__(self, "round", exact(self.round, "round"))
        if exact(self.round) <= 0:
            raise PolicyError(f"round: expected a step above 0, got {plain(exact(self.round))}", hint="round = 100")

    def _published(self, values: pa.Array) -> pa.Array:
        step = exact(self.round)
        # The nearest multiple of the step is the centre of the band of that width around it.
        low = lower_edges(values.to_numpy(zero_copy_only=False), step, -step / 2, shift=step / 2)
        return _numeric(low)


@dataclass(frozen=True, kw_only=True)
class Prefix(Recode):
    """The first `prefix` characters of a text, such as the region of a postcode."""

    needs, called = "categorical", "prefix"
    prefix: int

    def __post_init__(self) -> None:
        if isinstance(self.prefix, bool) or not isinstance(self.prefix, int) or not 1 <= self.prefix <= _LONGEST_PREFIX:
            raise PolicyError(f"prefix: expected a number of characters from 1 on, got {typed(self.prefix)}", hint="prefix = 2")

    def _published(self, values: pa.Array) -> pa.Array:
        return pc.utf8_slice_codeunits(values, 0, self.prefix)


@dataclass(frozen=True, kw_only=True)
class DateTo(Recode):
    """The first day of the day, week (Monday), month, quarter or year; still a date."""

    needs, called = "date", "to"
    to: DateUnit

    def __post_init__(self) -> None:
        if self.to not in get_args(DateUnit):
            raise PolicyError(f"to: unknown unit {self.to!r}", hint=did_you_mean(str(self.to), get_args(DateUnit)))

    def _published(self, values: pa.Array) -> pa.Array:
        days = pc.cast(values, pa.date32(), safe=False).to_numpy(zero_copy_only=False).astype("datetime64[D]")
        return pa.array(_FIRST_DAY[self.to](days).astype("datetime64[D]"), pa.date32())


@dataclass(frozen=True, kw_only=True)
class Regroup(Recode):
    """Categories grouped under new names; one that `map` does not name becomes `other`, or stays itself without `other`."""

    needs, called = "categorical", "map"
    map: Mapping[str, str] = field(default_factory=dict)
    other: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.map, Mapping) or not self.map:
            raise PolicyError("map: expected old value = new value, at least once", hint='map = { "ICU" = "intensive" }')
        if not all(isinstance(text, str) for pair in self.map.items() for text in pair):
            raise PolicyError("map: old and new values are texts", hint='map = { "1" = "north" }')
        if self.other is not None and not isinstance(self.other, str):
            raise PolicyError(f"other: expected a text, got {self.other!r}", hint='other = "rest"')
        object.__setattr__(self, "map", dict(self.map))

    def _published(self, values: pa.Array) -> pa.Array:
        rest = values if self.other is None else pa.array([self.other], pa.string()).take(pa.array([0] * len(values)))
        place = pc.index_in(values, value_set=pa.array(list(self.map), pa.string()))
        new = pa.array(list(self.map.values()), pa.string()).take(place)
        return pc.coalesce(new, rest)


@dataclass(frozen=True, kw_only=True)
class Icd(Recode):
    """The chapter of a code of an illness, by the 9th or 10th edition: the two use the letters E and V for different things."""

    needs, called = "categorical", "icd"
    icd: int

    def __post_init__(self) -> None:
        if isinstance(self.icd, bool) or self.icd not in (9, 10):
            raise PolicyError(f"icd: expected the edition, 9 or 10, got {typed(self.icd)}", hint="icd = 10")

    def _published(self, values: pa.Array) -> pa.Array:
        return pa.array([chapter(code, self.icd) for code in values.to_pylist()], pa.string())


_KEYS: dict[str, type[Recode]] = {
    key.name: kind for kind in (Bands, Rounded, Prefix, DateTo, Regroup, Icd) for key in fields(kind)
}
_FOR_KIND: dict[Kind, str] = {
    "numeric": '{"width": 5, "top": 90}',
    "categorical": '{"prefix": 2}, {"map": {…}, "other": "rest"} or {"icd": 10}',
    "date": '{"to": "month"}',
}
_FIRST_DAY: dict[str, Callable[[Any], Any]] = {
    "day": lambda days: days,
    "week": lambda days: days - (days.astype(np.int64) + 3) % 7,  # 1970-01-01 was a Thursday
    "month": lambda days: days.astype("datetime64[M]"),
    "quarter": lambda days: (
        days.astype("datetime64[M]") - (days.astype("datetime64[M]").astype(np.int64) % 3).astype("timedelta64[M]")
    ),
    "year": lambda days: days.astype("datetime64[Y]"),
}


def recoding(spec: Recode | Mapping[str, Any], column: str) -> Recode:
    """Return the recoding that the keys of a policy describe, such as `{"width": 5, "top": 90}`."""
    if isinstance(spec, Recode):
        return spec
    if not isinstance(spec, Mapping) or not spec:
        raise PolicyError(
            f"recode of {column!r}: expected keys such as {{ width = 5 }}, got {spec!r}",
            hint=f"known keys: {', '.join(_KEYS)}",
        )
    for key in spec:
        if key not in _KEYS:
            raise PolicyError(f"recode of {column!r}: unknown key {key!r}", hint=did_you_mean(str(key), _KEYS))
    makers = {_KEYS[key] for key in spec}
    if len(makers) > 1:
        raise PolicyError(
            f"recode of {column!r}: {', '.join(spec)} belong to different recodings", hint="choose one recoding a column"
        )
    try:
        return makers.pop()(**spec)
    except PolicyError as problem:
        raise PolicyError(f"recode of {column!r}: {problem.message}", hint=problem.hint) from None


def lower_edges(numbers: Any, width: Fraction, origin: Fraction, *, shift: Fraction = Fraction(0)) -> Any:
    """Return origin + k·width + shift for the largest k with origin + k·width ≤ number, for every number.

    The edges are exact rationals turned into the nearest float only to be compared: 0.3 lies in the band of 0.1 that starts at
    0.3, which dividing floats would miss.
    """
    if width.denominator == 1 and origin.denominator == 1 and numbers.dtype.kind == "i":
        low = _whole_edges(numbers, int(width), int(origin))
        return _whole(low + int(shift)) if shift.denominator == 1 else low + float(shift)
    with np.errstate(all="ignore"):
        near = np.floor((numbers - float(origin)) / float(width))
    if not (np.abs(near) < 2**53).all():
        raise PolicyError(f"bands of width {plain(width)} are too fine for these numbers", hint="choose a larger width")
    bands = np.unique(np.concatenate([near - 1, near, near + 1]))
    edges = np.array([_nearest(origin + int(band) * width) for band in bands])
    shown = np.array([_nearest(origin + int(band) * width + shift) for band in bands])
    low = shown[np.searchsorted(edges, numbers, side="right") - 1]
    if not np.isfinite(low).all():
        raise PolicyError(f"bands of width {plain(width)} start below the smallest number there is", hint="choose another origin")
    return low.astype(np.int64) if all(_are_whole(some) for some in (low, numbers)) else low


def _whole_edges(numbers: Any, step: int, start: int) -> Any:
    """Return the lower edges of bands of whole numbers, in Python's own numbers where 64 bits might not do."""
    ends = (int(numbers.min()), int(numbers.max())) if len(numbers) else ()
    if all(abs(number) < _SMALL for number in (start, step, *ends)):
        return (numbers - start) // step * step + start
    return _whole(np.array([(number - start) // step * step + start for number in numbers.tolist()], dtype=object))


def _whole(numbers: Any) -> Any:
    try:
        return numbers.astype(np.int64)
    except OverflowError:
        raise PolicyError(
            "a band starts below −2^63, where no column of whole numbers reaches", hint="choose another origin"
        ) from None


def _are_whole(numbers: Any) -> bool:
    return bool((numbers == np.floor(numbers)).all() and (np.abs(numbers) < _SMALL).all())


def _nearest(number: Fraction) -> float:
    """Return the nearest float, infinite where there is none."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _native(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 and abs(number) < 2**63 else float(number)


def _numeric(numbers: Any) -> pa.Array:
    return pa.array(numbers, pa.int64() if numbers.dtype.kind == "i" else pa.float64())
