"""The first picture shows what the release says, and nothing that was made up beside the table."""

from __future__ import annotations

import pytest
from benchmarks._first_picture import PICTURES, Told, pictures, told


@pytest.fixture(scope="module")
def found() -> Told:
    return told()


def test_beliefs_are_the_counts_of_the_box_and_stay_below_the_bound(found: Told) -> None:
    assert sum(many for _, many in found.counts) == len(found.six) == 6
    assert sorted(row["illness"] for row in found.six) == sorted(value for value, many in found.counts for _ in range(many))
    for (value, many), (believed, belief, share) in zip(found.counts, found.beliefs, strict=True):
        assert (value, belief) == (believed, many / 6)
        assert share < belief <= found.bound == 0.5


def test_the_truth_lies_in_every_interval_of_the_picture(found: Told) -> None:
    for _, value, low, high, truth in found.answers:
        assert low <= value <= high
        assert low <= truth <= high


def test_the_guide_has_the_picture_that_is_drawn_today() -> None:
    for name, drawn in pictures().items():
        assert (PICTURES / name).read_text(encoding="utf-8") == drawn, "make pictures draws it again"
