import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import FPrivacy, LDiversity, RhoPrivacy
from sfumato.errors import Infeasible, PolicyError
from sfumato.randomize.balance import balance
from sfumato.randomize.partition import (
    banded_orders,
    improved,
    merger,
    one_part,
    partitioned,
    per_value_retentions,
    uniform_retentions,
)
from sfumato.randomize.problem import SortedValues
from sfumato.randomize.uniform import largest_gamma, retention
from tests.randomize._belief import belief


def named(counts):
    return {f"v{k:02}": count for k, count in enumerate(counts)}


def zipf(values, people):
    weight = 1 / np.arange(1, values + 1)
    return [max(1, int(share)) for share in weight / weight.sum() * people]


def cost_of(problem, groups, members):
    """Return √(|T_i|/|T|)·(m_i/(γ_i−1)+1) of a set of groups from exact numbers, ∞ where some γ is at most 1."""
    counts = {}
    for g in members:
        for value, count in zip(*(column.tolist() for column in groups.entries(int(g))), strict=True):
            counts[value] = counts.get(value, 0) + count
    gamma = largest_gamma(list(counts.values()), [problem.limits[value] for value in counts])
    if gamma <= 1:
        return math.inf
    return math.sqrt(sum(counts.values()) / problem.total) * float(len(counts) / (gamma - 1) + 1)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 40), min_size=4, max_size=12), st.integers(2, 9))
def test_merging_is_the_best_way_to_cut_an_order(counts, share):
    bounds = FPrivacy(theta=2, offset=Fraction(share, 20)).bounds(named(counts))
    if not bounds.protects:
        return
    problem = SortedValues.of(bounds)
    groups = balance(problem)
    if len(groups) > 8:
        return
    order = np.arange(len(groups))
    best = math.inf
    for cuts in itertools.product((False, True), repeat=len(groups) - 1):
        pieces = np.split(order, [k + 1 for k, cut in enumerate(cuts) if cut])
        best = min(best, sum(cost_of(problem, groups, piece) for piece in pieces))
    merging = merger(problem, groups, None)(order)
    assert merging.cost == pytest.approx(best)
    if math.isfinite(best):
        assert sum(cost_of(problem, groups, piece) for piece in merging.parts()) == pytest.approx(best)


def test_every_arrangement_of_few_components_is_tried_and_every_group_occurs_once():
    problem = SortedValues.of(FPrivacy(offset="0.7").bounds(named([12, 8, 6, 5, 4, 3, 1, 1, 1, 1])))
    groups = balance(problem)
    orders = [tuple(order.tolist()) for order in banded_orders(groups, 10)]
    assert len(set(orders)) == len(orders)
    assert all(sorted(order) == [*range(len(groups))] for order in orders)


def test_moving_groups_lowers_a_bad_orders_cost_and_never_raises_it():
    problem = SortedValues.of(RhoPrivacy("1/5", "1/2").bounds(named(zipf(30, 3000))))
    groups = balance(problem)
    merge = merger(problem, groups, None)
    worse = merge(np.random.default_rng(4).permutation(len(groups)))
    better = improved(worse, merge, 5_000)
    assert better.cost < worse.cost
    assert sorted(better.order.tolist()) == [*range(len(groups))]
    assert improved(worse, merge, 0) is worse


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 300), min_size=3, max_size=25),
    st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=60),
    st.sampled_from([uniform_retentions(), per_value_retentions()]),
)
def test_every_part_keeps_every_bound_and_nobody_is_lost(counts, room, rule):
    top = Fraction(max(counts), sum(counts))
    bounds = RhoPrivacy(top, top + (1 - top) * room).bounds(named(counts))
    plan = partitioned(SortedValues.of(bounds), rule, people=sum(counts))
    seen = [0] * len(counts)
    for part in plan.parts:
        replaced = sum(share * (1 - kept) for share, kept in zip(part.shares, part.retention, strict=True)) / len(part.values)
        for x, code in enumerate(part.values):
            seen[code] += part.counts[x]
            assert part.shares[x] < bounds.limits[code]
            assert 0 < part.retention[x] < 1
            for y in range(len(part.values)):
                shown = replaced + part.shares[y] * part.retention[y]
                assert part.shares[x] * part.transition(x, y) / shown <= bounds.limits[code]
    assert seen == counts
    assert plan.error_bound <= plan.whole_bound
    assert sum(part.weight for part in plan.parts) == 1


def test_where_the_floor_of_theta_breaks_rho2_there_are_fewer_parts():
    # Shares .4, .3, .3: θ = 2, so initial groups give values half of the group, and 1/2 is not below ρ2 = .45.
    bounds = RhoPrivacy("0.42", "0.45").bounds({"a": 40, "b": 30, "c": 30})
    problem = SortedValues.of(bounds)
    groups = balance(problem)
    assert len(groups) > 1
    assert not math.isfinite(cost_of(problem, groups, [0]))
    plan = partitioned(problem, uniform_retentions(), people=100)
    assert len(plan.parts) == 1
    assert plan.error_bound == plan.whole_bound
    assert belief(plan.parts[0].gamma, Fraction(2, 5)) == Fraction(9, 20)


def test_gamma_and_belief_are_inverse_to_each_other():
    gamma = largest_gamma([1, 12], [Fraction(1, 6), Fraction(1)])
    assert belief(gamma, Fraction(1, 13)) == Fraction(1, 6)
    assert retention(gamma, 2) == (gamma - 1) / (1 + gamma)
    assert largest_gamma([1, 12], [Fraction(1, 6), Fraction(1)], Fraction(2)) == 2


def test_an_amplification_cap_limits_every_part():
    bounds = RhoPrivacy("1/5", "2/3").bounds(named(zipf(20, 2000)))
    cap = Fraction(5, 2)
    for rule in (uniform_retentions(cap), per_value_retentions(cap)):
        plan = partitioned(SortedValues.of(bounds), rule, people=2000, cap=cap)
        assert all(part.amplification <= cap for part in plan.parts)
    (part,) = one_part(SortedValues.of(bounds), uniform_retentions(cap), people=2000).parts
    assert part.gamma == cap


def test_the_amplification_of_a_part_is_the_largest_ratio_of_its_matrix():
    bounds = FPrivacy(theta=3, offset="0.05").bounds(named([40, 25, 20, 10, 5]))
    (part,) = one_part(SortedValues.of(bounds), per_value_retentions(), people=100).parts
    values = range(len(part.values))
    ratios = [part.transition(x, y) / part.transition(z, y) for x in values for y in values for z in values]
    assert len(set(part.retention)) > 1
    assert part.amplification == max(ratios)


def test_a_bound_that_equals_a_share_and_bounds_of_one_are_refused():
    with pytest.raises(Infeasible, match=r"equals a value's share.*v00: 50 %") as caught:
        SortedValues.of(LDiversity(2).bounds({"v00": 5, "v01": 3, "v02": 2}))
    assert caught.value.values == ("v00",)
    with pytest.raises(PolicyError, match="a bound of 1"):
        SortedValues.of(FPrivacy(offset=1).bounds({"a": 1, "b": 2}))


def test_thousands_of_rare_values_get_parts_that_keep_far_more():
    bounds = RhoPrivacy("0.2", "0.5").bounds(named(zipf(3000, 60_000)))
    problem = SortedValues.of(bounds)
    plan = partitioned(problem, uniform_retentions(), people=60_000)
    whole = one_part(problem, uniform_retentions(), people=60_000)
    assert len(plan.parts) > 100
    assert plan.retention > 50 * whole.retention
    assert plan.error_bound < whole.error_bound
