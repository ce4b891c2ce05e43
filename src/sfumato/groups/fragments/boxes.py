"""Disjoint boxes that hide presence: the one engine's cuts, made only where both sides cover enough combinations.

In a group of n people whose values make up V combinations, a stranger believes with probability n/V at most that a person with
one of them is in the table. Boxes are disjoint in quasi space, so at most one group covers a person, and that belief is all there
is for somebody who does not know the program (`halves` is for one who does). Whether a cut keeps it is decided by quasi values
alone, so safe cuts stay safe.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.arrays import Array
from sfumato.groups._cover_kernels import CoverRule
from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.fragments.cover import PresenceRule, covering_table, require_presence
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
    rule: PresenceRule,
    *,
    soft: SoftTests | None = None,
    random: Randomness | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return boxes that keep the bounds and the rule: by tight or safe cuts, or by soft ones with coins.

    Where the most even acceptable cut of a column would leave a side that covers too few combinations, the next column is tried.
    """
    people = sensitive.shape[-1]
    require_presence(columns, people, rule.alpha, bounded=bounds.protects)
    space = Space.of(columns)
    return cut_boxes(
        space,
        sensitive,
        bounds,
        tight=rule.tight,
        floor=rule.floor,
        weights=column_weights(columns, rule.weights),
        soft=soft,
        random=random,
        cover=CoverRule(space.codes, covering_table(people, rule.alpha)),
        progress=progress,
    )
