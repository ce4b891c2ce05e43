import math
from fractions import Fraction

import pyarrow as pa
import pytest

from sfumato import (
    BetaLikeness,
    Boxes,
    Differential,
    FPrivacy,
    LDiversity,
    NoisyBoxes,
    PolicyError,
    PresenceAssociation,
    Schema,
    Table,
)
from sfumato.comparison.candidates import candidates
from sfumato.comparison.vary import variations
from tests.makers import tells


@pytest.fixture(scope="module")
def table():
    values = ["a", "b", "c", "d", "e"] * 8
    frame = pa.table({"age": list(range(40)), "sex": ["m", "f"] * 20, "illness": values})
    return Table.from_frame(frame, Schema(quasi=["age", "sex"], sensitive=["illness"]))


def names(found):
    return {one.method.name for one in found if one.method.form != "synthetic"}


def test_against_an_engineer_only_methods_that_prove_it_take_part_and_others_say_why(table):
    found, left_out = candidates(table, LDiversity(4), Boxes())
    assert names(found) == {
        "boxes", "near-groups", "multi-size", "anatomy", "decoys", "small-domain", "uniform", "burel-perturbation",
    }  # fmt: skip
    assert "against 'reader', not against 'engineer'" in left_out["mondrian"]
    assert "proves no bound" in left_out["ring"]
    assert not any(one.translated for one in found if one.method.form != "synthetic")


def test_synthetic_data_stands_beside_at_the_epsilon_that_the_bounds_come_to(table):
    found, _ = candidates(table, LDiversity(4), Boxes())
    [beside] = [one for one in found if one.method.form == "synthetic"]
    # Every share is 1/5 and every bound 1/4: odds grow from 1:4 to 1:3, by 4/3.
    assert float(beside.method.epsilon) == pytest.approx(math.log(4 / 3), abs=1e-4)


def test_translation_says_what_it_changed(table):
    found, left_out = candidates(table, LDiversity(4), Boxes(), translate=True)
    told = {one.method.name: one.translated for one in found}
    assert told["boxes"] == ()
    assert told["mondrian"] == ("against a reader only",)
    assert tells(told["ring"], "no belief")
    assert tells(told["ambiguity"], "α = 1", "presence")
    assert told["noisy-boxes"][0].startswith("ε = ln γ = 0.29")
    assert "boxes" not in left_out


def test_epsilon_for_beta_likeness_is_at_least_the_logarithm_of_one_plus_beta(table):
    found, _ = candidates(table, BetaLikeness(1), Boxes(), methods=["noisy-boxes"], translate=True)
    # (1+β)p = 2/5 of a share of 1/5: odds grow from 1:4 to 2:3, which is 8/3 and more than 1 + β = 2.
    assert found[0].translated[0].startswith(f"ε = ln γ = {math.log(8 / 3):.2f}")


def test_without_alpha_a_bound_on_presence_becomes_its_bound_on_values(table):
    asked = PresenceAssociation("0.5", "0.25")
    found, _ = candidates(table, asked, Boxes(), methods=["boxes"], translate=True)
    assert tells(found[0].translated, "no α")
    assert set(found[0].requirement.limits({"a": Fraction(1, 5)}).values()) == {Fraction(1, 4)}


def test_odds_become_the_bounds_that_shares_grow_to(table):
    own = NoisyBoxes(values=["a", "b", "c", "d", "e"], otherwise="e")
    found, _ = candidates(table, Differential(odds=2), own, methods=["boxes"], translate=True)
    # A belief of 1/5 whose odds double is 1/3.
    assert found[0].requirement.limits(dict.fromkeys("abcde", Fraction(1, 5)))["a"] == Fraction(1, 3)
    assert found[0].requirement.against == "engineer"


def test_a_method_without_the_varied_parameter_takes_part_once(table):
    vary = variations(LDiversity(4), Boxes(floor=100), {"floor": [5, 100]}, ("age", "sex"))
    found, _ = candidates(table, LDiversity(4), Boxes(floor=100), methods=["boxes", "anatomy"], vary=vary)
    assert [one.method.name for one in found] == ["boxes", "anatomy", "boxes"]


def test_only_the_policys_own_method_and_bounds_are_marked(table):
    vary = variations(LDiversity(4), Boxes(), {"l": [2, 4]}, ("age", "sex"))
    found, _ = candidates(table, LDiversity(4), Boxes(floor=100), methods=["boxes", "anatomy"], vary=vary)
    assert [(one.method.name, one.requirement.l, one.own, one.policy) for one in found] == [
        ("boxes", 2, True, False),
        ("anatomy", 2, False, False),
        ("boxes", 4, True, True),
        ("anatomy", 4, False, True),
    ]


def test_a_misspelt_method_names_the_nearest(table):
    with pytest.raises(PolicyError, match="unknown 'boxs'") as refused:
        candidates(table, FPrivacy(theta=2), Boxes(), methods=["boxs"])
    assert "boxes" in str(refused.value.hint)
