"""How a draft reads and publishes single columns: the kind, a recoding that blurs quasi values, bins for secret numbers.

Numbers are looked at by quantiles: no edge is the smallest or largest number of the table, which is somebody's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Integers
from sfumato.policy.codes import coded, edition
from sfumato.policy.profile import Profile, nice_width
from sfumato.policy.roles import is_category, is_place
from sfumato.table.bins import MOST_UNBINNED
from sfumato.table.coding import split
from sfumato.table.column import Kind

BANDED = 50
"""A quasi column with more different numbers than this is published in bands."""

FEWEST = 0.01
"""So large a share of people is in every band towards the ends, and about so large a share beyond the ends of bins."""

MOST_BEYOND = 0.1
"""No larger a share of people is put together at an end to make up for narrow bands there."""

_TENTHS = np.arange(1, 10) / 10
_QUARTERS = np.array([0.25, 0.5, 0.75])


def kind_of(column: Profile) -> Kind:
    """Return how a column is read: postcodes and codes without an order are texts."""
    return "categorical" if is_place(column) or is_category(column) or coded(column) else column.kind


def recode_of(column: Profile, values: pa.ChunkedArray) -> dict[str, Any]:
    """Return the recoding of a quasi column as a schema takes it; empty when none is needed."""
    if is_place(column):
        return {"prefix": 2} if column.distinct > 20 else {}
    if column.kind == "date":
        return {"to": "month"} if column.distinct > 12 else {}
    if kind_of(column) == "numeric" and column.distinct > BANDED and column.low is not None and column.high is not None:
        return bands_of(numbers_of(values), nice_width(column.low, column.high))
    return {}


def bands_of(numbers: Floats, width: float) -> dict[str, Any]:
    """Return bands of a width with ends drawn in until no band near them has fewer than about one in a hundred people."""
    edges, counts = np.unique(np.floor(numbers / width), return_counts=True)
    first = _drawn_in(counts)
    last = len(edges) - 1 - _drawn_in(counts[::-1])
    made: dict[str, Any] = {"width": toml_number(width)}
    if first > 0:
        made["bottom"] = toml_number(edges[first] * width)
    if first < last < len(edges) - 1:
        made["top"] = toml_number(edges[last] * width)
    return made


def _drawn_in(counts: Integers) -> int:
    """Return the band in which everybody below it counts too: at least a hundredth of people, and most of them a tenth.

    Of the bands that hold the first tenth of people, none that is left has fewer than a hundredth.
    """
    share = np.cumsum(counts) / counts.sum()
    enough = int(np.searchsorted(share, FEWEST))
    few = np.flatnonzero((counts < FEWEST * counts.sum()) & (share <= MOST_BEYOND))
    return max(enough, int(few[-1]) if len(few) else 0)


@dataclass(frozen=True)
class SecretBins:
    """Bins of a secret number: ascending edges with two ends, beyond which numbers count in the bins there. Where most people
    have nothing, `zero`, 0 stands twice among them: it is a bin of its own. `above` says that only numbers above are clipped."""

    edges: tuple[float, ...]
    zero: bool = False
    above: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """The bins as a schema takes them."""
        return {"edges": [toml_number(edge) for edge in self.edges], "clip": "above" if self.above else True}


def chapters_of(column: Profile) -> dict[str, Any]:
    """Return the recoding of a secret column of numbers that are codes of illnesses: their chapters; empty for any other."""
    return {"icd": edition(column)} if column.kind == "numeric" and coded(column) and edition(column) else {}


def bins_of(column: Profile, values: pa.ChunkedArray) -> SecretBins | None:
    """Return about ten bins of equal numbers of people; None when none are needed.

    Ends are multiples of a 1-2-5 step around the 1 % and 99 % points. Where half of people have zero, it is a bin of its own:
    whether somebody has anything can then be asked for. Ends with less than 1 % of people below zero begin at it.
    """
    if kind_of(column) != "numeric" or column.distinct <= MOST_UNBINNED:
        return None
    numbers = numbers_of(values)
    zero = float(np.mean(numbers == 0)) >= 0.5
    inside = numbers[numbers > 0] if zero else numbers
    if len(inside) < 2 or inside.min() == inside.max():
        inside, zero = numbers, False
    near = np.quantile(inside, (FEWEST, 1 - FEWEST))
    step = nice_width(*(near if near[0] < near[1] else (inside.min(), inside.max())))
    low, high = math.floor(near[0] / step) * step, math.ceil(near[1] / step) * step
    high = high if high > low else low + step
    cuts = np.quantile(inside, _QUARTERS if zero else _TENTHS)
    inner = {float(f"{cut:.2g}") for cut in cuts}
    if not zero:
        return SecretBins((round_off(low), *sorted(edge for edge in inner if low < edge < high), round_off(high)))
    below = numbers[numbers < 0]
    many = len(below) >= FEWEST * len(numbers)
    least = [-round_off(math.ceil(-np.quantile(below, FEWEST) / step) * step)] if many else []
    edges = (*least, 0.0, 0.0, *sorted(edge for edge in inner if 0 < edge < high), round_off(high))
    return SecretBins(edges, zero, above=not len(below))


def numbers_of(values: pa.ChunkedArray) -> Floats:
    """Return the numbers of a column, without missing ones."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    numbers: Floats = values.cast(kind).drop_null().cast(pa.float64(), safe=False).to_numpy()
    return numbers[np.isfinite(numbers)]


def round_off(number: float) -> float:
    """Return a multiple of a step as it would be typed: 0.3, and not 0.30000000000000004."""
    return float(f"{number:.12g}")


def toml_number(number: float) -> int | float:
    """Return a number as TOML writes it: whole ones without a point, as long as they fit in 64 bits."""
    number = round_off(float(number))
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def determined(column: pa.ChunkedArray, by: Sequence[pa.ChunkedArray]) -> int | None:
    """Return which of several columns determines another one: equal values there always go with equal ones here."""
    values = _codes(column)
    for place, other in enumerate(by):
        codes = _codes(other)
        pairs = len(np.unique(codes.astype(np.int64) * (int(values.max()) + 1) + values))
        many = len(np.unique(codes))
        if pairs == many and many * _SHARED <= len(codes):
            return place
    return None


_SHARED = 10
"""A column determines another one by chance where hardly anybody shares its values."""


def _codes(column: pa.ChunkedArray) -> Any:
    return split(column)[1]
