from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.groups.settings._kernels import first_pair, is_valid_pair
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.two_size import SEARCHES, best_one_size, best_pair, best_two_size, is_valid_one_size
from sfumato.privacy.bounds import Bounds
from tests.groups.settings.oracle import best_loss, bounds_of, feasible_pairs, is_valid, small_bounds


@given(small_bounds(), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_the_best_single_size_is_the_one_brute_force_finds(bounds: Bounds, max_size: int) -> None:
    found = best_one_size(Problem.of(bounds, max_size=max_size))
    assert (found.loss if found else None) == best_loss(bounds, max_size, kinds=1)


@given(small_bounds(), st.integers(1, 8), st.booleans())
@settings(max_examples=50, deadline=None)
def test_three_searches_and_brute_force_agree_on_the_best_two_sizes(bounds: Bounds, max_size: int, once: bool) -> None:
    problem = Problem.of(bounds, max_size=max_size, once=once)
    expected = best_loss(bounds, max_size, kinds=2, once=once)
    for search in SEARCHES:
        found = best_two_size(problem, search=search) if len(problem.sizes) else None
        assert (found.loss if found else None) == expected
        if found is not None:
            assert is_valid(bounds, found.classes, once)


@given(st.lists(st.integers(1, 400), min_size=3, max_size=12), st.integers(2, 6), st.sampled_from(["0.02", "0.11", "1/7"]))
@settings(max_examples=30, deadline=None)
def test_three_searches_return_the_same_setting_on_larger_tables(counts: list[int], theta: int, offset: str) -> None:
    total = sum(counts)
    limits = [min(Fraction(1), theta * Fraction(count, total) + Fraction(offset)) for count in counts]
    problem = Problem.of(bounds_of(counts, limits), max_size=30)
    settings_found = {best_two_size(problem, search=search) for search in SEARCHES}
    assert len(settings_found) == 1


@given(small_bounds(), st.integers(2, 8), st.integers(0, 60))
@settings(max_examples=40, deadline=None)
def test_a_limit_on_the_loss_hides_only_what_does_not_beat_it(bounds: Bounds, max_size: int, below: int) -> None:
    problem = Problem.of(bounds, max_size=max_size)
    expected = best_loss(bounds, max_size, kinds=2)
    for search in SEARCHES:
        pair = best_pair(problem.counts, problem.caps, problem.sizes, search=search, below=below) if len(problem.sizes) else None
        assert (pair is not None) == (expected is not None and expected < below)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 3000))
@settings(max_examples=50, deadline=None)
def test_the_list_of_feasible_pairs_is_complete_and_in_order(small: int, step: int, total: int) -> None:
    large = small + step
    expected = [((total - large * b) // small, b) for b in range(total // large + 1) if (total - large * b) % small == 0]
    assert feasible_pairs(small, large, total) == expected
    divisor = gcd(small, large)
    assert first_pair(small, large, total)[2:] == (large // divisor, small // divisor)


@given(small_bounds(), st.integers(1, 6), st.integers(1, 6), st.integers(0, 20))
@settings(max_examples=50, deadline=None)
def test_the_compiled_validity_of_a_pair_is_theorem_3(bounds: Bounds, small: int, step: int, number: int) -> None:
    large = small + step
    rest = bounds.people - large * number
    if rest < 0 or rest % small:
        return
    caps = bounds.caps([small, large])
    valid = is_valid_pair(np.array(bounds.counts), caps[:, 0], caps[:, 1], small, large, rest // small, number)
    classes = tuple((size, count) for size, count in ((small, rest // small), (large, number)) if count)
    assert bool(valid) == is_valid(bounds, classes)


def test_of_equal_losses_the_smallest_first_size_stays() -> None:
    # Two people of each of two values, bound 1: 4 of 1 loses nothing; sizes 1 with any other size tie, the first is kept.
    problem = Problem.of(bounds_of([2, 2], [Fraction(1)] * 2), max_size=4)
    assert best_pair(problem.counts, problem.caps, problem.sizes) == ((1, 4), (2, 0))


def test_one_candidate_size_is_enough_for_two_sizes() -> None:
    problem = Problem.of(bounds_of([3, 3], [Fraction(1, 2)] * 2), max_size=2)
    assert problem.sizes.tolist() == [2]
    found = best_two_size(problem)
    assert found is not None
    assert found.classes == ((2, 3),)


@pytest.mark.parametrize(
    ("limit", "count", "size"), [("0.29", 29, 100), ("0.57", 57, 100), ("0.07", 7, 100), ("1/3", 1, 3), ("0.58", 29, 50)]
)
def test_a_bound_met_exactly_is_not_lost_to_rounding(limit: str, count: int, size: int) -> None:
    # The share equals the bound, so only buckets in which bound·size is whole can be used: floats say 28.999… for 0.29·100.
    bounds = bounds_of([3 * count, 3 * (size - count)], [Fraction(limit), Fraction(1)])
    found = best_one_size(Problem.of(bounds, max_size=size))
    assert found is not None
    assert found.classes == ((size, 3),)
    assert best_two_size(Problem.of(bounds, max_size=size)) == found
    assert best_two_size(Problem.of(bounds, max_size=size - 1)) is None


@pytest.mark.parametrize(("limit", "count"), [("0.29", 29), ("0.57", 57), ("0.07", 7)])
def test_a_bound_missed_by_less_than_a_float_can_tell_is_missed(limit: str, count: int) -> None:
    almost = Fraction(limit) - Fraction(1, 10**20)
    assert float(almost) == float(Fraction(limit))
    bounds = bounds_of([count, 100 - count], [almost, Fraction(1)])
    assert not is_valid_one_size(np.array(bounds.counts), bounds.caps([100])[:, 0], 100)
    assert best_two_size(Problem.of(bounds, max_size=100)) is None
