"""What explain says of noisy boxes: ε and the other models, both ways, from declared shares; figures on generated values only."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import BetaLikeness, Differential, FPrivacy, LDiversity, NoisyBoxes, RhoPrivacy, Schema, Table
from sfumato.budget import spent
from sfumato.explanation import explain
from sfumato.explanation.odds import same_odds, usual_odds
from sfumato.explanation.stand_in import stand_in
from sfumato.randomize.noise import largest_odds
from sfumato.register import user_register
from tests.makers import closed_for, skewed

SHARES = {f"v{k}": Fraction(9 - k, 45) for k in range(9)}
METHOD = NoisyBoxes(shares=SHARES, otherwise="v8", floor=30)
TABLE = closed_for(METHOD, skewed(900))
COUNTS = {value: int(share * 45) for value, share in SHARES.items()}


@pytest.mark.parametrize("gamma", [Fraction(3, 2), Fraction(3), Fraction(8)])
def test_parameters_that_come_to_the_same_odds_do(gamma):
    same = same_odds(gamma, SHARES)
    beta, theta = Fraction(same["β"]).limit_denominator(10**9), Fraction(same["θ (offset 0.02)"]).limit_denominator(10**9)
    found = [
        largest_odds(BetaLikeness(beta).bounds(COUNTS)),
        largest_odds(FPrivacy(offset=Fraction(1 / same["ℓ"]).limit_denominator(10**9)).bounds(COUNTS)),
        largest_odds(FPrivacy(theta=theta, offset="0.02").bounds(COUNTS)),
    ]
    assert [float(one) for one in found] == pytest.approx([float(gamma)] * 3, rel=1e-6)
    assert same["ρ2 (ρ1 = 0.1)"] == pytest.approx(float(gamma / (9 + gamma)))


def test_usual_parameters_have_an_epsilon_where_they_can_be_kept():
    usual = usual_odds(SHARES)
    assert usual["ℓ = 3"] == pytest.approx(math.log(2))  # odds of 1/3 beside those of 9/45: 1/2 against 1/4
    assert usual["ℓ = 10"] == "cannot be kept"  # more than a tenth have v0
    assert usual_odds({"a": Fraction(1, 2), "b": Fraction(1, 2)})["θ = 8, offset 0.02"] == "bounds no value"
    assert usual["β = 1"] == pytest.approx(math.log(largest_odds(BetaLikeness(1).bounds(COUNTS))))
    assert usual["(ρ1, ρ2) = (0.1, 0.5)"] == pytest.approx(math.log(largest_odds(RhoPrivacy("0.1", "0.5").bounds(COUNTS))))


def test_an_explanation_translates_measures_on_generated_values_and_draws_nothing():
    before = spent(TABLE.marks, [user_register()])
    about = explain(TABLE, FPrivacy(theta=3, offset="0.05", against="insider"), method=METHOD)
    assert spent(TABLE.marks, [user_register()]) == before
    assert about.feasible
    asked = FPrivacy(theta=3, offset="0.05", against="insider")
    gamma = METHOD.odds_bound(asked, METHOD.bounds(TABLE, asked))
    assert any(f"this is ε = {math.log(gamma):.2f}" in line for line in about.sentences())
    assert any("values were generated" in line for line in about.measured())
    own = next(row for row in about.study.rows if row.chosen)
    assert own.name == "noisy-boxes"
    assert own.exposure is not None
    assert not any("second release" in line for line in about.details())
    assert about.to_dict()["odds"]["gamma"] == str(gamma)


def test_what_an_insider_may_become_is_told_from_what_she_believed_before():
    asked = FPrivacy(theta=3, offset="0.05", against="insider")
    told = " ".join(explain(TABLE, asked, method=METHOD, quick=True).highlights())
    assert "'v8': declared 2.22 %" in told  # 1/45, whatever share of the table it has
    assert "at most 11.67 % sure (5.25 times" in told  # 3/45 + 0.05 = 7/60
    assert "a reader" not in told
    assert "holds a second release" not in told


def test_under_differential_every_belief_is_told_to_grow_by_the_same_odds():
    only = NoisyBoxes(values=list(SHARES), otherwise="v8", floor=30)
    about = explain(closed_for(only, skewed(900)), Differential(odds=3), method=only)
    assert (
        "A belief of 1 % becomes at most 2.9 %, one of 10 % becomes at most 25 % and one of 50 % becomes at most 75 %"
        in " ".join(about.highlights())
    )
    assert all(one.bound == 3 * one.share / (1 + 2 * one.share) for one in about.rule.values)
    assert [row.name for row in about.study.rows] == ["noisy-boxes"]  # no group of people keeps odds
    assert any("equal shares" in line for line in about.details())


def test_what_cannot_be_kept_is_said_from_the_declaration():
    about = explain(TABLE, LDiversity(5, against="insider"), method=METHOD, quick=True)
    assert not about.feasible
    assert explain(TABLE, Differential("1"), method=METHOD, quick=True).feasible


def test_a_stand_in_has_the_tables_people_and_nobodys_values():
    made = stand_in(TABLE, METHOD)
    assert [column.codes.tolist() for column in made.quasi] == [column.codes.tolist() for column in TABLE.quasi]
    other = closed_for(METHOD, skewed(900, seed=3, values=2))
    assert np.array_equal(stand_in(other, METHOD).sensitive.codes, made.sensitive.codes)  # whatever they have
    found = made.sensitive.histogram()
    assert all(abs(found[value] / 900 - float(share)) < 0.04 for value, share in SHARES.items())


def test_people_with_several_values_are_measured_on_drawn_ones_too():
    rows = pa.table({"who": [k // 2 for k in range(1200)], "age": [k // 2 % 60 for k in range(1200)], "ill": ["a", "b"] * 600})
    method = NoisyBoxes(has={"a": "0.6", "b": "0.3", "c": "0.05"}, otherwise="c", floor=30)
    rule = {"key": "who", "keep": "all", "alike": [], "most": 2}
    schema = Schema(quasi=["age"], identifier=["who"], secrets={"ill": ["ill"]}, people=rule)
    table = Table.from_frame(rows, method.close(schema))
    made = stand_in(table, method).bundles
    assert made.numbers().max() == 2  # nobody has more values than cells
    assert np.allclose(made.counts / table.rows, [0.6, 0.3, 0.05], atol=0.06)  # everybody of the table has a and b
    swapped = Table.from_frame(rows.set_column(2, "ill", pa.array(["b", "c"] * 600)), method.close(schema))
    assert np.array_equal(stand_in(swapped, method).sensitive.codes, made.codes)
    measured = explain(table, Differential(odds=20), method=method).study
    assert measured.generated
    assert measured.rows[-1].groups >= 10
    assert 0 < measured.rows[-1].errors[0] < 1
