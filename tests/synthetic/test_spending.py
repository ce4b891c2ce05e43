"""What a draw spends: powers and logarithms enclosed exactly, the paper's scale of noise, and exact coins."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import PolicyError
from sfumato.privacy.differential import power_below, within_power
from sfumato.randomness import SeededRandomness
from sfumato.synthetic.spending import Spending, choose, falls_with_exp, table_ratio

ALARM = 1e-6


def reach(draws):
    """Return how far a share of so many coins is off at most, but for a chance of 10⁻⁶ (Hoeffding)."""
    return math.sqrt(math.log(2 / ALARM) / (2 * draws))


@pytest.mark.parametrize("gamma", [power_below(Fraction(1)), Fraction(4), Fraction(3, 2), power_below(Fraction(20))])
def test_what_is_spent_is_below_gamma_and_what_is_stated_is_not(gamma):
    spending = Spending(gamma)
    assert not within_power(gamma, spending.epsilon)  # e^ε < γ
    assert within_power(gamma, spending.epsilon + Fraction(1, 10**12))
    assert within_power(gamma, spending.stated)  # γ ≤ e^stated
    assert not within_power(gamma, spending.stated - Fraction(1, 10**9))


def test_the_stated_epsilon_is_the_one_that_was_asked_for():
    assert Spending(power_below(Fraction(1))).stated == 1
    assert Spending(Fraction(4)).stated == Fraction("1.386294362")  # ln 4 = 1.38629436112


def test_noise_has_the_papers_scale():
    """PrivBayes with n = 10⁴, d = 8, k = 2, ε = 1: Laplace scale 2(d − k)/(0.7·n) = 0.001714 of people, 17.14 counts."""
    ratio = table_ratio(Fraction(7, 10), 6)
    assert 1 / math.log(1 / ratio) == pytest.approx(17.14, abs=0.005)
    assert 1 / math.log(1 / ratio) / 10_000 == pytest.approx(0.001714, abs=5e-7)
    assert within_power(ratio**-12, Fraction(7, 10))  # two cells of each of six tables
    assert not within_power((ratio - Fraction(1, 1 << 30)) ** -12, Fraction(7, 10))


def test_an_epsilon_that_no_noise_can_keep_is_refused():
    with pytest.raises(PolicyError, match="too little for 1000 tables"):
        table_ratio(Fraction(1, 10**9), 1000)


@pytest.mark.parametrize("x", ["0", "0.3", "1", "2.5"])
def test_a_coin_falls_with_a_power_of_e(x):
    coins, draws = SeededRandomness(3), 8000
    share = sum(falls_with_exp(Fraction(x), coins) for _ in range(draws)) / draws
    assert abs(share - math.exp(-float(x))) <= reach(draws)
    if x == "0.3":  # and 1 − x would be noticed
        assert abs(share - 0.7) > reach(draws) / 3


def test_a_choice_has_the_chances_of_the_exponential_mechanism():
    scores, sensitivity, epsilon, draws = (10, 4, 0, 10), 3, Fraction(2), 6000
    weights = [math.exp(2 * score / (2 * 3)) for score in scores]
    coins = SeededRandomness(5)
    found = [0] * 4
    for _ in range(draws):
        found[choose(scores, sensitivity, epsilon, coins)] += 1
    for share, weight in zip(found, weights, strict=True):
        assert abs(share / draws - weight / sum(weights)) <= reach(draws)
    half = [math.exp(score / 3 / 2) for score in scores]  # half of ε would be noticed
    assert abs(found[0] / draws - half[0] / sum(half)) > reach(draws)


def test_our_noise_spends_what_opendp_says_it_does():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    tables, epsilon = 7, 1.0
    scale = 1 / math.log(1 / table_ratio(Fraction(1), tables))
    judged = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=scale)
    assert judged.map(2 * tables) == pytest.approx(epsilon, rel=1e-6)


def test_opendps_own_noise_spends_at_most_epsilon_and_has_the_deviation_that_is_said():
    """Geometric noise of scale 14 deviates by √(2r)/(1 − r) with r = e^(−1/14): 19.8."""
    pytest.importorskip("opendp")
    from sfumato.randomize.opendp_noise import noisy_counts

    counts = np.full((50, 80), 7)
    noisy, deviation = noisy_counts(counts, 14, Fraction(1))
    assert deviation == pytest.approx(19.79, abs=0.01)
    assert noisy.shape == counts.shape
    assert (noisy - counts).std() == pytest.approx(deviation, rel=0.15)
    assert abs((noisy - counts).mean()) < 5 * deviation / math.sqrt(counts.size)
