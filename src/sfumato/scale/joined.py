"""Boxes that are shown together, beyond memory: the tree of all cuts on the driver, and the rows of joined boxes sorted anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.arrays import Integers, combine_codes
from sfumato.groups.counted import COLUMN, LEFT, PUBLISHED, TopCuts
from sfumato.groups.noisy import Tree
from sfumato.scale.collect import Collected, StoredShard
from sfumato.scale.layout import Blocks
from sfumato.table.coding import ascending


def whole_tree(cuts: TopCuts, shards: Sequence[StoredShard]) -> Tree:
    """Return the tree of the first cuts and of those of all shards; boxes have their numbers along the cuts."""
    first, before = {}, 0  # the number of the first box of each leaf's shard
    for stored in shards:
        first[stored.leaf.node] = before - 1 if stored.piece else before
        before += 0 if stored.piece else len(stored.made.sizes)
    shard = {stored.leaf.node: stored for stored in shards}
    sides: list[list[int]] = []
    box: list[int] = []
    waiting = [(0, -1, 0)]  # node of the first cuts, whose side it is, which of the two
    while waiting:
        node, above, side = waiting.pop()
        here = len(sides)
        if above >= 0:
            sides[above][side] = here
        _, _, _, published, left, right = cuts.tree[node].tolist()
        if cuts.tree[node][COLUMN] >= 0 and not published:
            sides.append([-1, -1])
            box.append(-1)
            waiting += [(right, here, 1), (left, here, 0)]
            continue
        while published:  # a final box, divided only so that its rows can be sorted
            node = int(cuts.tree[node][LEFT])
            published = int(cuts.tree[node][PUBLISHED])
        tree = shard[node].made.tree
        if tree is None:
            sides.append([-1, -1])
            box.append(first[node])
            continue
        sides += np.where(tree.sides >= 0, tree.sides + here, -1).tolist()
        box += np.where(tree.box >= 0, tree.box + first[node], -1).tolist()
    return Tree(np.zeros(0, np.int32), np.array(sides, dtype=np.int64).reshape(-1, 2), np.array(box, dtype=np.int64))


def join_rows(boxes: Collected, of: Integers, place: Path, widths: Sequence[int], *, at_once: int) -> tuple[Collected, Integers]:
    """Return the groups that boxes are shown in, with their rows in order, and the canonical number of each.

    `of` is the group of every box along the cuts. Rows of joined boxes are sorted again, about `at_once` of them at a time but
    whole groups, and lie in a private place. A group begins where the first of its boxes does.
    """
    group = of[boxes.along]
    groups = int(of.max()) + 1
    least = np.full(groups, len(group), np.int64)
    np.minimum.at(least, group, np.arange(len(group)))
    number = np.empty(groups, np.int64)
    number[np.argsort(least)] = np.arange(groups)
    many = np.bincount(group, minlength=groups)
    sizes = np.bincount(number[group], weights=boxes.sizes, minlength=groups).astype(np.int64)
    mine = number[group[boxes.box]]  # of every run
    alone = many[group[boxes.box]] == 1
    shards = list(boxes.shards)
    runs = [np.stack([boxes.shard, boxes.offset, boxes.length, mine], axis=1)[alone]]
    place.mkdir(mode=0o700, exist_ok=True)
    for some in _batches(np.unique(mine[~alone]), sizes, at_once):
        chosen = np.flatnonzero(np.isin(mine, some) & ~alone)
        pieces = [shards[boxes.shard[run]].rows.slice(*_ends(boxes, run)) for run in chosen.tolist()]
        columns = [np.concatenate(parts) for parts in zip(*pieces, strict=True)]
        of_row = np.repeat(mine[chosen], boxes.length[chosen])
        order = ascending(combine_codes([(of_row, groups), *zip(columns, widths, strict=True)]), used_up=True)
        rows = Blocks(place / f"joined{len(shards)}", shards[0].rows.layout)
        rows.append([column[order] for column in columns])
        length = sizes[some]
        where = np.full(len(some), len(shards))
        runs.append(np.stack([where, np.cumsum(length) - length, length, some], axis=1))
        shards.append(replace(shards[0], rows=rows))
    shard, offset, length, at = np.concatenate(runs).T
    order = np.argsort(at, kind="stable")
    joined = replace(
        boxes,
        shards=tuple(shards),
        shard=shard[order],
        offset=offset[order],
        length=length[order],
        box=at[order],
        sizes=sizes,
        along=np.arange(groups),
    )
    return joined, number


def _ends(boxes: Collected, run: int) -> tuple[int, int]:
    begin = int(boxes.offset[run])
    return begin, begin + int(boxes.length[run])


def _batches(groups: Integers, sizes: Integers, at_once: int) -> list[Integers]:
    """Return the groups, ascending, in lists of about so many people each."""
    if not len(groups):
        return []
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes[groups]) // max(at_once, 1))) + 1
    return np.split(groups, cuts)
