"""Policies that bound presence: read, explained and published from the file."""

from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato
from sfumato import Ambiguity, Boxes, FPrivacy, PresenceAssociation, PriView
from sfumato.errors import Infeasible, PolicyError
from sfumato.explanation import explain
from sfumato.methods import default_method
from sfumato.policy import Policy
from sfumato.table import Schema, Table
from tests.groups.fragments._crowds import crowd
from tests.groups.fragments.test_views import built
from tests.makers import people

POLICY = """
[columns]
quasi = ["q0", "q1", "q2"]
sensitive = ["value"]
[requirement]
model = "presence-association"
"""


@pytest.fixture(scope="module")
def table():
    return crowd(800, 3, seed=1, widths=(40, 9, 12))


def test_alpha_and_beta_are_taken_as_written_and_ambiguity_is_the_default():
    policy = Policy.parse(POLICY + "alpha = 0.1\nbeta = '1/5'\n")
    assert policy.requirement == PresenceAssociation(Fraction(1, 10), Fraction(1, 5))
    assert policy.method is None
    assert default_method(policy.requirement, crowd(20, 3, seed=1)) == Ambiguity()


def test_beta_may_be_a_table_with_a_model_of_its_own():
    written = 'alpha = 0.1\nagainst = "reader"\nbeta = { model = "f-privacy", theta = 8, offset = 0.02, bounds = { v0 = 0.3 } }\n'
    own = FPrivacy(theta=8, offset="0.02", bounds={"v0": "0.3"}, against="reader")
    assert Policy.parse(POLICY + written).requirement == PresenceAssociation("0.1", own, against="reader")


def test_every_option_of_both_methods_can_be_written():
    head = POLICY + 'alpha = 0.1\nbeta = 0.2\nagainst = "reader"\n[method]\n'
    boxes = Policy.parse(head + 'name = "ambiguity"\nfloor = 20\nweights = { q0 = 2 }\n').method
    assert boxes == Ambiguity(floor=20, weights={"q0": 2})
    assert Policy.parse(head + 'name = "ambiguity"\ngrouping = "halves"\n').method == Ambiguity(grouping="halves")
    with pytest.raises(PolicyError, match="'boxes', 'paper'"):
        Policy.parse(head + 'name = "priview"\ngrouping = "halves"\n')
    paper = Policy.parse(head + 'name = "ambiguity"\ngrouping = "paper"\naccept_weaker_claim = true\nsuppress = true\n').method
    assert paper == Ambiguity(grouping="paper", accept_weaker_claim=True, suppress=True)
    views = Policy.parse(head + 'name = "priview"\ncolumn = ["q1", "q2"]\n').method
    assert views == PriView(column=["q1", "q2"])


def test_an_explanation_says_which_groups_there_are_and_against_whom_presence_is_hidden(table):
    told = explain(table, PresenceAssociation("1/4", "1/2"), method=Ambiguity(floor=20))
    assert told.feasible
    assert told.cost.presence.groups > 1
    words = "\n".join(told.sentences())
    assert f"{told.cost.presence.groups} groups of" in words
    assert "a stranger, who has the release and the person's own quasi values" in words
    assert "4,320 combinations for 800 people" in words
    assert "no alpha below 18.52 %" in words
    assert "is certainly absent" in words
    assert "every column apart" in words
    assert [row.name for row in told.study.rows] == ["ambiguity"]
    assert told.to_dict()["presence"]["alpha"] == "0.25"


def test_an_explanation_says_first_that_boxes_do_not_hold_if_the_program_is_known_and_that_halves_do(table):
    asked = PresenceAssociation("1/4", "1/2", against="reader")
    boxes = explain(table, asked, method=Ambiguity(), quick=True).sentences()
    limits = [line for line in boxes if line.startswith("Not promised")]
    assert "somebody who knows how this program forms groups" in limits[0]
    assert 'grouping = "halves"' in limits[0]
    assert "nor how the program forms groups" in "\n".join(boxes)
    halves = "\n".join(explain(table, asked, method=Ambiguity(grouping="halves"), quick=True).sentences())
    assert "knows how this program forms groups" not in halves
    assert "the program and its parameters, but does not know who else is in the table" in halves


def test_an_explanation_of_groups_as_published_says_that_nothing_is_claimed_about_a_reader(table):
    method = Ambiguity(grouping="paper", accept_weaker_claim=True)
    words = "\n".join(explain(table, PresenceAssociation("1/4", "1/3", against="reader"), method=method).sentences())
    assert "the method ambiguity can" in words
    assert "What is claimed instead: " in words
    assert "surer of both" in words
    assert "at most 33.33 % of" in words
    assert "holds against nobody" in words
    assert "holds against a " not in words


