"""`Ambiguity`: what it refuses, what it claims, and that its releases pass their audit."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato
from sfumato import Ambiguity, Boxes, FPrivacy, Heterogeneous, LDiversity, PresenceAssociation
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.methods import METHODS, default_method
from sfumato.release import Release
from sfumato.release.manifest import Claim
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.table import Schema, Table
from sfumato.testing import CHECKS, check_method
from tests.groups.fragments._crowds import crowd
from tests.makers import skewed

PAPER = Ambiguity(grouping="paper", accept_weaker_claim=True)
HALVES = Ambiguity(grouping="halves")
ASKED = PresenceAssociation("1/4", "1/2")
READER = PresenceAssociation("1/4", "1/2", against="reader")


@pytest.fixture(scope="module")
def table():
    return crowd(600, 3, seed=1, widths=(40, 9, 12))


def test_boxes_claim_presence_to_a_stranger_and_association_to_the_policys_adversary(table):
    for asked, cuts in ((ASKED, "soft"), (READER, "tight")):
        made = sfumato.publication(table, asked, method=Ambiguity(floor=20), random=1)
        assert [(claim.kind, claim.adversary) for claim in made.release.claims] == [
            ("presence", "stranger"),
            ("association", asked.against),
        ]
        assert made.release.manifest.basis == cuts
        assert made.private["groups"] > 1
        assert made.private["smallest"] >= 20
        presence = made.release.presence(table.to_arrow())
        assert 0 < presence.max() <= 0.25


def test_halves_claim_presence_to_a_stranger_who_knows_the_program_and_their_audit_holds(table, tmp_path):
    for asked, cuts in ((PresenceAssociation("1/4", "3/4"), "safe"), (READER, "tight")):
        made = sfumato.publication(table, asked, method=HALVES, random=1)
        presence, association = made.release.claims
        assert presence == Claim.presence("stranger", program=True)
        assert "the program and its parameters, but does not know who else is in the table" in presence.statement
        assert association.adversary == asked.against
        assert made.release.manifest.basis == cuts
        assert made.private["groups"] > 1
        made.release.save(tmp_path / cuts)
        assert sfumato.audit(Release.load(tmp_path / cuts)).holds is True


def test_plain_boxes_say_that_the_stranger_does_not_know_the_program(table):
    release = sfumato.publish(table, READER, method=Ambiguity(), random=1)
    assert "knows neither who else is in the table nor how the program forms groups" in release.claims[0].statement


def test_halves_follow_weights_and_keep_the_floor(table):
    plain = sfumato.publication(table, READER, method=HALVES, random=1)
    heavy = Ambiguity(grouping="halves", floor=25, weights={"q2": 40, "q1": 0.5})
    other = sfumato.publication(table, READER, method=heavy, random=1)
    assert other.private["smallest"] >= 25
    assert plain.release.sizes.tolist() != other.release.sizes.tolist()


def test_halves_take_missing_values_dates_and_text():
    days = pa.array([None if k % 11 == 0 else 19_000 + k % 23 for k in range(300)], pa.int32()).cast(pa.date32())
    words = [None if k % 7 == 0 else "äZab é"[k % 6] * (1 + k % 3) for k in range(300)]
    frame = pa.table(
        {"day": days, "word": words, "x": [k * k % 31 for k in range(300)], "value": [f"v{k % 5}" for k in range(300)]}
    )
    table = Table.from_frame(frame, Schema(quasi=["day", "word", "x"], sensitive=["value"], other=[]))
    made = sfumato.publication(table, PresenceAssociation("1/3", "1/2", against="reader"), method=HALVES, random=1)
    assert made.private["groups"] > 1
    assert made.audit.holds is True


def test_groups_as_published_state_the_papers_claim_and_no_other(table):
    release = sfumato.publish(table, READER, method=PAPER, random=1)
    assert release.claims == ()
    assert release.manifest.parameters["weaker_claim"] == PAPER_CLAIMS["ambiguity"]
    assert release.rows == 600


def test_groups_as_published_run_only_if_their_claim_is_accepted_and_against_a_reader(table):
    with pytest.raises(NotProvable, match=r"cover a person(.|\n)*accept_weaker_claim = true"):
        Ambiguity(grouping="paper").run(table, READER)
    with pytest.raises(NotProvable, match="not against 'engineer'"):
        PAPER.run(table, ASKED)


def test_an_insider_is_refused(table):
    with pytest.raises(NotProvable, match="not against 'insider'"):
        Ambiguity().run(table, PresenceAssociation("1/4", "1/3", against="insider"))


def test_a_requirement_without_alpha_is_refused_here_and_one_with_alpha_elsewhere(table):
    with pytest.raises(PolicyError, match=r"l-diversity(.|\n)*presence-association"):
        Ambiguity().run(table, LDiversity(2))
    with pytest.raises(PolicyError, match="sets no bound on presence"):
        PAPER.run(table, LDiversity(2, against="reader"))
    for name, kind in METHODS.items():
        if kind.hides_presence:
            continue
        needed = {"values": ["a", "b"], "otherwise": "b"} if name == "noisy-boxes" else {}
        with pytest.raises(NotProvable, match=r"presence(.|\n)*ambiguity(.|\n)*priview"):
            kind(**needed).run(table, READER if name in ("ring", "heterogeneous", "privbayes", "noisy-tables") else ASKED)
    with pytest.raises(NotProvable, match="a bound on presence"):
        Heterogeneous(accept_weaker_claim=True).run(table, READER)


def test_it_is_the_default_where_presence_is_bounded():
    table = skewed(rows=2000)
    assert default_method(ASKED, table) == Ambiguity()
    assert default_method(FPrivacy(theta=3, offset="0.1"), table) == Boxes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"grouping": "box"}, "did you mean 'boxes'"),
        ({"floor": 0}, "whole number from 1"),
        ({"weights": "age"}, "column = weight pairs"),
        ({"suppress": 1}, "true or false"),
        ({"accept_weaker_claim": "yes"}, "true or false"),
        ({"suppress": True}, "grouping = 'boxes'.*True(.|\n)*grouping = 'paper'"),
        ({"accept_weaker_claim": True}, "grouping = 'boxes'"),
        ({"grouping": "halves", "suppress": True}, "grouping = 'halves'"),
        ({"grouping": "paper", "floor": 5}, "grouping = 'paper'.*5(.|\n)*'boxes' or 'halves'"),
        ({"grouping": "paper", "weights": {"q0": 2}}, "grouping = 'paper'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, told):
    with pytest.raises(PolicyError, match=told):
        Ambiguity(**options)


def test_infeasible_alpha_and_beta_are_refused_with_what_would_work(table):
    with pytest.raises(Infeasible) as caught:
        Ambiguity().run(table, PresenceAssociation("1/1000000", "1/3"))
    near = caught.value.nearest["alpha"]
    assert sfumato.publish(table, PresenceAssociation(near, "1/3"), method=Ambiguity(), random=1).rows == 600
    with pytest.raises(Infeasible) as caught:
        Ambiguity().run(table, PresenceAssociation("1/4", "1/10"))
    assert 0 < caught.value.nearest["beta"] < 1


def test_nobody_is_lost_and_who_is_left_out_is_counted():
    rare, same = 40, 60
    from tests.makers import people

    x, y = [*range(rare), *[90] * same], [*range(rare), *[90] * same]
    table = people([f"v{k % 5}" for k in range(rare + same)], x=x, y=y)
    asked = PresenceAssociation("1/20", "1/2", against="reader")
    with pytest.raises(Infeasible, match=r"suppress = true"):
        PAPER.run(table, asked, random=1)
    leaving = Ambiguity(grouping="paper", accept_weaker_claim=True, suppress=True)
    made = sfumato.publication(table, asked, method=leaving, random=1)
    told = made.release.manifest.parameters["suppression"]
    assert told == {"option": "suppress", "people": made.private["suppressed"]}
    assert made.release.rows == 100 - told["people"]
    assert sum(made.release.tables()["st"]["count"].to_pylist()) == made.release.rows


def test_a_release_survives_the_disk_and_audits_hold(table, tmp_path):
    for method, asked in ((Ambiguity(floor=10, weights={"q0": 2}), ASKED), (PAPER, READER)):
        release = sfumato.publish(table, asked, method=method, random=1)
        place = tmp_path / method.grouping
        release.save(place)
        assert sfumato.audit(Release.load(place), table).holds is True


def test_per_value_bounds_are_kept(table):
    asked = PresenceAssociation("1/4", FPrivacy(theta=1, offset="1/10"), against="reader")
    for method in (Ambiguity(floor=10), PAPER):
        assert sfumato.publication(table, asked, method=method, random=1).audit.holds is True


@pytest.mark.parametrize("method", [Ambiguity(floor=5), HALVES], ids=str)
def test_boxes_pass_the_conformance_suite(method):
    assert len(check_method(method)) == 4 * len(CHECKS)


def test_boxes_pass_the_conformance_suite_with_presence_bounded(table):
    wide = {"wide": table, "missing": crowd(300, 2, seed=2, widths=(150, 150))}
    asked = PresenceAssociation(1, LDiversity(2), against="reader")
    assert len(check_method(Ambiguity(floor=5), asked, wide)) == 2 * len(CHECKS)


def test_the_same_seed_gives_the_same_release_whatever_the_order_of_the_input(table):
    turned = table.take(np.random.default_rng(3).permutation(table.rows))
    for method, asked in ((Ambiguity(floor=10), ASKED), (HALVES, READER), (PAPER, READER)):
        one, two = (method.run(which, asked, random=7).release.tables() for which in (table, turned))
        assert one.keys() == two.keys()
        for name, content in one.items():
            assert content.equals(two[name]), name


def test_to_dict_names_every_option():
    assert Ambiguity(weights={"age": 2}).to_dict() == {
        "name": "ambiguity",
        "grouping": "boxes",
        "floor": 2,
        "weights": {"age": 2},
        "patience": None,
        "suppress": False,
        "pick": "sampled",
        "accept_weaker_claim": False,
    }
    assert Fraction(ASKED.to_dict()["alpha"]) == Fraction(1, 4)
