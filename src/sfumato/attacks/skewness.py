"""Skewness and similarity: how far belief grows beyond the share of a value, and belief in a set that means one secret."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.attacks.judge import Posteriors
from sfumato.attacks.members import NotApplicable
from sfumato.attacks.sight import Sight
from sfumato.errors import PolicyError, did_you_mean


def skewness(sight: Sight) -> Iterator[Posteriors]:
    """Yield the largest belief / share of a reader, and her belief in each set of values that the user or the policy named."""
    if not sight.release.shown_as.of_people:
        raise NotApplicable("synthetic records belong to no person: a reader has no belief to compare with shares")
    yield Posteriors(
        sight.reader,
        "of single values",
        figures={"largest belief / share": largest_growth(sight.largest, sight.shares)},
        largest=sight.largest,
    )
    listed = {str(entry["set"]): Fraction(str(entry["bound"])) for entry in sight.release.manifest.sets}
    for name, values in sight.sets.items():
        member = _members(name, values, sight.release.labels)
        inside = (sight.reader * member).sum(axis=1)
        grows = float(np.nanmax(inside) / max(float(sight.shares @ member), 1e-12))
        limits = np.array([1.0, float(listed[name])]) if name in listed else None
        yield Posteriors(
            np.stack([1 - inside, inside], axis=1),
            f"any of {name}",
            event=member,
            limits=limits,
            figures={"largest belief in the set": float(np.nanmax(inside)), "largest belief / share": grows},
        )


def largest_growth(beliefs: Floats, shares: Floats) -> float:
    """Return the largest belief / share over people and values: a value of 1 % in a group where half have it grows 50-fold."""
    return float(np.nanmax(beliefs / np.maximum(shares, 1e-12)[None, :]))


def _members(name: str, values: Sequence[str], labels: tuple[str, ...]) -> Integers:
    unknown = [value for value in values if value not in labels]
    if unknown:
        raise PolicyError(f"set {name!r}: the release has no value {unknown[0]!r}", hint=did_you_mean(unknown[0], labels))
    return np.isin(np.array(labels), list(values)).astype(np.int64)
