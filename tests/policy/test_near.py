"""What an owner is told about near buckets: that they are made, why there are no boxes, and what they expose."""

import pytest

from sfumato.explain import explain
from sfumato.explain.study import MATCHED
from sfumato.methods import Boxes, NearGroups
from sfumato.privacy import LDiversity
from tests.makers import people, skewed


def halves():
    return people(["a", "b"] * 100, age=[k // 4 for k in range(200)])


def test_near_buckets_that_stand_in_for_boxes_are_explained_with_the_reason():
    found = explain(halves(), LDiversity(2), quick=True)
    assert found.feasible
    assert (found.near, found.boxes) == (True, None)
    assert not any(strategy.chosen for strategy in found.strategies)
    first, second = found.verdict()[:2]
    assert first == "The bounds can be kept: the method buckets can make a release, near people matched into small buckets."
    assert second.startswith("No room for a first safe cut: 'a' has 50 % of people")
    assert any(line.startswith("Small buckets of near people sit at the bound") for line in found.details())
    assert found.to_dict()["near"] is True


def test_the_row_of_safe_cuts_says_that_people_were_matched_instead():
    found = explain(halves(), LDiversity(2)).study
    assert found is not None
    safe = found.rows[1]
    assert (safe.name, safe.note, safe.sizes, safe.chosen) == ("safe", MATCHED, (2, 2), True)
    assert safe.exposure == pytest.approx(0.5)


def test_a_policy_with_near_buckets_has_a_row_of_its_own():
    told = explain(skewed(1000), LDiversity(2, against="reader"), method=NearGroups(form="buckets"))
    assert told.study is not None
    assert [row.name for row in told.study.rows] == ["none", "safe", "tight", "near"]
    near = told.study.rows[-1]
    assert (near.chosen, near.against, near.note) == (True, "reader", "")
    assert any(line.startswith("Near people, matched (this policy): error ") for line in told.sentences())


def test_boxes_with_room_are_told_as_before():
    found = explain(skewed(3000, values=30), LDiversity(2), method=Boxes(floor=20), quick=True)
    assert found.boxes is not None
    assert not found.near
