"""Ring generalization, NH (Wong, Mamoulis and Cheung, SIGMOD 2010): in a group, each record shows ℓ neighbours on a ring.

A group of g people is put on a ring. The record made from place i covers the people at i, i+1, …, i+ℓ−1: every record covers ℓ
people and everybody is covered by ℓ records, so no edge of that graph can be struck out. Its ranges lie inside the group's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np

from sfumato.arrays import Array, Floats, Integers, Unsigned
from sfumato.groups.cuts import Space
from sfumato.groups.grouping import Grouping, histograms
from sfumato.groups.hilbert import hilbert_order, places
from sfumato.groups.mondrian import Constraint, mondrian
from sfumato.groups.streams import Step
from sfumato.papers.heterogeneous._ring_kernels import mend_rings, merge_until_diverse
from sfumato.papers.heterogeneous.assignment import disjoint_assignments
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.column import Column

Partition = Literal["diverse", "merged"]
RingAssignment = Literal["walks", "shift"]


@dataclass(frozen=True, eq=False)
class Rings:
    """The people in the order of their rings, one after the other; ring r is `order[start[r]:start[r + 1]]`."""

    order: Integers
    start: Integers

    def windows(self, l: int) -> Integers:
        """Return [people × ℓ]: the places in `order` that the record made from each place covers, its own first."""
        sizes = np.diff(self.start)
        begin = np.repeat(self.start[:-1], sizes)
        offset = (np.arange(len(self.order)) - begin)[:, None] + np.arange(l)
        found: Integers = begin[:, None] + offset % np.repeat(sizes, sizes)[:, None]
        return found


class _Quasi(NamedTuple):
    """Quasi values by row: places on lines (NaN: none), and sets as bits, each column in words of its own with their weights."""

    places: Floats  # [rows × columns]
    bits: Unsigned  # [rows × words]
    weights: Floats

    @classmethod
    def of(cls, columns: Sequence[Column], space: Space) -> _Quasi:
        rows = len(columns[0])
        lies = places(space)
        lines, words, weights = [np.empty((0, rows))], [np.empty((0, rows), np.uint64)], []
        for j, column in enumerate(columns):
            codes = column.codes.astype(np.int64)
            if column.kind == "categorical":
                width = -(-column.size // 64)
                word = np.zeros((width, rows), np.uint64)
                word[codes // 64, np.arange(rows)] = np.uint64(1) << (codes % 64).astype(np.uint64)
                words.append(word)
                weights += [1 / max(column.size - 1, 1)] * width
            else:
                lines.append(np.where(codes < len(column.values), lies[j], np.nan)[None, :])
        return cls(
            np.ascontiguousarray(np.concatenate(lines).T),
            np.ascontiguousarray(np.concatenate(words).T),
            np.array(weights, dtype=np.float64),
        )


def ring_partition(columns: Sequence[Column], sensitive: Array, bounds: Bounds, l: int, partition: Partition) -> Grouping:
    """Return groups in which no value has more than 1/ℓ of the people, which is what a ring needs.

    ``"diverse"`` cuts as long as both sides are so. ``"merged"`` is the paper's way: cuts by quasi values alone into groups of ℓ
    and more, and those that are not diverse are merged, each with the group that makes the loss rise least.
    """
    limit = Fraction(1, l) if partition == "diverse" else Fraction(1)
    within = replace(bounds, limits=(limit,) * len(bounds.limits))
    cut = mondrian(columns, sensitive, within, constraint=Constraint(), k=l, relaxed=False)
    return cut if partition == "diverse" else _merged(columns, sensitive, cut, len(bounds.values), l)


def _merged(columns: Sequence[Column], sensitive: Array, cut: Grouping, values: int, l: int) -> Grouping:
    quasi = _Quasi.of(columns, Space.of(columns))
    order = np.argsort(cut.group, kind="stable")
    begin = np.searchsorted(cut.group[order], np.arange(cut.groups))
    low = np.fmin.reduceat(quasi.places[order], begin)
    high = np.fmax.reduceat(quasi.places[order], begin)
    shown = histograms(cut.group, sensitive, values)
    counts = np.zeros((cut.groups, values), np.int64)
    counts[shown.group, shown.value] = shown.count
    into = merge_until_diverse(
        np.where(np.isnan(low), np.inf, low),
        np.where(np.isnan(high), -np.inf, high),
        np.bitwise_or.reduceat(quasi.bits[order], begin),
        quasi.weights,
        counts,
        cut.sizes.copy(),
        l,
    )
    left, short = np.unique(into, return_inverse=True)
    return Grouping(short[cut.group].astype(np.int32), len(left), "paper")


def ring_order(
    columns: Sequence[Column],
    sensitive: Array,
    grouping: Grouping,
    l: int,
    *,
    tries: int,
    random: Randomness,
    progress: Progress = silent,
) -> Rings:
    """Return every group as a ring on which any ℓ neighbours have ℓ different values, similar people near each other.

    The first order is `diverse_places`, along a Hilbert curve within each value; then people change places where that narrows the
    ranges of the records, `tries` partners being looked at for each person and pass.
    """
    progress("putting groups on rings", 0.0)
    space = Space.of(columns)
    rank = np.empty(len(sensitive), np.int64)
    rank[hilbert_order(space)] = np.arange(len(sensitive))
    order, start = diverse_places(grouping, sensitive, rank, l)
    quasi = _Quasi.of(columns, space)
    progress("mending rings", 0.1)
    words = random.spawn(Step.RINGS).words(grouping.groups)
    mend_rings((order, start), l, sensitive.astype(np.int64), rank, quasi, tries, words)
    return Rings(order, start)


def diverse_places(grouping: Grouping, sensitive: Array, rank: Integers, l: int) -> tuple[Integers, Integers]:
    """Return the rows ring by ring, and where each ring starts; any ℓ neighbours have different values.

    With q = ⌊g/ℓ⌋, people are dealt in turn to q rows, value by value, the most frequent first, and the rows are read one after
    the other. A row has at least ⌊g/q⌋ ≥ ℓ people. No value has more than q people, so two of a value are at least a row apart; a
    value that goes on in the next column of the rows has fewer than q people, since those with q begin in the first row, so its
    last is a whole row before its first. Hence "no value has more than ⌊g/ℓ⌋ of g people" is enough for every ring.
    """
    group = grouping.group.astype(np.int64)
    values = int(sensitive.max()) + 1
    key = group * values + sensitive
    times = np.bincount(key, minlength=grouping.groups * values)[key]
    dealt = np.lexsort((rank, sensitive, -times, group))
    sizes = grouping.sizes
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    turn = np.arange(len(dealt)) - np.repeat(start[:-1], sizes)
    rows = np.repeat(sizes // l, sizes)
    length, longer = np.divmod(np.repeat(sizes, sizes), rows)
    row, column = turn % rows, turn // rows
    order = np.empty(len(dealt), np.int64)
    order[np.repeat(start[:-1], sizes) + row * length + np.minimum(row, longer) + column] = dealt
    return order, start


def draw_carried(rings: Rings, l: int, assignment: RingAssignment, random: Randomness) -> Integers:
    """Return for each place the row whose value its record carries, each of the ℓ people it covers with probability 1/ℓ.

    ``"walks"``: ℓ disjoint assignments of every ring, found by random walks, one of them for each ring. ``"shift"``: the person s
    places further for everybody on a ring, s drawn for each ring; then the ℓ records that cover a person carry the values of ℓ
    neighbours, all different, but whoever learns one person's record learns those of her whole ring.
    """
    windows = rings.windows(l)
    sizes = np.diff(rings.start)
    coins = random.spawn(Step.CARRIED)
    picked = np.repeat(coins.below(l, len(sizes)), sizes)
    found = windows if assignment == "shift" else disjoint_assignments(windows, coins)
    carried: Integers = rings.order[found[np.arange(len(found)), picked]]
    return carried
