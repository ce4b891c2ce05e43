"""Boxes of near people: cuts of quasi space as a grouping, and blind settings inside the boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Array, Floats
from sfumato.errors import Infeasible
from sfumato.groups.blind import assign_blindly
from sfumato.groups.cuts import Space, column_weights, cut_boxes
from sfumato.groups.grouping import Grouping, canonical_order
from sfumato.groups.settings.setting import Plan
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness
from sfumato.table.column import Column

Planner = Callable[[Bounds, int], Plan]
"""Finds a setting for bounds on a box's counts, with buckets of at most so many people."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """A grouping by boxes, and figures about it that only the publisher may see."""

    grouping: Grouping
    figures: Mapping[str, Any]


def near_people(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    *,
    tight: bool,
    floor: int,
    weights: Mapping[str, float] | Literal["association"] | None,
) -> Boxes:
    """Return the boxes that safe cuts make, or tight ones.

    Tight cuts may order columns by their association with the sensitive one; safe cuts may not, because that looks at where
    values fell.
    """
    space = Space.of(columns)
    chosen = association(columns, sensitive) if weights == "association" else column_weights(columns, weights)
    grouping = cut_boxes(space, sensitive, bounds, tight=tight, floor=floor, weights=chosen)
    stopped = grouping.sizes[grouping.sizes < 2 * floor].sum() / max(int(grouping.sizes.sum()), 1)
    return Boxes(grouping, {"boxes": grouping.groups, "share_in_boxes_at_the_floor": float(stopped)})


def association(columns: Sequence[Column], sensitive: Array) -> Floats:
    """Return the square root of each column's mutual information with the sensitive values, the largest set to 1."""
    values = int(sensitive.max()) + 1
    shared = np.bincount(sensitive, minlength=values) / len(sensitive)
    information = []
    for column in columns:
        pairs = np.bincount(column.codes.astype(np.int64) * values + sensitive, minlength=column.size * values)
        joint = pairs.reshape(column.size, values) / len(sensitive)
        apart = joint.sum(axis=1)[:, None] * shared[None, :]
        seen = joint > 0
        information.append(float((joint[seen] * np.log(joint[seen] / apart[seen])).sum()))
    root = np.sqrt(np.maximum(information, 0.0))
    top = root.max()
    return np.maximum(root / top, 1e-6) if top > 0 else np.ones(len(columns))


def settings_inside(
    boxes: Grouping,
    sensitive: Array,
    bounds: Bounds,
    planner: Planner,
    max_size: int,
    random: Randomness,
) -> Boxes:
    """Return blind buckets inside every box, from a setting on the box's own counts.

    Bounds are those of the whole table. Where they cannot be kept in a box with buckets of `max_size`, larger ones are allowed in
    that box, up to the smallest size that works; how many boxes needed that is among the figures. Every box has coins of its own.
    """
    group = np.empty(len(sensitive), np.int32)
    order = np.argsort(boxes.group, kind="stable")
    ends = np.cumsum(boxes.sizes)
    coins = random.spawn(Step.BOXES)
    made, raised, complete = 0, 0, True
    for box in range(boxes.groups):
        rows = order[ends[box] - boxes.sizes[box] : ends[box]]
        used, codes = np.unique(sensitive[rows], return_inverse=True)
        counts = np.bincount(codes)
        own = Bounds(tuple(bounds.values[v] for v in used), tuple(map(int, counts)), tuple(bounds.limits[v] for v in used))
        plan, larger = plan_box(own, planner, max_size)
        raised += int(larger)
        complete = complete and plan.complete
        numbers = np.array(plan.setting.numbers, dtype=np.int64)
        inside = assign_blindly(codes, plan.allocation, numbers, canonical_order(own), coins.spawn(box))
        group[rows] = made + inside.group
        made += inside.groups
    figures = {"boxes": boxes.groups, "boxes_with_larger_buckets": raised, "search_complete": complete}
    return Boxes(Grouping(group, made), figures)


def plan_box(bounds: Bounds, planner: Planner, max_size: int) -> tuple[Plan, bool]:
    """Return a setting for one box, and whether it needed buckets larger than `max_size`."""
    size = min(max_size, bounds.total)
    larger = False
    while True:
        try:
            return planner(bounds, size), larger
        except Infeasible as error:
            if size >= bounds.total:
                raise
            named = error.nearest.get("max_size")
            size = min(bounds.total, max(size + 1, named if isinstance(named, int) else 2 * size))
            larger = True
