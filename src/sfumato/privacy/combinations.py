"""Several secrets as one whose values are combinations of theirs: every value of each is then a set of combinations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.privacy.bounds import Bounds, SetBound


def as_combinations(bounds: Bounds, labels: Sequence[str], counts: Sequence[int], parts: Sequence[Sequence[int]]) -> Bounds:
    """Return the same bounds for combinations, in which every value and set of a column is a set of combinations.

    `parts` are the codes of each combination in the columns, as the bounds number values. A combination is at most as
    likely as each of its parts, so that it has the lowest of their bounds.
    """
    members: list[list[int]] = [[] for _ in bounds.values]
    for place, codes in enumerate(zip(*parts, strict=True)):
        for code in codes:
            members[code].append(place)
    events = [*((code,) for code in range(bounds.valued)), *bounds.members]
    sets = tuple(
        SetBound(label, tuple(sorted(place for code in codes for place in members[code])), limit)
        for label, codes, limit in zip(bounds.labels, events, bounds.limits, strict=True)
        if limit < 1
    )
    limits: tuple[Fraction, ...] = tuple(min(bounds.limits[code] for code in codes) for codes in zip(*parts, strict=True))
    return Bounds.of(tuple(labels), tuple(counts), limits, sets)
