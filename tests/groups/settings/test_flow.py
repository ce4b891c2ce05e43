from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import ClaimBroken
from sfumato.groups.settings._kernels import transport
from sfumato.groups.settings.flow import Shortage, allocate, check_plan, solve_flow
from sfumato.groups.settings.setting import Plan, Setting
from sfumato.privacy.bounds import Bounds
from tests.groups.settings.oracle import bounds_of, is_valid, linear_bounds, max_flow, small_bounds


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_kernel_finds_as_large_a_flow_as_plain_augmentation(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 5))
    supply = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    demand = data.draw(st.lists(st.integers(0, 12), min_size=columns, max_size=columns))
    row = st.lists(st.integers(0, 6), min_size=columns, max_size=columns)
    capacity = data.draw(st.lists(row, min_size=rows, max_size=rows))
    flow, row_level, column_level = transport(np.array(supply), np.array(capacity), np.array(demand))
    assert flow.sum() == max_flow(supply, capacity, demand)
    assert (flow >= 0).all()
    assert (flow <= np.array(capacity)).all()
    assert (flow.sum(axis=1) <= supply).all()
    assert (flow.sum(axis=0) <= demand).all()
    near, near_columns = row_level >= 0, column_level >= 0
    cut = np.array(supply)[~near].sum() + np.array(demand)[near_columns].sum() + np.array(capacity)[near][:, ~near_columns].sum()
    assert flow.sum() == cut


@given(small_bounds(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_setting_of_any_sizes_is_valid_exactly_when_brute_force_says_so(bounds: Bounds, data: st.DataObject) -> None:
    classes = []
    left = bounds.people
    for size in data.draw(st.permutations(range(1, 8))):
        number = data.draw(st.integers(0, left // size))
        classes.append((size, number))
        left -= size * number
    setting = Setting.of([*classes, (1, left)])
    caps = bounds.caps(setting.sizes)
    found = allocate(bounds.counts, caps, setting)
    assert (found is not None) == is_valid(bounds, setting.classes)
    if found is not None:
        check_plan(bounds, Plan(setting, found, "given"))


def test_a_failing_setting_comes_with_sizes_that_cannot_be_filled() -> None:
    bounds = linear_bounds([1] * 8 + [6] * 4 + [9] * 2, 2, "0.05")
    sizes, numbers = np.array([4, 14]), np.array([5, 0])
    result = solve_flow(np.array(bounds.counts), bounds.caps([4, 14]), sizes, numbers * 2)
    assert not isinstance(result, Shortage)
    too_many = solve_flow(np.array(bounds.counts), bounds.caps([4, 14]), sizes, np.array([12, 0]))
    assert isinstance(too_many, Shortage)
    caps = bounds.caps([4, 14])
    need = (sizes * np.array([12, 0]))[too_many.sizes].sum()
    free = np.array(bounds.counts)[too_many.free].sum()
    held = (caps * np.array([12, 0]))[~too_many.free][:, too_many.sizes].sum()
    assert need == 48
    assert free + held < need


def test_a_setting_for_another_number_of_people_is_not_valid() -> None:
    bounds = bounds_of([2, 2], [Fraction(1, 2)] * 2)
    assert allocate(bounds.counts, bounds.caps([2]), Setting(((2, 3),))) is None
    assert allocate(bounds.counts, bounds.caps([2]), Setting(((2, 2),))) is not None


def test_counts_beyond_32_bits_are_allocated_exactly() -> None:
    many = 3 * 2**33
    bounds = bounds_of([many, many, many], [Fraction(1, 3)] * 3)
    found = allocate(bounds.counts, bounds.caps([3]), Setting(((3, many),)))
    assert found is not None
    assert found.tolist() == [[many], [many], [many]]


@pytest.mark.parametrize(
    ("allocation", "complaint"),
    [
        ([[3, 1], [1, 3], [2, 2]], "4 records of 'v001'"),
        ([[4, 0], [0, 3], [2, 3]], "may hold"),
        ([[2, 2], [2, 1], [1, 4]], "may hold"),
        ([[3, 1], [2, 1], [2, 3]], "does not fill"),
        ([[5, -1], [1, 2], [0, 5]], "4 records of 'v000'"),
        ([[4], [3], [5]], "does not fit"),
    ],
)
def test_the_check_of_a_plan_finds_every_planted_violation(allocation: list[list[int]], complaint: str) -> None:
    bounds = bounds_of([4, 3, 5], [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)])
    setting = Setting(((2, 3), (6, 1)))
    check_plan(bounds, Plan(setting, np.array([[3, 1], [1, 2], [2, 3]]), "given"))
    with pytest.raises(ClaimBroken, match=complaint):
        check_plan(bounds, Plan(setting, np.array(allocation), "given"))


def test_once_refuses_a_value_twice_in_a_bucket() -> None:
    bounds = bounds_of([2, 2], [Fraction(1, 2)] * 2)
    plan = Plan(Setting(((4, 1),)), np.array([[2], [2]]), "given")
    check_plan(bounds, plan)
    with pytest.raises(ClaimBroken, match="may hold 1 each"):
        check_plan(bounds, plan, once=True)
