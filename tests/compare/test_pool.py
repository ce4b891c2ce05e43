from sfumato.compare.pool import time_left


def test_time_left_is_that_of_equal_runs_shared_by_processors():
    took = {"boxes": [2.0, 4.0], "near-groups": [60.0]}
    # 3 + 3 for boxes and 60 for near-groups on two processors.
    assert time_left(["boxes", "boxes", "near-groups"], took, 2) == "about 33 s left"


def test_what_has_not_run_yet_is_taken_as_the_mean_of_all():
    assert time_left(["ring"] * 10, {"boxes": [20.0, 40.0]}, 1) == "about 5 min left"


def test_nothing_left_is_not_announced():
    assert time_left([], {"boxes": [1.0]}, 2) == ""
