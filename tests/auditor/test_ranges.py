"""The audit of ranges must find what is planted."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from sfumato import Boxes, FPrivacy, LDiversity
from sfumato.auditor import audit_tables, containment
from sfumato.release.manifest import Claim
from sfumato.testing import example_tables
from tests.makers import people, skewed, tells
from tests.release._ranges import of_boxes, of_groups

REQUIREMENT = FPrivacy(theta=3, offset="0.05", against="reader")
FITS = "reader who takes every group that fits a person"


@pytest.fixture(scope="module")
def table():
    return skewed()


@pytest.fixture(scope="module")
def release(table):
    return of_boxes(table, REQUIREMENT)


def audit(release, table=None):
    return audit_tables(release.manifest, release.tables(), table)


def forged(release, **manifest):
    return dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, **manifest))


def problems(report):
    assert report.holds is False
    return " | ".join(report.problems)


@pytest.mark.parametrize("name", list(example_tables()))
def test_an_untouched_release_holds_with_and_without_the_table(name):
    table = example_tables()[name]
    release = of_boxes(table, LDiversity(2, against="reader"))
    for report in (audit(release), audit(release, table)):
        assert report.holds is True
        assert report.problems == ()
        assert report.claims[0].worst <= Fraction(1, 2)


def test_the_worst_belief_is_the_one_found_by_hand(release, table):
    result = audit(release).claims[0]
    limits = dict(zip(table.sensitive.labels, REQUIREMENT.bounds(table.sensitive.histogram()).limits, strict=True))
    groups: dict[int, list[str]] = {}
    for row in release.tables()["records"].to_pylist():
        groups.setdefault(row["group"], []).append(row["value"])
    used = max(
        Fraction(values.count(value), len(values)) / limits[value]
        for values in groups.values()
        for value in set(values)
        if limits[value] < 1
    )
    assert result.worst / result.bound == used


def test_a_concentrated_value_breaks_the_claim_itself(release):
    # Two values exchanged between groups until one group has nothing but v5: the totals stay, the share does not.
    rare = release.domain.labels.index("v5")
    value = release.value.copy()
    mine, elsewhere = np.flatnonzero(release.group == 0), np.flatnonzero((release.group != 0) & (value == rare))
    for row, other in zip(mine, elsewhere, strict=False):
        value[row], value[other] = value[other], value[row]
    report = audit(dataclasses.replace(release, value=value).canonical()[0])
    assert report.problems == ()
    assert report.claims[0].holds is False
    assert report.claims[0].value == "v5"
    assert report.claims[0].worst > report.claims[0].bound


def test_values_exchanged_between_groups_are_found_with_the_table():
    table = people(list("abcdefgh"), age=range(8))
    release = of_groups(table, [0] * 4 + [1] * 4, LDiversity(4, against="reader"))
    value = release.value.copy()
    one, two = (int(np.flatnonzero(release.group == group)[0]) for group in (0, 1))
    value[one], value[two] = value[two], value[one]
    other = dataclasses.replace(release, value=value).canonical()[0]
    assert audit(other).holds is True
    assert "2 people have" in problems(audit(other, table))


def test_counts_that_the_people_of_a_box_do_not_have_are_found():
    # Both groups show a and b; group 0 really has a, a, a, b, but shows a, b, b, b, and group 1 the other way round.
    table = people(list("aaababbb"), age=range(8))
    release = of_groups(table, [0] * 4 + [1] * 4)
    shown = {0: "abbb", 1: "aaab"}
    value = release.value.copy()
    for group, letters in shown.items():
        value[release.group == group] = [release.domain.labels.index(letter) for letter in letters]
    other = dataclasses.replace(release, value=value).canonical()[0]
    assert audit(other).holds is True
    assert "2 counts of groups" in problems(audit(other, table))


def test_a_lost_and_an_invented_person_are_found():
    table = people(list("abcd"), age=range(4))
    release = of_groups(table, [0] * 4)
    assert "1 people of the table" in problems(audit(release, people(list("abcda"), age=range(5))))
    assert "1 people were invented" in problems(audit(release, people(list("abc"), age=range(3))))
    fewer = dataclasses.replace(release, group=release.group[1:].copy(), value=release.value[1:].copy())
    assert "'records' has 3 rows" in problems(audit(fewer))


def test_a_value_shown_instead_of_another_is_found_with_the_table():
    release = of_groups(people(list("abcd"), age=range(4)), [0] * 4)
    report = audit(release, people(list("abcc"), age=range(4)))
    assert "2 sensitive values" in problems(report)


def test_people_outside_all_ranges_and_ranges_that_nobody_reaches_are_found():
    release = of_groups(people(list("abcd"), age=[10, 20, 30, 40], town=list("xxyy")), [0, 0, 1, 1])
    moved = audit(release, people(list("abcd"), age=[10, 20, 30, 41], town=list("xxyy")))
    assert "1 people of the table fit" in problems(moved)
    assert "1 values published of age" in problems(moved)
    assert "1 groups have" in problems(moved)
    wide = people(list("abcd"), age=[10, 20, 40, 40], town=list("xxyy"))
    narrow = of_groups(people(list("abcd"), age=[10, 20, 20, 40], town=list("xxyy")), [0, 0, 1, 1])
    assert tells(problems(audit(narrow, wide)), "ranges of age")
    loose = of_groups(people(list("abcd"), age=[10, 20, 30, 40], town=["x", "y", "y", "y"]), [0, 0, 1, 1])
    assert "ranges of town" in problems(audit(loose, people(list("abcd"), age=[10, 20, 30, 40], town=["x", "x", "y", "y"])))


def test_other_columns_than_the_table_has_are_found(release):
    assert "the same quasi" in problems(audit(release, people(list("ab"), age=[1, 2])))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 7}, "'records' has 600"),
        ({"claims": ()}, "makes no claim"),
        ({"parameters": {"groups": 3}}, "the manifest says 3"),
        ({"values": ({"value": "v0", "count": 1, "bound": "1"},)}, "lists other sensitive values"),
        ({"values": ({"value": "v0"},)}, "cannot be read"),
        ({"requirement": {"model": "f-privacy", "theta": [1]}}, "requirement"),
        ({"schema": {"quasi": [], "sensitive": []}}, "quasi and sensitive"),
    ],
)
def test_a_manifest_that_says_something_else_is_found(release, change, message):
    assert message in problems(audit(forged(release, **change)))


def test_other_bounds_and_counts_than_follow_are_found(release):
    values = [dict(entry) for entry in release.manifest.values]
    values[0] |= {"bound": "1", "count": 5}
    found = problems(audit(forged(release, values=tuple(values))))
    assert "the manifest says 5" in found
    assert "the manifest says 1" in found


@pytest.mark.parametrize(
    ("claim", "note"),
    [
        (Claim.association("engineer"), "another adversary"),
        (Claim("association", "reader", "Nobody can learn anything."), "worded"),
        (Claim.association("insider"), "cannot support"),
    ],
)
def test_a_claim_is_only_confirmed_where_it_is_founded(release, claim, note):
    result = audit(forged(release, claims=(claim,))).claims[0]
    assert result.holds is False
    assert note in result.note


def test_tight_boxes_are_not_confirmed_against_an_engineer(release):
    requirement = dict(release.manifest.requirement) | {"against": "engineer"}
    for basis, holds in (("tight", False), ("safe", True)):
        claims = (Claim.association("engineer"),)
        changed = forged(release, requirement=requirement, claims=claims, basis=basis, method=Boxes(form="ranges").to_dict())
        assert audit(changed).claims[0].holds is holds


def test_exposure_is_the_belief_in_ones_own_group_and_containment_stands_beside_it():
    table = people(list("abaac"), age=[20, 40, 30, 50, 30])
    report = audit(of_groups(table, [0, 0, 1, 1, 1]), table)
    assert report.exposure == pytest.approx((1 / 2 + 1 / 2 + 2 / 3 + 2 / 3 + 1 / 3) / 5)
    # By containment, ages 20: 1/2 a; 40: 1/5 b; 30: 3/5 a; 50: 2/3 a; 30: 1/5 c.
    assert f"{(1 / 2 + 1 / 5 + 3 / 5 + 2 / 3 + 1 / 5) / 5:.3g} on average" in report.stronger[FITS].text
    assert report.stronger[FITS].figure == pytest.approx(2 / 3)
    assert "1.6 groups fit" in report.stronger[FITS].text


def test_the_audit_and_the_release_agree_on_beliefs(table):
    coins = np.random.default_rng(2)
    release = of_groups(table, coins.integers(0, 90, table.rows))
    beliefs = release.mean_beliefs(table.to_arrow())[np.arange(table.rows), table.sensitive.codes]
    report = audit(release, table)
    assert f", {beliefs.mean():.3g} on average" in report.stronger[FITS].text
    assert report.stronger[FITS].figure == pytest.approx(beliefs.max())
    assert report.holds is True


def test_where_very_many_groups_fit_beliefs_are_measured_on_part_of_the_people(table, monkeypatch):
    release = of_groups(table, np.random.default_rng(2).integers(0, 90, table.rows))
    whole = audit(release, table)
    monkeypatch.setattr(containment, "MOST_FITS", 5000)
    part = audit(release, table)
    assert part.holds is True
    assert "measured on" in part.stronger[FITS].text
    assert "measured on" not in whole.stronger[FITS].text
    assert part.exposure == whole.exposure
    monkeypatch.setattr(containment, "_AT_ONCE", 64)
    assert audit(release, table).stronger[FITS] == part.stronger[FITS]


def test_rows_of_one_group_that_differ_are_a_finding():
    table = people(list("abcd"), age=range(4))
    release = of_groups(table, [0, 0, 1, 1])
    records = release.tables()["records"]
    ends = records["age_min"].to_pylist()
    ends[0] += 1
    forged_table = records.set_column(0, "age_min", [ends])
    report = audit_tables(release.manifest, {"records": forged_table}, table)
    assert "different values of 'age'" in problems(report)


def test_people_whose_value_is_left_open_and_seeds_are_warned_about(table):
    report = audit(of_groups(table, [0] * table.rows), table)
    assert any("without a bound" in warning for warning in report.warnings)
    assert any("made with a seed" in warning for warning in report.warnings)
