import tomllib
from fractions import Fraction

import pytest

from sfumato.errors import Infeasible, PolicyError
from sfumato.privacy import MODELS, FPrivacy, LDiversity, PresenceAssociation

COUNTS = {"a": 5, "b": 3, "c": 2}


def test_a_number_bounds_every_value_and_alpha_bounds_presence():
    requirement = PresenceAssociation("0.1", "60%")
    assert requirement.presence == requirement.alpha == Fraction(1, 10)
    assert requirement.bounds(COUNTS).limits == (Fraction(3, 5),) * 3


def test_other_models_do_not_speak_of_presence():
    for model, kind in MODELS.items():
        assert model == kind.model
    assert LDiversity(2).presence is None
    assert FPrivacy(offset="0.5").presence is None


def test_any_model_may_stand_for_beta_as_an_object_or_as_a_mapping():
    inner = FPrivacy(theta="1.1", offset="0.1", bounds={"a": "0.7"})
    one = PresenceAssociation(0.1, inner)
    two = PresenceAssociation(0.1, {"model": "f-privacy", "theta": "1.1", "offset": "0.1", "bounds": {"a": "0.7"}})
    assert one == two
    assert hash(one) == hash(two)
    assert one.bounds(COUNTS) == inner.bounds(COUNTS)


def test_the_model_that_stands_for_beta_is_against_the_same_adversary():
    assert PresenceAssociation("0.1", LDiversity(2), against="reader").beta == LDiversity(2, against="reader")
    assert PresenceAssociation("0.1", LDiversity(2, against="reader"), against="reader").beta.against == "reader"
    with pytest.raises(PolicyError, match=r"'reader'.*'engineer'"):
        PresenceAssociation("0.1", LDiversity(2, against="reader"))
    with pytest.raises(PolicyError, match=r"'engineer'.*'reader'"):
        PresenceAssociation("0.1", {"model": "l-diversity", "l": 2, "against": "engineer"}, against="reader")
    with pytest.raises(PolicyError, match="against=…"):
        PresenceAssociation("0.1", "0.5", against="nobody")


def test_it_is_written_and_read_again_exactly():
    for requirement in (
        PresenceAssociation("1/3", 0.29),
        PresenceAssociation("1/3", LDiversity(3), against="reader"),
        PresenceAssociation(1, FPrivacy(theta=8, offset="0.02", bounds={"a": 1})),
    ):
        document = requirement.to_dict()
        assert document.pop("model") == "presence-association"
        assert PresenceAssociation(**document) == requirement
    assert PresenceAssociation("1/3", 0.29).to_dict() == {
        "model": "presence-association",
        "against": "engineer",
        "alpha": "1/3",
        "beta": "29/100",
    }
    assert PresenceAssociation("1/3", LDiversity(3)).to_dict()["beta"] == {"model": "l-diversity", "l": 3}


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0, 1), ("1.01", 1), (-1, 1), ("1/2", 0), ("1/2", 2), ("x", 1), (True, 1), (1, True)]
)
def test_numbers_outside_of_0_to_1_are_refused(alpha, beta):
    with pytest.raises(PolicyError, match=r"above 0 and at most 1|expected a number"):
        PresenceAssociation(alpha, beta)


@pytest.mark.parametrize(
    ("beta", "told"),
    [
        ({"model": "l-diversty", "l": 3}, "did you mean 'l-diversity'"),
        ({"l": 3}, "got None"),
        ({"model": "presence-association", "alpha": 1, "beta": 1}, "belief in values"),
        (PresenceAssociation(1, 1), "belief in values"),
        ({"model": "l-diversity", "k": 3}, "l-diversity has.*'k'"),
        ({"model": "rho-privacy", "rho1": "0.1"}, "rho-privacy needs rho2"),
    ],
)
def test_a_beta_that_is_no_model_is_refused_with_what_would_be(beta, told):
    with pytest.raises(PolicyError, match=f"(?s){told}"):
        PresenceAssociation("0.1", beta)


def test_a_beta_below_a_share_is_refused_with_one_that_is_not():
    with pytest.raises(Infeasible, match=r"a: 50 %.*40 %") as caught:
        PresenceAssociation("0.1", "0.4").bounds(COUNTS)
    assert caught.value.nearest == {"beta": Fraction(1, 2)}
    assert PresenceAssociation("0.1", caught.value.nearest["beta"]).bounds(COUNTS)
    with pytest.raises(Infeasible) as caught:
        PresenceAssociation("0.1", LDiversity(3)).bounds(COUNTS)
    assert caught.value.nearest == {"beta": {"model": "l-diversity", "l": 2}}
    assert PresenceAssociation("0.1", caught.value.nearest["beta"]).bounds(COUNTS)
    with pytest.raises(Infeasible) as caught:
        PresenceAssociation("0.1", FPrivacy(offset="0.3")).bounds(COUNTS)
    assert caught.value.nearest == {"beta": {"model": "f-privacy", "offset": Fraction(1, 2)}}


def test_advice_keeps_what_need_not_change_and_can_be_typed_in_a_policy():
    own = FPrivacy(theta="1/2", offset="0.1", bounds={"b": "0.01", "c d": "0.9"})
    with pytest.raises(Infeasible) as caught:
        PresenceAssociation("0.1", own).bounds({"a": 50, "b": 20, "c d": 30})
    beta = caught.value.nearest["beta"]
    assert beta == {
        "model": "f-privacy",
        "theta": "1/2",
        "offset": Fraction(1, 4),
        "bounds": {"b": Fraction(1, 5), "c d": "9/10"},
    }
    assert PresenceAssociation("0.1", beta).bounds({"a": 50, "b": 20, "c d": 30})
    typed = tomllib.loads(caught.value.hint.removeprefix("feasible would be "))
    assert PresenceAssociation("0.1", typed["beta"]) == PresenceAssociation("0.1", beta)
    with pytest.raises(Infeasible, match=r'beta = \{ model = "l-diversity", l = 2 \}'):
        PresenceAssociation("0.1", LDiversity(3)).bounds(COUNTS)


def test_where_no_diversity_is_feasible_a_number_is_advised():
    with pytest.raises(Infeasible) as caught:
        PresenceAssociation("0.1", LDiversity(3)).bounds({"a": 60, "b": 40})
    assert caught.value.nearest == {"beta": Fraction(3, 5)}
    assert PresenceAssociation("0.1", **caught.value.nearest).bounds({"a": 60, "b": 40})


@pytest.mark.parametrize("beta", ["x", True, [1, 2], None])
def test_a_beta_of_another_type_is_told_that_it_may_be_a_model(beta):
    with pytest.raises(PolicyError, match=r"(?s)beta: expected a number.*\{ model = "):
        PresenceAssociation("0.1", beta)


def test_the_outer_adversary_rules_and_the_documentation_says_so():
    asked = PresenceAssociation("1/4", FPrivacy(theta=1, offset="0.1", against="engineer"), against="reader")
    assert asked.beta.against == "reader"
    assert "rules over" in PresenceAssociation.__doc__
    with pytest.raises(PolicyError, match="give against once"):
        PresenceAssociation("1/4", FPrivacy(theta=1, offset="0.1", against="insider"), against="reader")


def test_rules_of_single_columns_stand_beside_alpha():
    two = LDiversity(2)
    assert PresenceAssociation(1, two, columns={"ward": LDiversity(3)}).of("ward").beta == LDiversity(3)
    with pytest.raises(PolicyError, match="columns"):
        PresenceAssociation(1, LDiversity(2, columns={"ward": two}))
