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
from tests.makers import people, tells

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


def loose(counts):
    """Return bounds that say next to nothing: groups of two keep them."""
    total = sum(counts)
    return FPrivacy(offset=max(Fraction(1, 2), Fraction(max(counts), total)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=8), st.integers(2, 4), st.integers(0, 1000))
def test_groups_are_as_many_as_possible_and_hold_distinct_values(counts, l, seed):
    values = [f"v{k}" for k, count in enumerate(counts) for _ in range(count)]
    if l * max(counts) > len(values):
        with pytest.raises(Infeasible):
            Anatomy(l=l).run(people(values), loose(counts))
        return
    release = Anatomy(l=l).run(people(values), loose(counts), random=seed).release
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
        Anatomy(l=3).run(people(["flu"] * 6 + list("abcd")), FPrivacy(offset="2/3"))
    assert caught.value.nearest == {"l": 1}
    assert caught.value.needs == {"flu": Fraction(1, 3)}


def test_suppression_removes_as_few_as_possible_and_keeps_only_the_readers_claim():
    table = people(["flu"] * 6 + list("abcd"))
    with pytest.raises(NotProvable, match="'reader'"):
        Anatomy(l=2, suppress=True).run(table, LDiversity(1))
    result = publication(table, FPrivacy(offset="2/3", against="reader"), method=Anatomy(l=2, suppress=True), random=4)
    assert result.private["suppressed"] == {"flu": 2}
    assert result.release.rows == 8
    assert result.release.manifest.values is None
    assert tells(result.audit.warnings[-1], "2 people", "suppressed")


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.integers(1, 6))
def test_the_excess_is_the_fewest_people_whose_removal_makes_the_table_eligible(counts, l):
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


def test_bounds_of_1_protect_nobody_whatever_the_group_size():
    for size in (None, 1, 3):
        with pytest.raises(PolicyError, match="protects nobody"):
            Anatomy(l=size).run(people(WORKED), LDiversity(1))


def test_left_over_people_go_to_every_possible_group_equally_often():
    # a×3, b×2, c, d in groups of two: {a, b}, {a, b}, {a, c} with d left over, or the like; d joins each of three groups with
    # probability 1/3, so the pair {a, c} gets it in a third of the runs (600 runs, false alarm about 1e-6).
    values = ["a", "a", "a", "b", "b", "c", "d"]
    joined = Counter()
    for seed in range(600):
        release = Anatomy(l=2).run(people(values), LDiversity(2), random=seed).release
        large = int(np.argmax(release.sizes))
        joined[tuple(np.array(release.domain.labels)[release.st_value[release.st_group == large]])] += 1
    alone = min(joined.values())
    assert sum(joined.values()) == 600
    assert len(joined) == 2
    assert abs(alone - 200) < 4.9 * np.sqrt(600 * 2 / 9)


def test_everybody_of_a_too_frequent_value_is_suppressed_equally_often():
    gone = Counter()
    table = people(["flu"] * 6 + list("abcd"))
    for seed in range(300):
        release = Anatomy(l=2, suppress=True).run(table, FPrivacy(offset="2/3", against="reader"), random=seed).release
        gone.update(set(range(6)) - set(release.tables()["qit"]["number"].to_pylist()))
    # Two of six go in every run: each 100 times of 300 (false alarm about 1e-5).
    assert sum(gone.values()) == 600
    assert all(abs(gone[k] - 100) < 5 * np.sqrt(300 * 2 / 9) for k in range(6))


def test_groups_smaller_than_a_bound_needs_are_refused_before_anything_is_made():
    with pytest.raises(PolicyError, match=r"(?s)Anatomy\(l=2\).*1/4.*l = 4"):
        publish(people(list("abcd") * 3), LDiversity(4), method=Anatomy(l=2))
