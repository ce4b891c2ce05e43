"""Records counted that are only *near* a person's values: how 003 §6 lets naive Bayes learn from synthetic records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.attacks.learned import Learned
from sfumato.release.coding import code_column, people_codes
from sfumato.release.parquet_meta import numbers_of
from sfumato.table.column import Column

NEAR, NEAR_CORRECTED = 0.1, 0.0495
"""The distances with which the paper's naive Bayes does best, without and with Laplace's correction."""


def near_values(release: Any, model: Learned, people: pa.Table, distance: float) -> Learned:
    """Return what synthetic records teach if a record counts for everybody whose value lies within `distance` of its own.

    Distance is that of numbers and dates as a part of the range that records have; a category is near itself alone. At 1 every
    number is near every other.
    """
    columns = tuple(code_column(column.name, column.kind, people[column.name]) for column in release.quasi)
    tables = tuple(
        _table(own, shown, table, distance) for own, shown, table in zip(columns, release.quasi, model.tables, strict=True)
    )
    return Learned(model.totals, tables, lambda who: people_codes(columns, who))


def _table(own: Column, shown: Column, counts: Floats, distance: float) -> Floats:
    """Return [values of people × sensitive values]: how many records with each lie near."""
    if own.kind == "categorical":
        place = {label: code for code, label in enumerate(shown.labels())}
        rows = [counts[place[label]] if label in place else np.zeros(counts.shape[1]) for label in own.labels()]
        return np.array(rows)
    mine, theirs = numbers_of(own.values).astype(np.float64), numbers_of(shown.values).astype(np.float64)
    reach = distance * (theirs.max() - theirs.min()) if len(theirs) else 0.0
    ahead = np.concatenate((np.zeros((1, counts.shape[1])), np.cumsum(counts[: len(theirs)], axis=0)))
    first, last = np.searchsorted(theirs, mine - reach, side="left"), np.searchsorted(theirs, mine + reach, side="right")
    near = ahead[last] - ahead[first]
    if own.has_missing:
        absent = counts[len(theirs) :].sum(axis=0, keepdims=True)
        near = np.concatenate((near, absent))
    found: Floats = near
    return found
