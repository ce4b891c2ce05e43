"""The audit of columns: what the manifest claims and says must be what such a release can claim and say."""

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from sfumato.auditor import audit_release, audit_tables
from sfumato.methods import Anatomy, Mondrian, SmallDomain
from sfumato.privacy import FPrivacy, LDiversity, PresenceAssociation
from sfumato.release.manifest import Claim
from sfumato.table import Schema, Table
from tests.auditor._columns import HALF, TABLE, honest
from tests.makers import people, tells
from tests.release._fragments import columns_of


def test_a_presence_claim_in_other_words_or_against_somebody_else_is_unfounded():
    release = honest()
    for claim, words in (
        (Claim("presence", "stranger", "Nobody can tell."), "not worded"),
        (Claim.presence("reader"), "from a stranger"),
        (Claim.presence("stranger", form="views"), "not worded"),
    ):
        found = audit_tables(replace(release.manifest, claims=(claim, release.claims[1])), release.tables(), None)
        assert found.claims[0].holds is False
        assert words in found.claims[0].note


def test_a_requirement_without_alpha_supports_no_presence_claim():
    release = honest()
    manifest = replace(release.manifest, requirement=LDiversity(2, against="reader").to_dict())
    found = audit_tables(manifest, release.tables(), None)
    assert tells(found.claims[0].note, "not bound presence")


def test_a_release_that_bounds_presence_and_does_not_claim_it_is_not_what_it_says():
    release = honest()
    found = audit_tables(replace(release.manifest, claims=release.claims[1:]), release.tables(), None)
    assert tells(found.problems, "presence", "no claim")


def test_a_release_that_bounds_values_and_does_not_claim_it_is_not_what_it_says():
    release = honest()
    requirement = {**release.manifest.requirement, "beta": "1/100"}
    manifest = replace(release.manifest, claims=release.claims[:1], requirement=requirement, values=None)
    found = audit_tables(manifest, release.tables(), None)
    assert found.holds is False
    assert {
        "manifest.json: these are not the claims that a release makes",
        "the requirement bounds sensitive values, and the manifest makes no claim about them",
    } <= {*found.problems}


@pytest.mark.parametrize(
    ("basis", "method", "rules"),
    [
        ("safe", {"name": "boxes", "form": "columns", "patience": 0}, ["form"]),
        ("blind", {"name": "anatomy", "suppress": False}, ["form"]),
        ("matched", {"name": "near-groups"}, ["form"]),
        ("safe", {"name": "ambiguity", "grouping": "paper", "accept_weaker_claim": True}, ["basis"]),
    ],
)
def test_columns_of_another_method_are_not_confirmed(basis, method, rules):
    release = honest(PresenceAssociation("1/2", "1/2"))
    manifest = replace(release.manifest, basis=basis, method=method)
    found = audit_tables(manifest, release.tables(), None)
    assert [re.findall(r"rule ([a-z-]+)\)$", one) for one in found.problems] == [[name] for name in rules]


def test_columns_of_another_package_rest_on_its_word_which_the_audit_says():
    release = honest(PresenceAssociation("1/2", "1/2"))
    manifest = replace(release.manifest, basis="safe", method={"name": "magic", "package": "magic 1.0"})
    found = audit_tables(manifest, release.tables(), None)
    assert found.problems == ()
    assert "the package 'magic 1.0', which says that records were grouped on the basis 'safe'" in found.notice


@pytest.mark.parametrize("basis", ["tight", "annealed", "paper"])
def test_columns_on_a_basis_that_looks_at_values_hold_against_no_engineer(basis):
    release = honest(PresenceAssociation("1/2", "1/2"))
    found = audit_tables(replace(release.manifest, basis=basis), release.tables(), None)
    assert "against an engineer" in found.claims[1].note
    assert found.problems


def test_buckets_said_to_be_made_by_ambiguity_are_not_confirmed():
    release = Anatomy().run(TABLE, LDiversity(2), random=1).release
    manifest = replace(release.manifest, basis="safe", method={"name": "ambiguity", "grouping": "boxes"})
    assert audit_tables(release.manifest, release.tables(), None).holds is True
    assert any("(rule form)" in one for one in audit_tables(manifest, release.tables(), None).problems)


