"""Pure matched groups: what counts decide, who is matched, and that bounds, coins and numbers of workers do what they must."""

from fractions import Fraction
from itertools import permutations

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sfumato.groups.grouping import histograms, require_bounds
from sfumato.groups.near._match_kernels import assign, match_block
from sfumato.groups.near._order_kernels import FINE
from sfumato.groups.near.matched import MatchOptions, matched_groups, variety
from sfumato.groups.near.order import BoxCost, domain_widths
from sfumato.groups.near.packing import group_sizes, pack, pack_classes
from sfumato.groups.settings.plan import plan
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity
from sfumato.randomness import SeededRandomness
from sfumato.table import Schema, Table
from tests.makers import people, skewed

square = st.integers(1, 6).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 9), min_size=size, max_size=size), min_size=size, max_size=size)
)


def groups_of(table, requirement, seed=1, **options):
    bounds = requirement.bounds(table.sensitive.histogram())
    how = MatchOptions(**options)
    return matched_groups(table.quasi, table.sensitive.codes, bounds, how, random=SeededRandomness(seed)), bounds


@given(square)
def test_an_assignment_has_the_least_cost_of_all_permutations(rows):
    cost = np.array(rows, dtype=np.int64)
    found = assign(cost)
    assert sorted(found) == list(range(len(cost)))
    assert cost[np.arange(len(cost)), found].sum() == min(
        sum(cost[i, j] for i, j in enumerate(order)) for order in permutations(range(len(cost)))
    )


@pytest.mark.parametrize("largest", [2, 50, 10**6])
def test_a_large_assignment_costs_what_scipys_does(largest):
    cost = np.random.default_rng(largest).integers(0, largest, (120, 120)).astype(np.int64)
    assert cost[np.arange(120), assign(cost)].sum() == cost[linear_sum_assignment(cost)].sum()


def ncp_of(group, numbers, kinds, unit):
    wide = sum(int(np.ptp(numbers[group, j])) for j in range(numbers.shape[1]))
    return wide + sum(int(unit[codes].sum() - unit[codes[0]]) for codes in map(np.unique, kinds[group].T))


def test_the_first_match_of_two_buckets_is_the_best_of_all_and_a_sweep_never_widens_boxes():
    coins = np.random.default_rng(4)
    numbers = coins.integers(0, 100, (15, 1)).astype(np.int64)
    kinds = coins.integers(0, 4, (15, 1)).astype(np.int32)
    unit = np.full(4, 33, np.int64)
    pair = np.arange(10, dtype=np.int64).reshape(2, 5)
    best = min(
        sum(ncp_of([g, 5 + other], numbers, kinds, unit) for g, other in enumerate(order)) for order in permutations(range(5))
    )
    match_block(pair, numbers, kinds, unit, 0)
    assert sum(ncp_of(pair[:, g], numbers, kinds, unit) for g in range(5)) == best
    costs = []
    for sweeps in range(4):
        block = np.arange(15, dtype=np.int64).reshape(3, 5)
        match_block(block, numbers, kinds, unit, sweeps)
        assert sorted(block[1]) == list(range(5, 10))
        costs.append(sum(ncp_of(block[:, g], numbers, kinds, unit) for g in range(5)))
    assert costs == sorted(costs, reverse=True)


def test_whole_values_are_packed_into_buckets_of_equal_size_and_a_valid_rest():
    found = pack(np.array([2, 2, 4, 4, 6, 6, 6]), [Fraction(1, 3)] * 7)
    (pieces,) = found.classes
    assert pieces.shape == (7, 3)
    assert pieces.sum(axis=0).tolist() == [10, 10, 10]
    assert ((pieces > 0).sum(axis=1) == 1).all()
    assert found.people_left == 0


