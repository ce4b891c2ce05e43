"""Published values that stand for a stretch of numbers or days: bands, rounded numbers, months, bins.

Ends of stretches and conditions are *keys* (x, 0) "at x" and (x, 1) "just after x", so that every stretch runs from one key to
before another, whichever ends belong to it. Whole numbers and days only ever need (x, 0).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.arrays import Flags
from sfumato.errors import QueryError
from sfumato.query.language.portions import Portions, share_text
from sfumato.query.language.predicate import Atom, Between, In, Like, Missing, Value
from sfumato.query.language.vocabulary import ColumnValues, fit, like, note_absent, plain_number, written
from sfumato.table.column import as_text

RealNumber = int | float
Key = tuple[RealNumber, int]
Stretch = tuple[Key, Key]

_FIRST: Key = (-math.inf, 0)
_LAST: Key = (math.inf, 1)
_AFTER_ZERO: Key = (0, 1)
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Spans:
    """The stretch of original values behind each published value; `whole` for whole numbers and days.

    `published` is how the column is published, for messages. `bins` is true where the values are texts such as "[0, 10)" and the
    original values numbers. Original numbers are assumed to be evenly spread over a stretch with two ends; in a bin from 0 to at
    most 1, of which a question tells 0 from the rest, all are taken as 0: nothing there. In a stretch without an end, such as
    top-coded values, half are counted for a range and none for a single value. Bins that `clip` numbers have no end there, and
    their numbers are taken as spread up to where they are clipped.
    """

    words: ColumnValues
    stretches: tuple[Stretch, ...]
    whole: bool
    published: str
    bins: bool = False
    clip: tuple[float, float] | None = None

    @cached_property
    def order(self) -> list[int]:
        """The codes, ascending by their stretch."""
        return sorted(range(len(self.stretches)), key=lambda code: self.stretches[code])

    @cached_property
    def starts(self) -> list[Key]:
        """The starts of the stretches, ascending."""
        return [self.stretches[code][0] for code in self.order]

    @property
    def days(self) -> bool:
        """Whether the original values are dates."""
        return bool(self.words.values) and isinstance(self.words.values[0], date)

    def split(self, atoms: Sequence[Atom], notes: list[str]) -> Portions:
        """Return the portions that these conditions cut the stretches into."""
        wanted = {atom: self._wanted(atom, notes) for atom in atoms}
        cuts: dict[int, set[Key]] = {}
        for stretches in wanted.values():
            for key in {end for stretch in stretches for end in stretch}:
                i = bisect_right(self.starts, key) - 1
                if i >= 0 and self.starts[i] < key < self.stretches[self.order[i]][1]:
                    cuts.setdefault(self.order[i], set()).add(key)
        keys, shares, pieces = [], [], np.ones(self.words.size, np.int64)
        for code in self.order:
            start, end = self.stretches[code]
            ends = [start, *sorted(cuts.get(code, ())), end]
            pieces[code] = len(ends) - 1
            keys += ends[:-1]
            shares.append(self._shares(ends))
        accepted = {atom: self._accept(atom, stretches, keys, pieces) for atom, stretches in wanted.items()}
        by_code = dict(zip(self.order, shares, strict=True))
        listed = [share for code in range(len(self.stretches)) for share in by_code[code]]
        first = np.concatenate([[0], np.cumsum(pieces)]).astype(np.int64)
        return Portions(first, np.array([*listed, *[1.0] * self.words.has_missing]), accepted)

    def explain(self, portions: Portions, accepted: Flags) -> str:
        """Return how values that are partly inside are counted, and the nearest conditions that are exact."""
        known: list[tuple[str, str]] = []
        open_ended: list[tuple[str, str]] = []
        nothing: list[str] = []
        for code in sorted(map(int, portions.partly(accepted)), key=lambda code: self.stretches[code]):
            finite = self.clip is not None or all(math.isfinite(end[0]) for end in self.stretches[code])
            inside = portions.inside(accepted, code)
            if inside in (0.0, 1.0) and self._at_zero(self.stretches[code]):
                nothing.append(self._label(code))
                continue
            share = share_text(inside) if inside or finite else "none"
            (known if finite else open_ended).append((self._label(code), share))
        remarks = []
        if known:
            listed = [f"{label} is counted by the share {share} that is inside" for label, share in known[:_NAMED]]
            remarks.append("; ".join(listed) + (f"; so are {len(known) - _NAMED} more" if len(known) > _NAMED else ""))
        remarks += [f"{label} is taken as 0: how many of it have more is not known" for label in nothing]
        remarks += [f"how many of {label} are inside is not known, {share} of them is counted" for label, share in open_ended]
        sets = [self._condition(mask) for mask in (portions.sure(accepted), portions.possible(accepted))]
        exact = list(dict.fromkeys(text for text in sets if text))
        ask = f"; ask for {' or for '.join(exact)} for an exact condition" if exact else "; conditions on whole values are exact"
        return f"{self.words.name} is published {self.published}: {'; '.join(remarks)}{ask}"

    def _shares(self, ends: Sequence[Key]) -> list[float]:
        """Return the share of each portion of a stretch."""
        if _AFTER_ZERO in ends[1:-1] and self._at_zero((ends[0], ends[-1])):
            return [float(end == _AFTER_ZERO) for end in ends[1:]]
        if self.clip is None:
            return _shares(ends, whole=self.whole)
        low, high = self.clip
        held = [min(max(end, (low, 0)), (high, 1)) for end in ends]
        if held[0][0] < held[-1][0]:
            return _shares(held, whole=self.whole)
        return [float(start < end) for start, end in pairwise(held)]  # one number alone: the portion that has it

    def _at_zero(self, stretch: Stretch) -> bool:
        """Return whether a stretch is a bin from 0 to at most 1, where numbers are clipped to 0 one with those below too."""
        start = stretch[0] if self.clip is None else max(stretch[0], (self.clip[0], 0))
        return self.bins and start == (0, 0) and _AFTER_ZERO < stretch[1] <= (1, 0)

    def _accept(self, atom: Atom, stretches: Sequence[Stretch], keys: list[Key], pieces: Any) -> Flags:
        """Return which portions, in the order of codes, lie in the wanted stretches; the missing one comes last."""
        inside = np.zeros(len(keys), bool)
        for start, end in stretches:
            inside[bisect_left(keys, start) : bisect_left(keys, end)] = True
        parts: list[Flags] = [inside[:0]] * len(self.order)
        place = 0
        for code in self.order:
            parts[code] = inside[place : place + pieces[code]]
            place += int(pieces[code])
        if self.words.has_missing:
            parts.append(np.array([isinstance(atom, Missing)]))
        return np.concatenate(parts) if parts else inside

    def _wanted(self, atom: Atom, notes: list[str]) -> list[Stretch]:
        if isinstance(atom, Missing):
            return []
        if isinstance(atom, In):
            return [stretch for value in atom.values for stretch in self._equal(value, atom, notes)]
        if isinstance(atom, Like):
            if not self.bins:
                raise QueryError(f"LIKE needs a text column; {self.words.name!r} holds {self.words.type}", hint="use BETWEEN")
            pattern = like(atom.pattern)
            return [self.stretches[code] for code, label in enumerate(self.words.values) if pattern.fullmatch(label)]
        low = _FIRST if atom.low is None else self._key(atom.low, atom, after=atom.strict_low)
        high = _LAST if atom.high is None else self._key(atom.high, atom, after=not atom.strict_high)
        return [(low, high)] if low < high else []

    def _equal(self, value: Value, atom: In, notes: list[str]) -> list[Stretch]:
        """Return the stretch of one value; the first day of a longer period, or the text of a bin, is the whole of it."""
        if self.bins and isinstance(value, str):
            code = self.words.code.get(value)
            if code is None:
                note_absent(notes, self.words, value, f"its bins are {self._bins()}")
                return []
            return [self.stretches[code]]
        if self.days:
            day = fit(value, self.words, atom)
            code = self.words.code.get(day)
            if code is not None and self.stretches[code][1][0] - self.stretches[code][0][0] > 1:
                notes.append(
                    f"{self.words.name} is published {self.published}: {day} is taken as the whole of {self._label(code)}"
                )
                return [self.stretches[code]]
        start, end = self._key(value, atom, after=False), self._key(value, atom, after=True)
        return [(start, end)] if start < end else []

    def _key(self, value: Value, atom: Atom, *, after: bool) -> Key:
        """Return the key at a value, or just after it: the first that is not below, or the first that is above."""
        if self.bins and (isinstance(value, bool) or not isinstance(value, (int, float, Decimal))):
            raise QueryError(
                f"column {self.words.name!r} is published {self.published}; ranges of it are asked in numbers, not {value!r}",
                hint=f"its bins are {self._bins()}",
            )
        held: Any = plain_number(value, self.words.name) if self.bins else fit(value, self.words, atom)  # type: ignore[arg-type]
        number: RealNumber = held.toordinal() if isinstance(held, date) else held
        if self.whole and math.isfinite(number):
            return (math.floor(number) + 1 if after else math.ceil(number), 0)
        return (number, int(after))

    def _bins(self) -> str:
        return ", ".join(self.words.values[code] for code in self.order)

    def _label(self, code: int) -> str:
        if self.bins:
            return str(self.words.values[code])
        (start, _), (end, _) = self.stretches[code]
        if self.days:
            return _period(date.fromordinal(int(start)), date.fromordinal(int(end) - 1))
        if math.isinf(end):
            return f"{as_text(start)} and more"
        last = f"{as_text(end - 1)}" if self.whole else f"under {as_text(end)}"
        if math.isinf(start):
            return f"up to {last}" if self.whole else last
        return f"{as_text(start)}–{last}" if self.whole else f"{as_text(start)} to {last}"

    def _condition(self, chosen: Flags) -> str:
        """Return a range of whole values as SQL, "" where it is none."""
        places = [i for i, code in enumerate(self.order) if chosen[code]]
        if not places or places != list(range(places[0], places[-1] + 1)):
            return ""
        (low, after), (high, closed) = self.stretches[self.order[places[0]]][0], self.stretches[self.order[places[-1]]][1]
        show: Callable[[RealNumber], Any] = (lambda x: date.fromordinal(int(x))) if self.days else (lambda x: x)
        atom = Between(
            self.words.name,
            None if places[0] == 0 or math.isinf(low) else show(low),
            None if places[-1] == len(self.order) - 1 or math.isinf(high) else show(high - 1 if self.whole else high),
            strict_low=bool(after),
            strict_high=not self.whole and not closed,
        )
        if atom.low is None and atom.high is None:
            return f"{self.words.name} IS NOT NULL"
        return written(atom, lambda value: f"'{value}'" if isinstance(value, date) else as_text(value))


def _shares(ends: Sequence[Key], *, whole: bool) -> list[float]:
    """Return the share of each portion: its length where the stretch has two ends; else equal parts, none for single values."""
    length = ends[-1][0] - ends[0][0]
    if len(ends) == 2:
        return [1.0]
    if math.isinf(length):
        wide = [high[0] - low[0] > int(whole) for low, high in pairwise(ends)]
        return [float(is_wide) / sum(wide) for is_wide in wide]
    return [(high[0] - low[0]) / length for low, high in pairwise(ends)]


def _period(first: date, last: date) -> str:
    if first.day == 1 and first.month == 1 and (last.month, last.day) == (12, 31):
        return f"{first:%Y}"
    return f"{first:%Y-%m}" if first.day == 1 and first.month == last.month else f"{first} to {last}"
