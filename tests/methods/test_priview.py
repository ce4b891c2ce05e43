"""`PriView`: what it refuses, which column it moves, and that its releases pass their audit."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato
from sfumato import Ambiguity, LDiversity, PresenceAssociation, PriView
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.release import Release
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.table import Schema, Table
from sfumato.testing import CHECKS, check_method
from tests.groups.fragments._crowds import crowd
from tests.groups.fragments.test_views import built
from tests.makers import people

PAPER = PriView(grouping="paper", accept_weaker_claim=True)
ASKED = PresenceAssociation("1/4", "1/3", against="reader")


@pytest.fixture(scope="module")
def table():
    return built(8, 4, 3)


def test_a_release_that_moves_several_columns_survives_the_disk(tmp_path):
    several = PriView(column=["q1", "q2"], grouping="paper", accept_weaker_claim=True)
    release = several.run(crowd(60, 3, seed=1), ASKED, random=1).release
    release.save(tmp_path / "release")
    assert Release.load(tmp_path / "release").manifest.method["column"] == ["q1", "q2"]


def test_a_table_built_for_it_is_published_in_small_groups(table):
    made = sfumato.publication(table, ASKED, method=PriView(column="z"), random=1)
    assert made.private == {"groups": 8, "smallest": 12, "largest": 12, "loss": 8 * 11**2}
    assert made.release.rows == 96
    assert made.release.manifest.parameters["moved"] == ["z"]
    assert [(claim.kind, claim.adversary) for claim in made.release.claims] == [
        ("presence", "stranger"),
        ("association", "reader"),
    ]
    assert made.audit.holds is True
    assert made.release.presence(table.to_arrow()).max() == pytest.approx(0.25)


def test_the_column_that_gives_most_groups_is_moved_unless_one_is_named(table):
    release = sfumato.publish(table, ASKED, method=PriView(), random=1)
    assert release.manifest.parameters["moved"] == ["z"]  # with x moved, every joined value is alone
    with pytest.raises(Infeasible, match="x, 1, there are 1"):
        PriView(column="x").run(table, ASKED)


def test_groups_as_published_move_the_most_even_column_and_state_the_papers_claim(table):
    release = sfumato.publish(table, ASKED, method=PAPER, random=1)
    assert release.manifest.parameters["moved"] == ["x"]
    assert release.claims == ()
    assert release.manifest.parameters["weaker_claim"] == PAPER_CLAIMS["priview"]
    assert release.rows == 96


def test_several_columns_may_be_moved_but_not_all():
    wide = crowd(300, 3, seed=4, widths=(12, 5, 8))
    some = PriView(column=["q1", "q2"], grouping="paper", accept_weaker_claim=True)
    release = sfumato.publish(wide, ASKED, method=some, random=1)
    assert release.manifest.parameters["moved"] == ["q1", "q2"]
    assert release.tables()["at"].column_names == ["q0", "group"]
    with pytest.raises(PolicyError, match="all quasi columns"):
        PriView(column=["q0", "q1", "q2"]).run(wide, ASKED)
    with pytest.raises(PolicyError, match=r"'q9'"):
        PriView(column="q9").run(wide, ASKED)
    with pytest.raises(PolicyError, match=r"has only one(.|\n)*ambiguity"):
        PriView().run(people(list("abcd"), x=[1, 2, 3, 4]), ASKED)


def test_only_a_reader_can_be_promised_anything(table):
    with pytest.raises(NotProvable, match="not against 'engineer'"):
        PriView().run(table, PresenceAssociation("1/4", "1/3"))
    with pytest.raises(NotProvable, match="cover a person"):
        PriView(grouping="paper").run(table, ASKED)
    with pytest.raises(NotProvable, match="not against 'engineer'"):
        PAPER.run(table, PresenceAssociation("1/4", "1/3"))
    with pytest.raises(PolicyError, match="sets no bound on presence"):
        PriView().run(table, LDiversity(2, against="reader"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"grouping": "box"}, "did you mean 'boxes'"),
        ({"column": []}, "list of different"),
        ({"column": ["a", "a"]}, "list of different"),
        ({"column": 3}, "or a list"),
        ({"suppress": None}, "true or false"),
        ({"accept_weaker_claim": True}, "grouping = 'boxes'"),
        ({"suppress": True}, "grouping = 'boxes'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, told):
    with pytest.raises(PolicyError, match=told):
        PriView(**options)


def test_boxes_leave_out_nobody_because_that_would_tell_who_is_elsewhere():
    good, bad = built(2, 4, 3), 24
    values = np.array(good.sensitive.domain.labels)[good.sensitive.codes].tolist()
    x, z = good.quasi[0].arrow().to_pylist(), good.quasi[1].arrow().to_pylist()
    table = people(values + ["v1"] * bad, x=x + [5000 + k for k in range(bad)], z=z + ["z0"] * bad)
    with pytest.raises(Infeasible, match="alpha and the bounds"):
        PriView(column="z").run(table, PresenceAssociation("1/4", "2/3", against="reader"))
    with pytest.raises(PolicyError, match=r"suppress=….*grouping = 'boxes'(.|\n)*grouping = 'paper'"):
        PriView(suppress=True)


@pytest.mark.parametrize("seed", range(5))
def test_groups_as_published_leave_out_nobody_where_everybody_together_is_a_group(seed):
    table = crowd(11 + seed, 2, values=4, seed=seed)
    most = max(table.sensitive.histogram().values())
    asked = PresenceAssociation("1/5", Fraction(most, table.rows), against="reader")
    made = PriView(grouping="paper", accept_weaker_claim=True, suppress=True).run(table, asked, random=seed)
    assert made.private["suppressed"] == 0
    assert made.release.rows == table.rows


def test_people_dropped_for_a_missing_value_cannot_be_promised_hidden_presence():
    frame = pa.table({"x": [1, 2, 3, 4, None], "z": [1, 2, 1, 2, 1], "value": list("ababa")})
    table = Table.from_frame(frame, Schema(quasi=["x", "z"], sensitive=["value"], missing={"x": "drop"}))
    asked = PresenceAssociation(1, "1/2", against="reader")
    for method in (PriView(), Ambiguity()):
        with pytest.raises(NotProvable, match=r"is missing \(1\)(.|\n)*missing = \"value\""):
            method.run(table, asked)


def test_advice_is_taken_from_a_column_that_has_some_and_never_to_move_one_that_was_tried():
    table = people(list("abab") * 5, x=range(20), z=["often"] * 12 + ["rare"] * 8, y=[1] * 20)
    with pytest.raises(Infeasible) as caught:
        PriView().run(table, PresenceAssociation("1/4", "1/2", against="reader"))
    assert caught.value.nearest
    assert "another column" not in caught.value.hint
    sfumato.publish(table, PresenceAssociation(**caught.value.nearest, against="reader"), method=PriView(), random=1)


def test_a_release_survives_the_disk_and_audits_hold(table, tmp_path):
    for method in (PriView(), PAPER):
        place = tmp_path / method.grouping
        sfumato.publish(table, ASKED, method=method, random=1).save(place)
        assert sfumato.audit(Release.load(place), table).holds is True


def test_boxes_pass_the_conformance_suite():
    tables = {"built": built(4, 6, 5, seed=3), "one cell": built(1, 8, 6, seed=4)}
    asked = PresenceAssociation("1/2", LDiversity(2), against="reader")
    assert len(check_method(PriView(column="z"), asked, tables)) == 2 * len(CHECKS)


def test_the_same_seed_gives_the_same_release_whatever_the_order_of_the_input(table):
    turned = table.take(np.random.default_rng(3).permutation(table.rows))
    for method in (PriView(), PAPER):
        one, two = (method.run(which, ASKED, random=7).release.tables() for which in (table, turned))
        for name, content in one.items():
            assert content.equals(two[name]), name


def test_to_dict_names_every_option():
    assert PriView(column=("a", "b")).to_dict() == {
        "name": "priview",
        "column": ["a", "b"],
        "grouping": "boxes",
        "suppress": False,
        "pick": "sampled",
        "accept_weaker_claim": False,
    }