def test_one_group_of_everybody_is_told_as_such(table):
    told = explain(table, PresenceAssociation("1/5", "1/2"), method=Ambiguity(floor=800), quick=True)
    assert told.cost.presence.groups == 1
    assert "Everybody is in one" in "\n".join(told.verdict())


def test_an_explanation_of_views_names_the_moved_column_and_who_is_left_out():
    table = built(8, 4, 3)
    told = explain(table, PresenceAssociation("1/4", "1/3", against="reader"), method=PriView(), quick=True)
    assert "8 groups of 12 people" in told.verdict()[0]
    assert any("others together" in line for line in told.verdict())


def test_what_cannot_be_kept_is_explained(table):
    told = explain(table, PresenceAssociation("1/100", "1/2"))
    assert not told.feasible
    assert told.obstacle.nearest == {"alpha": Fraction(1852, 10_000)}
    assert "only 4,320 combinations" in told.verdict()[0]
    assert "What would work" in told.verdict()[1]
    shown = explain(table, PresenceAssociation("1/4", "1/2"), method=Boxes())
    assert not shown.feasible
    assert "a bound on presence" in shown.verdict()[0]


def test_a_policy_file_leads_to_a_release_that_keeps_it(tmp_path, table):
    source = tmp_path / "people.csv"
    import pyarrow.csv as csv

    csv.write_csv(table.to_arrow(), source)
    policy = Policy.parse(POLICY + "alpha = 0.25\nbeta = 0.5\n[method]\nname = 'ambiguity'\nfloor = 20\n")
    release = sfumato.publish(policy.read_table(source), policy.requirement, method=policy.method, random=1)
    assert {claim.kind for claim in release.claims} == {"presence", "association"}


def test_alpha_and_beta_that_cannot_be_kept_are_named_at_once_and_the_advice_works(table):
    asked = PresenceAssociation("1/100", "1/100")
    with pytest.raises(Infeasible, match=r"(?s)bound is 1 %.*4,320 combinations") as caught:
        sfumato.publish(table, asked, method=Ambiguity(floor=20))
    assert set(caught.value.nearest) == {"alpha", "beta"}
    told = explain(table, asked)
    assert told.obstacle.nearest == caught.value.nearest
    assert "4,320 combinations" in told.verdict()[0]
    sfumato.publish(table, PresenceAssociation(**caught.value.nearest), method=Ambiguity(floor=20), random=1)


def test_an_alpha_of_one_is_advised_without_more_and_only_where_values_are_bounded():
    full = people(list("abab") * 2, x=[1, 2, 1, 2] * 2, z=[1, 1, 2, 2] * 2)
    with pytest.raises(Infeasible, match='alpha = "1"') as caught:
        sfumato.publish(full, PresenceAssociation("1/3", "1/2"), random=1)
    assert "or more" not in caught.value.hint
    sfumato.publish(full, PresenceAssociation(**caught.value.nearest, beta="1/2"), random=1)
    with pytest.raises(Infeasible, match="no alpha below 1") as caught:
        sfumato.publish(full, PresenceAssociation("1/3", 1), random=1)
    assert caught.value.nearest == {}


def test_a_policy_of_ones_is_told_which_two_parameters_to_lower(table):
    with pytest.raises(PolicyError, match=r"(?s)alpha is 1.*lower alpha.*beta"):
        sfumato.publish(table, PresenceAssociation(1, 1))
    told = explain(table, PresenceAssociation(1, 1), quick=True)
    assert told.verdict()[0].startswith("This policy protects nobody")
    assert "lower alpha" in told.verdict()[1]
    assert not any(line.startswith("Unprotected") for line in told.sentences())


def test_an_explanation_says_that_combinations_are_taken_as_equally_likely(table):
    words = "\n".join(explain(table, PresenceAssociation("1/4", "1/2"), method=Ambiguity(floor=20), quick=True).sentences())
    assert "takes every combination as equally likely, also impossible ones" in words


def test_a_policy_that_drops_people_is_explained_as_one_that_cannot_hide_presence():
    frame = pa.table({"x": [1, 2, 3, 4, None], "z": [1, 2, 1, 2, 1], "value": list("ababa")})
    table = Table.from_frame(frame, Schema(quasi=["x", "z"], sensitive=["value"], missing={"x": "drop"}))
    told = explain(table, PresenceAssociation(1, "1/2", against="reader"), method=Ambiguity(), quick=True)
    assert not told.feasible
    assert told.verdict()[0].startswith("The bounds cannot be kept")
    assert "does not cover it" in told.verdict()[0]
