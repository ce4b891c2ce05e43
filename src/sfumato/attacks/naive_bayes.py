"""Naive Bayes: links between quasi and sensitive values learned from the release, and the likeliest value named (003 §6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.attacks.judge import Guess
from sfumato.attacks.learned import learned
from sfumato.attacks.near_values import NEAR, NEAR_CORRECTED, near_values
from sfumato.attacks.sight import Sight, distinct_rows

_NEAR = "near numbers counted too"


def naive_bayes(sight: Sight) -> Iterator[Guess]:
    """Yield Pr[s]·Π Pr[x | s] with Laplace's correction, without it, and restricted to values that her group shows.

    Of synthetic records those with numbers near hers count too, in two further ways.

    The prediction is *free*: it names what people like her have, whether or not she is in the table. So it is right for
    outsiders about as often, and only what it gains on members is told by their own records.
    """
    model = learned(sight)
    alike, kind = sight.distinct
    away = None if sight.outsiders is None else distinct_rows(sight.outsiders)
    for correction, variant in ((1.0, ""), (0.0, "without correction")):
        found = model.posterior(alike, correction)[kind]
        control = None if away is None else model.posterior(away[0], correction)[away[1]]
        yield Guess(found, variant, control=control)
        if correction and sight.release.form not in ("randomized", "synthetic"):
            yield Guess(_inside(found, sight.reader), "restricted to the group")
    if sight.release.form == "synthetic" and any(column.kind != "categorical" for column in _columns(sight)):
        for correction, distance, variant in ((1.0, NEAR_CORRECTED, _NEAR), (0.0, NEAR, f"{_NEAR}, without correction")):
            everybody = sight.everybody if sight.outsiders is None else pa.concat_tables([sight.everybody, sight.outsiders])
            wide = near_values(sight.release, model, everybody, distance)
            control = None if away is None else wide.posterior(away[0], correction)[away[1]]
            yield Guess(wide.posterior(alike, correction)[kind], variant, control=control)


def _columns(sight: Sight) -> Any:
    """Return the quasi columns of synthetic records."""
    release: Any = sight.release
    return release.quasi


def _inside(free: Floats, reader: Floats) -> Floats:
    """Return free predictions among the values that groups which fit a person show."""
    kept = np.where(reader > 0, np.maximum(free, 1e-300), 0.0)
    kept[np.isnan(reader)] = np.nan
    with np.errstate(invalid="ignore"):
        found: Floats = kept / kept.sum(axis=1)[:, None]
    return found
