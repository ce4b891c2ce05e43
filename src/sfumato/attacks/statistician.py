"""The statistician: links between columns learned from the release, and a group's values put on the people they fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.attacks import _swap_kernels as swaps
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.learned import learned
from sfumato.attacks.members import Members, NotApplicable, members
from sfumato.attacks.placing import log_chances, place, spread_tables, weights_of
from sfumato.attacks.sight import Sight


def statistician(sight: Sight) -> Iterator[Posteriors]:
    """Yield what counts spread over groups teach, placed inside the groups; and what our own model of boxes says of a person.

    Nothing is ever claimed against her.
    """
    if sight.release.shown_as.by_coin:
        yield Posteriors(
            _behind_coins(sight), "links and the published value", note="Pr[s | x] by naive Bayes, times Pr[published | s]"
        )
        return
    people = members(sight)
    flat = place(people, weights_of(people, log_chances(spread_tables(people), 1.0)))
    yield Posteriors(people.to_victims(flat), "spread counts")
    model = _model(sight.release)
    if model is not None:
        yield Posteriors(people.to_victims(_chances(people, model)), "our model of boxes")


def _model(release: Any) -> Any:
    """Return the multiplicative model that answers questions about a release; None where it has none."""
    from sfumato.query.buckets import BucketsEngine
    from sfumato.query.models.softmax import MAX_VALUES
    from sfumato.query.noisy import NoisyEngine

    if not (release.shown_as.exact_quasi and release.shown_as.has_groups) or len(release.domain) > MAX_VALUES:
        return None
    engine = NoisyEngine.of(release) if release.noisy else BucketsEngine.of(release)
    boxes = not engine.no_likelihood and (release.noisy or getattr(engine, "model_error", None) is not None)
    return engine.inside if boxes else None


def _chances(people: Members, model: Any) -> Floats:
    """Return the model's chances of everybody, in the order of her group's values; its people stand in the same order."""
    flat = np.zeros(int(people.offset[-1]))
    goals, cells = model.goals, model.cells
    known = swaps.ModelChances(cells.start, goals.entry, goals.value, model.place, model.chances)
    swaps.read_chances(cells.cell, people.group, known, people.laid_out, flat)
    return flat


def _behind_coins(sight: Sight) -> Floats:
    """Return the beliefs of somebody who takes naive Bayes' posterior, in place of the part's shares, as prior."""
    from sfumato.release.coding import match_rows

    release: Any = sight.release
    alike, kind = sight.distinct
    prior = learned(sight).posterior(alike, 1.0)
    owner, row, owners = match_rows(release.quasi, alike)
    beliefs, fits = np.zeros((owners, len(release.domain))), np.bincount(owner, minlength=owners)
    if not len(owner):
        raise NotApplicable("no published row fits anybody")
    for i, part in enumerate(release.parts):
        mine = release.part[row] == i
        shown = np.zeros(len(release.domain), np.int64)
        shown[part.values] = np.arange(len(part))
        y, who = shown[release.value[row[mine]]], owner[mine]
        chance = np.repeat(((1 - part.kept) / len(part))[None, :], len(who), axis=0)
        chance[np.arange(len(who)), y] += part.kept[y]
        weight = prior[who][:, part.values] * chance
        weight /= np.maximum(weight.sum(axis=1), 1e-300)[:, None]
        np.add.at(beliefs, (who[:, None], part.values[None, :]), weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = (beliefs / fits[:, None])[kind]
    return mean
