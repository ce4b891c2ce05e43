"""What an owner decides on: errors and exposure are those of the releases, and where there is no room the reason is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import Decoys
from sfumato.errors import PolicyError, QueryError
from sfumato.explanation import explain, no_room
from sfumato.explanation import study as module
from sfumato.explanation.room import variant
from sfumato.explanation.study import study
from sfumato.methods import Anatomy, Boxes, Mondrian, MultiSize
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity, Requirement, RhoPrivacy
from sfumato.query import sql_workload
from sfumato.table import Schema, Table
from sfumato.utility import query_error
from tests.makers import tells

BOXES = Boxes(floor=20)
SAFE = replace(BOXES, patience=0)
LINEAR = FPrivacy(theta=4, offset="0.1")


def people(rows: int = 1000) -> Table:
    """Return people whose illness goes with their age: five illnesses of equal share."""
    random = np.random.default_rng(5)
    age = random.integers(20, 80, rows)
    illness = (age // 12 + random.integers(0, 2, rows)) % 5
    frame = pa.table({"age": age, "sex": random.integers(0, 2, rows), "illness": [f"v{one}" for one in illness]})
    return Table.from_frame(frame, Schema(quasi=["age", "sex"], sensitive=["illness"]))


def skewed(counts: dict[str, int]) -> Table:
    values = [value for value, count in counts.items() for _ in range(count)]
    frame = pa.table({"age": [7 * i % 50 for i in range(len(values))], "illness": values})
    return Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness"]))


OWN = "age < 40 AND illness = 'v2'\n# a comment\nsex = 1 AND illness IN ('v0', 'v4')\nage >= 70 AND illness = 'v1'\n"


def test_errors_and_exposure_are_those_of_a_release_with_the_same_seed() -> None:
    table, workload = people(), sql_workload(OWN)
    found = study(table, LINEAR, BOXES, workload=workload)
    assert [row.name for row in found.rows] == ["blind", "soft", "tight"]
    assert (found.workloads, found.questions, found.unmet) == (("owner's queries",), (3,), 0)
    for row, method in zip(found.rows, (MultiSize(), BOXES, BOXES), strict=True):
        made = sf.publication(table, variant(LINEAR, against=row.against), method=method, random=0)
        error = query_error(made.release, table, workload)
        assert row.errors == pytest.approx((error.median,))
        assert found.independence == pytest.approx((error.independence_median,))
        assert row.exposure == made.audit.exposure
        assert row.groups == made.release.manifest.parameters["groups"]


def test_every_way_names_the_adversary_it_holds_against_and_the_policys_own_is_marked() -> None:
    for against, method, chosen in (
        ("engineer", BOXES, "soft"),
        ("reader", BOXES, "tight"),
        ("reader", MultiSize(), "blind"),
        ("engineer", Anatomy(), "anatomy"),
        ("reader", Mondrian(), "mondrian"),
    ):
        found = study(people(), LDiversity(2, against=against), method, workload=sql_workload(OWN))
        assert [row.against for row in found.rows[:3]] == ["engineer", "engineer", "reader"]
        assert [row.name for row in found.rows if row.chosen] == [chosen]


def test_what_somebody_reaches_who_knows_only_the_shares_by_hand() -> None:
    found = study(
        skewed({"a": 50, "b": 30, "c": 20}), FPrivacy(theta=1, offset="0.1"), BOXES, workload=sql_workload("illness = 'a'")
    )
    assert found.prior_exposure == pytest.approx(0.5**2 + 0.3**2 + 0.2**2)
    assert found.independence == (0.0,)


def test_the_figures_are_the_same_for_any_number_of_workers() -> None:
    assert study(people(), LINEAR, BOXES, workers=1) == study(people(), LINEAR, BOXES, workers=2)


def test_where_boxes_have_no_room_the_row_has_the_figures_of_one_box_and_says_so() -> None:
    found = study(people(), FPrivacy(theta=1, offset="0.1"), SAFE)
    blind, safe, tight = found.rows
    assert (safe.groups, safe.sizes) == (1, (1000, 1000))
    assert safe.exposure == pytest.approx(found.prior_exposure)
    assert tells(safe.note, "one box")
    assert blind.note == tight.note == ""


def test_ways_that_cannot_be_used_are_rows_with_the_reason() -> None:
    found = explain(people(), FPrivacy(theta=4, offset="0.1"), method=MultiSize(max_size=1))
    assert not found.feasible
    assert found.study is not None
    blind, safe, _ = found.study.rows
    assert (blind.groups, blind.exposure) == (None, None)
    assert "1" in blind.note
    assert safe.groups is not None
    text = "\n".join(found.sentences())
    assert "(this policy): not possible" in text
    frame = pa.table({"age": [1, 2, 3, 4] * 20, "illness": [*(["a", "b", "c"] * 27)[:79], None]})
    table = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness"], missing={"illness": "drop"}))
    dropped = study(table, LDiversity(2, against="reader"), MultiSize())
    assert [row.against for row in dropped.rows] == ["reader", "engineer", "reader"]
    assert "left out" in dropped.rows[1].note


def test_a_release_that_cannot_be_made_when_it_is_tried_is_the_verdict() -> None:
    method = Decoys(decoys=1)  # needs every value at most once in a bucket, and a is too frequent
    table = skewed({"a": 200, "b": 150, "c": 150})
    found = explain(table, FPrivacy(theta=2, offset="0.1"), method=method)
    assert not found.feasible
    assert found.study is not None
    assert found.verdict()[0].startswith("The bounds cannot be kept: decoys: ")


def test_a_large_table_is_sampled_but_no_value_gets_lost_and_the_owners_questions_are_asked_of_everybody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_PEOPLE", 200)
    table = skewed({"rare": 1, "a": 400, "b": 300, "c": 299})
    requirement = FPrivacy(theta=2, offset="0.1", bounds={"rare": "0.05"})
    found = study(table, requirement, BOXES)
    assert found.sampled
    assert 200 <= found.people <= 204
    text = "\n".join(explain(table, requirement, method=BOXES).measured())
    assert f"Measured on {found.people} people drawn from the table" in text
    whole = study(table, requirement, BOXES, workload=sql_workload("illness = 'a' AND age < 20"))
    assert (whole.sampled, whole.people) == (False, 1000)


def test_questions_without_an_exact_answer_are_told_by_number() -> None:
    schema = Schema(quasi=["age"], sensitive=["illness"], recode={"age": {"width": 10}})
    table = Table.from_frame(pa.table({"age": list(range(20, 60)), "illness": ["a", "b"] * 20}), schema)
    with pytest.raises(QueryError, match=r"question 2.*no exact answer"):
        study(table, LDiversity(2), BOXES, workload=sql_workload("age >= 30\nage < 33"))
    with pytest.raises(QueryError, match=r"question 1.*GROUP BY"):
        study(table, LDiversity(2), BOXES, workload=sql_workload("SELECT COUNT(*) GROUP BY illness"))
    with pytest.raises(QueryError, match="meets any question"):
        study(table, LDiversity(2), BOXES, workload=sql_workload("age > 900"))


def test_questions_that_nobody_meets_are_left_out_and_counted() -> None:
    found = study(people(), LINEAR, BOXES, workload=sql_workload(OWN + "age > 900\n"))
    assert (found.questions, found.unmet) == ((3,), 1)


def test_the_figures_are_called_private_and_the_choice_the_owners() -> None:
    text = " ".join(explain(people(), LINEAR, method=BOXES).measured())
    assert "a fixed seed" in text
    assert "as fixed in advance" in text


def test_quick_measures_nothing_and_refuses_a_workload() -> None:
    found = explain(people(), LINEAR, method=BOXES, quick=True)
    assert (found.study, found.measured(), found.to_dict()["measured"]) == (None, [], None)
    assert found.cost.groups.boxes is not None
    with pytest.raises(PolicyError, match="quick leaves measuring out"):
        explain(people(), LINEAR, method=BOXES, quick=True, workload=sql_workload(OWN))


def test_the_boxes_told_are_those_of_the_release() -> None:
    for against, cuts in (("engineer", "soft"), ("reader", "tight")):
        requirement = variant(LINEAR, against=against)
        found = explain(people(), requirement, method=BOXES, quick=True)
        release = sf.publish(people(), requirement, method=BOXES, random=0)
        sizes = np.unique(release.tables()["qit"]["group"].to_numpy(), return_counts=True)[1]
        assert found.cost.groups.boxes is not None
        assert (found.cost.groups.boxes.basis, found.cost.groups.boxes.number, found.cost.groups.boxes.sizes) == (
            cuts,
            len(sizes),
            (sizes.min(), sizes.max()),
        )
        verdict = f"near people together by {cuts} cuts: {len(sizes)} buckets of {sizes.min()} to {sizes.max()} people."
        assert found.verdict()[0].endswith(verdict)


def test_boxes_shown_as_ranges_are_told_as_groups() -> None:
    buckets, ranges = (explain(people(), LINEAR, method=Boxes(floor=20, form=form), quick=True) for form in ("buckets", "ranges"))
    assert buckets.cost.groups.boxes == ranges.cost.groups.boxes
    assert ranges.verdict()[0] == buckets.verdict()[0].replace(" buckets of ", " groups of ")


def test_an_open_value_is_in_buckets_of_one_person_only_where_buckets_are_blind() -> None:
    requirement = FPrivacy(theta=4, offset="0.1", bounds={"v0": 1})
    near, blind = (explain(people(), requirement, method=m, quick=True) for m in (BOXES, MultiSize()))
    assert "show openly" in near.verdict()[1]
    assert "buckets of one person" in blind.verdict()[1]


@pytest.mark.parametrize(
    ("requirement", "looser"),
    [
        (FPrivacy(theta="1.5", offset="0.01"), "theta = 2.25"),  # 1.5 · 1.25 · 0.4 + 0.01 = 0.76 < 0.8 ≤ 1.5 · 1.5 · 0.4 + 0.01
        (BetaLikeness("0.5"), "beta = 1"),
        (FPrivacy(theta=4, offset="0.1", bounds={"a": "0.6"}), "a bound of 0.8 for 'a'"),
    ],
)
def test_the_least_loose_requirement_that_leaves_room_is_named(requirement: Requirement, looser: str) -> None:
    table = skewed({"a": 200, "b": 150, "c": 150})
    found = no_room(table, requirement, SAFE)
    assert found.helps[-1] == looser
    assert "'a' has 40 % of people" in found.reason


def test_nothing_is_named_where_nothing_of_the_kind_leaves_room() -> None:
    # 0.5 · 1.25 and 0.5 · 1.5 are below the 0.8 that a needs, and an offset of 1 would protect nobody.
    found = no_room(skewed({"a": 200, "b": 150, "c": 150}), FPrivacy(offset="0.5"), SAFE)
    assert not any("offset" in one for one in found.helps)


def test_fewer_different_values_and_a_larger_rho2_are_named_too() -> None:
    even = skewed(dict.fromkeys("abcdefgh", 75))  # 1/8 each: a first safe cut needs a bound of 1/4
    assert no_room(even, LDiversity(6), SAFE).helps[-1] == "l = 4"
    assert no_room(even, RhoPrivacy("0.13", "0.2"), SAFE).helps[-1] == "rho2 = 0.4"  # 0.2 + 0.8/4


def test_what_is_named_leaves_room_indeed() -> None:
    table = skewed({"a": 200, "b": 150, "c": 150})
    tight = FPrivacy(theta="1.5", offset="0.01")
    assert no_room(table, tight, SAFE).helps == ('against = "reader", with tight cuts', "theta = 2.25")
    for requirement, basis, cut in (
        (tight, "safe", False),
        (variant(tight, against="reader"), "tight", True),
        (variant(tight, theta="2.25"), "safe", True),
        (variant(tight, theta="1.88"), "safe", False),
    ):
        release = sf.publish(table, requirement, method=BOXES if basis == "tight" else SAFE)
        assert (release.manifest.basis, len(release.sizes) > 1) == (basis, cut)


def test_a_table_too_small_for_the_floor_is_told_with_a_floor_that_works() -> None:
    found = no_room(people(100), LINEAR, Boxes(floor=60))
    assert tells(found.reason, "floor of 60", 120, 100)
    assert "floor = 25" in found.helps
    assert len(sf.publish(people(100), LINEAR, method=Boxes(floor=25)).sizes) > 1


def test_people_who_cannot_be_told_apart_leave_no_room() -> None:
    table = Table.from_frame(
        pa.table({"age": [30] * 100, "illness": ["a", "b", "c", "d", "e"] * 20}), Schema(quasi=["age"], sensitive=["illness"])
    )
    found = no_room(table, LDiversity(2), BOXES)
    assert tells(found.reason, "same quasi values")
    assert found.helps == ()
    assert no_room(table, LDiversity(2, against="reader"), BOXES) == found


def test_a_column_that_cannot_be_cut_evenly_leaves_no_room() -> None:
    frame = pa.table({"age": [30] * 90 + [50] * 10, "illness": ["a", "b", "c", "d", "e"] * 20})
    table = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness"]))
    found = no_room(table, LDiversity(2), SAFE)
    assert found.reason.startswith("no column can be")
    soft = no_room(table, LDiversity(2), BOXES)
    assert tells(soft.reason, "no cut", 20)
    assert no_room(table, LDiversity(2, against="reader"), BOXES).reason.startswith("no cut leaves")
