"""What an owner is told about near groups: that they are made, what they expose, and what is told where boxes have no room."""

import pytest

from sfumato.explain import explain
from sfumato.explain.study import ONE_BOX
from sfumato.methods import Boxes, NearGroups
from sfumato.privacy import LDiversity
from tests.makers import people, skewed


def halves():
    return people(["a", "b"] * 100, age=[k // 4 for k in range(200)])


def test_near_groups_that_the_counts_ask_for_are_explained():
    found = explain(halves(), LDiversity(2), quick=True)
    assert found.feasible
    assert (found.near, found.boxes) == (True, None)
    assert not any(strategy.chosen for strategy in found.strategies)
    assert found.verdict()[0] == (
        "The bounds can be kept: the method near-groups can make a release, near people together in small groups."
    )
    assert any(line.startswith("Small buckets of near people sit at the bound") for line in found.details())
    assert found.to_dict()["near"] is True


def test_boxes_without_room_are_explained_with_the_reason_and_what_would_tell_more():
    found = explain(halves(), LDiversity(2), method=Boxes(), quick=True)
    assert found.feasible
    assert not found.near
    first, second, *more = found.verdict()
    assert first == "The bounds can be kept: the method boxes can make a release, with everybody in one box."
    assert second.startswith("No room for a first cut: 'a' has 50 % of people")
    assert more[0] == 'What would leave room: against = "reader", with tight cuts.'
    assert more[1] == 'What would tell more: the method "near-groups", or "multi-size".'


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
    assert any(line.startswith("Near-groups (this policy): error ") for line in told.sentences())


def test_boxes_with_room_are_told_as_before():
    found = explain(skewed(3000, values=30), LDiversity(2), method=Boxes(floor=20), quick=True)
    assert found.boxes is not None
    assert not found.near
