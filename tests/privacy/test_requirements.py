import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.auditor.bounds import sets_of
from sfumato.errors import Infeasible, PolicyError
from sfumato.privacy import MODELS, BetaLikeness, FPrivacy, LDiversity, RhoPrivacy

counts_strategy = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 60), min_size=1)


def test_f_privacy_is_linear_in_the_share_and_never_above_one():
    bounds = FPrivacy(theta=8, offset="0.02").bounds({"a": 1, "b": 9, "c": 90})
    assert bounds.limits == (Fraction(1, 10), Fraction(74, 100), Fraction(1))


def test_single_values_can_be_bounded_by_hand():
    bounds = FPrivacy(theta=2, offset=0.05, bounds={"HIV": "5%", "flu": 1}).bounds({"HIV": 1, "flu": 49, "x": 50})
    assert bounds.limit("HIV") == Fraction(1, 20)
    assert bounds.limit("flu") == 1
    assert bounds.limit("x") == 1


def test_a_constant_bound_needs_no_slope():
    assert FPrivacy(offset="1/3").bounds({"a": 1, "b": 1, "c": 1}).limits == (Fraction(1, 3),) * 3


@pytest.mark.parametrize("bad", [0, "0", -0.1, "1.01", 2])
def test_a_bound_of_zero_or_above_one_is_refused(bad):
    with pytest.raises(PolicyError, match=r"'HIV'.*above 0 and at most 1"):
        FPrivacy(theta=8, offset="0.02", bounds={"HIV": bad})


def test_parameters_that_make_no_sense_are_refused():
    with pytest.raises(PolicyError, match="theta"):
        FPrivacy(theta=-1, offset="0.1")
    with pytest.raises(PolicyError, match="offset"):
        FPrivacy(theta=1, offset=2)
    with pytest.raises(PolicyError, match="bound every belief by 0"):
        FPrivacy()
    with pytest.raises(PolicyError, match="whole number"):
        LDiversity(0)
    with pytest.raises(PolicyError, match="from 0 on"):
        BetaLikeness(-1)
    with pytest.raises(PolicyError, match="0 < rho1 < rho2 < 1"):
        RhoPrivacy("1/3", "1/4")
    with pytest.raises(PolicyError, match="between 0 and 1"):
        RhoPrivacy("1/3", 1)
    with pytest.raises(PolicyError, match=r"against=….*got 'enginer'(.|\n)*mean 'engineer'"):
        LDiversity(2, against="enginer")


def test_a_bound_for_a_value_nobody_has_is_refused_with_the_nearest_one():
    with pytest.raises(PolicyError, match=r"no such(.|\n)*did you mean 'Asthma'"):
        FPrivacy(theta=8, bounds={"Astma": "0.1"}).bounds({"Asthma": 3, "Flu": 4})


def test_an_infeasible_bound_names_what_fails_by_how_much_and_what_would_work():
    with pytest.raises(Infeasible, match=r"Flu: 90 %.*47 %") as caught:
        FPrivacy(theta="0.5", offset="0.02", bounds={"HIV": "0.05"}).bounds({"HIV": 10, "Flu": 90})
    error = caught.value
    assert error.values == ("Flu", "HIV")
    assert error.has == {"Flu": Fraction(9, 10), "HIV": Fraction(1, 10)}
    assert error.nearest == {"offset": Fraction(45, 100), "bounds": {"HIV": Fraction(1, 10)}}
    nearest = FPrivacy(theta="0.5", offset=error.nearest["offset"], bounds=error.nearest["bounds"])
    assert nearest.bounds({"HIV": 10, "Flu": 90}).limit("HIV") == Fraction(1, 10)
    assert error.hint == 'feasible would be offset = "0.45"; [requirement.bounds] HIV = "0.1"'


def test_advice_names_the_section_of_a_set_whatever_else_the_rule_says():
    with pytest.raises(Infeasible) as caught:
        FPrivacy(theta=8, sets={"in fact": {"values": ["HIV", "Flu"], "bound": "0.5"}}).bounds({"HIV": 10, "Flu": 60, "x": 30})
    assert caught.value.hint == 'feasible would be [requirement.sets."in fact"] bound = "0.7"'


def test_l_diversity_says_the_largest_l_that_is_possible():
    with pytest.raises(Infeasible) as caught:
        LDiversity(4).bounds({"a": 3, "b": 3, "c": 1})
    assert caught.value.nearest == {"l": 2}
    assert LDiversity(2).bounds({"a": 3, "b": 3, "c": 1}).limits == (Fraction(1, 2),) * 3


def test_basic_beta_likeness_is_a_multiple_of_the_share():
    assert BetaLikeness("2").bounds({"a": 1, "b": 9}).limits == (Fraction(3, 10), Fraction(1))


def test_enhanced_beta_likeness_has_the_published_bounds():
    # β = 2 on p = .04, .05, .10, .11, .30, .40: f = .12, .15, .30, .33, .6612, .7665 (Cao and Karras 2012, worked).
    shares = {"a": 4, "b": 5, "c": 10, "d": 11, "e": 30, "f": 40}
    limits = BetaLikeness(2, enhanced=True).bounds(shares).limits
    assert limits[:4] == (Fraction(3, 25), Fraction(3, 20), Fraction(3, 10), Fraction(33, 100))
    assert [round(float(limit), 4) for limit in limits[4:]] == [0.6612, 0.7665]