def test_a_value_too_frequent_for_one_bucket_fills_several():
    found = pack(np.array([4, 8, 8]), [Fraction(2, 5)] * 3)
    (pieces,) = found.classes
    assert pieces.tolist() == [[4, 0, 0, 0, 0], [0, 4, 4, 0, 0], [0, 0, 0, 4, 4]] or found.people_left == 0
    assert pieces.shape[1] == 5
    assert ((pieces > 0).sum(axis=1) <= 2).all()


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12), st.integers(2, 5))
def test_packing_keeps_bounds_in_buckets_and_among_those_left_over(counts, ell):
    total = sum(counts)
    if max(counts) * ell > total:
        return
    limits = [Fraction(1, ell)] * len(counts)
    found = pack(np.array(counts), limits)
    (pieces,) = found.classes
    assert (pieces.sum(axis=1) + found.left).tolist() == counts
    assert len(set(pieces.sum(axis=0).tolist())) == 1
    assert ((pieces > 0).sum(axis=1) <= pieces.shape[1] // ell).all()
    assert (found.left * ell <= found.people_left).all()


@given(st.lists(st.integers(1, 60), min_size=3, max_size=10), st.integers(1, 4))
def test_classes_of_several_sizes_keep_bounds_that_differ(counts, theta):
    bounds = FPrivacy(theta=theta, offset="0.1").bounds({str(k): count for k, count in enumerate(counts)})
    chosen = plan(bounds, strategy="two-size", max_size=sum(counts))
    classes = [(size, chosen.allocation[:, j]) for j, size in enumerate(chosen.setting.sizes)]
    found = pack_classes(classes, bounds.limits)
    assert (sum(pieces.sum(axis=1) for pieces in found.classes) + found.left).tolist() == list(bounds.counts)
    for pieces in found.classes:
        assert len(set(pieces.sum(axis=0).tolist())) == 1
        for value, limit in zip(pieces, bounds.limits, strict=True):
            assert Fraction(int((value > 0).sum()), pieces.shape[1]) <= limit
    for left, limit in zip(found.left, bounds.limits, strict=True):
        assert left <= limit * found.people_left


def test_group_sizes_are_those_in_which_every_value_fits():
    assert list(group_sizes(np.array([4, 8, 8]), [Fraction(2, 5)] * 3))[:3] == [5, 10, 15]
    assert next(group_sizes(np.array([5, 5, 10]), [Fraction(1, 2)] * 3)) == 2


@pytest.mark.parametrize("requirement", [LDiversity(2), LDiversity(3), FPrivacy(offset="0.4", theta=0), BetaLikeness(2)])
def test_everybody_is_in_one_group_and_every_group_keeps_the_bounds(requirement):
    table = skewed(rows=900)
    found, bounds = groups_of(table, requirement, floor=20)
    assert (found.group >= 0).all()
    assert found.sizes.min() > 0
    shown = histograms(found.group, table.sensitive.codes, len(bounds.values))
    require_bounds(shown, found.sizes, bounds)
    assert found.figures["people_left_over"] < 450


def test_bounds_that_only_one_group_can_keep_give_one_group():
    table = people(["a", "a", "b", "b", "b", "c"])
    found, _ = groups_of(table, FPrivacy(theta=1))
    assert found.groups == 1


def test_near_people_share_a_group():
    table = skewed(rows=3000)
    found, _ = groups_of(table, LDiversity(2), floor=50)
    ages = np.array(table.quasi[0].arrow().to_pylist(), dtype=float)
    sizes = found.sizes
    mean = np.bincount(found.group, weights=ages) / sizes
    inside = ((ages - mean[found.group]) ** 2).mean()
    assert found.figures["group_sizes"] == [2]
    assert inside < 0.1 * ages.var()


def test_the_groups_are_the_same_for_any_number_of_threads_and_for_the_same_seed_only():
    table = skewed(rows=2000)
    threads = numba.get_num_threads()
    seen = []
    for number in (1, threads):
        numba.set_num_threads(number)
        seen.append(groups_of(table, LDiversity(2), block=50)[0].group.tolist())
    numba.set_num_threads(threads)
    assert seen[0] == seen[1]
    assert seen[0] != groups_of(table, LDiversity(2), seed=2, block=50)[0].group.tolist()


def test_a_side_too_small_for_a_safe_cut_takes_in_others():
    sex = ["f"] * 60 + ["m"] * 140  # a cut needs 80 on each side, so that either could hold all of a value
    table = people([f"v{k % 5}" for k in range(200)], sex=sex)
    found, _ = groups_of(table, LDiversity(2), floor=1)
    assert found.figures["boxes"] >= 2
    men = np.array(sex) == "m"
    mixed = [g for g in range(found.groups) if 0 < men[found.group == g].mean() < 1]
    assert len(mixed) <= 20


def test_missing_numbers_and_constant_columns_are_matched_too():
    ages = [None if k % 7 == 0 else k % 50 for k in range(210)]
    table = people([f"v{k % 3}" for k in range(210)], age=ages, same=["x"] * 210)
    found, bounds = groups_of(table, LDiversity(3))
    require_bounds(histograms(found.group, table.sensitive.codes, len(bounds.values)), found.sizes, bounds)
    assert set(found.sizes.tolist()) == {3}


def test_widths_are_those_of_declared_domains_and_else_those_seen():
    frame = pa.table({"age": [20, 40, 60], "town": ["a", "b", "c"], "level": [1, 2, 3], "value": ["x", "y", "z"]})
    schema = Schema(
        quasi=["age", "town", "level"],
        sensitive=["value"],
        domains={"age": {"min": 0, "max": 100}, "town": ["a", "b", "c", "d", "e"]},
    )
    table = Table.from_frame(frame, schema)
    assert domain_widths(table.quasi, table.schema) == [100.0, 4.0, 2.0]


def test_variety_is_how_far_apart_two_people_are():
    table = people(["x", "y"] * 50, sex=["f", "m"] * 50, age=[0] * 50 + [10] * 50)
    assert variety(BoxCost.of(table.quasi, [1.0, 10.0])).tolist() == [FINE // 2, 13 * FINE // 20]
