"""The compiled loops against plain Python."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.query.models import _spread_kernels as kernels
from sfumato.query.models.spread import RangeShares
from sfumato.query.models.units import Ends


@given(st.floats(1e-9, 50))
def test_a_poisson_number_that_is_not_zero_has_this_mean(rate):
    assert kernels.at_least_once(rate) == pytest.approx(rate / -math.expm1(-rate), rel=1e-6)


@settings(max_examples=200)
@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=6), st.floats(0, 1), st.integers(1, 500))
def test_the_rate_makes_the_group_as_large_as_it_is(seen, inner, size):
    rate = kernels.solve_rate(float(size), inner, np.array(seen), len(seen))
    total = rate * inner + sum(kernels.at_least_once(rate * one) for one in seen)
    assert rate >= 0
    if size <= len(seen):
        assert rate == 0
    else:
        assert total == pytest.approx(size, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_people_spread_over_ranges_are_as_plain_python_spreads_them(data):
    units = data.draw(st.integers(1, 6))
    weight = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=units + 1, max_size=units + 1)))
    groups = data.draw(
        st.lists(st.tuples(st.integers(0, units - 1), st.integers(0, units - 1), st.booleans()), min_size=1, max_size=5)
    )
    low = np.array([min(a, b) for a, b, _ in groups], dtype=np.int32)
    high = np.array([max(a, b) for a, b, _ in groups], dtype=np.int32)
    missing = np.array([m for _, _, m in groups], dtype=np.uint8)
    sizes = np.array([data.draw(st.integers(3, 40)) for _ in groups], dtype=np.int64)
    spread = RangeShares(weight, *(np.empty(len(groups)) for _ in range(4)))
    expected = np.empty(units + 1)
    kernels.spread_ranges(sizes, Ends(low, high, missing), weight, spread, expected)
    _, inner, at_low, at_high, at_missing = spread
    plain = np.zeros(units + 1)
    for g, size in enumerate(sizes):
        shares = np.zeros(units + 1)
        shares[low[g]] += at_low[g]
        shares[high[g]] += at_high[g]
        shares[low[g] + 1 : high[g]] += inner[g] * weight[low[g] + 1 : high[g]]
        shares[units] += at_missing[g]
        assert shares.sum() == pytest.approx(1.0)
        assert size * at_low[g] > 1 - 1e-9
        assert high[g] == low[g] or size * at_high[g] > 1 - 1e-9
        assert (at_missing[g] > 0) == bool(missing[g])
        plain += size * shares
    np.testing.assert_allclose(expected, plain, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_people_spread_over_sets_are_as_plain_python_spreads_them(data):
    weight = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=5, max_size=5)))
    sets = data.draw(st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=5))
    start = np.concatenate(([0], np.cumsum([len(one) for one in sets]))).astype(np.int64)
    codes = np.array([code for one in sets for code in sorted(one)], dtype=np.int32)
    sizes = np.array([len(one) + data.draw(st.integers(0, 30)) for one in sets], dtype=np.int64)
    part, expected = np.empty(len(codes)), np.empty(5)
    kernels.spread_sets(sizes, start, codes, weight, np.empty(5), part, expected)
    plain = np.zeros(5)
    for g, size in enumerate(sizes):
        own = part[start[g] : start[g + 1]]
        assert own.sum() == pytest.approx(1.0)
        assert (size * own > 1 - 1e-6).all()
        mine = codes[start[g] : start[g + 1]]
        assert (
            (np.argsort(own, kind="stable") == np.argsort(weight[mine], kind="stable")).all()
            or size == len(own)
            or (np.diff(np.sort(weight[mine])) < 1e-9).any()
        )
        np.add.at(plain, mine, size * own)
    np.testing.assert_allclose(expected, plain)
