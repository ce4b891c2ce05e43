"""The numbers that the values of a column stand for: themselves, or a stretch with a middle where they were recoded or binned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.arrays import Flags, Floats
from sfumato.errors import QueryError
from sfumato.query.language.meaning import meaning_for
from sfumato.query.language.spans import Spans
from sfumato.query.language.vocabulary import ColumnValues, Vocabulary


@dataclass(frozen=True, eq=False)
class Scale:
    """Per code of a column its representative, and the ends of the stretch that it stands for; NaN where it is missing.

    The representative of a stretch is its middle; one without an end has none, and is ±∞. A bin that clips numbers has the ends
    at which they are clipped, and `beyond` says that its numbers may lie beyond.
    """

    name: str
    middle: Floats
    low: Floats
    high: Floats
    beyond: Flags

    @property
    def known(self) -> Flags:
        """Which codes have a number."""
        return ~np.isnan(self.low)

    @property
    def spans(self) -> bool:
        """Whether some values stand for a stretch."""
        return bool((self.low[self.known] < self.high[self.known]).any())

    def require_ends(self, used: Flags, what: str) -> None:
        """Refuse what would need the representative of a stretch without an end."""
        if not np.isfinite(self.middle[used & self.known]).all():
            raise QueryError(
                f"{what}: {self.name!r} has open-ended bins, whose numbers are unknown",
                hint="ask for MEDIAN or QUANTILE, or exclude the open-ended bins by a condition",
            )


def scale_of(vocabulary: Vocabulary, words: ColumnValues, what: str) -> Scale:
    """Return the numbers of a column's codes; a column without numbers is refused."""
    if words.name in vocabulary.recoded:
        meaning = meaning_for(vocabulary, words.name)
        if isinstance(meaning, Spans) and not meaning.days:
            low = [float(start[0]) for start, _ in meaning.stretches]
            high = [float(end[0]) - (1.0 if meaning.whole and math.isfinite(end[0]) else 0.0) for _, end in meaning.stretches]
            beyond = [meaning.clip is not None and math.isinf(start - other) for start, other in zip(low, high, strict=True)]
            if meaning.clip is not None:
                low, high = (np.clip(ends, *meaning.clip).tolist() for ends in (low, high))
            return _made(words, low, high, beyond)
        raise _no_numbers(words, what)
    if not (pa.types.is_integer(words.type) or pa.types.is_floating(words.type) or pa.types.is_decimal(words.type)):
        raise _no_numbers(words, what)
    own = [float(value) for value in words.values]
    return _made(words, own, own, [False] * len(own))


def _made(words: ColumnValues, low: list[float], high: list[float], beyond: list[bool]) -> Scale:
    missing = [math.nan] * int(words.has_missing)
    first, last = np.array([*low, *missing]), np.array([*high, *missing])
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(first), first, np.where(np.isinf(last), last, (first + last) / 2))
    return Scale(words.name, middle, first, last, np.array([*beyond, *[False] * len(missing)]))


def _no_numbers(words: ColumnValues, what: str) -> QueryError:
    kind = "text" if words.is_text else str(words.type)
    return QueryError(f"{what} needs numbers; {words.name!r} holds {kind}", hint=f"SHARE({words.name} = …) and GROUP BY do not")
