"""A window of whole groups as annealing sees it, and annealing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Integers, Small
from sfumato.groups.near._anneal_kernels import CATEGORIES, CODES, HOME, MARKS, NCP, NEED, NUMBERS, ONE, SIZE, VALUE, Window
from sfumato.groups.near._step_kernels import Pace, anneal
from sfumato.groups.near._window_kernels import near_inside
from sfumato.groups.near.order import BoxCost

_RARE = 25  # a value that only groups of so many people may hold takes long moves


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows of so many whole groups: `rows` by window, where each window `begins` there (one entry more), and for each row its
    window and where in it the row stands."""

    groups: int
    rows: Integers
    begins: Integers
    window: Integers
    where: Integers


@dataclass(frozen=True, eq=False)
class Search:
    """What annealing looks at and never changes."""

    scale: BoxCost
    value: Small
    need: Small
    start: Integers
    near: Small

    def anneal(self, home: Integers, windows: Windows, k: int, word: Array, pace: Pace) -> float:
        """Anneal window k, write its groups to `home`, numbered apart from those of other windows, and return their cost."""
        window = self.open(home, windows, k, word)
        anneal(window, pace)
        begin = int(windows.begins[k])
        home[windows.rows[begin : windows.begins[k + 1]]] = 3 * begin + 8 * k + window.people[:, HOME]
        return int((window.groups[:, SIZE] * window.groups[:, NCP]).sum()) / ONE

    def open(self, home: Integers, windows: Windows, k: int, word: Array) -> Window:
        """Return window k, its codes and values numbered anew, without gaps; the records are not in their groups yet."""
        rows = windows.rows[windows.begins[k] : windows.begins[k + 1]]
        scale, columns = self.scale, len(self.scale.unit)
        people = np.empty((len(rows), CODES + columns), np.int32)
        people[:, HOME] = _renumbered(home[rows], windows.groups)[0]
        people[:, NEED] = self.start[self.value[rows]]
        kind = np.empty(columns, np.int32)
        places: list[Integers] = []
        at = 0
        for j in range(columns):
            short, old = _renumbered(scale.codes[rows, j], int(scale.first[j + 1] - scale.first[j]))
            people[:, CODES + j] = at + short
            place = np.full(len(old), scale.unit[j]) if scale.unit[j] > 0 else scale.place[scale.first[j] + old]
            places.append(np.rint(ONE * place).astype(np.int64))
            kind[j] = CATEGORIES if scale.unit[j] > 0 else NUMBERS
            if len(missing := np.flatnonzero(old == scale.absent[j])):
                kind[j] = at + missing[0]
            at += len(old)
        short, held = _renumbered(self.value[rows], len(self.start))
        people[:, VALUE] = at + short
        alone = self.need[self.start + 1]
        sizes = np.array([max(alone.min(), 1), min(alone.max(), len(home))], dtype=np.int64)
        slots = int(people[:, HOME].max()) + 1 + len(rows) // int(sizes[0]) + 2
        return Window(
            people=people,
            near=near_inside(rows, k, windows.window, windows.where, self.near),
            groups=np.zeros((slots, MARKS + 2 * ((at + 63) // 64) + 2 * columns), np.int64),
            counts=np.zeros((slots, at + len(held)), np.uint16 if len(rows) < 1 << 16 else np.uint32),
            pool=np.empty(4 * len(rows) + 8 * slots, np.int32),
            held=np.empty(4 * len(rows) + 8 * slots, np.int32),
            place=_joined(places),
            kind=kind,
            need=self.need,
            starts=self.start[held],
            log=np.zeros(4 * len(rows) + 64, np.int64),
            spare=np.zeros(slots + 1, np.int64),
            rare=np.flatnonzero(self.need[people[:, NEED] + 1] >= _RARE),
            sizes=sizes,
            word=word,
        )


def _renumbered(codes: Array, size: int) -> tuple[Integers, Integers]:
    """Return codes below `size` numbered in their order, without gaps, and the old code of each new one."""
    if size > 8 * len(codes):
        old, short = np.unique(codes, return_inverse=True)
        return short, old.astype(np.int64)
    seen = np.zeros(size, np.int64)
    seen[codes] = 1
    return (np.cumsum(seen) - 1)[codes], np.flatnonzero(seen)


def _joined(parts: Sequence[Integers]) -> Integers:
    return np.concatenate([np.zeros(0, np.int64), *parts])
