from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import BetaLikeness, FPrivacy
from sfumato.randomize.per_value import FLOOR, GRID, best_retentions, keeps_bounds
from sfumato.randomize.uniform import largest_gamma, retention
from tests.papers.test_002_small_domain import counts_of

SOME = FPrivacy(theta=2, offset="0.04").bounds(
    {f"v{k}": count for k, count in enumerate((300, 220, 160, 120, 90, 60, 30, 15, 5))}
)


def grid(numbers):
    return [int(number * GRID) for number in numbers]


def by_bisection(bounds, least, most):
    """Solve the same program another way: for a given F = Σfp each bound gives p_x its largest value, and F must agree."""
    size = len(bounds.counts)
    share = np.array([float(value) for value in bounds.shares])
    bound = np.array([float(limit) for limit in bounds.limits])
    slope = share * (size * (1 - bound) - 1)
    assert (slope > 0).all()

    def kept(total):
        return np.clip((bound * (1 - total) - share) / slope, least, most)

    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if share @ kept(middle) >= middle else (low, middle)
    return kept(low)


def test_the_retentions_are_the_best_ones():
    gamma = largest_gamma(SOME.counts, SOME.limits)
    found = best_retentions(SOME.counts, SOME.limits, gamma, 4 * gamma)
    least, most = float(FLOOR * retention(gamma, 9)), float(retention(4 * gamma, 9))
    assert [float(p) for p in found] == pytest.approx(by_bisection(SOME, least, most), abs=1e-6)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 400), min_size=2, max_size=12), st.integers(1, 12), st.integers(1, 30))
def test_bounds_are_kept_exactly_within_floor_and_cap(counts, theta, offset):
    bounds = FPrivacy(theta=theta, offset=Fraction(offset, 100)).bounds({f"v{k}": count for k, count in enumerate(counts)})
    if not bounds.protects:
        return
    gamma = largest_gamma(bounds.counts, bounds.limits)
    found = best_retentions(bounds.counts, bounds.limits, gamma, 2 * gamma)
    assert keeps_bounds(bounds.counts, bounds.limits, grid(found))
    size = len(counts)
    assert all(p >= FLOOR * retention(gamma, size) - Fraction(2, GRID) for p in found)
    assert all(p <= retention(2 * gamma, size) for p in found)
    uniform = retention(gamma, size)
    assert sum(share * p for share, p in zip(bounds.shares, found, strict=True)) >= uniform - Fraction(1, 10**6)


def test_the_check_in_integers_is_the_belief_in_fractions():
    size = len(SOME.counts)
    for seed in range(40):
        kept = [Fraction(int(k), GRID) for k in np.random.default_rng(seed).integers(1, GRID // 5, size)]
        replaced = sum(share * (1 - p) for share, p in zip(SOME.shares, kept, strict=True)) / size
        held = all(
            share * (p + (1 - p) / size) / (replaced + share * p) <= limit
            for share, p, limit in zip(SOME.shares, kept, SOME.limits, strict=True)
        )
        assert keeps_bounds(SOME.counts, SOME.limits, grid(kept)) == held


def test_nothing_can_be_kept_more_often_than_uniformly_unless_something_is_kept_less_often():
    uniform = grid([retention(largest_gamma(SOME.counts, SOME.limits), 9)] * 9)
    assert keeps_bounds(SOME.counts, SOME.limits, uniform)
    for value in range(9):
        more = list(uniform)
        more[value] += 10**5
        assert not keeps_bounds(SOME.counts, SOME.limits, more)


def test_equal_counts_under_equal_bounds_are_kept_equally_often():
    limits = [Fraction(1, 3)] * 6
    found = best_retentions([7] * 6, limits, largest_gamma([7] * 6, limits), Fraction(100))
    assert set(found) == {Fraction(int(retention(Fraction(5, 2), 6) * GRID), GRID)}


@pytest.mark.parametrize(
    ("requirement", "uniform", "own"),
    [
        (FPrivacy(theta=8, offset="0.02"), 0.162, 0.186),
        (FPrivacy(theta=32, offset="0.02"), 0.459, 0.666),
        (BetaLikeness(3), 0.057, 0.065),
    ],
    ids=["8f+0.02", "32f+0.02", "β=3"],
)
def test_retention_per_value_on_the_bundled_census(requirement, uniform, own):
    bounds = requirement.bounds(counts_of("occupation"))
    gamma = largest_gamma(bounds.counts, bounds.limits)
    found = best_retentions(bounds.counts, bounds.limits, gamma, 4 * gamma)
    assert float(retention(gamma, 50)) == pytest.approx(uniform, abs=0.002)
    assert float(sum(s * p for s, p in zip(bounds.shares, found, strict=True))) == pytest.approx(own, abs=0.003)
