"""Rows of one person: who knows which rows are hers puts what they show together. What `[people]` prevents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight, believed

SOME_ROW = "who has several rows has several values: that she has one of them is believed with more than each row's bound"


def rows(sight: Sight) -> Iterator[Posteriors]:
    """Yield the belief of somebody who knows which rows are one person's and takes her value to be the same in all of them.

    That is Π bᵢ / priorⁿ⁻¹ over her n rows. Then that of somebody who takes rows to have values of their own, and asks whether
    she has a value in some of them: 1 − Π (1 − bᵢ). With one row a person (`[people]`) there is nothing to link.
    """
    if not sight.release.shown_as.of_people:
        raise NotApplicable("synthetic records belong to no person")
    if sight.persons is None:
        raise NotApplicable("which rows belong to one person was not given (persons=…, --person COLUMN)")
    persons = np.unique(sight.persons, return_inverse=True)[1]
    mine = np.flatnonzero(np.isin(persons, persons[sight.victims]))
    beliefs = believed(sight.release, sight.everybody.take(pa.array(mine)), sight.shares)
    number = np.unique(persons[mine], return_inverse=True)[1]
    prior = np.maximum(sight.shares, 1e-12)
    score = np.zeros((int(number.max()) + 1, len(prior)))
    with np.errstate(divide="ignore"):
        np.add.at(score, number, np.log(np.where(np.isnan(beliefs), prior, beliefs) / prior))
        score += np.log(prior)
    top = score.max(axis=1)
    usable = np.isfinite(top)
    weight = np.where(usable[:, None], np.exp(score - np.where(usable, top, 0.0)[:, None]), prior)
    linked = weight / weight.sum(axis=1)[:, None]
    place = np.searchsorted(mine, sight.victims)
    many = np.bincount(number)
    figures = {
        "rows a person on average": float(many.mean()),
        "share of people with several rows and one value left": float(((linked > 0).sum(axis=1) == 1)[many > 1].mean())
        if (many > 1).any()
        else 0.0,
    }
    yield Posteriors(linked[number[place]], figures=figures)
    absent = np.ones((int(number.max()) + 1, len(prior)))
    np.multiply.at(absent, number, 1 - np.where(np.isnan(beliefs), prior, beliefs))
    yield Posteriors((1 - absent)[number[place]], variant="a value in some row", note=SOME_ROW)
