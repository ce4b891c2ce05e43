from __future__ import annotations

import numpy as np
import pytest

from sfumato.groups.settings.setting import Plan, Setting


def test_a_setting_knows_its_people_buckets_and_loss() -> None:
    setting = Setting(((4, 9), (14, 1)))
    assert setting.sizes == (4, 14)
    assert setting.numbers == (9, 1)
    assert setting.total == 50
    assert setting.buckets == 10
    assert setting.loss == 9 * 9 + 13 * 13
    assert str(setting) == "9 of 4, 1 of 14"


def test_equal_sizes_are_merged_and_empty_ones_dropped() -> None:
    assert Setting.of([(6, 2), (3, 0), (2, 5), (6, 1)]).classes == ((2, 5), (6, 3))


@pytest.mark.parametrize("classes", [((4, 0),), ((0, 3),), ((5, 1), (4, 1)), ((4, 1), (4, 2))])
def test_a_setting_refuses_what_is_not_one(classes: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="got"):
        Setting(classes)


def test_a_plan_states_its_gap_relative_to_its_loss() -> None:
    setting = Setting(((3, 10),))
    allocation = np.array([[10], [10], [10]])
    assert Plan(setting, allocation, "optimal", lower_bound=36).gap == pytest.approx(0.1)
    assert Plan(setting, allocation, "optimal", lower_bound=40).gap == 0.0
    assert Plan(setting, allocation, "two-size").gap is None
    assert Plan(Setting(((1, 3),)), np.array([[3]]), "optimal", lower_bound=0).gap == 0.0


def test_a_plan_cannot_be_changed_through_the_array_it_was_made_from() -> None:
    allocation = np.array([[2], [2]])
    plan = Plan(Setting(((2, 2),)), allocation, "one-size")
    allocation[0, 0] = 99
    assert plan.allocation.tolist() == [[2], [2]]
    with pytest.raises(ValueError, match="read-only"):
        plan.allocation[0, 0] = 5
