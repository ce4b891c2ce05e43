from sfumato.comparison.pool import time_left


def test_time_left_is_when_the_last_run_ends_of_those_that_are_begun_in_turn():
    took = {"boxes": [2.0, 4.0], "near-groups": [60.0]}
    assert time_left(["near-groups", "boxes", "boxes"], took, 2) == "about 1 min left"
    assert time_left(["boxes", "boxes", "boxes", "boxes"], took, 2) == "about 6 s left"


def test_what_is_under_way_takes_only_its_rest():
    took = {"boxes": [3.0], "near-groups": [100.0]}
    assert time_left(["boxes"], took, 2, [("near-groups", 50.0), ("boxes", 1.0)]) == "about 50 s left"
    assert time_left([], took, 2, [("boxes", 30.0)]) == "about 1 s left"


def test_as_long_as_a_kind_has_not_ended_the_time_is_a_least():
    assert time_left(["ring"] * 10, {"boxes": [20.0, 40.0]}, 1) == "at least 5 min left"
    # 50 s are gone already: the two that wait take as long at least.
    assert time_left(["ring", "ring"], {"boxes": [2.0]}, 1, [("ring", 50.0)]) == "at least 2 min left"


def test_before_anything_has_ended_no_time_is_told():
    assert time_left(["boxes"], {}, 2, [("boxes", 1.0)]) == ""


def test_nothing_left_is_not_announced():
    assert time_left([], {"boxes": [1.0]}, 2) == ""
