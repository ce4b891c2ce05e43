"""Containment: a reader of ranges takes every group that may hold a person, whichever she is in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight


def containment(sight: Sight) -> Iterator[Posteriors]:
    """Yield Σ count / Σ size over all groups whose ranges hold a person, with how many such groups there are.

    Of shared groups that is a mixture, which keeps every bound that they keep. Records with ranges of their own, as papers
    publish them, are groups of one: there it is the only thing that a reader can compute, and nothing bounds it.
    """
    release: Any = sight.release
    if not release.shown_as.as_ranges:
        raise NotApplicable("only ranges leave open which group a person is in")

    def many(fits: Flags) -> Floats:
        fitting: Floats = fits.sum(axis=1).astype(np.float64)
        return fitting

    fitting = release.over_fitting(sight.distinct[0], many)[sight.distinct[1]]
    alone = float((np.nanmax(sight.reader, axis=1) > 1 - 1e-9).mean())
    figures = {"groups that fit a person on average": float(fitting.mean()), "share of people with one value left": alone}
    yield Posteriors(sight.reader, figures=figures, largest=sight.largest)
