from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Anatomy, publication, publish
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.groups.anatomy import excess
from sfumato.privacy import FPrivacy, LDiversity
from tests.makers import people

WORKED = ["a", "b", "a", "b", "c", "a", "d", "b", "c", "d", "e"]  # a×3, b×3, c×2, d×2, e×1


def test_the_worked_example_has_three_groups_and_reconstruction_error_eight():
    release = publish(people(WORKED), LDiversity(3), method=Anatomy(), random=1)
    sizes = sorted(release.sizes.tolist())
    assert len(sizes) == 3
    assert sum(sizes) == 11
    assert (release.st_count == 1).all()
    # RCE = Σ_t Σ_v (1[v = t's] − share)² = n − number of groups, whatever the coins.
    error = sum((1 - 1 / size) ** 2 * size + (size - 1) * (1 / size) ** 2 * size for size in sizes)
    assert error == pytest.approx(8)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=8), st.integers(1, 4), st.integers(0, 1000))
def test_groups_are_as_many_as_possible_and_hold_distinct_values(counts, l, seed):  # noqa: E741
    values = [f"v{k}" for k, count in enumerate(counts) for _ in range(count)]
    if l * max(counts) > len(values):
        with pytest.raises(Infeasible):
            publish(people(values), LDiversity(1), method=Anatomy(l=l))
        return
    release = publish(people(values), LDiversity(1), method=Anatomy(l=l), random=seed)
    assert len(release.sizes) == len(values) // l
    assert release.sizes.min() >= l
    assert (release.st_count == 1).all()
    assert Counter(release.tables()["st"]["value"].to_pylist()) == Counter(values)


def test_the_group_size_follows_from_the_smallest_bound():
    values = ["a"] * 5 + ["b"] * 5 + ["c"] * 5 + ["d"] * 5 + ["e"] * 5
    release = publish(people(values), FPrivacy(offset="1/2", bounds={"a": "0.29"}), method=Anatomy(), random=1)
    assert release.sizes.min() == 4


def test_a_too_frequent_value_is_an_error_that_says_what_would_work():
    with pytest.raises(Infeasible, match=r"flu has 60 %") as caught:
        publish(people(["flu"] * 6 + list("abcd")), LDiversity(1), method=Anatomy(l=3))
    assert caught.value.nearest == {"l": 1}
    assert caught.value.needs == {"flu": Fraction(1, 3)}


def test_suppression_removes_as_few_as_possible_and_keeps_only_the_readers_claim():
    table = people(["flu"] * 6 + list("abcd"))
    with pytest.raises(NotProvable, match="'reader'"):
        publish(table, LDiversity(1), method=Anatomy(l=2, suppress=True))
    result = publication(table, LDiversity(1, against="reader"), method=Anatomy(l=2, suppress=True), random=4)
    assert result.private["suppressed"] == {"flu": 2}
    assert result.release.rows == 8
    assert result.release.manifest.values is None
    assert result.audit.warnings[-1] == "2 people of the table were suppressed"


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 6))
def test_the_excess_is_the_fewest_people_whose_removal_makes_the_table_eligible(counts, l):  # noqa: E741
    removed = excess(counts, l)
    left = [count - gone for count, gone in zip(counts, removed, strict=True)]
    assert l * max(left) <= sum(left)
    best = next(cap for cap in range(max(counts), -1, -1) if l * cap <= sum(min(count, cap) for count in counts))
    assert sum(left) == sum(min(count, best) for count in counts)


def test_options_are_checked():
    with pytest.raises(PolicyError, match="l=…"):
        Anatomy(l=0)
    with pytest.raises(PolicyError, match="suppress=…"):
        Anatomy(suppress="yes")


def test_left_over_people_go_to_every_possible_group_equally_often():
    # Values a, b ×2 and c ×1 in groups of 2: the one left over joins either group with probability 1/2 (false alarm 1e-6).
    values = ["a", "a", "b", "b", "c"]
    larger = 0
    for seed in range(400):
        release = publish(people(values), LDiversity(1), method=Anatomy(l=2), random=seed)
        larger += int(np.argmax(release.sizes) == 0)
    assert abs(larger - 200) < 4.9 * 10
