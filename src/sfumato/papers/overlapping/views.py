"""Groups for two views (PriView) as published."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.arrays import Array
from sfumato.exact import ceil_inverse
from sfumato.groups.fragments.cover import combined, covering_table
from sfumato.groups.fragments.views import ViewRows
from sfumato.groups.grouping import Grouping
from sfumato.papers.overlapping.scattered import crowd_of, scattered
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import round_up
from sfumato.progress import Progress, silent
from sfumato.table.column import code_type


def published_groups(
    views: ViewRows,
    sensitive: Array,
    bounds: Bounds,
    alpha: Fraction,
    *,
    suppress: bool,
    pairs: bool = False,
    progress: Progress = silent,
) -> Grouping:
    """Return groups as published: of at least ⌈1/α⌉ people, no value more often than its bound, joined values rather different.

    Theorem 6 takes both for enough; where a joined value repeats, or is alone, they are not. With `pairs` people are picked from
    buckets of people alike in joined and sensitive value, (QIᵢ, S) as printed in §8.3, one from each of the largest: joined
    values differ where sensitive ones do not. All of a bucket cover the same, so that the pick of Fig. 7 has nothing to choose.
    """
    sizes: tuple[int, ...] = int(views.right.max()) + 1, int(views.left.max()) + 1
    kind = code_type(max(sizes))
    codes = np.stack([views.right.astype(kind), views.left.astype(kind)], axis=1)
    bucket = combined([views.right, sensitive], [sizes[0], len(bounds.values)]) if pairs else None
    if pairs:
        codes, sizes = codes[:, :0], ()
    crowd = crowd_of(sensitive, bounds, codes, sizes, covering_table(len(sensitive), Fraction(1)), ceil_inverse(alpha))
    nearest = round_up(Fraction(1, len(sensitive)))
    return scattered(crowd, bounds, alpha, nearest, bucket=bucket, suppress=suppress, progress=progress)
