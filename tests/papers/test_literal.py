"""The papers' own steps as options: they pass the conformance suite, stand in the manifest, and claim what their paper does."""

import pytest

import sfumato
from sfumato import Ambiguity, LDiversity, MultiSize, PresenceAssociation, PriView, RhoPrivacy, SmallDomain
from sfumato.errors import PolicyError
from sfumato.release import Release
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.testing import check_method, example_tables
from tests.groups.fragments._crowds import crowd
from tests.makers import skewed

GREEDY = Ambiguity(grouping="paper", pick="greedy", accept_weaker_claim=True)
PAIRS = PriView(grouping="paper", pick="pairs", accept_weaker_claim=True)
ASKED = PresenceAssociation("1/4", "1/3", against="reader")


@pytest.fixture(scope="module")
def table():
    return crowd(400, 3, seed=2, widths=(30, 6, 9))


@pytest.mark.parametrize(
    ("method", "requirement"),
    [
        (GREEDY, None),
        (PAIRS, None),
        (SmallDomain(order="paper"), None),
        (SmallDomain(order="paper"), RhoPrivacy("0.3", "0.6")),
        (MultiSize(strategy="two-size", search="none"), None),
        (MultiSize(strategy="top-down", search="loss"), None),
    ],
    ids=str,
)
def test_literal_versions_pass_the_conformance_suite(method, requirement):
    tables = example_tables()
    if isinstance(method, PriView):
        tables = {name: table for name, table in tables.items() if len(table.quasi) > 1}
    assert check_method(method, requirement, tables)


@pytest.mark.parametrize("method", [GREEDY, PAIRS], ids=str)
def test_groups_of_004_as_printed_state_their_pick_and_the_papers_claim(method, table, tmp_path):
    made = sfumato.publication(table, ASKED, method=method, random=1)
    made.release.save(tmp_path / "release")
    found = Release.load(tmp_path / "release")
    assert found.manifest.method["pick"] == method.pick
    assert found.manifest.basis == "paper"
    assert found.claims == ()
    assert found.manifest.parameters["weaker_claim"] == PAPER_CLAIMS[method.name]
    assert sfumato.audit(found, table).holds is True
    assert made.private["residues"] >= 0


def test_pruning_changes_the_time_and_not_one_byte_of_the_groups():
    for strategy in ("two-size", "top-down"):
        releases = [
            sfumato.publish(skewed(300), LDiversity(2), method=MultiSize(strategy=strategy, search=search), random=3)
            for search in ("none", "loss", "full")
        ]
        for other in releases[1:]:
            for name, content in releases[0].tables().items():
                assert content.equals(other.tables()[name])


def test_the_papers_order_of_002_is_the_bound_that_the_receipt_calls_the_papers(table):
    printed, ours = (
        sfumato.publication(table, RhoPrivacy("0.2", "0.5"), method=SmallDomain(order=order), random=1)
        for order in ("paper", "improved")
    )
    assert printed.private["error_bound"] == pytest.approx(printed.private["error_bound_of_the_paper"])
    assert printed.private["error_bound_of_the_paper"] == ours.private["error_bound_of_the_paper"]
    assert printed.private["error_bound"] >= ours.private["error_bound"]
    assert printed.release.claims == ours.release.claims


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Ambiguity(pick="greedy"), "grouping = 'boxes'"),
        (lambda: PriView(pick="pairs"), "grouping = 'boxes'"),
        (lambda: Ambiguity(grouping="paper", pick="pairs"), "'sampled', 'greedy'"),
        (lambda: MultiSize(search="none"), "strategy = 'optimal'"),
        (lambda: SmallDomain(order="random"), "'improved', 'paper'"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(make, told):
    with pytest.raises(PolicyError, match=told):
        make()
