from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from sfumato.randomize.coins import Choices, below_each
from sfumato.randomness import Randomness, SeededRandomness


class Told(Randomness):
    """Gives the words it was told, in order."""

    reproducible = True

    def __init__(self, *words):
        self.left = list(words)

    def words(self, count):
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint64)

    def spawn(self, key):
        return self


THIRD = (1 << 64) // 3  # 0101… in binary: the first 64 digits of 1/3


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ([THIRD - 1], 0),
        ([THIRD + 1], 1),
        ([THIRD, THIRD - 1], 0),
        ([THIRD, THIRD + 1], 1),
        ([THIRD, THIRD, THIRD, 0], 0),
        ([THIRD, THIRD, (1 << 64) - 1], 1),
    ],
)
def test_a_word_that_does_not_decide_is_followed_by_more_digits(words, outcome):
    coins = Told(*words)
    drawn = Choices([(Fraction(1, 3), Fraction(2, 3))]).draw(np.zeros(1, np.int64), coins)
    assert drawn.tolist() == [outcome]
    assert coins.left == []


def test_a_chance_that_ends_with_the_word_needs_no_more_digits():
    half = Choices([(Fraction(1, 2), Fraction(1, 2))])
    assert half.draw(np.zeros(2, np.int64), Told((1 << 63) - 1, 1 << 63)).tolist() == [0, 1]
    never = Choices([(Fraction(0), Fraction(1))])
    assert never.draw(np.zeros(1, np.int64), Told(0)).tolist() == [1]


def test_chances_closer_than_a_word_are_told_apart():
    tiny = Fraction(1, 1 << 100)
    row = Choices([(Fraction(1, 4), tiny, tiny, Fraction(3, 4) - 2 * tiny)])
    quarter = 1 << 62
    for rest, outcome in ((0, 1), ((1 << 28) - 1, 1), (1 << 28, 2), ((1 << 29) - 1, 2), (1 << 29, 3)):
        assert row.draw(np.zeros(1, np.int64), Told(quarter, rest)).tolist() == [outcome]


def test_every_row_draws_with_its_own_chances():
    chances = [
        (Fraction(1, 10), Fraction(2, 10), Fraction(7, 10)),
        (Fraction(1),),
        (Fraction(5, 7), Fraction(2, 7)),
    ]
    rows = np.repeat(np.arange(3), 20_000)
    drawn = Choices(chances).draw(rows, SeededRandomness(5))
    for row, chance in enumerate(chances):
        seen = np.bincount(drawn[rows == row], minlength=len(chance))
        assert len(seen) == len(chance)
        if len(chance) > 1:  # false alarm 10⁻⁴ for a fresh seed
            assert chisquare(seen, [20_000 * float(c) for c in chance]).pvalue > 1e-4


def test_chances_beyond_one_are_refused():
    with pytest.raises(ValueError, match="less than 1"):
        Choices([(Fraction(2, 3), Fraction(2, 3), Fraction(0))])


def test_each_limit_has_its_own_uniform_numbers_and_a_word_beyond_the_last_multiple_is_drawn_again():
    limits = np.array([3, 1, 4])
    assert below_each(limits, Told((1 << 64) - 1, 9, 7, 5)).tolist() == [2, 0, 3]
    many = np.repeat([2, 7], 30_000)
    drawn = below_each(many, SeededRandomness(3))
    for limit in (2, 7):
        assert chisquare(np.bincount(drawn[many == limit], minlength=limit)).pvalue > 1e-4
        assert drawn[many == limit].max() == limit - 1
