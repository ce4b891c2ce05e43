from __future__ import annotations

import ctypes
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import SfumatoError
from sfumato.groups.settings.flow import check_plan
from sfumato.groups.settings.min_cuts import SCALE, Cuts
from sfumato.groups.settings.optimum import descended, optimum
from sfumato.groups.settings.problem import Problem
from sfumato.groups.settings.setting import Plan
from sfumato.groups.settings.top_down import partition, top_down
from sfumato.groups.settings.two_size import SEARCHES, best_pair, best_two_size
from sfumato.privacy.bounds import Bounds
from tests.groups.settings.oracle import all_settings, best_loss, bounds_of, is_valid, linear_bounds, loss, small_bounds

SKEWED = [900, 700, 400, 350, 200, 150, 120, 90, 60, 40, 30, 20, 15, 10, 5]


@given(small_bounds(), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_the_partition_seats_every_record_within_its_caps(bounds: Bounds, max_size: int) -> None:
    problem = Problem.of(bounds, max_size=max_size)
    pair = best_pair(problem.counts, problem.caps, problem.sizes) if len(problem.sizes) > 1 else None
    if pair is None:
        return
    (small, n_small), (large, n_large) = pair
    caps = problem.caps_of((small, large))
    low, high = partition(problem.counts, caps[:, 0], caps[:, 1], pair)
    assert (low + high == problem.counts).all()
    assert low.sum() == small * n_small
    assert high.sum() == large * n_large
    assert (low <= caps[:, 0] * n_small).all()
    assert (high <= caps[:, 1] * n_large).all()
    assert (low >= 0).all()
    assert (high >= 0).all()


def test_the_partition_moves_the_rarest_values_first() -> None:
    counts, caps_small, caps_large = np.array([1, 2, 3, 6]), np.array([1, 1, 1, 1]), np.array([3, 3, 3, 3])
    low, high = partition(counts, caps_small, caps_large, ((2, 3), (6, 1)))
    assert low.tolist() == [0, 0, 3, 3]
    assert high.tolist() == [1, 2, 0, 3]


@given(small_bounds(), st.integers(1, 8), st.sampled_from(SEARCHES))
@settings(max_examples=50, deadline=None)
def test_top_down_is_valid_and_never_worse_than_two_sizes(bounds: Bounds, max_size: int, search: str) -> None:
    problem = Problem.of(bounds, max_size=max_size)
    if not len(problem.sizes):
        return
    two = best_two_size(problem)
    many = top_down(problem, search=search)  # type: ignore[arg-type]
    assert (two is None) == (many is None)
    if two is not None and many is not None:
        check_plan(bounds, Plan(many[0], problem.restored(many[1]), "top-down"))
        assert many[0].loss <= two.loss


@given(small_bounds(), st.integers(1, 8), st.booleans())
@settings(max_examples=50, deadline=None)
def test_the_optimum_is_what_brute_force_finds(bounds: Bounds, max_size: int, once: bool) -> None:
    problem = Problem.of(bounds, max_size=max_size, once=once)
    expected = best_loss(bounds, max_size, once=once)
    found = optimum(problem, gap=0.0) if len(problem.sizes) else None
    assert (found.setting.loss if found else None) == expected
    if found is not None:
        assert found.lower_bound == expected
        assert found.complete
        check_plan(bounds, Plan(found.setting, problem.restored(found.allocation), "optimal"), once=once)


@given(small_bounds(), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_every_inequality_holds_for_every_valid_setting(bounds: Bounds, max_size: int) -> None:
    problem = Problem.of(bounds, max_size=max_size)
    sizes = problem.sizes.tolist()
    if not sizes:
        return
    cuts = Cuts(problem)
    valid = [dict(classes) for classes in all_settings(bounds.people, sizes) if is_valid(bounds, classes)]
    answer = cuts.relax()
    while answer.x is not None and cuts.separate(
        np.floor(answer.x * SCALE).astype(np.int64), scale=SCALE, tolerance=SCALE // 100
    ):
        answer = cuts.relax()
    for chosen in valid:
        numbers = np.array([chosen.get(size, 0) for size in sizes])
        assert all(int(row @ numbers) >= bound for row, bound in zip(cuts.rows, cuts.bounds, strict=True))
    if valid:
        assert cuts.proven(answer) <= min(loss(tuple(chosen.items())) for chosen in valid)


@given(small_bounds(), st.integers(2, 8))
@settings(max_examples=30, deadline=None)
def test_exchanges_of_buckets_keep_a_setting_valid_and_end_where_none_improves_it(bounds: Bounds, max_size: int) -> None:
    problem = Problem.of(bounds, max_size=max_size)
    sizes = problem.sizes.tolist()
    for classes in list(all_settings(bounds.people, sizes))[:20] if sizes else []:
        if not is_valid(bounds, classes):
            continue
        numbers = np.array([dict(classes).get(size, 0) for size in sizes])
        found = descended(Cuts(problem), numbers)
        reached = tuple((size, int(number)) for size, number in zip(sizes, found, strict=True) if number)
        assert is_valid(bounds, reached)
        assert loss(reached) <= loss(classes)
        for a, b in [(a, b) for a in sizes for b in sizes if b - a >= 2]:
            after = Counter(dict(reached))
            after.subtract([a, b])
            after.update([a + 1, b - 1])
            nearer = tuple(sorted((size, number) for size, number in after.items() if number))
            assert min(after.values()) < 0 or not is_valid(bounds, nearer)


def test_every_setting_that_is_not_valid_violates_an_inequality_that_separation_finds() -> None:
    bounds = linear_bounds([2, 2, 3, 5, 6], "3/2", "0.1")
    problem = Problem.of(bounds, max_size=7)
    sizes = problem.sizes.tolist()
    seen = {True: 0, False: 0}
    for classes in all_settings(bounds.people, sizes):
        chosen = dict(classes)
        numbers = np.array([chosen.get(size, 0) for size in sizes])
        cuts = Cuts(problem)
        violated = cuts.separate(numbers, scale=1) or any(
            int(row @ numbers) < bound for row, bound in zip(cuts.rows, cuts.bounds, strict=True)
        )
        assert violated != is_valid(bounds, classes)
        seen[violated] += 1
    assert seen[True] > 0
    assert seen[False] > 0


@pytest.mark.parametrize("theta", [2, 4, 8])
def test_the_optimum_reaches_its_gap_and_is_never_worse_than_top_down(theta: int) -> None:
    bounds = linear_bounds(SKEWED, theta, "0.02")
    problem = Problem.of(bounds, max_size=50)
    found, start = optimum(problem), top_down(problem)
    assert found is not None
    assert start is not None
    assert found.lower_bound <= found.setting.loss <= start[0].loss
    assert found.setting.loss - found.lower_bound <= 1e-4 * found.setting.loss
    tight = optimum(problem, gap=0.0)
    assert tight is not None
    assert found.lower_bound <= tight.setting.loss <= found.setting.loss


def test_what_the_solver_prints_does_not_mix_with_what_a_program_reads(capfd: pytest.CaptureFixture[str]) -> None:
    # Found by chance: HiGHS of SciPy 1.17 prints a line three times here, although it is told to be silent.
    caps = np.array([[0, 0, 1], [1, 1, 2], [1, 1, 2]])
    problem = Problem(np.array([3, 4, 6]), np.array([2, 3, 4]), caps, np.arange(3))
    print("[", flush=True)
    optimum(problem)
    print("]", flush=True)
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == "[\n]\n"


def test_without_time_the_optimum_returns_top_down_and_says_it_is_not_complete() -> None:
    problem = Problem.of(linear_bounds(SKEWED, 4, "0.02"), max_size=50)
    start = top_down(problem)
    found = optimum(problem, gap=0.0, time_limit=0.0)
    assert found is not None
    assert start is not None
    assert found.setting == start[0]
    assert not found.complete
    assert found.lower_bound < found.setting.loss


def test_without_time_and_without_a_first_setting_the_search_says_so() -> None:
    # Three sizes are needed: two values fill buckets of 2 and 3 only, and 5 people at 1/5 each need a bucket of 5 or more.
    bounds = next(b for b in _three_size_problems() if best_loss(b, 7, kinds=2) is None and best_loss(b, 7) is not None)
    problem = Problem.of(bounds, max_size=7)
    assert optimum(problem) is not None
    with pytest.raises(SfumatoError, match="no setting was found"):
        optimum(problem, time_limit=0.0)


def _three_size_problems() -> list[Bounds]:
    palette = [Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(1, 5), Fraction(2, 7)]
    found = []
    for total_seed in range(400):
        rng = np.random.default_rng(total_seed)
        counts = rng.integers(1, 6, size=5).tolist()
        limits = [max(Fraction(c, sum(counts)), palette[int(rng.integers(len(palette)))]) for c in counts]
        found.append(bounds_of(counts, limits))
    return found


def test_an_infeasible_problem_on_which_the_solver_stumbles_is_told_infeasible() -> None:
    bounds = bounds_of([3, 4, 6], [Fraction(1, 4), Fraction(1, 2), Fraction(1, 2)])
    assert optimum(Problem.of(bounds, max_size=4)) is None
