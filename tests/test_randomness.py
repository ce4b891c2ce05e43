"""The false-alarm rate of every chi-square test here is 1e-6; each also rejects a wrong law."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from sfumato.errors import PolicyError
from sfumato.randomness import PLACES, Randomness, SecureRandomness, SeededRandomness, randomness

SOURCES = [SecureRandomness(), SeededRandomness(12)]


def rejects(observed, expected):
    """Chi-square at 1e-6."""
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return statistic > chi2.isf(1e-6, len(observed) - 1)


@pytest.mark.parametrize("source", SOURCES)
def test_integers_below_a_limit_are_uniform(source):
    draws = source.below(7, 70_000)
    observed = np.bincount(draws, minlength=7)
    assert not rejects(observed, np.full(7, 10_000.0))
    tilted = np.full(7, 10_000.0) + np.array([700, -700, 0, 0, 0, 0, 0])
    assert rejects(observed, tilted)


@pytest.mark.parametrize("source", SOURCES)
def test_every_order_is_equally_likely(source):
    index = {order: k for k, order in enumerate(permutations(range(4)))}
    observed = np.bincount([index[tuple(source.permutation(4))] for _ in range(24_000)], minlength=24)
    assert not rejects(observed, np.full(24, 1000.0))
    tilted = np.full(24, 1000.0) + np.where(np.arange(24) % 2, 150, -150)
    assert rejects(observed, tilted)


def test_the_coin_of_a_place_is_the_same_whoever_draws_it():
    whole = SeededRandomness(3).at_places(0, 3 * PLACES)
    for begin, end in ((0, 5), (PLACES - 2, PLACES + 2), (7, 2 * PLACES + 1), (2 * PLACES, 3 * PLACES), (9, 9)):
        assert (SeededRandomness(3).at_places(begin, end) == whole[begin:end]).all()
    assert len(np.unique(whole)) == len(whole)


def test_rows_are_ranked_within_their_code_by_any_order_alike():
    index = {order: k for k, order in enumerate(permutations(range(4)))}
    codes = np.array([1, 0, 1, 1, 0, 1])
    found = [SeededRandomness(seed).ranked(codes).tolist() for seed in range(2400)]
    assert all(sorted(order[:2]) == [1, 4] for order in found)
    of_row = {0: 0, 2: 1, 3: 2, 5: 3}
    observed = np.bincount([index[tuple(of_row[row] for row in order[2:])] for order in found], minlength=24)
    assert not rejects(observed, np.full(24, 100.0))


@pytest.mark.parametrize("source", SOURCES)
def test_coins_have_exactly_the_rational_probability(source):
    heads = int(source.chance(Fraction(1, 3), 90_000).sum())
    spread = np.sqrt(90_000 * 2 / 9)
    assert abs(heads - 30_000) < 5.2 * spread
    assert abs(heads - 90_000 * 0.35) > 5.2 * spread
    assert source.chance(Fraction(1), 50).all()
    assert not source.chance(Fraction(0), 50).any()


class Scripted(Randomness):
    """Gives the words it was told to give."""

    reproducible = True

    def __init__(self, words):
        self.given = list(words)

    def words(self, count):
        taken, self.given = self.given[:count], self.given[count:]
        return np.array(taken, dtype=np.uint64)

    def spawn(self, key):
        return self


def test_words_that_would_tilt_the_law_are_drawn_again():
    top = (1 << 64) - 1  # 2^64 mod 7 = 2: the last two words are of no use for 7
    assert Scripted([top, top - 1, 5]).below(7, 1).tolist() == [5]


def test_equal_keys_are_drawn_again_instead_of_broken_by_position():
    assert Scripted([9, 9, 4, 8]).permutation(2).tolist() == [0, 1]
    assert Scripted([9, 9, 8, 4]).permutation(2).tolist() == [1, 0]


def test_the_same_seed_gives_the_same_words_and_tasks_have_streams_of_their_own():
    one, two = SeededRandomness(5), SeededRandomness(5)
    assert one.words(4).tolist() == two.words(4).tolist()
    assert one.spawn(3).words(2).tolist() == SeededRandomness(5).spawn(3).words(2).tolist()
    assert one.spawn(3).words(2).tolist() != one.spawn(4).words(2).tolist()
    assert SecureRandomness().words(4).tolist() != SecureRandomness().words(4).tolist()


def test_no_seed_means_the_operating_system_and_a_bad_seed_is_refused():
    assert isinstance(randomness(None), SecureRandomness)
    assert randomness(3).reproducible
    with pytest.raises(PolicyError, match="seed: expected"):
        randomness(-1)
    with pytest.raises(PolicyError, match="seed: expected"):
        randomness("7")
