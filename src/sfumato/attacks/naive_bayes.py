"""Naive Bayes: links between quasi and sensitive values learned from the release, and the likeliest value named (003 §6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.arrays import Floats
from sfumato.attacks.judge import Guess
from sfumato.attacks.learned import learned
from sfumato.attacks.sight import Sight, distinct_rows


def naive_bayes(sight: Sight) -> Iterator[Guess]:
    """Yield Pr[s]·Π Pr[x | s] with Laplace's correction, without it, and restricted to values that her group shows.

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


def _inside(free: Floats, reader: Floats) -> Floats:
    """Return free predictions among the values that groups which fit a person show."""
    kept = np.where(reader > 0, np.maximum(free, 1e-300), 0.0)
    kept[np.isnan(reader)] = np.nan
    with np.errstate(invalid="ignore"):
        found: Floats = kept / kept.sum(axis=1)[:, None]
    return found
