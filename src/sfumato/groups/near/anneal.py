"""Annealed groups: people near each other, any sizes, every bound kept exactly at every step ([003] and our own search)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numba import get_num_threads

from sfumato.arrays import Array, Floats, Integers, Small
from sfumato.errors import PolicyError
from sfumato.groups.grouping import Grouping, need_table
from sfumato.groups.near._anneal_kernels import ONE
from sfumato.groups.near._step_kernels import Pace
from sfumato.groups.near._window_kernels import stretches
from sfumato.groups.near.order import BoxCost, neighbours
from sfumato.groups.near.window import Search, Windows
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.progress import Progress, silent
from sfumato.randomness import Randomness
from sfumato.table.column import Column

WINDOW = 50_000  # smaller ones cut off more neighbours: 25,000 cost β-likeness at 100,000 people .006 of GCP
_TREES = 4
_CHANCES = 1 << 20
_MINUS_LOGS = -np.log((np.arange(4096) + 0.5) / 4096)


@dataclass(frozen=True)
class Schedule:
    """How annealing goes: temperatures in units of one person's ΣNCP, steps per person, and how often each step is tried."""

    warm: float
    cold: float
    steps: float
    rounds: int
    early: tuple[float, ...]  # chances of move, long, evict, carve, dissolve; the rest are swaps
    late: tuple[float, ...]
    late_below: float

    def heat(self, turn: int) -> Floats:
        """Return the temperatures at the beginning and at the end of a round."""
        passed = np.array([turn, turn + 1]) / self.rounds
        return np.asarray(self.warm * (self.cold / self.warm) ** passed)

    def pace(self, turn: int) -> Pace:
        """Return how windows are annealed in a round, with the steps of a record."""
        heat = self.heat(turn)
        chances = self.late if heat[0] < self.late_below else self.early
        added = (np.cumsum(chances) * _CHANCES).astype(np.int64)
        return Pace(self.steps / self.rounds, heat[0] * ONE, heat[1] * ONE, added, _MINUS_LOGS)


def schedule(people: int, bounds: Bounds, effort: float) -> Schedule:
    """Return the schedule for a table: warmer where bounds differ, because groups are larger then."""
    size = people / 10_000
    every = (0.10, 0.02, 0.03, 0.003, 0.003)
    if len(set(bounds.limits)) == 1:
        steps = effort * float(np.clip(3200 * size**-0.4, 650, 2400))
        warm = float(np.clip(1 - 0.2 * np.log10(size), 0.6, 1.0))
        evict = float(np.clip(0.05 * size**-0.4, 0.02, 0.05))
        return Schedule(warm, 0.03, steps, _rounds(steps), (0.0, 0.0, evict, 0.0, 0.0), every, 0.1)
    steps = effort * float(np.clip(3500 * size**-0.32, 700, 3500))
    return Schedule(4.0, 0.05, steps, _rounds(steps), every, every, 0.0)


def _rounds(steps: float) -> int:
    return int(np.clip(steps / 25, 4, 100))


