from fractions import Fraction

import numpy as np
import pytest

from sfumato import Boxes, FPrivacy, LDiversity, audit, publication, publish
from sfumato.errors import NotProvable, PolicyError
from sfumato.groups.boxes import association
from tests.makers import people, skewed


def test_safe_boxes_are_claimed_against_an_engineer_and_tight_ones_against_a_reader():
    table = skewed(rows=3000)
    for against, locality in (("engineer", "safe"), ("reader", "tight")):
        result = publication(table, FPrivacy(theta=3, offset="0.1", against=against), method=Boxes(floor=20))
        assert result.release.manifest.basis == locality
        assert result.audit.claims[0].adversary == against
        assert result.audit.holds is True
        assert result.release.sizes.min() >= 20
        assert result.private["boxes"] == len(result.release.sizes) > 1
    assert 0 <= result.private["share_in_boxes_at_the_floor"] <= 1


def test_tight_boxes_are_smaller_than_safe_ones():
    table = skewed(rows=3000)
    method = Boxes(floor=5)
    counts = [
        len(publish(table, FPrivacy(theta=2, offset="0.1", against=against), method=method, random=1).sizes)
        for against in ("engineer", "reader")
    ]
    assert counts[1] > counts[0]


def test_near_people_share_a_bucket():
    table = skewed(rows=3000)
    release = publish(table, FPrivacy(theta=3, offset="0.1"), method=Boxes(floor=20), random=1)
    ages = np.asarray(release.tables()["qit"]["age"].to_pylist(), dtype=float)
    inside = sum(ages[release.bucket == box].var() * (release.bucket == box).sum() for box in range(len(release.sizes)))
    assert inside / len(ages) < 0.2 * ages.var()


def test_where_there_is_no_room_for_a_safe_cut_and_bounds_are_equal_near_people_are_matched():
    table = people(["a", "b"] * 40, age=list(range(80)))
    release = publish(table, LDiversity(2), method=Boxes(floor=2), random=1)
    assert release.manifest.basis == "near"
    assert set(release.sizes.tolist()) == {2}
    assert audit(release, table).holds is True


def test_association_weights_look_at_sensitive_values_and_are_refused_against_an_engineer():
    with pytest.raises(NotProvable, match="'reader'"):
        publish(skewed(), FPrivacy(theta=3, offset="0.1"), method=Boxes(weights="association"))


def test_association_is_largest_for_the_column_that_tells_most():
    coins = np.random.default_rng(1)
    code = coins.integers(0, 3, 900)
    table = people([f"v{k}" for k in code], near=code.tolist(), noise=coins.integers(0, 3, 900).tolist())
    weights = association(table.quasi, table.sensitive.codes)
    assert weights[0] == 1.0
    assert weights[1] < 0.2


def test_a_setting_inside_boxes_keeps_the_bounds_and_says_where_larger_buckets_were_needed():
    table = skewed(rows=2000)
    requirement = FPrivacy(theta=3, offset="0.05")
    bounds = requirement.bounds(table.sensitive.histogram())
    method = Boxes(inside="setting", strategy="two-size", floor=50, max_size=3)
    result = publication(table, requirement, method=method, random=1)
    release = result.release
    shares = [
        (Fraction(int(count), int(release.sizes[bucket])), bounds.limit(release.domain.labels[value]))
        for bucket, value, count in zip(release.st_bucket, release.st_value, release.st_count, strict=True)
    ]
    assert all(share <= limit for share, limit in shares)
    assert result.private["boxes"] > 1
    assert result.private["boxes_with_larger_buckets"] > 0
    assert len(release.sizes) > result.private["boxes"]


def test_unknown_columns_in_weights_are_refused():
    with pytest.raises(PolicyError, match="did you mean 'age'"):
        publish(skewed(), FPrivacy(theta=3, offset="0.1"), method=Boxes(weights={"agee": 2}))
