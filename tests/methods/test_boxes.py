from fractions import Fraction

import numpy as np
import pytest

from sfumato import Boxes, FPrivacy, LDiversity, publication, publish
from sfumato.cli.audit import policy_problems
from sfumato.errors import NotProvable, OneBox, PolicyError
from sfumato.groups.boxes import association
from sfumato.methods.boxes import usual_floor
from sfumato.policy import Policy
from tests.makers import people, skewed


def test_soft_and_safe_boxes_are_claimed_against_an_engineer_and_tight_ones_against_a_reader():
    table = skewed(rows=3000)
    for against, basis, patience in (("engineer", "soft", None), ("engineer", "safe", 0), ("reader", "tight", None)):
        method = Boxes(floor=20, patience=patience)
        result = publication(table, FPrivacy(theta=3, offset="0.1", against=against), method=method, random=1)
        assert result.release.manifest.basis == basis
        assert result.audit.claims[0].adversary == against
        assert result.audit.holds is True
        assert result.release.sizes.min() >= 20
        assert result.private["groups"] == len(result.release.sizes) > 1
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
    inside = sum(ages[release.group == box].var() * (release.group == box).sum() for box in range(len(release.sizes)))
    assert inside / len(ages) < 0.2 * ages.var()


def test_where_there_is_no_room_for_a_cut_everybody_is_in_one_box():
    table = people(["a", "b"] * 40, age=list(range(80)))
    for against, basis, floor in (("engineer", "soft", 2), ("reader", "tight", 60)):
        requirement = LDiversity(2, against=against)
        for form in ("buckets", "ranges"):
            with pytest.warns(OneBox, match="`sfumato compare`"):
                made = publication(table, requirement, method=Boxes(floor=floor, form=form), random=1)
            assert made.release.manifest.basis == basis
            assert made.release.sizes.tolist() == [80]
            assert made.audit.holds is True
            assert made.release.count("value = 'a'").value == pytest.approx(40)


def test_patience_is_for_soft_cuts_only():
    table = skewed(rows=300)
    with pytest.raises(NotProvable, match=r"'engineer'.*'reader'"):
        publish(table, FPrivacy(theta=3, offset="0.1", against="reader"), method=Boxes(patience=50))
    with pytest.raises(PolicyError, match="association"):
        Boxes(patience=50, weights="association")
    with pytest.raises(PolicyError, match="whole number from 0"):
        Boxes(patience=-1)


def test_soft_boxes_are_more_than_safe_ones_and_fewer_than_tight_ones():
    """On a table whose values depend on a quasi column; the draw is fixed."""
    table, counts = skewed(rows=6000), []
    for against, patience in (("engineer", 0), ("engineer", None), ("reader", None)):
        requirement = FPrivacy(theta=2, offset="0.1", against=against)
        made = publication(table, requirement, method=Boxes(floor=5, patience=patience), random=1)
        counts.append(made.private["groups"])
    assert counts == sorted(counts)
    assert counts[0] < counts[1]


def test_both_forms_show_the_same_boxes():
    table, requirement = skewed(rows=2000), FPrivacy(theta=3, offset="0.1")
    made = [publication(table, requirement, method=Boxes(floor=20, form=form), random=1) for form in ("buckets", "ranges")]
    assert sorted(made[0].release.sizes.tolist()) == sorted(made[1].release.sizes.tolist())
    assert [one.release.manifest.basis for one in made] == ["soft", "soft"]
    assert [one.audit.holds for one in made] == [True, True]


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


def test_every_box_keeps_every_bound():
    table = skewed(rows=2000)
    for against in ("engineer", "reader"):
        requirement = FPrivacy(theta=3, offset="0.05", against=against)
        bounds = requirement.bounds(table.sensitive.histogram())
        release = publish(table, requirement, method=Boxes(floor=5), random=1)
        assert len(release.sizes) > 1
        for bucket, value, count in zip(release.st_group, release.st_value, release.st_count, strict=True):
            assert Fraction(int(count), int(release.sizes[bucket])) <= bounds.limit(release.domain.labels[value])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"floor": 0}, r"Boxes\(floor=…\): expected.*got 0"),
        ({"floor": 2.5}, "floor=….*from 1 on"),
        ({"floor": True}, "floor=….*from 1 on"),
        ({"weights": 3}, "weights=….*expected.*'association', got 3"),
        ({"form": "columns"}, "form=….*'buckets', 'ranges'"),
    ],
)
def test_parameters_are_checked_when_the_method_is_made(options, message):
    with pytest.raises(PolicyError, match=message):
        Boxes(**options)


def test_unknown_columns_in_weights_are_refused():
    with pytest.raises(PolicyError, match="did you mean 'age'"):
        publish(skewed(), FPrivacy(theta=3, offset="0.1"), method=Boxes(weights={"agee": 2}))


@pytest.mark.parametrize(("rows", "floor"), [(900, 20), (5000, 25)])
def test_without_a_floor_it_follows_from_the_number_of_people_and_the_manifest_states_it(rows, floor, tmp_path):
    made = publication(skewed(rows=rows), FPrivacy(theta=3, offset="0.1", against="reader"), method=Boxes(), random=1)
    assert made.release.manifest.method["floor"] == made.method.floor == floor
    assert floor <= made.release.sizes.min() < 2 * floor
    made.release.save(tmp_path / "release")
    head = "[columns]\nquasi = ['age']\nsensitive = ['value']\n[requirement]\nmodel = 'f-privacy'\nagainst = 'reader'\n"
    policy = Policy.parse(f"{head}theta = 3\noffset = '0.1'\n[method]\nname = 'boxes'\n")
    assert policy_problems(tmp_path / "release", policy, None) == []
    other = Policy.parse(f"{policy.text}floor = {floor + 1}\n")
    assert "floor is" in policy_problems(tmp_path / "release", other, None)[0]


def test_the_usual_floor_is_a_two_hundredth_of_the_people_from_20_to_100():
    numbers = {1: 20, 4199: 20, 4200: 21, 19_999: 99, 20_000: 100, 10**9: 100}
    assert {people: usual_floor(people) for people in numbers} == numbers
