"""From counts to a plan: one part, or the parts of Perturbation Partitioning; every decision looks at counts and bounds alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from sfumato.randomize.balance import Groups, balance
from sfumato.randomize.merge import Merging, improved, merger
from sfumato.randomize.per_value import best_retentions
from sfumato.randomize.plan import Part, RandomizationPlan
from sfumato.randomize.problem import Problem
from sfumato.randomize.rearrange import banded_orders
from sfumato.randomize.uniform import confidence_factor, largest_gamma, retention

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


def one_part(problem: Problem, rule: Retentions, *, people: int, delta: Fraction = DELTA) -> RandomizationPlan:
    """Return the plan of a single part: all values are randomized among all."""
    part = _part(problem, dict(enumerate(problem.counts)), rule)
    bound = confidence_factor(delta) / math.sqrt(people) * _cost([part])
    return RandomizationPlan((part,), bound, bound, bound, delta, 1)


def partitioned(
    problem: Problem,
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


def _parts(problem: Problem, groups: Groups, merging: Merging, rule: Retentions) -> list[Part] | None:
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


def _part(problem: Problem, counts: dict[int, int], rule: Retentions) -> Part:
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
