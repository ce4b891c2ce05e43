"""Whether bounds leave groups room, told by counts alone: which secrets are too tight, by how much, and what would help."""

from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.explanation.explanation import explain, tightness_of
from sfumato.explanation.tightness import growth, too_tight
from sfumato.groups.soft import SoftTests, affordable_from, affords
from sfumato.methods import Boxes, MultiSize, default_method
from sfumato.privacy import Bounds
from tests.makers import people

INCOME = ["low"] * 76 + ["high"] * 24
MANY = [*range(100)] * 40


def table_of(**secrets):
    columns = {"age": MANY} | {name: values * 40 for name, values in secrets.items()}
    schema = sf.Schema(quasi=["age"], sensitive=list(secrets), protect="each" if len(secrets) > 1 else None)
    return sf.Table.from_frame(pa.table(columns), schema)


def test_odds_grow_by_the_quotient_of_the_odds_of_bound_and_share():
    assert growth(Fraction(1, 4), Fraction(1, 2)) == 3
    assert growth(Fraction(24, 100), Fraction(72, 100)) == Fraction(72 * 76, 28 * 24)


def test_a_bound_close_to_a_large_share_is_too_tight_although_a_rare_value_has_the_lowest_bound():
    table = people((["low"] * 75 + ["high"] * 24 + ["none"]) * 40, age=MANY)
    requirement = sf.FPrivacy(theta="1.1", offset="0.02")
    [tight] = tightness_of(table, requirement, None).tight
    assert (tight.event, tight.share, tight.bound) == ("high", Fraction(24, 100), Fraction("0.284"))
    assert tight.odds == growth(tight.share, tight.bound)
    said = tightness_of(table, requirement, None).sentence()
    assert "24 % of people and a bound of 28.4 %" in said
    assert "odds may grow 1.3-fold" in said
    assert "theta = 4, odds = 4" in said
    about = explain(table, requirement, quick=True)
    assert about.verdict()[0].startswith("The bounds can")
    assert about.rule.tightest(1)[0].value == "high"
    assert about.to_dict()["too_tight"]["tight"][0]["event"] == "high"


def test_what_is_said_to_leave_room_does():
    table = people(INCOME * 40, age=MANY)
    tight = sf.FPrivacy(theta="1.1", offset="0.02")
    assert tightness_of(table, tight, None) is not None
    for better in (sf.FPrivacy(theta=4, offset="0.02", odds=4), sf.FPrivacy(theta=8, offset="0.02", odds=8)):
        assert tightness_of(table, better, None) is None
        assert default_method(better, table) == Boxes()
    [one] = tightness_of(table, tight, None).tight
    enough = {one.event: one.needed, "low": "0.95"}
    assert tightness_of(table, sf.FPrivacy(theta=1, bounds=enough), None) is None


def test_all_tight_secrets_are_named_together_the_worst_first():
    table = table_of(income=INCOME, smokes=["no"] * 70 + ["yes"] * 30, code=[f"c{k % 20}" for k in range(100)])
    found = tightness_of(table, sf.FPrivacy(theta="1.2"), None)
    assert [one.column for one in found.tight] == ["code", "income", "smokes"] or len(found.tight) == 3
    assert [one.odds for one in found.tight] == sorted(one.odds for one in found.tight)
    assert "3 of 3 secrets" in found.sentence()
    assert "one alone helps" in found.sentence()
    assert "role other" in found.sentence()
    [alone] = tightness_of(table, sf.FPrivacy(theta=8, odds=8, columns={"smokes": sf.FPrivacy(theta="1.2")}), None).tight
    assert alone.column == "smokes"


def test_a_refusal_costs_at_most_three_tenths_so_that_bounds_far_above_shares_are_tested_in_boxes_of_any_size():
    # By κ·b/(b − f) boxes need 138 people here, more than a tenth of all; but one of 50 keeps 11/20 after a refusal too.
    rule, limits = SoftTests(75), (Fraction(11, 20), Fraction(1))
    assert affords(Bounds.of(("a", "b"), (12, 38), limits), rule)
    assert not too_tight(Bounds.of(("a", "b"), (250, 750), limits), ["ill"], rule)
    close = Bounds.of(("a", "b"), (420, 580), (Fraction(11, 20), Fraction(1)))
    assert [one.event for one in too_tight(close, ["ill"], rule)] == ["a"]
    assert affordable_from(75, Fraction(1, 4), Fraction(1, 4)) is None


def test_a_frequent_value_that_only_large_boxes_could_test_is_named_with_their_size():
    table = people(["no"] * 2940 + ["yes"] * 60, age=[k % 50 for k in range(3000)])
    requirement = sf.FPrivacy(theta=8, odds=8)
    [tight] = tightness_of(table, requirement, None).tight
    assert tight.event == "no"
    assert tight.odds == 8
    patience = 31  # ⌈30 / typical bound⌉, the typical bound being a little below 1
    assert tight.smallest == int(patience * tight.bound / (tight.bound - tight.share)) + 1
    assert f"boxes of fewer than {tight.smallest:,} people" in str(tight)
    assert tightness_of(table, sf.FPrivacy(theta=8, odds=8, against="reader"), None) is None  # tight cuts test nothing


@pytest.mark.parametrize(
    ("requirement", "helps"),
    [
        (sf.LDiversity(4), "l = 2"),
        (sf.BetaLikeness(beta="0.2"), "beta = 2"),
        (sf.RhoPrivacy("0.2", "0.3"), 'rho2 = "0.429"'),
    ],
)
def test_each_model_is_loosened_by_its_own_parameter(requirement, helps):
    table = people([f"v{k % 5}" for k in range(4000)], age=[k % 40 for k in range(4000)])
    assert tightness_of(table, requirement, None).helps == helps


def test_nothing_is_said_of_methods_that_need_no_room():
    table = people(INCOME * 40, age=MANY)
    assert tightness_of(table, sf.FPrivacy(theta="1.1", offset="0.02"), MultiSize()) is None


def test_nobody_is_advised_to_be_stricter():
    table = people(["no"] * 2940 + ["yes"] * 60, age=[k % 50 for k in range(3000)])
    assert tightness_of(table, sf.FPrivacy(theta=8, odds=8), None).helps == ""
