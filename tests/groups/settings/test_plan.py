from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import Infeasible, PolicyError
from sfumato.groups.settings.flow import check_plan
from sfumato.groups.settings.plan import STRATEGIES, plan
from sfumato.methods import MultiSize
from sfumato.privacy.bounds import Bounds
from tests.groups.settings.oracle import best_loss, bounds_of, small_bounds

KINDS = {"one-size": 1, "two-size": 2, "top-down": 2, "optimal": None}


@given(small_bounds(), st.integers(1, 8), st.sampled_from(STRATEGIES), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_plan_exists_exactly_when_brute_force_finds_a_setting(bounds: Bounds, max_size: int, strategy: Any, once: bool) -> None:
    expected = best_loss(bounds, max_size, kinds=KINDS[strategy], once=once)
    if expected is None:
        with pytest.raises(Infeasible) as caught:
            plan(bounds, strategy=strategy, max_size=max_size, once=once)
        nearest = caught.value.nearest.get("max_size")
        assert nearest is not None or once
        if isinstance(nearest, int):
            assert plan(bounds, strategy=strategy, max_size=nearest, once=once).setting.total == bounds.people
        other: Any = caught.value.nearest.get("strategy")
        if other is not None:
            assert plan(bounds, strategy=other, max_size=max_size, once=once).setting.total == bounds.people
        return
    found = plan(bounds, strategy=strategy, max_size=max_size, once=once)
    check_plan(bounds, found, once=once)
    assert found.loss <= expected if strategy == "top-down" else found.loss == expected


@given(small_bounds(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_values_changes_nothing(bounds: Bounds, random: Any) -> None:
    order = list(range(len(bounds.values)))
    random.shuffle(order)
    shuffled = Bounds.of(
        tuple(bounds.values[i] for i in order),
        tuple(bounds.counts[i] for i in order),
        tuple(bounds.limits[i] for i in order),
    )
    for strategy in STRATEGIES:
        one = plan(bounds, strategy=strategy, max_size=bounds.people)
        other = plan(shuffled, strategy=strategy, max_size=bounds.people)
        assert one.setting == other.setting
        assert one.allocation[order].tolist() == other.allocation.tolist()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("limit", "count"), [("0.29", 29), ("0.57", 57), ("0.07", 7)])
def test_every_strategy_uses_a_bound_that_is_met_exactly(strategy: Any, limit: str, count: int) -> None:
    bounds = bounds_of([2 * count, 2 * (100 - count)], [Fraction(limit), Fraction(1)])
    assert plan(bounds, strategy=strategy, max_size=100).setting.classes == ((100, 2),)
    with pytest.raises(Infeasible) as caught:
        plan(bounds, strategy=strategy, max_size=99)
    assert caught.value.nearest == {"max_size": 100}


def test_a_third_is_a_third() -> None:
    bounds = bounds_of([7, 7, 7], [Fraction(1, 3)] * 3)
    assert plan(bounds).setting.classes == ((3, 7),)


def test_a_bound_below_the_share_is_refused_whatever_the_size() -> None:
    bounds = bounds_of([10, 30], [Fraction(1, 2), Fraction(1, 2)])
    with pytest.raises(Infeasible, match="below the value's share") as caught:
        plan(bounds, max_size=40)
    assert caught.value.values == ("v001",)
    assert caught.value.has == {"v001": Fraction(1, 2)}
    assert caught.value.needs == {"v001": Fraction(3, 4)}


def test_a_value_that_needs_a_larger_bucket_is_named_with_the_size_that_works() -> None:
    bounds = bounds_of([1, 60, 60], [Fraction(1, 60), Fraction(1), Fraction(1)])
    with pytest.raises(Infeasible, match="must have 60 people") as caught:
        plan(bounds, max_size=50)
    assert caught.value.values == ("v000",)
    assert caught.value.needs == {"v000": Fraction(1, 50)}
    assert caught.value.nearest == {"max_size": 60}
    assert plan(bounds, max_size=60).setting.classes == ((1, 61), (60, 1))


def test_a_value_held_back_by_rounding_down_is_named() -> None:
    # 29 % of people, bound 29 %: every bucket smaller than 100 holds less than 29 % of the value.
    bounds = bounds_of([29, 35, 36], [Fraction(29, 100), Fraction(1), Fraction(1)])
    with pytest.raises(Infeasible, match="in the way: 'v000'") as caught:
        plan(bounds, max_size=50)
    assert caught.value.values == ("v000",)
    assert "max_size = 100 would work" in str(caught.value)


def test_one_size_that_does_not_divide_points_to_two_sizes() -> None:
    bounds = bounds_of([4, 4, 3], [Fraction(1, 2)] * 3)
    with pytest.raises(Infeasible, match="buckets of one size") as caught:
        plan(bounds, strategy="one-size", max_size=5)
    assert caught.value.nearest == {"strategy": "two-size", "max_size": 11}
    assert plan(bounds, strategy="two-size", max_size=5).loss == 4 * 1 + 1 * 4


def test_once_keeps_every_value_single_and_says_when_that_is_impossible() -> None:
    assert plan(bounds_of([2, 2, 2], [Fraction(1)] * 3), once=True).setting.classes == ((1, 6),)
    bounds = bounds_of([4, 1, 1], [Fraction(2, 3), Fraction(1, 2), Fraction(1, 2)])
    assert plan(bounds, max_size=6).loss > 0
    with pytest.raises(Infeasible, match="once in a bucket") as caught:
        plan(bounds, max_size=6, once=True)
    assert caught.value.nearest == {}
    assert "without decoys" in str(caught.value)


def test_a_large_table_that_no_small_bucket_holds_is_told_a_size_that_works() -> None:
    bounds = bounds_of([2001, 5999], [Fraction(2001, 8000), Fraction(1)])
    with pytest.raises(Infeasible) as caught:
        plan(bounds)
    nearest = caught.value.nearest["max_size"]
    assert nearest == 8000
    assert plan(bounds, strategy="one-size", max_size=8000).setting.classes == ((8000, 1),)


@pytest.mark.parametrize(
    "options",
    [{"strategy": "optimum"}, {"search": "fast"}, {"max_size": 0}, {"max_size": True}, {"gap": -1}, {"time_limit": float("nan")}],
)
def test_an_option_that_is_not_understood_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match=next(iter(options))):
        MultiSize(**options)
