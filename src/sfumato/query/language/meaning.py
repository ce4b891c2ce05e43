"""What the published values of a recoded column stand for, from what the manifest declares.

Conditions are understood in original terms: `age = 37` means people of 37, although 35 is published for 35 to 39. A number in a
condition is always an original one, so `age = 35` means people of 35 and not the band. Where a published form cannot be taken for
anything else, it means everybody behind it, and the answer says so in a note: a text no longer than the published beginning
(`postcode = '46'`), the name of a group of categories, the text of a bin, and a date that is asked for by `=` or IN and is the
first day of a published period. In comparisons (`admitted >= '2024-03-10'`) dates are days.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pyarrow as pa

from sfumato.errors import FormatError
from sfumato.exact import exact, plain
from sfumato.query.language.portions import Meaning
from sfumato.query.language.spans import RealNumber, Spans, Stretch
from sfumato.query.language.texts import Categories, Prefixes
from sfumato.query.language.vocabulary import ColumnValues, Vocabulary
from sfumato.table.bins import Bins
from sfumato.table.recode import Bands, DateTo, DateUnit, Prefix, Regroup, Rounded
from sfumato.table.schema import Schema


def meaning_for(vocabulary: Vocabulary, name: str) -> Meaning:
    """Return what the published values of a recoded column stand for, made on first use."""
    if name not in vocabulary.meanings:
        assert vocabulary.declared is not None
        vocabulary.meanings[name] = meaning_of(vocabulary.find(name)[2], vocabulary.declared)
    meaning: Meaning = vocabulary.meanings[name]
    return meaning


def meaning_of(words: ColumnValues, declared: Schema) -> Meaning:
    """Return what a column's published values stand for; a column that cannot be such is refused."""
    bins, recode = declared.bins_of(words.name), declared.recoding(words.name)
    if bins is not None:
        return _bins(words, bins)
    if isinstance(recode, (Prefix, Regroup)):
        if not words.is_text:
            raise _disagree(words)
        return Prefixes(words, recode.prefix) if isinstance(recode, Prefix) else _categories(words, recode)
    if isinstance(recode, DateTo):
        return _dates(words, recode.to)
    if not (pa.types.is_integer(words.type) or pa.types.is_floating(words.type)):
        raise _disagree(words)
    if isinstance(recode, Rounded):
        step = exact(recode.round)
        spans = [_band(value, step, -step / 2, step / 2, words) for value in words.values]
        return _numbers(words, spans, f"rounded to multiples of {plain(step)}")
    assert isinstance(recode, Bands)
    published = [] if recode.width is None else [f"in bands of {plain(exact(recode.width))}"]
    published += [] if recode.bottom is None else [f"from {plain(exact(recode.bottom))} on"]
    published += [] if recode.top is None else [f"up to {plain(exact(recode.top))}"]
    return _numbers(words, [_banded(value, recode, words) for value in words.values], " ".join(published))


def _numbers(words: ColumnValues, spans: list[tuple[RealNumber, RealNumber, bool]], published: str) -> Spans:
    """Return spans (low, high, high included?) of numbers: whole ones where whole numbers are published.

    A recoding publishes whole numbers only where all original ones are whole.
    """
    whole = bool(pa.types.is_integer(words.type))
    return Spans(words, tuple(_stretch(low, high, closed, whole=whole) for low, high, closed in spans), whole, published)


def _stretch(low: RealNumber, high: RealNumber, closed: bool, *, whole: bool) -> Stretch:
    if not whole:
        return (low, 0), (high, int(closed))
    first = math.ceil(low) if math.isfinite(low) else low
    last = high if math.isinf(high) else math.floor(high) + 1 if closed else math.ceil(high)
    return (first, 0), (last, 0)


def _banded(value: Any, recode: Bands, words: ColumnValues) -> tuple[RealNumber, RealNumber, bool]:
    width, origin = recode.width, exact(recode.origin)
    top = math.inf if recode.top is None else _native(exact(recode.top))
    if value == top:
        return top, math.inf, False
    if recode.bottom is not None and value == _native(exact(recode.bottom)):
        if width is None:
            return -math.inf, value, True
        # Bands that start below the bottom are published as the bottom, up to where the band that holds it ends.
        step, bottom = exact(width), exact(recode.bottom)
        end = origin + (math.floor((bottom - origin) / step) + 1) * step
        return -math.inf, min(_native(end), top), False
    if width is None:
        return value, value, True
    low, high, closed = _band(value, exact(width), origin, Fraction(0), words)
    return low, min(high, top), closed


def _band(
    value: Any, width: Fraction, origin: Fraction, shift: Fraction, words: ColumnValues
) -> tuple[RealNumber, RealNumber, bool]:
    """Return the band that is published as origin + k·width + shift; edges are compared as the nearest float, as in recoding."""
    k = round((Fraction(value) - shift - origin) / width)
    start = origin + k * width
    if _native(start + shift) != value:
        raise _disagree(words)
    return _native(start), _native(start + width), False


def _dates(words: ColumnValues, unit: DateUnit) -> Spans:
    if not pa.types.is_date(words.type):
        raise _disagree(words)
    stretches: list[Stretch] = []
    for day in words.values:
        if _FIRST[unit](day) != day:
            raise _disagree(words)
        far = day + timedelta(days=_LONGEST[unit]) if (date.max - day).days >= _LONGEST[unit] else None
        end = date.max.toordinal() + 1 if far is None else _FIRST[unit](far).toordinal()
        stretches.append(((day.toordinal(), 0), (end, 0)))
    return Spans(words, tuple(stretches), True, f"by {unit}")


_FIRST: dict[DateUnit, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}
# So many days after its first day, a period of this kind is over and the next one is not.
_LONGEST: dict[DateUnit, int] = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}


def _bins(words: ColumnValues, bins: Bins) -> Spans:
    known = dict(zip(bins.labels, range(len(bins.labels)), strict=True))
    edges = [float(edge) for edge in bins.edges]
    stretches: list[Stretch] = []
    for label in words.values:
        if label not in known:
            raise _disagree(words)
        place = known[label]
        last = place == len(known) - 1
        start, end = (edges[place], int(bins.starts_after(place))), (edges[place + 1], int(last or bins.alone(place)))
        below, above = bins.clip is True and place == 0, bool(bins.clip) and last
        stretches.append(((-math.inf, 0) if below else start, (math.inf, 1) if above else end))
    span = f"up to {edges[-1]:g}" if bins.clip == "above" else f"between {edges[0]:g} and {edges[-1]:g}"
    clipped = f" {span}, where numbers beyond count" if bins.clip else ""
    clip = (edges[0], edges[-1]) if bins.clip else None
    return Spans(words, tuple(stretches), False, f"in bins{clipped}", bins=True, clip=clip)


def _categories(words: ColumnValues, recode: Regroup) -> Categories:
    sources = tuple(tuple(old for old, new in recode.map.items() if new == name) for name in words.values)
    return Categories(words, sources, frozenset(recode.map), recode.other)


def _native(number: Fraction) -> RealNumber:
    return int(number) if number.denominator == 1 else float(number)


def _disagree(words: ColumnValues) -> FormatError:
    return FormatError(f"the column {words.name!r} does not have the values of the recoding that the manifest states")
