"""Which method publishes where a policy names none: chosen by the requirement and by counts, before anything is looked at."""

import numpy as np
import pytest

from sfumato import Ambiguity, Boxes, FPrivacy, LDiversity, MultiSize, NearGroups, PresenceAssociation, publication, publish
from sfumato.methods import default_method
from tests.makers import people, skewed

EVEN = ["a", "b"] * 40
"""Equal bounds of 1/2 leave no room for a safe cut: every value already has half of the people."""


def test_boxes_are_the_default_where_counts_leave_room_for_a_cut():
    table = skewed()
    assert default_method(FPrivacy(theta=3, offset="0.1"), table) == Boxes()
    release = publish(table, FPrivacy(theta=3, offset="0.1"), random=1)
    assert release.manifest.basis == "soft"
    assert release.manifest.method["name"] == "boxes"
    assert default_method(LDiversity(2, against="reader"), people(EVEN * 3)) == Boxes()


def test_without_room_and_with_equal_bounds_near_people_are_matched():
    table = people(EVEN, age=list(range(80)))
    assert default_method(LDiversity(2), table) == NearGroups(form="buckets")
    made = publication(table, LDiversity(2), random=1)
    assert made.release.manifest.basis == "matched"
    assert set(made.release.sizes.tolist()) == {2}
    assert made.audit.holds is True


def test_without_room_and_otherwise_groups_are_blind():
    reader = LDiversity(2, against="reader")
    differing = FPrivacy(theta="1.1")
    few = EVEN[:38]  # fewer than two boxes of 20 people
    assert default_method(reader, people(few)) == MultiSize()
    assert default_method(differing, people(EVEN[:-1])) == MultiSize()
    for requirement, values in ((reader, few), (differing, EVEN[:-1])):
        made = publication(people(values), requirement, random=1)
        assert made.release.manifest.basis == "blind"
        assert made.audit.holds is True


def test_blind_groups_may_be_as_large_as_the_smallest_bound_needs():
    table = people([f"v{k % 60}" for k in range(120)])
    requirement = FPrivacy(offset="1/60", bounds={"v0": "1/50"})
    assert default_method(requirement, table) == MultiSize(max_size=60)
    assert publish(table, requirement, random=1).sizes.tolist() == [60, 60]


@pytest.mark.parametrize(
    ("values", "requirement"),
    [
        (EVEN, LDiversity(2)),
        (EVEN, LDiversity(2, against="reader")),
        (EVEN[:-1], FPrivacy(theta="1.1")),
        ([f"v{k % 8}" for k in range(400)], FPrivacy(offset="1/2")),
        ([f"v{k % 8}" for k in range(400)], PresenceAssociation("1/2", "1/2")),
    ],
)
def test_the_choice_is_the_same_whatever_quasi_values_people_have_and_whoever_has_which_value(values, requirement):
    coins = np.random.default_rng(1)
    rows = len(values)
    tables = [
        people(values, age=list(range(rows))),
        people(values, age=[30] * rows),
        people(sorted(values), age=list(range(rows))),
        people(coins.permutation(values).tolist(), age=coins.integers(0, 5, rows).tolist(), sex=["f"] * rows),
    ]
    assert len({repr(default_method(requirement, table)) for table in tables}) == 1


def test_where_presence_is_bounded_columns_stand_apart():
    assert default_method(PresenceAssociation("1/2", "1/2"), skewed()) == Ambiguity()


def test_boxes_stay_boxes_where_quasi_values_leave_no_cut():
    table = people([f"v{k % 8}" for k in range(400)], age=[30] * 400)
    made = publication(table, FPrivacy(offset="1/2"), random=1)
    assert made.method == Boxes(floor=20)
    assert made.release.manifest.basis == "soft"
    assert made.release.sizes.tolist() == [400]
    assert made.audit.holds is True
