"""Who is alone in a population, estimated from samples of populations whose every person is known."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, log

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.explanation.highlights import finding
from sfumato.explanation.population import PitmanFit, population_risk
from sfumato.explanation.risk import risk_of
from sfumato.policy.difference import differences
from sfumato.table.generators import census

POLICY = """
[columns]
quasi = ["age"]
sensitive = ["illness"]
[requirement]
model = "l-diversity"
l = 2
"""


def sizes_of(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_counts=True)[1]


def restaurant(people: int, alpha: float, theta: float, seed: int) -> np.ndarray:
    """Return the class of everybody, drawn one after another by Pitman's rule: a new one, or one weighed by its size less α."""
    coins, sizes, seat = np.random.default_rng(seed), np.zeros(people), np.zeros(people, np.int64)
    classes = 0
    for person in range(people):
        if coins.random() * (theta + person) < theta + alpha * classes:
            seat[person], classes = classes, classes + 1
        else:
            seat[person] = coins.choice(classes, p=(sizes[:classes] - alpha) / (person - alpha * classes))
        sizes[seat[person]] += 1
    return seat


def test_the_likelihood_is_that_of_drawing_people_one_after_another() -> None:
    """Of classes of 3, 1 and 1 people, in any order of arrival: by hand, θ(θ+α)(θ+2α)/(θ)_5 · (1−α)(2−α) up to a constant."""
    fit = PitmanFit(np.array([3, 1, 1]))

    def by_hand(alpha: float, theta: float) -> float:
        above = (theta + alpha) * (theta + 2 * alpha) * (1 - alpha) * (2 - alpha)
        return log(above / ((theta + 1) * (theta + 2) * (theta + 3) * (theta + 4)))

    for alpha, theta in ((0.5, 1.0), (0.2, 7.0), (0.9, -0.5)):
        assert fit.likelihood(alpha, theta) == pytest.approx(by_hand(alpha, theta))


def test_the_parameters_of_drawn_people_are_found_and_their_upper_end_lies_above() -> None:
    sizes = sizes_of(restaurant(4_000, 0.5, 100.0, 3))
    fit = PitmanFit(sizes)
    assert 0.44 < fit.alpha < 0.56
    assert fit.alpha < fit.upper < 0.62


def test_a_table_that_is_the_population_is_itself() -> None:
    found = population_risk(np.array([1, 1, 2, 4]), 8)
    assert (found.unique.estimate, found.unique.upper, found.found.estimate) == (0.25, 0.25, 0.5)


def test_nobody_who_is_like_another_is_alone_and_all_who_are_not_may_be() -> None:
    assert population_risk(np.array([2, 3, 9]), 1_000).unique.upper == 0
    alone = population_risk(np.array([1, 1, 1]), 1_000)
    assert (alone.unique.estimate, alone.found.estimate, alone.fitted) == (1.0, 1.0, False)
    assert population_risk(np.array([7]), 70).found.estimate == pytest.approx(1 / 70)


def test_people_alone_in_the_population_are_fewer_the_larger_it_is() -> None:
    sizes = np.array([1] * 40 + [2] * 9 + [3] * 4 + [30, 80])
    shares = [population_risk(sizes, people).unique.estimate for people in (180, 2_000, 10**6, 10**11)]
    assert shares == sorted(shares, reverse=True)
    assert pytest.approx(shares[0]) == 40 / 180
    assert 0 < shares[-1] < 1e-2


def test_samples_of_a_known_population_give_its_figures() -> None:
    """A tenth of the bundled census, five times: estimates within a third of the truth, upper ends above it."""
    frame = census(60_000, seed=4)
    columns = [frame[name].to_numpy() for name in ("age", "gender", "education", "marital", "race")]
    code = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()
    whole = np.bincount(code)
    for seed in range(5):
        chosen = np.random.default_rng(seed).permutation(len(code))[:6_000]
        seen = np.bincount(code[chosen], minlength=len(whole))
        unique, found = ((seen == 1) & (whole == 1)).sum() / 6_000, np.sum(seen / whole) / 6_000
        risk = population_risk(seen[seen > 0], len(code))
        assert 0.67 < risk.unique.estimate / unique < 1.5
        assert 0.8 < risk.found.estimate / found < 1.25
        assert risk.unique.upper > 0.9 * unique
        assert unique < 0.7 * (seen == 1).sum() / 6_000  # what the worst case says is another figure


def test_the_mean_of_one_over_k_is_classes_over_people_of_the_population() -> None:
    """Of all samples of three from classes of 1, 1, 2 and 4 people, by enumeration over how many of each are drawn."""
    whole, total = (1, 1, 2, 4), Fraction(0)
    for a, b, c in ((a, b, c) for a in range(2) for b in range(2) for c in range(3)):
        d = 3 - a - b - c
        if 0 <= d <= 4:
            ways = comb(1, a) * comb(1, b) * comb(2, c) * comb(4, d)
            total += Fraction(ways, comb(8, 3)) * sum(Fraction(x, k) for x, k in zip((a, b, c, d), whole, strict=True)) / 3
    assert total == Fraction(4, 8)