@given(counts_strategy, st.fractions(0, 5))
def test_the_enhanced_bound_is_rounded_down_and_by_less_than_the_grid(counts, beta):
    total = sum(counts.values())
    bounds = BetaLikeness(beta, enhanced=True).bounds(counts)
    for count, limit in zip(bounds.counts, bounds.limits, strict=True):
        share = count / total
        true = (1 + min(float(beta), -math.log(share))) * share
        assert limit <= true + 1e-13
        assert float(limit) >= min(true, 1.0) - 2e-12


def test_rho_privacy_protects_rare_values_only():
    bounds = RhoPrivacy("1/10", "1/4").bounds({"rare": 1, "common": 9})
    assert bounds.limits == (Fraction(1, 4), Fraction(1))
    with pytest.raises(PolicyError, match="nothing would be protected"):
        RhoPrivacy("1/20", "1/4").bounds({"a": 1, "b": 1})


@given(counts_strategy)
def test_caps_and_needs_follow_from_the_limits(counts):
    bounds = FPrivacy(theta=3, offset="0.02").bounds(counts)
    sizes = [1, 2, 7, 50]
    caps = bounds.caps(sizes)
    for row, limit, need in zip(caps, bounds.limits, bounds.needs, strict=True):
        assert row.tolist() == [math.floor(limit * size) for size in sizes]
        assert limit * need >= 1
        assert need == 1 or limit * (need - 1) < 1
    assert sum(bounds.shares) == 1


def test_values_that_nobody_has_do_not_count_and_an_empty_table_is_refused():
    assert LDiversity(1).bounds({"a": 0, "b": 2}).values == ("b",)
    with pytest.raises(PolicyError, match="no people"):
        LDiversity(1).bounds({"a": 0})


def test_the_public_form_of_a_requirement_is_exact_and_rebuilds_it():
    examples = [
        FPrivacy(theta=8, offset=0.02, bounds={"HIV": "1/3"}, against="reader"),
        LDiversity(5),
        BetaLikeness("0.5", enhanced=True),
        RhoPrivacy("1/13", "1/6"),
    ]
    for requirement in examples:
        document = requirement.to_dict()
        assert MODELS[document.pop("model")](**document) == requirement
    assert examples[0].to_dict()["bounds"] == {"HIV": "1/3"}
    assert examples[0].to_dict()["offset"] == "1/50"


def test_odds_bound_what_frequent_values_may_become_and_never_below_one_half():
    rule = FPrivacy(theta=8, offset="0.02", odds=8)
    shares = {"1 %": 1, "6 %": 6, "9 %": 9, "24 %": 24, "60 %": 60}
    bounds = dict(zip(shares, rule.bounds(shares).limits, strict=True))
    assert bounds == {
        "1 %": Fraction(1, 10),
        "6 %": Fraction(1, 2),
        "9 %": Fraction(1, 2),
        "24 %": Fraction(48, 67),  # 8·24 : 76, which is 192 : 76
        "60 %": Fraction(12, 13),
    }
    assert rule.limits({"a": Fraction(1, 9)}) == {"a": Fraction(1, 2)}
    assert rule.limits({"a": Fraction(1)}) == {"a": Fraction(1)}


@given(st.fractions(0, 1), st.fractions(1, 50), st.fractions(0, 1), st.fractions(1, 50))
def test_with_theta_and_odds_from_one_on_no_bound_lies_below_its_share(share, theta, offset, odds):
    bound = FPrivacy(theta=theta, offset=offset, odds=odds).limits({"a": share})["a"]
    assert share <= bound <= min(1, theta * share + offset)
    assert bound <= Fraction(1, 2) or bound * (1 - share) <= odds * share * (1 - bound)


def test_a_set_is_bounded_by_odds_as_a_value_is():
    sets = {"both": {"values": ["a", "b"], "theta": 8, "offset": "0.02", "odds": 4}}
    requirement = FPrivacy(theta=8, offset="0.02", sets=sets)
    both = requirement.bounds({"a": 20, "b": 10, "c": 70}).set_limits["both"]
    assert both == Fraction(12, 19)  # odds of 3 : 7 become 12 : 7
    assert requirement.to_dict()["sets"]["both"]["odds"] == "4"
    assert sets_of(requirement.to_dict(), {"a": 20, "b": 10, "c": 70}, ["a", "b", "c"]) == {"both": (("a", "b"), both)}


@pytest.mark.parametrize("odds", ["0.5", 0, "1/2", -8])
def test_odds_below_one_are_refused(odds):
    with pytest.raises(PolicyError, match="a number from 1 on"):
        FPrivacy(theta=8, offset="0.02", odds=odds)
    with pytest.raises(PolicyError, match="a number from 1 on"):
        FPrivacy(theta=8, sets={"x": {"values": ["a"], "theta": 8, "offset": "0.02", "odds": odds}})


def test_a_set_has_odds_only_beside_theta_and_offset():
    with pytest.raises(PolicyError, match="theta and offset"):
        FPrivacy(theta=8, sets={"x": {"values": ["a"], "bound": "0.5", "odds": 8}})


def test_a_requirement_without_odds_is_written_as_before():
    assert "odds" not in FPrivacy(theta=8, offset="0.02").to_dict()
    assert FPrivacy(theta=8, offset="0.02", odds="8").to_dict()["odds"] == "8"
    assert FPrivacy(theta=8, offset="0.02") != FPrivacy(theta=8, offset="0.02", odds=8)
