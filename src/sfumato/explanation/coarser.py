"""One step coarser: what a quasi column would be with half the levels, or one level up its hierarchy, and what that costs.

The step is one that a policy can say: twice the width, one character less, month instead of week, the next level of a hierarchy
file, or the rarer half of the values under one name. What it gains is counted: people who are no longer unique. What it costs in
accuracy is measured by two figures of the table, since questions are not known:

misplaced
    the share of people who get another value when the coarser values are read evenly: ½ Σ |n_v − n_c / m_c| / n for the n_v
    people of a value v, one of the m_c values of the coarser value c. It is what a question about single values of the column is
    off by, on average over them and weighted by people, before anything else is blurred.
link lost
    the share of the mutual information of the column and the sensitive value that is gone: what cannot be learned any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Codes, Integers
from sfumato.errors import SfumatoError
from sfumato.exact import decimal_text, exact
from sfumato.table import Table
from sfumato.table.classes import counted
from sfumato.table.column import Column
from sfumato.table.recode import Bands, DateTo, Prefix, Recode, Regroup, Rounded
from sfumato.table.weight import WeightBins

REST = "other"
"""What rarer values put together are called."""

_UNITS = ("day", "week", "month", "quarter", "year")
_NICE = (1, 2, 5)


@dataclass(frozen=True, eq=False)
class CoarserColumn:
    """A coarser column: how a policy says it, how many levels it has, what it gains and what it costs."""

    column: Column
    recode: Recode
    misplaced: float
    link_lost: float
    unique: Fraction = Fraction(0)

    @property
    def levels(self) -> int:
        """How many values the coarser column has."""
        return self.column.size

    @property
    def text(self) -> str:
        """The step as a policy writes it: "width = 10", "prefix = 1"; of many renamed values only how many keep their name."""
        given = self.recode.to_dict()
        if "map" in given:
            many = len(given["map"])
            kept = "the most frequent value" if many == 1 else f"the {many} most frequent values"
            return f"{kept}, others as {REST!r}"
        return ", ".join(f"{name} = {_written(value)}" for name, value in given.items())

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "recode": self.recode.to_dict(),
            "levels": self.levels,
            "unique_share": float(self.unique),
            "misplaced": self.misplaced,
            "link_lost": self.link_lost,
        }


def coarser_step(table: Table, column: Column) -> CoarserColumn | None:
    """Return the next coarser version of a quasi column; None where there is none that a policy can say."""
    recode = _next(column, table.schema.recoding(column.name))
    if recode is None:
        return None
    try:
        coarse = table.recoded(column.name, recode)
    except SfumatoError:  # such as bands that would begin below all numbers
        return None
    if coarse.size >= column.size:
        return None
    own, values = table.bundles, len(table.sensitive.domain)
    secret = table.sensitive.codes
    fine, wide = column.codes, coarse.codes
    if own is not None:  # of people with several values every fact counts
        begin, secret = own.incidence()
        fine, wide = (np.repeat(codes, np.diff(begin)) for codes in (fine, wide))
    before = information(fine, column.size, secret, values)
    after = information(wide, coarse.size, secret, values)
    lost = max(0.0, 1.0 - after / before) if before > 1e-12 else 0.0
    return CoarserColumn(coarse, recode, misplaced(column.codes, column.size, coarse.codes), lost)


def misplaced(fine: Codes, size: int, coarse: Codes) -> float:
    """Return the share of people who get another value when every coarser value is read as evenly spread over its own."""
    pairs, times = counted(coarse.astype(np.int64) * size + fine, size * (int(coarse.max(initial=0)) + 1))
    whole = pairs // size
    people, members = np.bincount(whole, weights=times), np.bincount(whole)
    evenly = (people / np.maximum(members, 1))[whole]
    return float(0.5 * np.abs(times - evenly).sum() / len(fine))


def information(codes: Codes, size: int, secret: Codes, values: int) -> float:
    """Return the mutual information of a column and the sensitive value in nats, less what chance alone would show.

    Chance is taken off by Miller and Madow's correction; what is left may be 0, never negative.
    """
    people = len(codes)
    cells = counted(codes.astype(np.int64) * values + secret, size * values)[1]
    rows, columns = np.bincount(codes, minlength=size), np.bincount(secret, minlength=values)
    rows, columns = rows[rows > 0], columns[columns > 0]
    information = _entropy(rows, people) + _entropy(columns, people) - _entropy(cells, people)
    chance = (len(cells) - len(rows) - len(columns) + 1) / (2 * people)
    return max(0.0, information - chance)


def _entropy(times: Integers, people: int) -> float:
    share = times / people
    return float(-(share * np.log(share)).sum())


def _next(column: Column, recode: Recode | None) -> Recode | None:
    """Return the recoding one step coarser than the column is published now."""
    if isinstance(recode, WeightBins):
        return None  # [weight] has bins of its own
    up = getattr(recode, "coarser", None)
    if up is not None:
        return up()  # type: ignore[no-any-return]  # a hierarchy knows its own next level
    if isinstance(recode, Bands) and recode.width is not None:
        return recode.with_width(2 * exact(recode.width))
    if isinstance(recode, Rounded):
        return Rounded(round=2 * exact(recode.round))
    if isinstance(recode, Prefix):
        return Prefix(prefix=recode.prefix - 1) if recode.prefix > 1 else None
    if column.kind == "date":
        return _coarser_date(column, recode)
    if len(column.values) < 3:
        return None
    if column.kind == "numeric":
        return _bands(column, recode)
    return _shorter(column) or _rarer_together(column, recode)


def _coarser_date(column: Column, recode: Recode | None) -> Recode | None:
    now = _UNITS.index(recode.to) if isinstance(recode, DateTo) else 0
    return None if now == len(_UNITS) - 1 else DateTo(to=_UNITS[now + 1])  # type: ignore[arg-type]


def _bands(column: Column, recode: Recode | None) -> Recode | None:
    """Return bands of the smallest round width that leave half of the levels or fewer."""
    numbers = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    half, spread = len(numbers) // 2, float(numbers[-1] - numbers[0])
    if not np.isfinite(spread) or spread <= 0:
        return None
    power = int(np.floor(np.log10(spread / len(numbers))))
    for width in (Fraction(10) ** (power + more) * nice for more in range(8) for nice in _NICE):
        if len(np.unique(np.floor(numbers / float(width)))) <= max(half, 1):
            return recode.with_width(width) if isinstance(recode, Bands) else Bands(width=width)
    return None


def _shorter(column: Column) -> Recode | None:
    """Return the longest prefix that leaves half of the values or fewer, for codes: texts of one length with digits in them."""
    lengths = pc.utf8_length(column.values)
    longest = pc.max(lengths).as_py()
    if longest < 3 or pc.min(lengths).as_py() != longest or not pc.any(pc.match_substring_regex(column.values, r"\d")).as_py():
        return None
    for prefix in range(longest - 1, 0, -1):
        if pc.count_distinct(pc.utf8_slice_codeunits(column.values, 0, prefix)).as_py() <= len(column.values) // 2:
            return Prefix(prefix=prefix)
    return None


def _rarer_together(column: Column, recode: Recode | None) -> Recode | None:
    """Return the more frequent half of the values as they are, and the others under one name."""
    if isinstance(recode, Regroup) or not pa.types.is_string(column.values.type):
        return None  # the map of a policy names original values, which are not known here by their new names
    times = np.bincount(column.codes, minlength=column.size)[: len(column.values)]
    kept = np.sort(np.argsort(-times, kind="stable")[: (len(times) - 1) // 2])
    names = column.values.take(pa.array(kept)).to_pylist()
    return Regroup(map={name: name for name in names}, other=REST) if names else None


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else decimal_text(value) if isinstance(value, Fraction) else str(value)
