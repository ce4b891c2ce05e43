"""An audit sees whether boxes were made by halves, and confirms the claim about the program for no others."""

from dataclasses import replace

import pytest

from sfumato.auditor import audit_tables
from sfumato.auditor.halved import OTHERWISE, UNREADABLE
from sfumato.methods import Ambiguity
from sfumato.privacy import PresenceAssociation
from sfumato.release.manifest import Claim
from tests.groups.fragments._crowds import crowd
from tests.makers import people
from tests.release._forge import forge, refusal
from tests.release._fragments import columns_of

READER = PresenceAssociation("1/2", "3/4", against="reader")
EIGHT = people(list("abcdabcd"), x=[1, 1, 2, 2, 3, 3, 4, 4], y=["f", "m", "g", "f", "m", "g", "f", "m"])


def by_halves(release, **options):
    """Return the release's manifest as if its boxes were made by halves."""
    method = Ambiguity(grouping="halves").to_dict() | options
    claims = (Claim.presence("stranger", program=True), Claim.association("reader"))
    return replace(release.manifest, method=method, claims=claims)


def judged(release, table=None, **options):
    found = audit_tables(by_halves(release, **options), release.tables(), table)
    return found.claims[0]


def test_halves_are_confirmed_and_everybody_in_one_box_too():
    asked = PresenceAssociation("2/3", "3/4", against="reader")
    assert judged(columns_of(EIGHT, [0, 0, 0, 0, 1, 1, 1, 1], asked)).holds is True
    assert judged(columns_of(EIGHT, [0] * 8, asked)).holds is True


def test_boxes_that_are_disjoint_but_no_halves_are_refused():
    found = judged(columns_of(EIGHT, [0, 0, 0, 0, 0, 0, 1, 1], PresenceAssociation(1, 1, against="reader")))
    assert found.holds is False
    assert found.note == OTHERWISE


def test_halves_of_a_column_that_is_not_the_heaviest_are_refused():
    wide = people(list("abcdabcd"), x=[1, 1, 2, 2, 3, 3, 4, 4], y=[1, 2, 1, 2, 1, 2, 1, 2])
    release = columns_of(wide, [0, 1, 0, 1, 0, 1, 0, 1], PresenceAssociation(1, 1, against="reader"))
    assert judged(release).note == OTHERWISE
    assert judged(release, weights={"y": 3}).holds is True


@pytest.mark.parametrize(
    "weights", [{"z": 1}, {"x": 0}, {"x": "1"}, {"x": True}, {"x": float("nan")}, {"x": 10**400}, [1, 2], "x"]
)
def test_weights_that_cannot_be_read_are_refused(weights):
    assert judged(columns_of(EIGHT, [0] * 8, READER), weights=weights).note == UNREADABLE


def test_the_claim_about_the_program_is_confirmed_for_no_other_grouping():
    release = columns_of(EIGHT, [0] * 8, READER)
    for grouping in ("boxes", "paper", [], None):
        found = judged(release, grouping=grouping)
        assert (found.holds, found.note) == (False, "the claim is not worded as this version words such claims")
    plain = replace(by_halves(release), claims=release.claims)
    assert audit_tables(plain, release.tables(), None).claims[0].holds is False


def test_a_grouping_that_the_method_does_not_have_is_refused(tmp_path):
    columns_of(EIGHT, [0] * 8, READER).save(tmp_path / "release")
    forge(tmp_path / "release", lambda document: document["method"].update(grouping="thirds"))
    assert refusal(tmp_path / "release") == "manifest.json: method.grouping is not valid there"


def test_what_the_program_makes_by_halves_is_confirmed_and_its_other_boxes_are_not():
    for seed in range(6):
        table = crowd(300, 3, seed=seed, widths=(40, 8, 12))
        asked = PresenceAssociation("1/3", "1/2", against="reader")
        for grouping, holds in (("halves", True), ("boxes", False)):
            release = Ambiguity(grouping=grouping).run(table, asked, random=seed).release
            assert len(release.sizes) > 2
            assert judged(release, table).holds is holds