def test_people_left_out_leave_no_claim_of_presence():
    release = honest(PresenceAssociation(1, "1/2", against="reader"))
    suppression = {"option": "suppress", "people": 2}
    manifest = replace(release.manifest, parameters={**release.manifest.parameters, "suppression": suppression}, values=None)
    found = audit_tables(manifest, release.tables(), None)
    assert found.claims[0].holds is False
    assert "people were left out" in found.claims[0].note


def test_people_dropped_for_a_missing_value_leave_no_claim_of_presence():
    frame = pa.table({"age": [20, 21, 22, 23, None], "sex": list("fmfmf"), "value": ["flu", "cold", "flu", "cold", "flu"]})
    table = Table.from_frame(frame, Schema(quasi=["age", "sex"], sensitive=["value"], missing={"age": "drop"}))
    release = columns_of(table, [0] * 4, HALF)
    assert table.dropped == 1
    found = audit_release(release, table)
    assert [one.holds for one in found.claims] == [False, True]
    assert "a value is missing" in found.claims[0].note


def test_a_table_whose_rows_are_not_people_supports_no_claim_about_people():
    frame = pa.table({"id": list("aabcdefg"), "age": [1, 2, 3, 4] * 2, "sex": list("mfmfmmff"), "value": list("uvuvwuvw")})
    schema = Schema(quasi=["age", "sex"], sensitive=["value"], identifier=["id"], one_row_per_person=False)
    table = Table.from_frame(frame, schema)
    asked = PresenceAssociation(1, "2/3", against="reader")
    release = columns_of(table, [0] * 8, asked)
    assert audit_release(release, table).holds is True
    claims = (Claim.presence("stranger"), Claim.association("reader"))
    manifest = replace(release.manifest, parameters={**release.manifest.parameters, "one_row_per_person": True}, claims=claims)
    assert audit_tables(manifest, release.tables(), None).holds is True
    words = "the release speaks of people, but in the table one person may have several rows"
    assert audit_tables(manifest, release.tables(), table).problems == (words,)
    for method, requirement in (
        (Anatomy(), LDiversity(2)),
        (Mondrian(), LDiversity(2, against="reader")),
        (SmallDomain(), FPrivacy(theta=2, offset="0.2")),
    ):
        other = method.run(table, requirement, random=1).release
        assert words not in audit_release(other, table).problems
        lying = replace(
            other, manifest=replace(other.manifest, parameters={**other.manifest.parameters, "one_row_per_person": True})
        )
        assert words in audit_release(lying, table).problems


def test_another_method_or_grouping_than_makes_this_form_is_found():
    release = honest()
    other = replace(release.manifest, method={**release.manifest.method, "name": "priview"})
    found = audit_tables(other, release.tables(), None).problems
    assert any("(rule form)" in one for one in found)
    method = {**release.manifest.method, "grouping": "paper", "accept_weaker_claim": True}
    paper = replace(release.manifest, method=method, basis="paper")
    assert any("a weaker claim" in one for one in audit_tables(paper, release.tables(), None).problems)


@pytest.mark.parametrize("option", ["accept_weaker_claim", "floor", "grouping", None])
def test_people_are_left_out_by_the_option_suppress_of_groups_as_published_only(option):
    table = people(["s", "t", "s", "t", "s"], age=[20, 30, 50, 60, 50], sex=["M", "F", "F", "M", "M"])
    release = columns_of(table, [0, 0, 1, 1, -1], suppress=True)
    wrong = {**release.manifest.parameters, "suppression": {"option": option, "people": 1}}
    found = audit_tables(replace(release.manifest, parameters=wrong), release.tables(), None)
    assert any("suppressed people" in problem for problem in found.problems)
    assert audit_release(release).problems == ()


def test_the_association_claim_against_an_engineer_needs_safe_cuts_and_nobody_left_out():
    requirement = PresenceAssociation("1/2", "1/2")
    release = honest(requirement)
    assert audit_release(release).holds is True
    tight = replace(release.manifest, basis="tight")
    found = audit_tables(tight, release.tables(), None)
    assert [one.holds for one in found.claims] == [True, False]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"groups": 3}, "2 groups, the manifest says 3"),
        ({"suppression": True}, "suppressed people"),
        ({"suppression": {"option": "suppress", "people": 2}}, "suppressed people"),
    ],
)
def test_a_manifest_that_does_not_fit_its_tables_is_found(parameters, words):
    release = honest()
    manifest = replace(release.manifest, parameters={**release.manifest.parameters, **parameters})
    found = audit_tables(manifest, release.tables(), None)
    assert any(words in problem for problem in found.problems)
