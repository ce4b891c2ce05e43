"""From counts to a plan: one part, or the parts of Perturbation Partitioning; every decision looks at counts and bounds alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.randomize._kernels import GroupCounts, merge_along
from sfumato.randomize.balance import InitialGroups, balance
from sfumato.randomize.per_value import best_retentions
from sfumato.randomize.plan import Part, RandomizationPlan
from sfumato.randomize.problem import SortedValues
from sfumato.randomize.uniform import confidence_factor, largest_gamma, retention

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Retentions = Callable[[Sequence[int], Sequence[Fraction]], tuple[tuple[Fraction, ...], Fraction | None]]
"""From counts and bounds of a part to the retention of each value, and γ where it is uniform."""

DELTA = Fraction(1, 20)
"""The paper's δ."""

ROOM = Fraction(4)
"""How far the amplification of retentions per value may exceed that of a uniform one, unless the owner says otherwise."""

_WORK = 8_000_000  # entries looked at while improving the order; a tenth of a second at most


def uniform_retentions(cap: Fraction | None = None) -> Retentions:
    """Return the rule that keeps all values of a part equally often: γ as large as bounds and cap allow."""

    def rule(counts: Sequence[int], limits: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], Fraction | None]:
        gamma = largest_gamma(counts, limits, cap)
        return (retention(gamma, len(counts)),) * len(counts), gamma

    return rule


def per_value_retentions(cap: Fraction | None = None) -> Retentions:
    """Return the rule that gives each value the best retention of its own; without a cap, `ROOM` times the uniform γ is one."""

    def rule(counts: Sequence[int], limits: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], Fraction | None]:
        gamma = largest_gamma(counts, limits, cap)
        return best_retentions(counts, limits, gamma, ROOM * gamma if cap is None else cap), None

    return rule


def one_part(problem: SortedValues, rule: Retentions, *, people: int, delta: Fraction = DELTA) -> RandomizationPlan:
    """Return the plan of a single part: all values are randomized among all."""
    part = _part(problem, dict(enumerate(problem.counts)), rule)
    bound = confidence_factor(delta) / math.sqrt(people) * _cost([part])
    return RandomizationPlan((part,), bound, bound, bound, delta, 1)


def partitioned(
    problem: SortedValues,
    rule: Retentions,
    *,
    people: int,
    cap: Fraction | None = None,
    delta: Fraction = DELTA,
    improve: bool = True,
) -> RandomizationPlan:
    """Return the plan of Perturbation Partitioning: balance, rearrange, merge ([SDR §5]), then `improve` the order (ours).

    Every part has all its γ above 1, that is ρ1i < ρ2 in every part: mergings that would break it are not considered, down to a
    single part. `people` is the number of records that the error bounds speak of.
    """
    groups = balance(problem)
    merge = merger(problem, groups, cap)
    banded = min((merge(order) for order in banded_orders(groups, len(problem.counts))), key=lambda merging: merging.cost)
    trials = _WORK // max(1, len(groups) * (len(groups.value) + len(groups) * len(problem.classes[1])))
    best = improved(banded, merge, trials) if improve else banded
    whole = one_part(problem, rule, people=people, delta=delta)
    unit = confidence_factor(delta) / math.sqrt(people)
    parts = _parts(problem, groups, best, rule)
    if parts is None or unit * _cost(parts) >= whole.error_bound:
        parts = list(whole.parts)
    paper = min(unit * banded.cost, whole.error_bound)
    return RandomizationPlan(tuple(parts), unit * _cost(parts), paper, whole.error_bound, delta, len(groups))


def _parts(problem: SortedValues, groups: InitialGroups, merging: Merging, rule: Retentions) -> list[Part] | None:
    """Return the parts of a merging, None where there is none that keeps the bounds, exactly computed."""
    if not math.isfinite(merging.cost):
        return None
    parts = []
    for members in merging.parts():
        counts: dict[int, int] = {}
        for group in members:
            for value, count in zip(*(entries.tolist() for entries in groups.entries(int(group))), strict=True):
                counts[value] = counts.get(value, 0) + count
        part = _part(problem, counts, rule)
        if min(part.retention) <= 0:
            return None
        parts.append(part)
    return parts


def _part(problem: SortedValues, counts: dict[int, int], rule: Retentions) -> Part:
    present = sorted(counts, key=lambda value: problem.codes[value])
    own = [counts[value] for value in present]
    kept, gamma = rule(own, [problem.limits[value] for value in present])
    size = sum(own)
    return Part(
        tuple(problem.codes[value] for value in present),
        tuple(own),
        tuple(Fraction(count, size) for count in own),
        kept,
        gamma,
        Fraction(size, problem.total),
    )


