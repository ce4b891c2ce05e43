"""Were these boxes made by halves? The tables show it: each union of boxes on the way can have been cut in one place only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array
from sfumato.release.covering import Cover
from sfumato.release.manifest import Manifest

ColumnEntries = list[tuple[Array, Array]]
"""Per column the codes that some groups show, and the group of each."""

UNREADABLE = "the manifest's weights of columns cannot be read"
OTHERWISE = "the groups are not boxes of recursive halving: one group lies on both sides of a cut that the method makes"


def not_halved(cover: Cover, manifest: Manifest) -> str:
    """Return why cutting in halves does not lead to these groups; empty if it does.

    All groups together are one box. A box of several groups was cut: in the column with the most values, by weight, among those
    that show an even number of them, its lower half of values on one side. Whether a box of one group could have been cut is not
    seen.
    """
    weights = _weights(manifest)
    if weights is None:
        return UNREADABLE
    waiting: list[ColumnEntries] = [[(part.codes, part.group) for part in cover.parts]]
    while waiting:
        box = waiting.pop()
        if (box[0][1] == box[0][1][0]).all():
            continue
        halves = _halves(box, weights)
        if halves is None:
            return OTHERWISE
        waiting += halves
    return ""


def _halves(box: ColumnEntries, weights: list[Fraction]) -> list[ColumnEntries] | None:
    """Return the two sides of the one cut that this box may have; None if there is none, or a group stands on both sides."""
    values = [np.unique(codes) for codes, _ in box]
    even = [j for j, codes in enumerate(values) if len(codes) % 2 == 0]
    if not even:
        return None
    column = max(even, key=lambda j: (len(values[j]) * weights[j], -j))
    codes, group = box[column]
    lower = codes < values[column][len(values[column]) // 2]
    below = np.unique(group[lower])
    if np.isin(group[~lower], below).any():
        return None
    inside = [np.isin(groups, below) for _, groups in box]
    both = inside, [~side for side in inside]
    return [[(codes[side], groups[side]) for (codes, groups), side in zip(box, sides, strict=True)] for sides in both]


def _weights(manifest: Manifest) -> list[Fraction] | None:
    """Return the weight of every quasi column, 1 where the manifest gives none; None for anything but positive numbers."""
    given = manifest.method.get("weights")
    names = [column["name"] for column in manifest.schema["quasi"]]
    if given is None:
        return [Fraction(1)] * len(names)
    if not isinstance(given, Mapping) or not set(given) <= set(names):
        return None
    for weight in given.values():
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < 1 << 1000:
            return None
    return [Fraction(float(given.get(name, 1))) for name in names]
