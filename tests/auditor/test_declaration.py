"""There is one declaration, and the audit holds a release to it: whatever tells other shares than were declared fails."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from sfumato import FPrivacy, LDiversity, RhoPrivacy, SmallDomain, UniformPerturbation
from sfumato.auditor import audit_release
from tests.makers import closed_for, people
from tests.release._randomized import with_parameters, with_part

coin = np.random.default_rng(3)
COUNTS = {"a": 120, "b": 80, "c": 60, "d": 50, "e": 40, "f": 30, "g": 10, "h": 10, "i": 10, "j": 10}
METHOD = SmallDomain(parameters="declared", shares=COUNTS, otherwise="j")
TABLE = closed_for(METHOD, people([value for value, count in COUNTS.items() for _ in range(count)]))
RELEASE = METHOD.run(TABLE, RhoPrivacy("1/3", "2/3", against="insider"), random=1).release


def with_method(release, **changes):
    manifest = release.manifest
    return dataclasses.replace(release, manifest=dataclasses.replace(manifest, method={**manifest.method, **changes}))


def test_what_was_declared_holds_in_several_parts_and_weights_and_shares_give_the_declared_shares_again():
    assert len(RELEASE.parts) > 1
    for report in (audit_release(RELEASE), audit_release(RELEASE, TABLE)):
        assert (report.holds, report.problems) == (True, ())
    for code, label in enumerate(RELEASE.domain.labels):
        spread = [p.weight * p.shares[p.values.tolist().index(code)] for p in RELEASE.parts if code in p.values]
        assert sum(spread) == Fraction(COUNTS[label], sum(COUNTS.values()))


HONEST = RELEASE.manifest.method["shares"]


@pytest.mark.parametrize("table", [None, TABLE], ids=["alone", "with the table"])
@pytest.mark.parametrize(
    "shares",
    [
        dict.fromkeys(HONEST, "1"),
        {**HONEST, "a": "-" + HONEST["a"]},
        {**HONEST, "a": "0"},
        {**HONEST, "a": HONEST["b"], "b": HONEST["a"]},
        {value: share for value, share in HONEST.items() if value != "j"},
        {**HONEST, "k": "1/1000"},
        {**HONEST, "a": "1e9"},
        {**HONEST, "a": 1},
        {},
        None,
        [],
    ],
)
def test_shares_that_are_no_shares_or_not_those_of_the_parts_do_not_hold(shares, table):
    assert audit_release(with_method(RELEASE, shares=shares), table).holds is False


@pytest.mark.parametrize("table", [None, TABLE], ids=["alone", "with the table"])
@pytest.mark.parametrize(
    "changes",
    [
        {"weight": "1/2"},
        {"weight": "0"},
        {"weight": "2"},
        {"weight": None},
        {"shares": None},
        {"largest_share": "1/3"},
        {"largest_share": "2"},
        {"shares": "all"},
    ],
)
def test_a_part_that_tells_something_else_does_not_hold(changes, table):
    assert audit_release(with_part(RELEASE, 1, **changes), table).holds is False


def test_shares_of_a_part_that_add_up_but_are_not_the_declared_ones_do_not_hold():
    told = RELEASE.manifest.parameters["parts"][0]["shares"]
    turned = audit_release(with_part(RELEASE, 1, shares=told[::-1]))
    assert any("differs from the declared one" in problem for problem in turned.problems)
    assert turned.claims[0].holds is False


@pytest.mark.parametrize("changes", [{"parameters": "computed"}, {"otherwise": None}, {"otherwise": "k"}, {"otherwise": "a"}])
def test_a_method_that_says_otherwise_does_not_hold(changes):
    assert audit_release(with_method(RELEASE, **changes)).holds is False


def test_a_release_of_a_table_that_was_read_as_a_whole_does_not_hold():
    schema = {**RELEASE.manifest.schema, "declared": {**RELEASE.manifest.schema["declared"]}}
    del schema["declared"]["closed"]
    open_ = dataclasses.replace(RELEASE, manifest=dataclasses.replace(RELEASE.manifest, schema=schema))
    assert any("the declared values" in problem for problem in audit_release(open_).problems)


def test_computed_parameters_tell_no_shares_and_no_weights():
    computed = SmallDomain().run(TABLE, RhoPrivacy("1/3", "2/3"), random=1).release
    assert audit_release(computed, TABLE).holds is True
    for forged in (
        with_part(computed, 1, weight="1/2"),
        with_method(computed, shares=HONEST),
        with_method(computed, otherwise="a"),
    ):
        assert audit_release(forged, TABLE).holds is False


def test_bounds_made_large_by_shares_that_do_not_add_up_are_found():
    # Under 2f + 1/10 shares of 1 would leave every value without a bound, and a retention of nearly 1 would pass.
    method = UniformPerturbation(parameters="declared", shares={"x": 1, "y": 1, "z": 1}, otherwise="z")
    table = closed_for(method, people(["x", "y", "z"] * 40))
    honest = method.run(table, FPrivacy(theta=1, offset="1/6", against="insider"), random=1).release
    kept = Fraction(119, 120)
    gamma = (1 + 2 * kept) / (1 - kept)
    forged = with_part(honest, 1, gamma=str(gamma), retention=str(kept))
    lied = with_method(forged, shares=dict.fromkeys("xyz", "1"))
    for release in (forged, lied):
        for against in (None, table):
            found = audit_release(release, against)
            assert found.holds is False
            assert found.claims[0].holds is False
    (claim,) = audit_release(forged).claims
    assert (claim.worst, claim.bound) == (kept + (1 - kept) / 3, Fraction(1, 2))


@pytest.mark.parametrize("share", ["2", "0", "1/1000", "999/1000"])
def test_a_largest_share_that_gamma_does_not_allow_for_fails_with_the_table_as_without(share):
    computed = UniformPerturbation().run(TABLE, LDiversity(2), random=1).release
    forged = with_part(computed, 1, largest_share=share)
    assert [audit_release(forged, against).holds for against in (None, TABLE)] == [False, False]


def test_a_retention_that_breaks_the_told_largest_share_fails_with_the_table_too():
    computed = UniformPerturbation().run(TABLE, LDiversity(2), random=1).release
    forged = with_part(computed, 1, gamma=None, retention=[*map(str, computed.parts[0].retention)], largest_share="9/10")
    alone, known = audit_release(forged), audit_release(forged, TABLE)
    assert alone.claims[0].holds is False
    assert known.claims[0].holds is False


def test_people_who_were_not_sent_to_parts_by_coins_are_found_with_the_table():
    # Of 50 people with value d, whom coins send to the smaller part one time in five, all are there; all else is as declared.
    codes = TABLE.sensitive.codes
    homes = [[k for k, part in enumerate(RELEASE.parts) if code in part.values] for code in range(len(COUNTS))]
    part = np.array([min(homes[code], key=lambda home: RELEASE.parts[home].weight) for code in codes], np.int32)
    value = np.array([coin.choice(RELEASE.parts[home].values) for home in part], np.int32)
    kept = coin.random(len(part)) < [
        float(RELEASE.parts[h].retention[RELEASE.parts[h].values.tolist().index(c)]) for h, c in zip(part, codes, strict=True)
    ]
    forged = dataclasses.replace(RELEASE, quasi=TABLE.quasi, part=part, value=np.where(kept, codes, value).astype(np.int32))
    assert any("in parts" in problem for problem in audit_release(forged, TABLE).problems)


def test_parts_in_another_order_than_that_of_their_numbers_are_refused():
    parts = RELEASE.manifest.parameters["parts"]
    for table in (None, TABLE):
        found = audit_release(with_parameters(RELEASE, parts=parts[::-1]), table)
        assert found.holds is False
        assert "the parts should be numbered 1, 2" in str(found.problems)
