"""Banded numbers in completed tables: the middle of each band, so that averages of other tools are right, and its edges.

A band is published as its lower edge, and an average over lower edges is too low by half a band. A quasi column of bands has the
middle of each person's band in its place, and two columns more, `age_low` and `age_high`, the least and largest number of the
band. Bins of a sensitive column stay texts and have three: `pay_middle`, `pay_low`, `pay_high`. A band without an end, such as
top-coded ages, has no middle: it is its edge and half of the usual width, that of the band in the middle of those with both ends
(`OpenBandWarning` says which); its missing edge is null. Dates stay the first day of their period.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrays import Flags, Floats
from sfumato.errors import QueryError
from sfumato.query.answer import free_names
from sfumato.query.language.numbers import Scale, scale_of
from sfumato.query.language.vocabulary import ColumnValues, Vocabulary


class OpenBandWarning(UserWarning):
    """A band without an end: what stands for its numbers is a convention."""


@dataclass(frozen=True, eq=False)
class Band:
    """The bands of one column: per value (the missing one last) what stands for it, and its edges."""

    words: ColumnValues
    scale: Scale
    whole: bool

    @classmethod
    def of(cls, vocabulary: Vocabulary, name: str) -> Band | None:
        """Return the bands of a column; None for one whose published values are no bands of numbers."""
        if name not in vocabulary.recoded:
            return None
        _, _, words = vocabulary.find(name)
        try:
            scale = scale_of(vocabulary, words, name)
        except QueryError:  # texts and dates
            return None
        ends = np.concatenate([scale.low, scale.high])
        return cls(words, scale, bool(pa.types.is_integer(words.type)) and bool((ends[np.isfinite(ends)] % 1 == 0).all()))

    @property
    def half(self) -> float:
        """Half of the usual width: that of the median band with both ends, 0 where there is none."""
        wide = (self.scale.high - self.scale.low)[self.closed]
        return float(np.median(wide)) / 2 if len(wide) else 0.0

    @property
    def closed(self) -> Flags:
        """Which values have both ends."""
        finite: Flags = np.isfinite(self.scale.low) & np.isfinite(self.scale.high)
        return finite

    @property
    def middle(self) -> Floats:
        """What stands for each value's numbers."""
        low, high = self.scale.low, self.scale.high
        middles: Floats = np.where(np.isinf(high), low + self.half, np.where(np.isinf(low), high - self.half, self.scale.middle))
        return middles

    def columns(self, shown: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Return middle, low and high of a column as it is published."""
        known = pa.array(list(self.words.values), shown.type)
        place = pc.index_in(shown, value_set=known)
        kind = pa.int64() if self.whole else pa.float64()
        values = len(self.words.values)
        edges = ([None if not np.isfinite(end) else end for end in ends[:values]] for ends in (self.scale.low, self.scale.high))
        low, high = (pa.array(edge, pa.float64()).cast(kind).take(place) for edge in edges)
        return pa.array(self.middle[:values], pa.float64()).take(place), low, high

    @property
    def said(self) -> str:
        """What stands for bands without an end, in words; "" where all have both."""
        values = len(self.words.values)
        low, high, middle = self.scale.low[:values], self.scale.high[:values], self.middle[:values]
        lines = [f"{edge:g} and more as {number:g}" for edge, number, end in zip(low, middle, high, strict=True) if np.isinf(end)]
        lines += [
            f"{edge:g} and less as {number:g}" for edge, number, end in zip(high, middle, low, strict=True) if np.isinf(end)
        ]
        return f"{self.words.name}: {' and '.join(lines)}" if lines else ""


def with_middles(columns: dict[str, pa.Array], vocabulary: Vocabulary, taken: tuple[str, ...]) -> dict[str, pa.Array]:
    """Return the columns with the middles and edges of banded numbers, under names that are not `taken`."""
    shown_columns: dict[str, pa.Array] = {}
    for name, shown in columns.items():
        band = Band.of(vocabulary, name)
        if band is None:
            shown_columns[name] = shown
            continue
        middle, low, high = band.columns(shown)
        more = {"low": low, "high": high}
        if band.words.is_text:
            shown_columns[name], more = shown, {"middle": middle, **more}
        else:
            shown_columns[name] = middle
        names = free_names((*taken, *shown_columns), (f"{name}_{figure}" for figure in more))
        shown_columns |= dict(zip(names, more.values(), strict=True))
    return shown_columns


def open_bands(vocabulary: Vocabulary) -> list[str]:
    """Return what stands for bands without an end, a line a column that has such."""
    bands = (Band.of(vocabulary, name) for name in vocabulary.place)
    return [band.said for band in bands if band is not None and band.said]
