"""Which groups cover a person's quasi values, where groups show the values of parts of her apart from each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Floats, Integers, Small, Unsigned, combine_codes
from sfumato.release._covering_kernels import Holders, covering_groups, set_bits

Weigh = Callable[[Integers, Small], tuple[Floats, Integers]]
"""From people and groups that cover them: the belief that she is in that group, and which histogram then speaks of her."""

MOST_WORDS = 1 << 24
"""Words of 64 bits spent on rows of bits; the parts with the most values are kept as lists of groups beyond that."""

_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class ShownPart:
    """What groups show of one part of a person: `size` values in all, those of group g being `codes[start[g]:start[g + 1]]`."""

    size: int
    start: Integers
    codes: Small

    @cached_property
    def group(self) -> Integers:
        """The group of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


@dataclass(frozen=True, eq=False)
class Cover:
    """Groups cover a person if they show all her parts, together or apart."""

    parts: tuple[ShownPart, ...]

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.parts[0].start) - 1

    def pairs(self, people: Integers) -> Iterator[tuple[Integers, Small]]:
        """Yield person and group for every group that covers a person, people ascending, a few million pairs at a time.

        `people` has a row per person and a column per part; −1 is a value that no group shows.
        """
        dense, sparse = (self._rows(people, which) for which in self._dense_sparse)
        buffer = np.empty(max(_AT_ONCE, self.groups), np.int32)
        many = np.zeros(len(people), np.int64)
        holders = Holders(self._bits, *self._lists)
        begin = 0
        while begin < len(people):
            end = covering_groups(dense, sparse, holders, begin, self.groups, buffer, many)
            owner = np.repeat(np.arange(begin, end), many[begin:end])
            yield owner, buffer[: len(owner)].copy()
            begin = end

    @cached_property
    def _dense_sparse(self) -> tuple[list[int], list[int]]:
        """The parts that have rows of bits, and those that have lists of groups."""
        words = -(-self.groups // 64)
        order = sorted(range(len(self.parts)), key=lambda j: self.parts[j].size)
        fits = int((np.cumsum([self.parts[j].size * words for j in order]) <= MOST_WORDS).sum())
        # The part with the most values first: fewest groups have one of them.
        return order[:fits][::-1], order[fits:]

    def _offsets(self, which: list[int]) -> Integers:
        return np.concatenate(([0], np.cumsum([self.parts[j].size for j in which]))).astype(np.int64)

    def _rows(self, people: Integers, which: list[int]) -> Integers:
        codes = people[:, which]
        rows: Integers = np.where(codes < 0, -1, codes + self._offsets(which)[:-1])
        return np.ascontiguousarray(rows)

    @cached_property
    def _bits(self) -> Unsigned:
        dense, _ = self._dense_sparse
        offsets = self._offsets(dense)
        bits = np.zeros((int(offsets[-1]), -(-self.groups // 64)), np.uint64)
        for j, offset in zip(dense, offsets[:-1], strict=True):
            set_bits(bits, self.parts[j].codes + offset, self.parts[j].group)
        return bits

    @cached_property
    def _lists(self) -> tuple[Integers, Small]:
        _, sparse = self._dense_sparse
        offsets = self._offsets(sparse)
        rows = [self.parts[j].codes + offset for j, offset in zip(sparse, offsets[:-1], strict=True)]
        row = np.concatenate([np.empty(0, np.int64), *rows])
        group = np.concatenate([np.empty(0, np.int64), *(self.parts[j].group for j in sparse)])
        order = np.argsort(row, kind="stable")
        return np.searchsorted(row[order], np.arange(int(offsets[-1]) + 1)).astype(np.int64), group[order].astype(np.int32)


def distinct_rows(people: Integers) -> tuple[Integers, Integers]:
    """Return the different rows of codes (−1 or more), and which of them each row is."""
    key = combine_codes([(codes + 1, int(codes.max(initial=0)) + 2) for codes in people.T])
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return people[first], which.astype(np.int64)


def combined_presence(cover: Cover, people: Integers, weigh: Callable[[Integers], Weigh]) -> Floats:
    """Return 1 − Π(1 − belief) over the groups that cover each person; 0 where none does.

    `weigh` gets the different rows of `people` first, then pairs of such a row and a group.
    """
    distinct, which = distinct_rows(people)
    chance = weigh(distinct)
    absent = np.zeros(len(distinct))
    with np.errstate(divide="ignore"):
        for owner, group in cover.pairs(distinct):
            absent += np.bincount(owner, weights=np.log1p(-chance(owner, group)[0]), minlength=len(distinct))
    beliefs: Floats = (0.0 - np.expm1(absent))[which]
    return beliefs


def largest_beliefs(
    cover: Cover, people: Integers, weigh: Callable[[Integers], Weigh], histograms: tuple[Integers, Small, Floats], values: int
) -> Floats:
    """Return [people × values]: the largest share in a group that covers a person and that she may be in; NaN where none does.

    The parameters are those of `mixed_beliefs`.
    """
    distinct, which = distinct_rows(people)
    start, value, share = histograms
    chance = weigh(distinct)
    most = np.full((len(distinct), values), np.nan)
    for owner, group in cover.pairs(distinct):
        weight, histogram = chance(owner, group)
        owner, histogram = owner[weight > 0], histogram[weight > 0]
        most[owner] = np.fmax(most[owner], 0.0)
        for begin in range(0, len(owner), _AT_ONCE):
            mine, facing = owner[begin : begin + _AT_ONCE], histogram[begin : begin + _AT_ONCE]
            length = np.diff(start)[facing]
            entry = np.repeat(start[facing] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
            np.maximum.at(most, (np.repeat(mine, length), value[entry]), share[entry])
    beliefs: Floats = most[which]
    return beliefs


def mixed_beliefs(
    cover: Cover, people: Integers, weigh: Callable[[Integers], Weigh], histograms: tuple[Integers, Small, Floats], values: int
) -> Floats:
    """Return [people × values]: Σ belief·share / Σ belief over the groups that cover each person; NaN where none does.

    `histograms` says where the entries of each begin, their values and their shares.
    """
    from scipy.sparse import csr_array

    distinct, which = distinct_rows(people)
    start, value, share = histograms
    shown = csr_array((share, value, start), shape=(len(start) - 1, values))
    chance = weigh(distinct)
    sums = np.zeros((len(distinct), values))
    total = np.zeros(len(distinct))
    for owner, group in cover.pairs(distinct):
        weight, histogram = chance(owner, group)
        total += np.bincount(owner, weights=weight, minlength=len(distinct))
        low, high = (int(owner[0]), int(owner[-1]) + 1) if len(owner) else (0, 0)
        facing = csr_array((weight, (owner - low, histogram)), shape=(high - low, len(start) - 1))
        sums[low:high] += (facing @ shown).toarray()
    with np.errstate(invalid="ignore", divide="ignore"):
        beliefs: Floats = (sums / total[:, None])[which]
    return beliefs
