from fractions import Fraction

import numpy as np
import pytest

from sfumato import FPrivacy, LDiversity, RhoPrivacy, UniformPerturbation
from sfumato.errors import Infeasible, InputError, NotProvable, PolicyError
from tests.makers import people

VALUES = ["a"] * 40 + ["b"] * 30 + ["c"] * 20 + ["d"] * 10


def test_one_part_with_all_values_and_the_largest_gamma():
    release = UniformPerturbation().run(people(VALUES), RhoPrivacy("0.4", "0.6"), random=1).release
    # γ = (0.6/0.4)(0.6/0.4) = 9/4, p = (5/4)/(3 + 9/4) = 5/21
    assert release.manifest.parameters["parts"] == [
        {"part": 1, "values": ["a", "b", "c", "d"], "gamma": "9/4", "retention": "5/21", "largest_share": "2/5"}
    ]
    assert release.manifest.parameters["parameters"] == "computed"
    assert release.manifest.values is None


def test_other_models_get_the_gamma_of_their_tightest_value_and_no_largest_share():
    release = UniformPerturbation().run(people(VALUES), FPrivacy(theta=1, offset="0.1"), random=1).release
    odds = [Fraction(k, 10) / (1 - Fraction(k, 10)) for k in (5, 4, 3, 2)]
    shares = [Fraction(k, 10) for k in (4, 3, 2, 1)]
    gamma = min(odd * (1 - share) / share for odd, share in zip(odds, shares, strict=True))
    (part,) = release.manifest.parameters["parts"]
    assert part["gamma"] == str(gamma)
    assert "largest_share" not in part


def test_a_cap_lowers_gamma_and_hides_the_largest_share():
    release = UniformPerturbation(amplification=2).run(people(VALUES), RhoPrivacy("0.4", "0.6"), random=1).release
    (part,) = release.manifest.parameters["parts"]
    assert part["gamma"] == "2"
    assert Fraction(part["largest_share"]) == Fraction(3, 7)  # where γ = 2 would just keep ρ2, above the true 2/5


def test_quasi_values_and_rows_stay_and_some_values_change():
    table = people(VALUES)
    release = UniformPerturbation().run(table, RhoPrivacy("0.4", "0.6"), random=3).release
    records = release.tables()["records"].to_pylist()
    truth = dict(enumerate(VALUES))
    assert [record["number"] for record in records] == [*range(100)]
    same = sum(truth[record["number"]] == record["value"] for record in records)
    assert 20 < same < 70


def test_the_private_figures_tell_retention_and_bounds():
    outcome = UniformPerturbation().run(people(VALUES), RhoPrivacy("0.4", "0.6"), random=1)
    assert outcome.private["retention"] == pytest.approx(5 / 21)
    assert outcome.private["error_bound"] == outcome.private["error_bound_without_parts"]
    assert "note" not in outcome.private


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"amplification": 1}, "above 1"),
        ({"amplification": "much"}, "expected a number"),
        ({"parameters": "guessed"}, "'computed', 'declared'"),
        ({"parameters": "declared"}, "needs shares"),
        ({"shares": {"a": 1, "b": 1}}, "'computed'.*got {'a': '1/2', 'b': '1/2'}"),
    ],
)
def test_bad_parameters_are_refused_when_the_method_is_made(arguments, message):
    with pytest.raises(PolicyError, match=message):
        UniformPerturbation(**arguments)


@pytest.mark.parametrize(
    ("rho1", "rho2", "message"),
    [
        ("0.5", "0.4", "0 < rho1 < rho2 < 1"),
        ("0.5", "1", r"rho2=…\): expected.*got 1"),
        ("0.05", "0.4", "no value has"),
    ],
)
def test_rho_privacy_that_cannot_be_is_refused(rho1, rho2, message):
    with pytest.raises(PolicyError, match=message):
        UniformPerturbation().run(people(VALUES), RhoPrivacy(rho1, rho2))


@pytest.mark.parametrize("values", [["a"] * 10, ["a"]], ids=["all records one value", "one record"])
def test_a_domain_of_one_value_is_refused(values):
    with pytest.raises(PolicyError, match="at most"):
        UniformPerturbation().run(people(values), RhoPrivacy("0.5", "0.6"))
    with pytest.raises(Infeasible, match="own share"):
        UniformPerturbation().run(people(values), LDiversity(2))
    with pytest.raises(PolicyError, match="protects nobody"):
        UniformPerturbation().run(people(values), FPrivacy(theta=1))


def test_insiders_are_refused_with_computed_parameters():
    with pytest.raises(NotProvable, match="not against 'insider'"):
        UniformPerturbation().run(people(VALUES), RhoPrivacy("0.4", "0.6", against="insider"))


def test_a_column_called_part_is_refused():
    table = people(VALUES, part=np.arange(100).tolist())
    with pytest.raises(InputError, match="column 'part'"):
        UniformPerturbation().run(table, RhoPrivacy("0.4", "0.6"))
