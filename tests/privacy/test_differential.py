from fractions import Fraction
from math import exp

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import Boxes, Differential, PresenceAssociation, SmallDomain
from sfumato.auditor.bounds import odds_of
from sfumato.errors import NotProvable, PolicyError
from sfumato.privacy.differential import power_below
from sfumato.privacy.growth import grown
from sfumato.testing import check_model
from tests.makers import closed_for, skewed

DIGITS_OF_E = 2718281828459  # e = 2.718281828459045…


def test_epsilon_becomes_the_largest_multiple_below_its_power():
    assert Differential("1").gamma == Fraction(DIGITS_OF_E, 10**12)
    assert Differential(odds=3).gamma == 3
    assert Differential("0.000001").gamma == Fraction(1000001000000, 10**12)  # 1.0000010000005


@given(st.fractions(Fraction(1, 10**9), 20, max_denominator=10**9))
def test_publisher_and_auditor_compute_the_same_power_in_two_ways(epsilon):
    gamma = power_below(epsilon)
    assert gamma == odds_of({"epsilon": str(epsilon), "odds": None}) if gamma > 1 else gamma == 1
    assert abs(float(gamma) / exp(float(epsilon)) - 1) < 1e-11


def test_a_belief_grows_by_its_odds():
    bounds = Differential(odds=3).limits({"a": Fraction(1, 10), "b": Fraction(9, 10)})
    assert bounds == {"a": Fraction(3, 12), "b": Fraction(27, 28)}
    assert grown(Fraction(1, 10), Fraction(1)) == Fraction(1, 10)


def test_the_model_passes_the_suite_for_models():
    assert check_model(Differential("1"))
    assert check_model(Differential(odds="3/2"))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"epsilon": "1", "odds": 3}, {"epsilon": 0}, {"epsilon": 21}, {"odds": 1}, {"epsilon": "1", "against": "engineer"}],
    ids=str,
)
def test_what_says_nothing_or_too_much_is_refused(parameters):
    with pytest.raises(PolicyError) as error:
        Differential(**parameters)
    assert error.value.hint


def test_only_a_method_that_bounds_odds_can_keep_it():
    table = skewed()
    declared = SmallDomain(parameters="declared", shares=dict.fromkeys(table.sensitive.labels, 1), otherwise="v8")
    with pytest.raises(NotProvable, match="odds"):
        Boxes().run(table, Differential("1"))
    with pytest.raises(NotProvable, match="odds"):
        declared.run(closed_for(declared, table), Differential("1"))
    with pytest.raises(PolicyError):
        PresenceAssociation("1/2", Differential("1"))


@pytest.mark.parametrize("secrets", [("ill",), ("ill", "pays")])
def test_a_refusal_without_a_method_shows_the_lines_that_publish_in_a_policy_and_in_python(secrets):
    people = pa.table({"age": [20 + k % 40 for k in range(400)], "ill": ["flu", "gout"] * 200, "pays": ["flu", "other"] * 200})
    protect = 'protect = "each"\n' if len(secrets) > 1 else ""
    asked = f'[columns]\nquasi = ["age"]\nsensitive = {list(secrets)}\nother = {sorted({"ill", "pays"} - {*secrets})}\n'
    asked += '[requirement]\nmodel = "differential"\nepsilon = 1\n' + protect
    with pytest.raises(NotProvable, match="anybody's odds") as refused:
        sf.publish(people, sf.Policy.parse(asked))
    lines = refused.value.hint.splitlines()
    assert lines[1:3] == ["    [method]", '    name = "noisy-boxes"']
    release = sf.publish(people, sf.Policy.parse(asked + "\n".join(lines[1:5])), seed=1)
    assert release.manifest.method["name"] == "noisy-boxes"
    method = eval(lines[5].partition("method=")[2], {"NoisyBoxes": sf.NoisyBoxes})
    told = {"quasi": "age", "sensitive": secrets, "protect": "each" if protect else None}
    again = sf.publish(people, Differential(1), method=method, seed=1, **told)
    assert all(again.tables()[name].equals(table) for name, table in release.tables().items())
