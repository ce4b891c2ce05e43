"""Boxes beyond memory: the first cuts by counting, then one shard after another by the makers in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from sfumato.arrays import Array, Floats, Integers
from sfumato.form import FORMS
from sfumato.groups.boxes import weights_by_pairs
from sfumato.groups.counted import Leaf, TopCuts, secret_shape, top_cuts
from sfumato.groups.cuts import column_weights, on_lines
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress
from sfumato.randomness import Randomness
from sfumato.scale.collect import StoredShard
from sfumato.scale.outline import Outline
from sfumato.scale.shard import CutPlan, Rules
from sfumato.scale.shown import ranged
from sfumato.scale.tally import Counter, Frame, Sum, frame_of


class PublishedCodes(Protocol):
    """Everybody's published codes, wherever they lie, the sensitive value last."""

    @property
    def total(self) -> Sum:
        """How sums over all blocks of rows are made."""

    def shards(self, how: CutPlan, cuts: TopCuts, tell: Callable[[float], None]) -> Iterable[StoredShard]:
        """Yield every leaf cut to the end, from left to right along the cuts."""


def boxes(
    outline: Outline, people: PublishedCodes, bounds: Bounds, rules: Rules, random: Randomness, *, shard: int, progress: Progress
) -> tuple[list[StoredShard], TopCuts]:
    """Return all boxes from left to right along the cuts, shard by shard: the same ones that everybody in memory would give."""
    progress("ordering categories", 0.3)
    frame = frame_of(outline, np.ones(len(outline.table.quasi)), people.total)
    axes = frame.axes._replace(weights=_weights(outline, frame, people, rules))
    if rules.matching is not None:  # in memory, too, these boxes are cut along lines
        axes = axes._replace(kind=on_lines(axes.kind))
    frame = replace(frame, axes=axes)
    sizes = tuple(column.size for column in outline.table.quasi)
    absent = None if FORMS[rules.form].exact_quasi else ranged(outline.table.quasi, rules.form)
    how = CutPlan(frame, sizes, bounds, rules, random, absent, outline.rows)
    progress("cutting quasi space", 0.35)
    cuts = top_cuts(
        Counter(frame, people.total),
        frame.axes,
        secret_shape(bounds),
        how.acceptance(),
        people=outline.rows,
        shard=max(shard, 2 * rules.floor),
        alpha=rules.alpha,
        whole=rules.matching is not None,
    )
    progress("cutting quasi space", 0.5)
    shards = list(people.shards(how, cuts, lambda done: progress("cutting quasi space", 0.5 + 0.25 * done)))
    return shards, cuts


def _weights(outline: Outline, frame: Frame, people: PublishedCodes, rules: Rules) -> Floats:
    if isinstance(rules.weights, np.ndarray):
        return rules.weights
    if rules.weights != "association":
        return column_weights(outline.table.quasi, rules.weights)  # type: ignore[arg-type]
    root = np.array([[-1, -1, -1, 0, -1, -1]], dtype=np.int64)
    pairs: Integers = Counter(frame, people.total).pairs(root, np.zeros(1, np.int64))[0]
    first, ends = frame.axes.first, [int(one.max()) + 1 for one in frame.stack]
    by_secret = []
    for begin, end in zip([0, *ends], ends, strict=False):  # codes as published, as a column has them
        by_secret.append([pairs[first[j] : first[j + 1], begin:end][place] for j, place in enumerate(frame.places)])
    return weights_by_pairs(by_secret)


def pieces(leaves: Sequence[Leaf]) -> list[int]:
    """Return for every leaf how many pieces of the same final box come before it."""
    found: list[int] = []
    for k, leaf in enumerate(leaves):
        same = k > 0 and leaf.final and leaves[k - 1].final and leaves[k - 1].begin == leaf.begin
        found.append(found[-1] + 1 if same else 0)
    return found


def shard_of(frame: Frame, rows: Sequence[Array], cuts: TopCuts) -> Array:
    """Return the number of the leaf that each row lies in."""
    number = np.full(len(cuts.tree), -1, np.int64)
    number[[leaf.node for leaf in cuts.leaves]] = np.arange(len(cuts.leaves))
    return number[frame.nodes(frame.codes(rows), cuts.tree)]
