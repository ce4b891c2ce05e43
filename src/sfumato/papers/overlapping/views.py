"""Groups for two views (PriView) as published."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.arrays import Array
from sfumato.exact import ceil_inverse
from sfumato.groups.fragments.cover import cells_table
from sfumato.groups.fragments.views import Views
from sfumato.groups.grouping import Grouping
from sfumato.papers.overlapping.scattered import Crowd, scattered
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import round_up
from sfumato.progress import Progress, silent
from sfumato.table.column import Column, code_type


def published_groups(
    columns: Sequence[Column],
    moved: Sequence[str],
    sensitive: Array,
    bounds: Bounds,
    alpha: Fraction,
    *,
    suppress: bool,
    progress: Progress = silent,
) -> Grouping:
    """Return groups as published: of at least ⌈1/α⌉ people, no value more often than its bound, joined values rather different.

    Theorem 6 takes both for enough; where a joined value repeats, or is alone, they are not.
    """
    views = Views.of(columns, moved)
    sizes = int(views.right.max()) + 1, int(views.left.max()) + 1
    kind = code_type(max(sizes))
    codes = np.stack([views.right.astype(kind), views.left.astype(kind)], axis=1)
    least = ceil_inverse(alpha)
    crowd = Crowd(codes, sizes, sensitive, cells_table(len(sensitive), Fraction(1)), least)
    nearest = round_up(Fraction(1, len(sensitive)))
    return scattered(crowd, bounds, alpha, nearest, suppress=suppress, progress=progress)
