"""How a draft reads and publishes single columns: the kind, a recoding that blurs quasi values, bins for secret numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.policy.profile import Profile, nice_width
from sfumato.policy.roles import is_category, is_place
from sfumato.table.bins import MOST_UNBINNED
from sfumato.table.column import Kind


def kind_of(column: Profile) -> Kind:
    """Return how a column is read: postcodes and codes without an order are texts."""
    return "categorical" if is_place(column) or is_category(column) else column.kind


def recode_of(column: Profile) -> dict[str, object]:
    """Return the recoding of a quasi column as a schema takes it; empty when none is needed."""
    if is_place(column):
        return {"prefix": 2} if column.distinct > 20 else {}
    if column.kind == "date":
        return {"to": "month"} if column.distinct > 12 else {}
    if kind_of(column) == "numeric" and column.distinct > 50 and column.low is not None and column.high is not None:
        return {"width": toml_number(nice_width(column.low, column.high))}
    return {}


def bins_of(column: Profile, values: pa.ChunkedArray) -> Sequence[float]:
    """Return edges between about ten bins of equal numbers of people, rounded to two figures; empty when none are needed.

    A number that many people have, such as no income at all, is a bin of its own.
    """
    if column.kind != "numeric" or column.distinct <= MOST_UNBINNED:
        return []
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    numbers = values.cast(kind).drop_null().cast(pa.float64(), safe=False).to_numpy()
    numbers = np.sort(numbers[~np.isnan(numbers)])
    cuts = np.quantile(numbers, np.arange(1, 10) / 10)
    above = numbers[numbers > numbers[0]]
    if cuts[4] == numbers[0]:  # half of people have the lowest
        cuts = np.concatenate([above[:1], np.quantile(above, (0.25, 0.5, 0.75))])
    inner = sorted({edge for edge in (float(f"{cut:.2g}") for cut in cuts) if np.isfinite(edge) and edge > numbers[0]})
    return [float("-inf"), *inner, float("inf")]


def toml_number(number: float) -> int | float:
    """Return a number as TOML writes it: whole ones without a point, as long as they fit in 64 bits."""
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number