def test_a_policy_states_the_population_and_explain_and_json_tell_both_cases() -> None:
    ages = [20 + (number * number) % 47 for number in range(200)]
    frame = pa.table({"age": ages, "illness": ["a", "b"] * 100})
    policy = sf.Policy.parse(POLICY + "[population]\npeople = 100000\n")
    told = sf.explain(frame, policy, quick=True)
    risk = told.to_dict()["risk"]
    assert risk["population"]["people"] == 100_000
    assert risk["population"]["unique"]["estimate"] <= risk["population"]["unique"]["upper"] <= float(told.table.unique_share)
    assert any("100,000 people" in line for line in told.highlights())
    assert not any("100,000 people" in line for line in finding(told.table.risk, shown=False))  # nobody's row is shown
    assert sf.explain(frame, policy.requirement, quasi="age", sensitive="illness", quick=True).table.risk.population is None
    stated = sf.explain(frame, policy.requirement, quasi="age", sensitive="illness", population=200, quick=True).table.risk
    assert stated.population.found.estimate == float(stated.marketer)
    assert len(differences(sf.Policy.parse(POLICY), policy)) == 1


def test_it_looks_at_quasi_values_alone_and_no_release_tells_it() -> None:
    frame = pa.table({"age": [1, 1, 2, 3, 3, 4], "illness": list("abcabc")})
    mixed = frame.set_column(1, "illness", pa.array(list("aabbcc")))
    tables = [sf.Table.from_frame(one, sf.Schema(quasi=["age"], sensitive=["illness"], population=77)) for one in (frame, mixed)]
    first, second = (risk_of(table).population for table in tables)
    assert first == second
    release = sf.publish(tables[0], sf.LDiversity(2), seed=1)
    assert "population" not in release.manifest.to_json()


@pytest.mark.parametrize("people", ["0", "-3", "1.5", '"many"', "true", "10000000000000", "[1]"])
def test_a_population_that_there_is_not_is_refused(people: str) -> None:
    with pytest.raises(PolicyError, match=r"\[population\] people"):
        sf.Policy.parse(POLICY + f"[population]\npeople = {people}\n")


def test_a_population_smaller_than_the_table_is_refused_and_an_empty_section_too() -> None:
    frame = pa.table({"age": [1, 2, 3], "illness": ["a", "b", "a"]})
    with pytest.raises(PolicyError, match=r"population of 2.*of 3"):
        sf.explain(frame, sf.Policy.parse(POLICY + "[population]\npeople = 2\n"), quick=True)
    with pytest.raises(PolicyError, match=r"\[population\] people"):
        sf.Policy.parse(POLICY + "[population]\n")
    with pytest.raises(PolicyError, match="unknown key"):
        sf.Policy.parse(POLICY + "[population]\nsize = 2\n")


def test_huge_populations_keep_their_digits() -> None:
    """The share of who stays alone behaves like N^(α−1): ten times the people multiply it by 10^(α−1)."""
    sizes = np.array([1] * 300 + [2] * 50 + [5] * 20)
    alpha = PitmanFit(sizes).alpha
    low, high = (population_risk(sizes, people).unique.estimate for people in (10**10, 10**11))
    assert high / low == pytest.approx(exp((alpha - 1) * log(10)), rel=1e-6)


def test_the_sum_of_weights_is_the_population_and_nobody_is_told_apart_by_a_weight() -> None:
    """Two people of every age: with a weight each they differ in the table, and not in the population."""
    frame = pa.table({"age": [i // 2 for i in range(400)], "wt": [10.0, 30.0] * 200, "ill": ["a", "b"] * 200})
    named = {"quasi": ["age"], "sensitive": ["ill"]}
    weighed = sf.Schema(**named, weight={"column": "wt", "bins": [0, 20, 40], "values": [10, 30]})
    risk = risk_of(sf.Table.from_frame(frame, weighed))
    assert risk.unique == 1
    assert risk.population is not None
    assert (risk.population.people, risk.population.source) == (8_000, "weights")
    assert risk.population.unique.upper == 0
    stated = sf.Schema(**named, weight=weighed.weight, population=9_000)
    assert risk_of(sf.Table.from_frame(frame, stated)).population.people == 9_000
    relative = sf.Schema(**named, weight={"column": "wt", "bins": [0, 2], "values": [1]})
    light = frame.set_column(1, "wt", pa.array([0.5, 1.5] * 200))
    assert risk_of(sf.Table.from_frame(light, relative)).population is None
    assert any("the sum of weights" in line for line in finding(risk))
