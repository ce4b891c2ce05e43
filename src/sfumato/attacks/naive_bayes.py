"""Naive Bayes: links between quasi and sensitive values learned from the release, and the likeliest value named (003 §6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.learned import LearnedCounts, learned
from sfumato.attacks.sight import Sight, distinct_rows
from sfumato.release.coding import code_column, people_codes
from sfumato.release.parquet_meta import numbers_of
from sfumato.table.column import Column

_NEAR = "near numbers counted too"


def naive_bayes(sight: Sight) -> Iterator[Posteriors]:
    """Yield Pr[s]·Π Pr[x | s] with Laplace's correction, without it, and restricted to values that her group shows.

    Of synthetic records those with numbers near hers count too, in two further ways.

    The prediction is *free*: it names what people like her have, whether or not she is in the table. So it is right for
    outsiders about as often, and only what it gains on members is told by their own records.
    """
    model, release = learned(sight), cast(Any, sight.release)
    alike, kind = sight.distinct
    away = None if sight.outsiders is None else distinct_rows(sight.outsiders)
    for correction, variant in ((1.0, ""), (0.0, "without correction")):
        beliefs = model.posterior(alike, correction)[kind]
        control = None if away is None else model.posterior(away[0], correction)[away[1]]
        yield Posteriors(beliefs, variant, control=control)
        if correction and release.shown_as.has_groups:
            yield Posteriors(_inside(beliefs, sight.reader), "restricted to the group")
    if not release.shown_as.of_people and any(column.kind != "categorical" for column in release.quasi):
        for correction, distance, variant in ((1.0, NEAR_CORRECTED, _NEAR), (0.0, NEAR, f"{_NEAR}, without correction")):
            everybody = sight.everybody if sight.outsiders is None else pa.concat_tables([sight.everybody, sight.outsiders])
            wide = near_values(release, model, everybody, distance)
            control = None if away is None else wide.posterior(away[0], correction)[away[1]]
            yield Posteriors(wide.posterior(alike, correction)[kind], variant, control=control)


def _inside(free: Floats, reader: Floats) -> Floats:
    """Return free predictions among the values that groups which fit a person show."""
    kept = np.where(reader > 0, np.maximum(free, 1e-300), 0.0)
    kept[np.isnan(reader)] = np.nan
    with np.errstate(invalid="ignore"):
        beliefs: Floats = kept / kept.sum(axis=1)[:, None]
    return beliefs


# Records counted that are only *near* a person's values: how 003 §6 lets naive Bayes learn from synthetic records.

NEAR, NEAR_CORRECTED = 0.1, 0.0495
"""The distances with which the paper's naive Bayes does best, without and with Laplace's correction."""


def near_values(release: Any, model: LearnedCounts, people: pa.Table, distance: float) -> LearnedCounts:
    """Return what synthetic records teach if a record counts for everybody whose value lies within `distance` of its own.

    Distance is that of numbers and dates as a part of the range that records have; a category is near itself alone. At 1 every
    number is near every other.
    """
    columns = tuple(code_column(column.name, column.kind, people[column.name]) for column in release.quasi)
    tables = tuple(
        _table(own, shown, table, distance) for own, shown, table in zip(columns, release.quasi, model.tables, strict=True)
    )
    return LearnedCounts(model.totals, tables, lambda who: people_codes(columns, who))


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
    return near
