from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.auditor.noise_law import unlike_noise
from sfumato.errors import Infeasible
from sfumato.privacy import BetaLikeness, Differential, FPrivacy, LDiversity
from sfumato.randomize.noise import largest_odds, noise_ratio, two_sided
from sfumato.randomness import Randomness, SeededRandomness

STEP = Fraction(1, 1 << 30)
FEW = Fraction(1001, 1000)


@given(st.fractions(FEW, 10**9))
def test_the_ratio_is_the_smallest_that_the_odds_allow(gamma):
    ratio = noise_ratio(gamma)
    assert 0 < ratio < 1
    assert ratio**-2 <= gamma < (ratio - STEP) ** -2 if ratio > STEP else ratio**-2 <= gamma


def test_odds_follow_from_bounds_and_shares_exactly():
    counts = {"rare": 1, "usual": 9}
    # 1/2 from 1/10: odds 1 against 1/9. 19/20 from 9/10: odds 19 against 9.
    bounds = FPrivacy(offset=1, bounds={"rare": "1/2", "usual": "19/20"}, against="insider").bounds(counts)
    assert largest_odds(bounds) == Fraction(19, 9)
    assert largest_odds(Differential(odds=7).bounds(counts)) == 7
    assert largest_odds(BetaLikeness(3).bounds({"a": 1, "b": 19})) == Fraction(4, 20) / Fraction(16, 20) * 19


def test_a_bound_at_the_share_leaves_nothing_to_tell():
    with pytest.raises(Infeasible, match="declared share"):
        largest_odds(LDiversity(2).bounds({"a": 1, "b": 1}))


@pytest.mark.parametrize("ratio", [Fraction(1, 4), Fraction(3, 5), Fraction(19, 20)])
def test_noise_has_its_law(ratio):
    drawn = two_sided(ratio, 200_000, SeededRandomness(1))
    r = float(ratio)
    for k in range(-6, 7):
        chance = (1 - r) / (1 + r) * r ** abs(k)
        assert abs((drawn == k).mean() - chance) < 5 * (chance / 200_000) ** 0.5
    assert not unlike_noise(drawn, ratio, 1)


def test_a_test_of_the_law_sees_half_the_noise_twice_the_noise_and_a_shift():
    ratio = Fraction(3, 5)
    honest = two_sided(ratio, 2_000, SeededRandomness(2))
    assert not unlike_noise(honest, ratio, 1)
    assert unlike_noise(two_sided(ratio**2, 2_000, SeededRandomness(3)), ratio, 1)
    assert unlike_noise(two_sided(Fraction(7746, 10000), 2_000, SeededRandomness(4)), ratio, 1)
    assert unlike_noise(honest + 1, ratio, 1)
    assert unlike_noise(np.append(honest, 60), ratio, 1)
    assert unlike_noise(np.zeros(200, np.int64), ratio, 1)


def test_the_test_of_the_law_knows_sums_of_draws():
    ratio = Fraction(3, 5)
    sums = two_sided(ratio, 50 * 300, SeededRandomness(5)).reshape(300, 50).sum(axis=0)
    assert not unlike_noise(sums, ratio, 300)
    assert unlike_noise(sums // 3, ratio, 300)
    assert unlike_noise(sums * 4, ratio, 300)


@pytest.mark.parametrize("size", [10**3, 10**6])
def test_the_law_of_very_large_noise_is_looked_at_in_steps(size):
    """A draw of spread 1.4 million has a law of 140 million numbers, of which several hundred copies were made."""
    ratio = 1 - Fraction(1, size)
    coins = np.random.default_rng(1)
    honest = coins.geometric(1 / size, 500) - coins.geometric(1 / size, 500)
    assert not unlike_noise(honest, ratio, 1)
    assert unlike_noise(honest // 2, ratio, 1)
    assert unlike_noise(honest * 2, ratio, 1)
    sums = sum(coins.geometric(1 / size, 50) - coins.geometric(1 / size, 50) for _ in range(30))
    assert not unlike_noise(sums, ratio, 30)
    assert unlike_noise(sums // 3, ratio, 30)


def test_a_count_beyond_all_noise_is_seen_without_its_law():
    assert unlike_noise(np.array([2**40]), Fraction(1, 2), 1)


class Words(Randomness):
    """Words that are given, one call after the other."""

    reproducible = True

    def __init__(self, *calls):
        self.calls = list(calls)

    def words(self, count):
        given = np.array(self.calls.pop(0), dtype=np.uint64)
        assert len(given) == count
        return given

    def spawn(self, *path):
        raise NotImplementedError


def test_a_word_at_the_edge_is_decided_by_further_digits():
    # Geometric with ratio 1/3: 0 below 2/3 = 0.101010…₂, whose first 64 digits are 0xAAAA….
    edge = 0xAAAAAAAAAAAAAAAA
    below = two_sided(Fraction(1, 3), 1, Words([edge, 0], [0]))
    above = two_sided(Fraction(1, 3), 1, Words([edge, 0], [(1 << 64) - 1]))
    assert (below.tolist(), above.tolist()) == ([0], [1])


def test_a_number_beyond_the_table_goes_on_from_there():
    last = (1 << 64) - 1  # 1 − r^64 with r = 1/2: 64 is reached, and the next word decides that 1 is added
    assert two_sided(Fraction(1, 2), 1, Words([last, 0], [1 << 63])).tolist() == [65]
