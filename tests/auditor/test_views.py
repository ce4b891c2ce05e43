"""The audit of views: presence and association by the exact matching formulas, and planted faults found in both tables."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from sfumato.auditor import audit_release, audit_tables
from sfumato.privacy import FPrivacy, PresenceAssociation
from sfumato.release.manifest import Claim
from tests.makers import people, skewed, tells
from tests.release import _forge
from tests.release._forge import in_order
from tests.release._fragments import views_of


def four_by_four(start=0):
    """Sixteen people: sixteen rows of `at` that occur once, four joined values of four rows, each with four sensitive values."""
    numbers = range(16)
    return {
        "age": [start + k for k in numbers],
        "town": [f"{start}-{k % 4}" for k in numbers],
    }, [f"v{k // 4}" for k in numbers]


def both():
    first, values = four_by_four(0)
    second, more = four_by_four(100)
    table = people([*values, *more], **{name: [*first[name], *second[name]] for name in first})
    return table, [0] * 16 + [1] * 16


QUARTER = PresenceAssociation("1/4", "1/4", against="reader")


def test_groups_with_enough_joined_values_of_enough_rows_keep_alpha_and_beta():
    table, groups = both()
    release = views_of(table, groups, ["town"], QUARTER)
    for original in (None, table):
        found = audit_release(release, original)
        assert found.holds is True
        assert [one.worst for one in found.claims] == [Fraction(1, 4), Fraction(1, 4)]
    assert found.exposure == pytest.approx(1 / 4)


@pytest.mark.parametrize(("alpha", "beta", "holds"), [("0.24", "1/4", [False, True]), ("1/4", "1/3", [True, True])])
def test_each_claim_is_judged_by_its_own_bound(alpha, beta, holds):
    table, groups = both()
    found = audit_release(views_of(table, groups, ["town"], PresenceAssociation(alpha, beta, against="reader")))
    assert [one.holds for one in found.claims] == holds


def test_a_row_that_occurs_twice_is_present_more_surely_and_tells_more():
    first, values = four_by_four()
    first["age"][1] = first["age"][0]
    table = people(values, **first)
    found = audit_release(views_of(table, [0] * 16, ["town"], QUARTER), table)
    # Two of sixteen rows against four: 1 − C(12, 2)/C(16, 2), and of one row in it [1 − C(15, 2)/C(16, 2)] / that.
    assert [one.worst for one in found.claims] == [Fraction(9, 20), Fraction(5, 18)]
    assert [one.holds for one in found.claims] == [False, False]


def test_a_joined_value_that_is_unique_in_its_group_tells_its_sensitive_value():
    table = people(["s", "t", "u", "v"], age=[1, 2, 3, 4], town=["a", "b", "c", "d"])
    found = audit_release(views_of(table, [0] * 4, ["town"], PresenceAssociation("1/4", "1/4", against="reader")))
    assert [one.holds for one in found.claims] == [True, False]
    assert found.claims[1].worst == 1
    assert "4 joined values occur once" in found.stronger["values in one group, by matchings"].text


def test_groups_that_cover_the_same_pairs_break_alpha_together():
    first, values = four_by_four()
    table = people([*values, *values], **{name: [*first[name], *first[name]] for name in first})
    found = audit_release(views_of(table, [0] * 16 + [1] * 16, ["town"], QUARTER), table)
    assert found.claims[0].holds is False
    assert tells(found.claims[0].note, "overlap", "two")
    assert found.claims[1].holds is True
    assert tells(found.problems, "overlap", "two")
    assert found.stronger["presence of members, all covering groups combined"].figure == pytest.approx(7 / 16)


def test_no_claim_against_an_engineer_is_founded():
    table, groups = both()
    release = views_of(table, groups, ["town"], PresenceAssociation("1/4", "1/4"))
    found = audit_release(release)
    assert [one.holds for one in found.claims] == [True, False]
    assert "against an engineer" in found.claims[1].note


def test_bounds_that_depend_on_shares_need_the_table_where_people_were_left_out():
    table, groups = both()
    inner = PresenceAssociation("1/4", FPrivacy(theta=1, against="reader"), against="reader")
    release = views_of(table, groups, ["town"], inner)
    hidden = replace(
        release.manifest,
        parameters={**release.manifest.parameters, "suppression": {"option": "suppress", "people": 1}},
        values=None,
    )
    found = audit_tables(hidden, release.tables(), None)
    assert [one.holds for one in found.claims] == [False, None]
    assert "people were left out" in found.claims[0].note
    assert found.claims[1].worst == Fraction(1, 4)


def test_presence_is_claimed_in_words_of_its_own():
    table, groups = both()
    release = views_of(table, groups, ["town"], QUARTER)
    assert release.claims[0] == Claim.presence("stranger", form="views")
    assert "all matchings" in release.claims[0].statement
    assert "all tables that fit" not in release.claims[0].statement
    assert "no two people" in audit_release(release).claims[0].note
    manifest = replace(release.manifest, claims=(Claim.presence("stranger"), release.claims[1]))
    found = audit_tables(manifest, release.tables(), None)
    assert found.claims[0].holds is False
    assert "worded" in found.claims[0].note


def test_if_no_two_people_are_alike_presence_can_be_certain_where_matchings_keep_alpha():
    # A occurs three times and there are three towns of two people: six who differ have A once with every town.
    table = people(list("uvuvuv"), name=["A", "b", "A", "c", "A", "d"], town=[0, 0, 1, 1, 2, 2])
    found = audit_release(views_of(table, [0] * 6, ["town"], PresenceAssociation("4/5", 1, against="reader")), table)
    assert found.claims[0].worst == Fraction(4, 5)
    assert found.claims[0].holds is True
    left, right = table.column("name").arrow().to_pylist(), table.column("town").arrow().to_pylist()
    worlds = {tuple(sorted(zip(left, order, strict=True))) for order in permutations(right)}
    different = [world for world in worlds if len(set(world)) == 6]
    assert different
    assert all(("A", town) in world for world in different for town in (0, 1, 2))


@pytest.mark.parametrize("method", [{"name": "ambiguity", "grouping": "boxes"}, {"name": "priview", "grouping": "boxes"}])
def test_views_hold_against_no_engineer_whatever_the_manifest_says(method):
    table, groups = both()
    release = views_of(table, groups, ["town"], PresenceAssociation("1/4", "1/4"))
    manifest = replace(release.manifest, basis="safe", method=method)
    found = audit_tables(manifest, release.tables(), None)
    assert found.claims[1].holds is False


@pytest.mark.parametrize("column", ["age", ["age"], ["town", "age"], 3])
def test_the_column_asked_for_is_the_one_that_was_moved(column):
    table, groups = both()
    release = views_of(table, groups, ["town"], QUARTER)
    for right in ("town", ["town"], None):
        manifest = replace(release.manifest, method={**release.manifest.method, "column": right})
        assert audit_tables(manifest, release.tables(), None).holds is True
    manifest = replace(release.manifest, method={**release.manifest.method, "column": column})
    assert any("asked to move" in problem for problem in audit_tables(manifest, release.tables(), None).problems)


def with_rows(tables, name, rows):
    return {**tables, name: _forge.with_rows(tables[name], rows)}


def test_a_changed_value_is_found_in_at():
    table, groups = both()
    release = views_of(table, groups, ["town"], QUARTER)
    tables = release.tables()
    rows = tables["at"].to_pylist()
    rows[0]["age"] = 77
    found = audit_tables(release.manifest, in_order(release.manifest, with_rows(tables, "at", rows)), table)
    assert "1 people of" in str(found.problems)
    assert any("table 'at': 1 rows" in problem for problem in found.problems)


def test_values_exchanged_between_joined_values_are_found_in_st():
    table, groups = both()
    release = views_of(table, groups, ["town"], QUARTER)
    tables = release.tables()
    rows = tables["st"].to_pylist()
    one = next(row for row in rows if row["town"] == "0-0" and row["value"] == "v0")
    other = next(row for row in rows if row["town"] == "0-1" and row["value"] == "v1")
    rows = [row for row in rows if row is not one and row is not other]
    for row in rows:
        row["count"] += (row["town"], row["value"]) in {("0-0", "v1"), ("0-1", "v0")}
    found = audit_tables(release.manifest, in_order(release.manifest, with_rows(tables, "st", rows)), table)
    assert found.problems == (
        "table 'st' lacks a value that people of its groups have",
        "table 'st': 2 rows are not what the people of their groups have",
    )
    assert found.claims[1].holds is False


def test_a_value_of_nobody_is_found_where_groups_overlap():
    first, values = four_by_four()
    table = people([*values, *values], **{name: [*first[name], *first[name]] for name in first})
    release = views_of(table, [0] * 16 + [1] * 16, ["town"], QUARTER, weaker=True)
    assert audit_release(release, table).problems == ()
    tables = release.tables()
    rows = tables["at"].to_pylist()
    rows[0]["age"] = 77
    found = audit_tables(release.manifest, in_order(release.manifest, with_rows(tables, "at", rows)), table)
    assert "'at': 1 rows" in str(found.problems)


def test_the_papers_claim_is_about_sizes_and_shares_of_groups():
    table = people(["s", "t", "u", "v"], age=[1, 2, 3, 4], town=["a", "b", "c", "d"])
    quarter = views_of(table, [0] * 4, ["town"], QUARTER, weaker=True)
    found = audit_release(quarter, table)
    assert found.holds is True
    assert found.claims == ()
    assert found.stronger["values in one group, by matchings"].figure == 1
    fifth = views_of(table, [0] * 4, ["town"], PresenceAssociation("1/5", "1/4", against="reader"), weaker=True)
    assert tells(audit_release(fifth).problems, "1 groups", "1/alpha")
    pairs = views_of(table, [0, 0, 1, 1], ["town"], PresenceAssociation("1/2", "2/5", against="reader"), weaker=True)
    assert tells(audit_release(pairs).problems, 4, "bound")


def test_the_weaker_claim_is_made_in_its_own_words_by_a_publisher_who_accepted_it():
    table, groups = both()
    release = views_of(table, groups, ["town"], QUARTER, weaker=True)
    manifest = replace(
        release.manifest,
        parameters={**release.manifest.parameters, "weaker_claim": "Trust us."},
        method={**release.manifest.method, "accept_weaker_claim": False},
    )
    assert audit_tables(manifest, release.tables(), None).problems == (
        "manifest.json: a claim is not worded as this version words such claims",
        "the weaker claim is not worded as this version words such claims",
        "the publisher did not accept a weaker claim",
    )


def test_several_columns_may_move():
    table = skewed(200)
    wide = people(
        [f"v{k % 5}" for k in range(200)], a=list(range(200)), b=[k % 3 for k in range(200)], c=[k % 4 for k in range(200)]
    )
    release = views_of(wide, np.arange(200) // 100, ["b", "c"])
    found = audit_release(release, wide)
    assert found.problems == ()
    # Of 100 rows every pair of b and c has 8 or 9, over which five values are spread evenly.
    assert found.claims[1].worst == Fraction(2, 8)
    assert "quasi and sensitive columns" in audit_release(release, table).problems[1]