def annealed_groups(
    columns: Sequence[Column],
    sensitive: Array,
    bounds: Bounds,
    *,
    widths: Sequence[float],
    effort: float = 1.0,
    random: Randomness,
    progress: Progress = silent,
) -> Grouping:
    """Return groups that keep the bounds and whose boxes are small: Σ size·ΣNCP is lowered by simulated annealing.

    `widths` are those of the columns' domains, as NCP divides by them. `effort` multiplies the number of steps. Windows of whole
    groups are annealed at once, each with a random stream of its own, so the number of processors changes nothing. Rows must be
    in an order of coins.
    """
    if not effort > 0:
        raise PolicyError(f"effort: expected a number above 0, got {effort!r}", hint="1 is the usual effort")
    plan = schedule(len(sensitive), bounds, effort)
    progress("ordering people", 0.0)
    coins = random.spawn(Step.ANNEALING)
    scale = BoxCost.of(columns, widths)
    rows = scale.order(coins, wobble=0.0)
    scale = scale.take(rows)
    value = sensitive[rows].astype(np.int32)
    need, start = _small_needs(bounds)
    ranks = [_ranks(scale.order(coins, wobble=0.7)) for _ in range(_TREES)]
    near = neighbours(scale, [np.arange(len(rows)), *(np.argsort(rank) for rank in ranks[:1])], coins)
    search = Search(scale, value, need, start, near)
    home = first_groups(value, need, start)
    cost = 0.0
    with ThreadPoolExecutor(get_num_threads()) as pool:
        for turn in range(plan.rounds):
            progress("annealing groups", 0.1 + 0.9 * turn / plan.rounds)
            home, here = _short(home), coins.spawn(turn)
            cost = _one_round(search, home, _windows(home, ranks[turn % _TREES], here), plan.pace(turn), here, pool)
    figures = {"gcp": cost / (len(rows) * len(columns)), "steps_per_person": plan.steps, "rounds": plan.rounds}
    return replace(_named(home, rows), figures=figures)


def _one_round(
    search: Search, home: Integers, windows: Windows, pace: Pace, random: Randomness, pool: ThreadPoolExecutor
) -> float:
    """Anneal all windows, each with a random word of its own; return the cost of all groups."""
    many = len(windows.begins) - 1
    words = random.words(many).copy()
    return sum(pool.map(lambda k: search.anneal(home, windows, k, words[k : k + 1], pace), range(many)))


def first_groups(value: Small, need: Small, start: Integers) -> Integers:
    """Return a group for each record of a kd order: stretches of the order, each dealt round robin.

    Records of a stretch are dealt by value, so that a group of S = ⌊people / groups⌋ gets at most ⌈count / groups⌉ of each.
    """
    begins, held = stretches(value, need, start)
    stretch = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(value)))
    order = np.lexsort((value, stretch))
    home = np.empty(len(value), np.int64)
    home[order] = (np.cumsum(held) - held)[stretch] + (np.arange(len(value)) - begins[stretch]) % held[stretch]
    return home


def _small_needs(bounds: Bounds) -> tuple[Small, Integers]:
    """Return the smallest group for every count of every value, larger than the table where none is, and starts by value."""
    need, start = need_table(bounds)
    return np.minimum(need, bounds.people + 1).astype(np.int32), start[:-1]


def _ranks(order: Integers) -> Integers:
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _short(home: Integers) -> Integers:
    """Return the groups numbered from 0 on without gaps."""
    used = np.bincount(home) > 0
    return (np.cumsum(used) - 1)[home]


def _windows(home: Integers, rank: Integers, random: Randomness) -> Windows:
    """Return windows of groups that lie near each other in an order, each group where a random member of it lies."""
    people = len(home)
    groups = int(home.max()) + 1
    place = np.empty(groups, np.int64)
    drawn = random.permutation(people)
    place[home[drawn]] = rank[drawn]  # the last one drawn stays
    by_place = np.argsort(place)
    sizes = np.bincount(home)
    before = np.cumsum(sizes[by_place]) - sizes[by_place]
    many = max(round(people / WINDOW), 1)
    length = people / many
    shift = random.below(people, 1)[0] / people * length if many > 1 else 0.0
    number = np.empty(groups, np.int64)
    number[by_place] = ((before + shift) / length).astype(np.int64)
    window = _short(number)[home]
    inside = np.argsort(window, kind="stable")
    ends = np.concatenate(([0], np.cumsum(np.bincount(window))))
    where = np.empty(people, np.int64)
    where[inside] = np.arange(people) - ends[window[inside]]
    return Windows(groups, inside, ends, window, where)


def _named(home: Integers, rows: Integers) -> Grouping:
    """Return the groups of the table's rows."""
    group = np.empty(len(rows), np.int32)
    group[rows] = _short(home)
    return Grouping(group, int(group.max()) + 1, "annealed")
