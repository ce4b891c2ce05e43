"""Values that probably stand for a missing one: "?", "-", 999. They are asked about, and never taken for missing unasked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.table.coding import split
from sfumato.table.column import as_text

SIGNS = frozenset(
    (
        "?", "??", "-", "--", "---", ".", "..", "...", "*", "**", "na", "n/a", "n.a.", "n/k", "nk", "nan", "null", "(null)",
        "#n/a", "missing", "unknown", "unk", "not known", "not available", "not applicable", "no answer", "refused", "unbekannt",
        "k.a.", "k. a.", "keine angabe", "inconnu", "nd", "n.d.", "desconocido", "sin dato", "s/d",
    )
)  # fmt: skip
"""Texts that often stand for "no value", in lower case."""

CODES = (
    -1, -7, -8, -9, -77, -88, -99, -999, -9999, 77, 88, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999,
)  # fmt: skip
_FAR, _GAP = 3, 3
"""A number is suspected where it lies beyond all others by this many times their span, or is the only negative one; nines, where
more than so many numbers before them do not occur."""


@dataclass(frozen=True)
class Gap:
    """A value of a column that may mean "missing", as text, and how many rows have it."""

    column: str
    value: str
    rows: int


def missing_suspects(table: pa.Table) -> list[Gap]:
    """Return the values that probably stand for missing ones, in the order of the columns; `[input] null` settles them."""
    gaps: list[Gap] = []
    for name in table.column_names:
        values, codes = split(table[name])
        counts = np.bincount(codes, minlength=len(values))
        texts = pt.is_string(values.type) or pt.is_large_string(values.type)
        numbers = pt.is_integer(values.type) or pt.is_floating(values.type)
        if texts:
            suspects = [place for place, text in enumerate(values.to_pylist()) if text and text.strip().casefold() in SIGNS]
        else:
            suspects = _far_codes(values) if numbers else []
        if len(suspects) < len(values):
            gaps += [Gap(name, as_text(values[place].as_py()), int(counts[place])) for place in suspects if counts[place]]
    return gaps


def _far_codes(values: pa.Array) -> list[int]:
    """Return the places of numbers that are often codes for "missing" and lie apart from all the others."""
    numbers = values.to_numpy(zero_copy_only=False).astype(float)
    usual = ~np.isin(numbers, CODES) & ~np.isnan(numbers)
    if not usual.any():
        return []
    low, high = float(numbers[usual].min()), float(numbers[usual].max())
    span = max(high - low, 1.0)
    apart = (numbers > high + _FAR * span) | ((numbers < 0) & (low >= 0)) | (numbers < low - _FAR * span)
    # 99 after ages up to 91 is not far, but a gap before nines says enough.
    nines = (numbers > high + max(0.05 * span, _GAP)) & np.isin(numbers, (99, 999, 9999, 99999, 999999))
    return [int(place) for place in np.flatnonzero(np.isin(numbers, CODES) & (apart | nines))]