def _cost(parts: Sequence[Part]) -> float:
    """Return Σ √(|T_i|/|T|)·Σ f_x/p_x, which for uniform retentions is √(|T_i|/|T|)·(m_i/(γ_i−1)+1)."""
    return sum(math.sqrt(part.weight) * _inverse_retention(part) for part in parts)


def _inverse_retention(part: Part) -> float:
    if part.gamma is not None:
        return float(1 / part.retention[0])
    return float(sum(float(share) / float(kept) for share, kept in zip(part.shares, part.retention, strict=True)))


# Rearranging: an order of the initial groups in which neighbours share values ([SDR §5.2]).

_FEW = 4


def banded_orders(groups: InitialGroups, values: int) -> Iterator[Integers]:
    """Yield orders of the groups by reverse Cuthill–McKee on A·Aᵀ, one for each arrangement of its connected components.

    Groups that share no value lie in different components, which the algorithm leaves in any order. With few components every
    order and both directions of each are yielded; with many, only the order in which their first groups were made.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    matrix = csr_array((np.ones(len(groups.value)), groups.value, groups.start), shape=(len(groups), values))
    shared = csr_array(matrix @ matrix.T)
    number, component = connected_components(shared, directed=False)
    pieces = [_banded(shared, np.flatnonzero(component == k)) for k in range(number)]
    pieces.sort(key=lambda piece: int(piece.min()))
    if number > _FEW:
        yield np.concatenate(pieces)
        return
    seen: set[tuple[int, ...]] = set()
    for arranged in permutations(pieces):
        for turns in product((1, -1), repeat=number):
            order = np.concatenate([piece[::turn] for piece, turn in zip(arranged, turns, strict=True)])
            if tuple(order) not in seen:
                seen |= {tuple(order), tuple(order[::-1])}  # turning everything round changes no merging
                yield order


def _banded(shared: csr_array, members: Integers) -> Integers:
    """Return one component in reverse Cuthill–McKee order."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    inside = csr_array(shared[members][:, members])
    ordered: Integers = members[reverse_cuthill_mckee(inside, symmetric_mode=True)].astype(np.int64)
    return ordered


# Merging: neighbours in an order of initial groups become parts, with the least error bound ([SDR §5.3]).

_ENOUGH = 1e-12


@dataclass(frozen=True, eq=False)
class Merging:
    """An order of the groups, where each part begins in it, and Σ √(|T_i|/|T|)·(m_i/(γ_i−1)+1): the bound in units of a/√|T|."""

    order: Integers
    begins: tuple[int, ...]
    cost: float

    def parts(self) -> list[Integers]:
        """Return the groups of each part."""
        return np.split(self.order, list(self.begins[1:]))


Merger = Callable[[Integers], Merging]


def merger(problem: SortedValues, groups: InitialGroups, cap: Fraction | None) -> Merger:
    """Return the function that merges the groups optimally along an order; every part has all its γ above 1, or the cost is ∞."""
    which, odds = problem.classes
    limit = np.inf if cap is None else float(cap)
    shown = GroupCounts(groups.start, groups.value, groups.count)

    def along(order: Integers) -> Merging:
        cost, before = merge_along(order, shown, which, odds, problem.total, limit)
        begins: list[int] = []
        place = len(order)
        while place > 0 and np.isfinite(cost):
            place = int(before[place])
            begins.append(place)
        return Merging(order, tuple(reversed(begins)), float(cost))

    return along


def improved(start: Merging, merge: Merger, trials: int) -> Merging:
    """Return a merging whose order no single move improves, or the best found within this many trials.

    A move takes one group elsewhere or turns a run of groups round. The search is a plain descent from the order given, so the
    result is never worse, and it looks at counts alone.
    """
    best = start
    improves = True
    while improves:
        improves = False
        for order in _moves(best.order):
            if trials <= 0:
                return best
            trials -= 1
            tried = merge(order)
            if tried.cost < best.cost * (1 - _ENOUGH):
                best, improves = tried, True
                break
    return best


def _moves(order: Integers) -> Iterator[Integers]:
    groups = len(order)
    for source in range(groups):
        moved, rest = order[source : source + 1], np.concatenate((order[:source], order[source + 1 :]))
        for target in range(groups):
            if target != source:
                yield np.concatenate((rest[:target], moved, rest[target:]))
    for first in range(groups):
        for last in range(first + 3, groups + 1):
            yield np.concatenate((order[:first], order[first:last][::-1], order[last:]))
