"""What an owner is told about near groups: that they are made, what they expose, and what is told where boxes have no room."""

import pytest

from sfumato.explanation import explain
from sfumato.explanation.room import MEASURE
from sfumato.explanation.study import ONE_BOX
from sfumato.methods import Boxes, NearGroups
from sfumato.privacy import LDiversity
from tests.makers import people, skewed


def halves():
    return people(["a", "b"] * 100, age=[k // 4 for k in range(200)])


def test_near_groups_that_the_counts_ask_for_are_explained():
    found = explain(halves(), LDiversity(2), quick=True)
    assert found.feasible
    assert (found.cost.groups.near, found.cost.groups.boxes) == (True, None)
    assert not any(strategy.chosen for strategy in found.cost.groups.strategies)
    assert found.verdict()[0] == (
        "The bounds can be kept, but leave little room: the method near-groups can make a release, near people together in "
        "small groups."
    )
    assert any(line.startswith("Small buckets") for line in found.details())
    assert found.to_dict()["near"] is True


def test_boxes_without_room_are_explained_with_the_reason_and_no_method_is_recommended():
    found = explain(halves(), LDiversity(2), method=Boxes(), quick=True)
    assert found.feasible
    assert not found.cost.groups.near
    first, second, third, *_ = found.verdict()
    assert first.startswith("The bounds can be kept")
    assert "everybody in one box" in first
    assert second == MEASURE
    assert "'a' has 50 % of people" in third
    assert 'against = "reader", with tight cuts' in third, "said once"
    assert not any(name in line for line in found.sentences() for name in ("near-groups", "multi-size"))


def test_the_row_of_soft_cuts_says_that_there_is_one_box():
    found = explain(halves(), LDiversity(2)).study
    assert found is not None
    soft, near = found.rows[1], found.rows[-1]
    assert (soft.name, soft.note, soft.sizes, soft.chosen) == ("soft", ONE_BOX, (200, 200), False)
    assert (near.name, near.note, near.sizes, near.chosen) == ("near-groups", "", (2, 2), True)
    assert near.exposure == pytest.approx(0.5)


def test_a_policy_with_near_groups_has_a_row_of_its_own():
    told = explain(skewed(1000), LDiversity(2, against="reader"), method=NearGroups(form="buckets", effort=0.05))
    assert told.study is not None
    assert [row.name for row in told.study.rows] == ["blind", "soft", "tight", "near-groups"]
    near = told.study.rows[-1]
    assert (near.chosen, near.against, near.note) == (True, "reader", "")
    assert any(line.startswith("Near-groups (this policy)") for line in told.sentences())


def test_boxes_with_room_are_told_as_before():
    found = explain(skewed(3000, values=30), LDiversity(2), method=Boxes(floor=20), quick=True)
    assert found.cost.groups.boxes is not None
    assert not found.cost.groups.near
