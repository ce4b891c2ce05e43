"""Disjoint boxes that hide presence: the one engine's cuts, made only where both sides cover enough combinations.

In a group of n people whose values make up V combinations, a stranger believes with probability n/V at most that a person with
one of them is in the table. Boxes are disjoint in quasi space, so at most one group covers a person, and that belief is all there
is for somebody who does not know the program (`halves` is for one who does). Whether a cut keeps it is decided by quasi values
alone, so safe cuts stay safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sfumato.arrays import Array
from sfumato.groups._cover_kernels import CoverRule
from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.fragments.cover import covering_table, require_presence
from sfumato.groups.grouping import Grouping
from sfumato.groups.soft import SoftTests
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.column import Column


def presence_boxes(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    alpha: Fraction,
    *,
    tight: bool,
    floor: int,
    weights: Mapping[str, float] | None,
    soft: SoftTests | None = None,
    random: Randomness | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return boxes of at least `floor` people that keep the bounds and α: by tight or safe cuts, or by soft ones with coins.

    Where the most even acceptable cut of a column would leave a side that covers too few combinations, the next column is tried.
    """
    people = sensitive.shape[-1]
    require_presence(columns, people, alpha, bounded=bounds.protects)
    space = Space.of(columns)
    return cut_boxes(
        space,
        sensitive,
        bounds,
        tight=tight,
        floor=floor,
        weights=column_weights(columns, weights),
        soft=soft,
        random=random,
        cover=CoverRule(space.codes, covering_table(people, alpha)),
        progress=progress,
    )
