"""Composition: the holder of two releases about the same people puts them together (Ganta et al., KDD 2008)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.arrays import Floats
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight, believed
from sfumato.release.base import Release


def composition(sight: Sight) -> Iterator[Posteriors]:
    """Yield beliefs among the values that the groups of a victim share in all releases, and beliefs multiplied.

    Multiplied is Π bᵢ / priorⁿ⁻¹, as if releases were drawn apart from each other. Nothing is claimed of two releases, but for
    noisy boxes, whose odds multiply.
    """
    if not sight.others:
        raise NotApplicable("needs another release about the same people (others=…, --with DIR)")
    every = [sight.reader, *(_as_numbered(other, sight) for other in sight.others)]
    yield intersect(every)
    product = np.ones_like(sight.reader)
    prior = np.maximum(sight.shares, 1e-12)
    for beliefs in every:
        product *= np.where(np.isnan(beliefs), 1.0, beliefs / prior)
    yield Posteriors(_scaled(product * prior, sight.reader), "beliefs multiplied")


def intersect(every: list[Floats]) -> Posteriors:
    """Return beliefs among values that all releases leave possible, as the first has them, and how many are left."""
    shared = np.logical_and.reduce([np.isnan(beliefs) | (beliefs > 0) for beliefs in every])
    left = shared.sum(axis=1)
    return Posteriors(
        _scaled(np.where(shared, every[0], 0.0), every[0]),
        "values that all releases share",
        figures={
            "values left on average": float(left.mean()),
            "share of people with one value left": float((left == 1).mean()),
        },
    )


def _as_numbered(release: Release, sight: Sight) -> Floats:
    """Return what another release says of the victims, its values numbered as those of the first."""
    shares = dict(zip(sight.release.labels, sight.shares, strict=True))
    theirs = believed(release, sight.people, np.array([shares.get(label, 0.0) for label in release.labels]))
    number = {label: k for k, label in enumerate(release.labels)}
    columns = [number.get(label) for label in sight.release.labels]
    return np.stack([np.zeros(len(theirs)) if k is None else theirs[:, k] for k in columns], axis=1)


def _scaled(weight: Floats, otherwise: Floats) -> Floats:
    """Return weights scaled to add up to 1; what was believed before where nothing is left."""
    total = weight.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        posterior: Floats = np.where((total > 0)[:, None], weight / total[:, None], otherwise)
    return posterior
